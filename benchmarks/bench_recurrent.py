# SPDX-License-Identifier: MIT
"""Recurrent layers."""

from benchmarks.common import Errors, Products


class LSTM(Products):
    """Forward."""

    kernel = "lstm"


class LSTMBackward(Products):
    """Its gradients."""

    kernel = "lstm_backward"


class GRU(Products):
    """Forward."""

    kernel = "gru"


class GRUBackward(Products):
    """Its gradients."""

    kernel = "gru_backward"


class Accuracy(Errors):
    """Their largest errors."""

    kernels = ("lstm", "lstm_backward", "gru", "gru_backward")

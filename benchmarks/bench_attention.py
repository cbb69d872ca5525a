# SPDX-License-Identifier: MIT
"""Attention."""

from benchmarks.common import Errors, Products


class Attention(Products):
    """Forward, causal."""

    kernel = "attention"


class AttentionBackward(Products):
    """The gradients of queries, keys and values."""

    kernel = "attention_backward"


class Accuracy(Errors):
    """Their largest errors."""

    kernels = ("attention", "attention_backward")

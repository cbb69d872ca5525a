# SPDX-License-Identifier: MIT
"""Matrix products."""

from benchmarks.common import Errors, Products


class Gemm(Products):
    """One product of float32 matrices."""

    kernel = "gemm"


class Linear(Products):
    """A linear layer with its bias."""

    kernel = "linear"


class LinearBackward(Products):
    """The gradients of a linear layer."""

    kernel = "linear_backward"


class Accuracy(Errors):
    """Their largest errors."""

    kernels = ("gemm", "linear", "linear_backward")

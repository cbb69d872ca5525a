# SPDX-License-Identifier: MIT
"""Sums and the like along dimensions, softmax, and cross-entropy."""

from benchmarks.common import Errors, Moves


class Sum(Moves):
    """Sums."""

    kernel = "sum"


class Mean(Moves):
    """Means."""

    kernel = "mean"


class Max(Moves):
    """Maxima."""

    kernel = "max"


class Logsumexp(Moves):
    """Logarithms of sums of exponentials."""

    kernel = "logsumexp"


class Argmax(Moves):
    """Places of maxima."""

    kernel = "argmax"


class Softmax(Moves):
    """Softmax."""

    kernel = "softmax"


class SoftmaxBackward(Moves):
    """The gradient of softmax."""

    kernel = "softmax_backward"


class CrossEntropy(Moves):
    """Cross-entropy and its gradient."""

    kernel = "cross_entropy"


class Accuracy(Errors):
    """Their largest errors."""

    kernels = (
        "sum",
        "mean",
        "max",
        "logsumexp",
        "argmax",
        "softmax",
        "softmax_backward",
        "cross_entropy",
    )

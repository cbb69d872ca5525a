# SPDX-License-Identifier: MIT
"""Optimizers: one call for all parameters."""

from benchmarks.common import Errors, Moves


class SGD(Moves):
    """SGD with momentum."""

    kernel = "sgd"


class AdamW(Moves):
    """AdamW."""

    kernel = "adamw"


class Lion(Moves):
    """Lion."""

    kernel = "lion"


class RMSprop(Moves):
    """RMSprop."""

    kernel = "rmsprop"


class Adagrad(Moves):
    """Adagrad."""

    kernel = "adagrad"


class GradNorm(Moves):
    """The norm of all gradients, for clipping."""

    kernel = "grad_norm"


class Accuracy(Errors):
    """Their largest errors."""

    kernels = ("sgd", "adamw", "lion", "rmsprop", "adagrad", "grad_norm")

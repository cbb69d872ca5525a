# SPDX-License-Identifier: MIT
"""Normalisations."""

from benchmarks.common import Errors, Moves


class LayerNorm(Moves):
    """Over rows."""

    kernel = "layer_norm"


class LayerNormBackward(Moves):
    """Its gradients."""

    kernel = "layer_norm_backward"


class RMSNorm(Moves):
    """By the root of the mean square."""

    kernel = "rms_norm"


class RMSNormBackward(Moves):
    """Its gradients."""

    kernel = "rms_norm_backward"


class BatchNorm(Moves):
    """Over the images of a batch."""

    kernel = "batch_norm"


class BatchNormBackward(Moves):
    """Its gradients."""

    kernel = "batch_norm_backward"


class Accuracy(Errors):
    """Their largest errors."""

    kernels = (
        "layer_norm",
        "layer_norm_backward",
        "rms_norm",
        "rms_norm_backward",
        "batch_norm",
        "batch_norm_backward",
    )

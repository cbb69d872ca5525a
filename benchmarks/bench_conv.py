# SPDX-License-Identifier: MIT
"""Convolutions."""

from benchmarks.common import Errors, Products


class Conv(Products):
    """Forward."""

    kernel = "conv"


class ConvDx(Products):
    """The gradient of the images."""

    kernel = "conv_dx"


class ConvDweight(Products):
    """The gradient of the filters."""

    kernel = "conv_dweight"


class Accuracy(Errors):
    """Their largest errors."""

    kernels = ("conv", "conv_dx", "conv_dweight")

# SPDX-License-Identifier: MIT
"""Classifiers of videos: R3D, a ResNet whose convolutions have three dimensions.

Tran and others: A closer look at spatiotemporal convolutions for action recognition
(CVPR 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.zoo.convolutional import residual_type
from benchmarks.zoo.work import Make, Work, classes


def conv_norm(nn: Any, ins: int, outs: int, kernel: int, stride: int = 1) -> list[Any]:
    """Return a convolution without bias that keeps the size, and its batch norm."""
    conv = nn.Conv3d(ins, outs, kernel, stride, kernel // 2, bias=False)
    return [conv, nn.BatchNorm3d(outs)]


def block(nn: Any, ins: int, width: int, stride: int) -> Any:
    """Return two convolutions of 3 x 3 x 3, and what skips them."""
    layers = conv_norm(nn, ins, width, 3, stride)
    layers += [nn.ReLU(inplace=True), *conv_norm(nn, width, width, 3)]
    changes = stride > 1 or ins != width
    shortcut = conv_norm(nn, ins, width, 1, stride) if changes else []
    return residual_type(nn)(layers, shortcut, relu=True)


def r3d(nn: Any, width: int = 32) -> Any:
    """Return a small R3D of ten classes: four stages of one block."""
    stem = nn.Conv3d(3, width, (3, 7, 7), (1, 2, 2), (1, 3, 3), bias=False)
    layers = [stem, nn.BatchNorm3d(width), nn.ReLU(inplace=True)]
    ins = width
    for stage in range(4):
        layers.append(block(nn, ins, width << stage, 2 if stage else 1))
        ins = width << stage
    mean = nn.AdaptiveAvgPool3d(1)
    return nn.Sequential(*layers, mean, nn.Flatten(), nn.Linear(ins, 10))


def videos(batch: int, length: int, size: int) -> Make:
    """Return the work of a classifier of square videos in colour."""

    def make(ml: Any, lay: Callable[[Any], Any]) -> Work:
        clips = ml.randn(batch, 3, length, size, size)
        return Work(r3d(ml.nn), (clips,), classes(ml, batch))

    return make

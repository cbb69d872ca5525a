# SPDX-License-Identifier: MIT
"""Classifiers of images by convolutions: ResNet, VGG, MobileNet.

He, Zhang, Ren, Sun: Deep residual learning (2015); Simonyan, Zisserman: Very deep
convolutional networks (2014); Sandler and others: MobileNetV2 (CVPR 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.zoo.work import Make, Work, classes


def conv_norm(
    nn: Any, ins: int, outs: int, kernel: int, stride: int = 1, groups: int = 1
) -> list[Any]:
    """Return a convolution without bias that keeps the size, and its batch norm."""
    conv = nn.Conv2d(ins, outs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return [conv, nn.BatchNorm2d(outs)]


def residual_type(nn: Any) -> type[Any]:
    """Return the class of a block that adds its input to what its layers answer."""

    class Residual(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, layers: list[Any], shortcut: list[Any], relu: bool) -> None:
            super().__init__()
            self.layers = nn.Sequential(*layers)
            self.shortcut = nn.Sequential(*shortcut)
            self.relu = nn.ReLU(inplace=True) if relu else nn.Identity()

        def forward(self, x: Any) -> Any:
            return self.relu(self.layers(x) + self.shortcut(x))

    return Residual


def basic(nn: Any, ins: int, width: int, stride: int) -> Any:
    """Return ResNet-18's block: two convolutions of 3 x 3."""
    layers = conv_norm(nn, ins, width, 3, stride)
    layers += [nn.ReLU(inplace=True), *conv_norm(nn, width, width, 3)]
    changes = stride > 1 or ins != width
    shortcut = conv_norm(nn, ins, width, 1, stride) if changes else []
    return residual_type(nn)(layers, shortcut, relu=True)


def bottleneck(nn: Any, ins: int, width: int, stride: int) -> Any:
    """Return ResNet-50's block: 1 x 1, 3 x 3, and 1 x 1 to four times the width."""
    layers = [*conv_norm(nn, ins, width, 1), nn.ReLU(inplace=True)]
    layers += [*conv_norm(nn, width, width, 3, stride), nn.ReLU(inplace=True)]
    layers += conv_norm(nn, width, 4 * width, 1)
    changes = stride > 1 or ins != 4 * width
    shortcut = conv_norm(nn, ins, 4 * width, 1, stride) if changes else []
    return residual_type(nn)(layers, shortcut, relu=True)


def inverted(nn: Any, ins: int, outs: int, stride: int, expand: int) -> Any:
    """Return MobileNetV2's block: 1 x 1 to more, depthwise 3 x 3, 1 x 1 to less."""
    hidden = expand * ins
    layers = [*conv_norm(nn, ins, hidden, 1), nn.ReLU6(inplace=True)]
    layers = layers if expand > 1 else []
    layers += [*conv_norm(nn, hidden, hidden, 3, stride, hidden)]
    layers += [nn.ReLU6(inplace=True), *conv_norm(nn, hidden, outs, 1)]
    if stride > 1 or ins != outs:
        return nn.Sequential(*layers)
    return residual_type(nn)(layers, [], relu=False)


def head(nn: Any, features: int) -> list[Any]:
    """Return the mean over the positions, and ten classes of it."""
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(features, 10)]


def resnet(
    nn: Any, block: Callable[..., Any], depths: list[int], grows: int, small: bool
) -> Any:
    """Return a ResNet; for small images its first layer does not shrink them."""
    layers = [*conv_norm(nn, 3, 64, 3 if small else 7, 1 if small else 2)]
    layers.append(nn.ReLU(inplace=True))
    if not small:
        layers.append(nn.MaxPool2d(3, 2, 1))
    ins = 64
    for stage, depth in enumerate(depths):
        width = 64 << stage
        for i in range(depth):
            layers.append(block(nn, ins, width, 2 if stage and i == 0 else 1))
            ins = grows * width
    return nn.Sequential(*layers, *head(nn, ins))


def resnet18(nn: Any, small: bool = False) -> Any:
    """Return ResNet-18 of ten classes."""
    return resnet(nn, basic, [2, 2, 2, 2], 1, small)


def resnet50(nn: Any) -> Any:
    """Return ResNet-50 of ten classes."""
    return resnet(nn, bottleneck, [3, 4, 6, 3], 4, small=False)


def vgg(nn: Any) -> Any:
    """Return VGG-11 for images of 32 x 32, with batch norm."""
    layers: list[Any] = []
    ins = 3
    for width in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512):
        if width == 0:
            layers.append(nn.MaxPool2d(2))
            continue
        layers += [*conv_norm(nn, ins, width, 3), nn.ReLU(inplace=True)]
        ins = width
    return nn.Sequential(*layers, *head(nn, ins))


#: MobileNetV2's stages: expansion, channels, blocks, stride of the first for 32 x 32.
STAGES = [
    (1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2),
    (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
]  # fmt: skip


def mobilenet(nn: Any, small: bool = True) -> Any:
    """Return MobileNetV2 of ten classes."""
    layers = [*conv_norm(nn, 3, 32, 3, 1 if small else 2), nn.ReLU6(inplace=True)]
    ins = 32
    for expand, outs, blocks, first in STAGES:
        stride = first if small or outs != 24 else 2
        for i in range(blocks):
            layers.append(inverted(nn, ins, outs, stride if i == 0 else 1, expand))
            ins = outs
    layers += [*conv_norm(nn, ins, 1280, 1), nn.ReLU6(inplace=True)]
    return nn.Sequential(*layers, *head(nn, 1280))


def classifier(model: Callable[[Any], Any], batch: int, size: int) -> Make:
    """Return the work of a classifier of square images in colour."""

    def make(ml: Any, lay: Callable[[Any], Any]) -> Work:
        images = lay(ml.randn(batch, 3, size, size))
        return Work(lay(model(ml.nn)), (images,), classes(ml, batch))

    return make

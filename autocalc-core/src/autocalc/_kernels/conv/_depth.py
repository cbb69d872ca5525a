# SPDX-License-Identifier: MIT
"""Compute convolutions of volumes as convolutions of images.

The windows of a volume [N, C, D, H, W] are split along the depth.  Output plane `d`
reads `kD` planes of each channel; these planes become the channels of one image::

    image (n, d), channel (c, i) = x[n, c, d * stride - padding + i * dilation]

The weight [O, C / groups, kD, kH, kW] can be viewed as a weight for the images with C /
groups * kD channels, without a copy.  Then kernels for images run, including Winograd
kernels.  For 64 channels of 16 x 56 x 56 and 3 x 3 x 3 taps, the two copies take about
5 % of the time.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from autocalc._kernels.spec import Array, Shape
from autocalc._kernels.windows import Ints, Windows, padded_in


class Depth(NamedTuple):
    """The windows along the depth of volumes."""

    windows: Windows
    #: The number of planes of the volumes, and of the windows.
    planes: int
    outputs: int

    @property
    def high(self) -> int:
        """The number of planes of zeros after the volume."""
        return self.windows.high((self.planes,), (self.outputs,))[0]

    @property
    def padding(self) -> int:
        """The number of planes of zeros before the volume."""
        return self.windows.padding[0]

    def places(self) -> list[Any]:
        """Return an index for each tap: the whole batch, and the planes it reads."""
        return [(slice(None), *place) for place in self.windows.places((self.outputs,))]


def depth_and_flat(
    planes: int, outputs: int, kernel: int, geometry: tuple[Ints, ...]
) -> tuple[Depth, tuple[Ints, ...]]:
    """Return the windows along the depth, and the windows in the images."""
    stride, padding, dilation = (values[:1] for values in geometry)
    windows = Windows((kernel,), stride, padding, dilation)
    return Depth(windows, planes, outputs), tuple(values[1:] for values in geometry)


def images_of(k: Any, x: Array, depth: Depth) -> Array:
    """Return volumes [N, C, D, H, W] as images [N * D', C * kD, H, W]."""
    batch, channels, _, *sides = k.shape(x)
    area = math.prod(sides)
    planes = k.permute(x, (0, 2, 1, 3, 4))
    planes = padded_in(k, planes, (depth.padding, 0, 0, 0), (depth.high, 0, 0, 0))
    shape = (batch, depth.outputs, channels, 1, area)
    taps = [k.reshape(k.slice(planes, place), shape) for place in depth.places()]
    windows = taps[0] if len(taps) == 1 else k.cat(taps, 3)
    return k.reshape(windows, (batch * depth.outputs, channels * len(taps), *sides))


def volumes_of(k: Any, images: Array, batch: int, depth: Depth) -> Array:
    """Apply the adjoint of `images_of`: sum each plane over its uses in the images."""
    places = depth.places()
    _, rows, *sides = k.shape(images)
    channels = rows // len(places)
    shape = (batch, depth.outputs, channels, len(places), *sides)
    windows = k.reshape(images, shape)
    planes = depth.padding + depth.planes + depth.high
    total = k.zeros((batch, planes, channels, *sides), k.dtype(images))
    for i, place in enumerate(places):
        part = k.slice(windows, (slice(None),) * 3 + (i,))
        total = k.add_into_slice(total, place, part)
    middle = slice(depth.padding, depth.padding + depth.planes)
    kept = k.slice(total, (slice(None), middle))
    return k.contiguous(k.permute(kept, (0, 2, 1, 3, 4)))


def planes_of(k: Any, volumes: Array) -> Array:
    """Return [N, O, D', H', W'] as [N * D', O, H', W']."""
    batch, channels, count, *sides = k.shape(volumes)
    planes = k.permute(volumes, (0, 2, 1, 3, 4))
    return k.reshape(planes, (batch * count, channels, *sides))


def joined_planes(k: Any, planes: Array, outputs: int) -> Array:
    """Return [N * D', O, H', W'] as [N, O, D', H', W']."""
    images, channels, *sides = k.shape(planes)
    volumes = k.reshape(planes, (images // outputs, outputs, channels, *sides))
    return k.contiguous(k.permute(volumes, (0, 2, 1, 3, 4)))


def of_images(weight_shape: Shape) -> Shape:
    """Return the shape of a weight for volumes, viewed as a weight for images."""
    outs, ins, taps, *kernel = weight_shape
    return (outs, ins * taps, *kernel)

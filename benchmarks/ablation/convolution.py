# SPDX-License-Identifier: MIT
"""The plan's items of convolution and batch norm: O-3, O-4, O-6, O-7, O-9, O-16, O-18.

A layer of a residual network, 3 x 3 with a padding of 1: batch 32 of 32 channels of
28 x 28, where not said otherwise.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import autocalc as ac
from autocalc._dispatch.selection.arrays import arrays
from autocalc._kernels.table import TABLE
from benchmarks.ablation.item import Item, floats, pointer

F = ac.nn.functional
IMAGES, CHANNELS, SIDE = 32, 32, 28
LIE = ((1, 1), (1, 1), (1, 1), 1)  # stride, padding, dilation, groups
LAYER = f"{IMAGES}x{CHANNELS}x{SIDE}x{SIDE}, {CHANNELS} of 3x3"


def convolutions(library: ctypes.CDLL) -> Iterator[Item]:
    """Yield the items in the plan's order."""
    images = (IMAGES, CHANNELS, SIDE, SIDE)
    x, g, weight = floats(*images), floats(*images), floats(CHANNELS, CHANNELS, 3, 3)
    yield _products_for_the_images(library, g, weight)
    yield _one_node(x, weight)
    yield _products_for_the_weights(x, g)
    yield _batch_norm_in_two_passes(x, g)
    yield Item(
        9,
        "gradients of images by several threads, without atomics",
        f"conv_dx {LAYER}",
        lambda: _dx(g, weight),
        lambda: _dx(g, weight),
        2,
        before_threads=1,
    )
    yield _norm_and_relu_together(x, weight)
    yield _winograd(x, weight)


def _dx(g: Any, weight: Any) -> Any:
    return arrays.conv_dx(g, weight, None, (SIDE, SIDE), *LIE)


def _products_for_the_images(library: ctypes.CDLL, g: Any, weight: Any) -> Item:
    out = floats(*g.shape)
    sizes = [ctypes.c_long(n) for n in (IMAGES, CHANNELS, CHANNELS, SIDE, SIDE)]

    def loops() -> object:
        library.ablation_conv_dx(*sizes, *map(pointer, (g, weight, out)))
        return out

    change = "gradients of images as products, not loops over windows"
    return Item(3, change, f"conv_dx {LAYER}", loops, lambda: _dx(g, weight))


def _one_node(x: Any, weight: Any) -> Item:
    """Forward with a graph, on few small images: what the nodes cost shows."""
    image = ac.tensor(x[:1, :, :6, :6])
    filters = ac.tensor(weight).requires_grad_()

    def by_operators() -> object:
        columns = F.unfold(image, 3, padding=1)
        return (filters.reshape(CHANNELS, -1) @ columns).reshape(1, CHANNELS, 6, 6)

    def one() -> object:
        return F.conv2d(image, filters, padding=1)

    change = "one node for a convolution instead of one for each step of it"
    return Item(
        4, change, f"conv 1x{CHANNELS}x6x6, {CHANNELS} of 3x3", by_operators, one
    )


def _products_for_the_weights(x: Any, g: Any) -> Item:
    """Before: a matrix of patches, and transposes that are copied."""
    flat = g.reshape(IMAGES, CHANNELS, SIDE * SIDE)

    def by_patches() -> object:
        columns = arrays.unfold(x, (3, 3), (1, 1), (1, 1), (1, 1))
        turned = arrays.copy(columns.transpose(0, 2, 1))
        whole = arrays.sum(arrays.gemm(flat, turned, None)[0], (0,), False)
        return whole.reshape(CHANNELS, CHANNELS, 3, 3)

    def in_place() -> object:
        return arrays.conv_dweight(g, x, (3, 3), *LIE)[0]

    change = "gradients of weights without a matrix of patches or a transpose"
    return Item(6, change, f"conv_dweight {LAYER}", by_patches, in_place)


def _batch_norm_in_two_passes(x: Any, g: Any) -> Item:
    weight, bias = floats(CHANNELS), floats(CHANNELS)

    def both(forward: Callable[..., Any], backward: Callable[..., Any]) -> object:
        out, mean, var = forward(x, weight, bias, 1e-5)
        return out, backward(g, x, mean, var, weight, 1e-5, want=0b111)

    def in_primitives() -> object:
        forward, backward = (
            TABLE[name].decomposition for name in ("batch_norm", "batch_norm_backward")
        )
        assert forward is not None and backward is not None  # noqa: PT018  for types
        return both(
            lambda *args: forward(arrays, *args),
            lambda *args, want: backward(arrays, *args, want=want),
        )

    change = "batch norm in two passes each way"
    return Item(
        7,
        change,
        f"batch_norm and its backward, {IMAGES}x{CHANNELS}x{SIDE}x{SIDE}",
        in_primitives,
        lambda: both(arrays.batch_norm, arrays.batch_norm_backward),
    )


def _norm_and_relu_together(x: Any, weight: Any) -> Item:
    scale, shift = floats(CHANNELS), floats(CHANNELS)

    def apart() -> object:
        y = arrays.conv(x, weight, None, *LIE)
        return arrays.relu(arrays.batch_norm(y, scale, shift, 1e-5)[0])

    def together() -> object:
        y = arrays.conv(x, weight, None, *LIE)
        return arrays.batch_norm_activation(
            y, scale, shift, None, 1e-5, "relu", 0.0, 0.0
        )[0]

    change = "batch norm and ReLU as one kernel after a convolution"
    return Item(16, change, f"conv, batch_norm, relu {LAYER}", apart, together)


def _winograd(x: Any, weight: Any) -> Item:
    """Before: the next set, which computes the direct sum."""
    sets = [name for name in ac.kernels.available() if name.startswith("simd-")]

    def convolve() -> object:
        return arrays.conv(x, weight, None, *LIE)

    def as_it_stands() -> object:
        with ac.kernels.use(sets[0]):
            return convolve()

    change = "Winograd's F(4 x 4, 3 x 3)" if sets else "no set with Winograd installed"
    return Item(
        18, change, f"conv {LAYER}", as_it_stands if sets else convolve, convolve
    )

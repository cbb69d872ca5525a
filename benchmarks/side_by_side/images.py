# SPDX-License-Identifier: MIT
"""Convolutions and a residual network in the names that AutoCalc and PyTorch share.

Each runs in whichever of the two layouts a trial finds faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.side_by_side.step import sgd_step
from benchmarks.worker import Run

#: Calls that decide which layout is faster.
TRIALS = 5

#: What a layer computes: its result, and the gradients of its two operands.
PARTS = ("forward", "dx", "dweight")


class Layer(NamedTuple):
    """A convolution of square images with square filters."""

    batch: int
    ins: int
    outs: int
    kernel: int
    size: int
    stride: int = 1
    groups: int = 1

    def __str__(self) -> str:
        depthwise = "depthwise " if self.groups > 1 else ""
        by = f" by {self.stride}" if self.stride > 1 else ""
        return (
            f"{depthwise}{self.kernel}x{self.kernel}{by}, {self.ins}-{self.outs}, "
            f"{self.batch}x{self.size}x{self.size}"
        )


def layer(sizes: Layer, part: str) -> Callable[[Any], Run]:
    """Return the case of a part of a convolution."""
    return lambda ml: fastest(ml, lambda lay: _layer(ml, lay, sizes, part))


def resnet_step(batch: int) -> Callable[[Any], Run]:
    """Return the case of a step of a small ResNet, images of 28 x 28."""
    return lambda ml: fastest(ml, lambda lay: _resnet_step(ml, lay, batch))


def fastest(ml: Any, make: Callable[[Callable[[Any], Any]], Run]) -> Run:
    """Return the work in the layout that is faster: `make` is given what lays out."""
    usual, last = ml.contiguous_format, ml.channels_last
    return min((make(_layouts(kind)) for kind in (usual, last)), key=trial)


def _layouts(kind: Any) -> Callable[[Any], Any]:
    """Return what brings images and modules into a memory format."""
    return lambda images: images.to(memory_format=kind)


def trial(run: Run) -> float:
    """Return the seconds of a run, the shortest of some."""
    run()
    times = []
    for _ in range(TRIALS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def _layer(ml: Any, lay: Callable[[Any], Any], sizes: Layer, part: str) -> Run:
    n, ins, outs, kernel, size, stride, groups = sizes
    convolve = ml.nn.functional.conv2d
    x = lay(ml.randn(n, ins, size, size))
    weight = lay(ml.nn.Conv2d(ins, outs, kernel, groups=groups)).weight.detach()
    settings = None, stride, kernel // 2, 1, groups
    if part == "forward":

        def forward() -> object:
            with ml.no_grad():
                return convolve(x, weight, *settings)

        return forward
    of = (x if part == "dx" else weight).requires_grad_()
    out = convolve(x, weight, *settings)
    cotangent = lay(ml.randn(*out.shape))
    return lambda: ml.autograd.grad(out, of, cotangent, retain_graph=True)


def _joined(ml: Any) -> Callable[..., Any]:
    """Return relu(norm(conv(x)) + residual) in the fastest spelling of a library."""
    if ml.__name__ == "autocalc":
        joined: Callable[..., Any] = ml.nn.utils.conv_norm_relu
        return joined
    relu = ml.nn.functional.relu

    def in_place(conv: Any, norm: Any, x: Any, residual: Any = None) -> Any:
        y = norm(conv(x))
        return relu(y if residual is None else y + residual, inplace=True)

    return in_place


def block_type(ml: Any) -> type[Any]:
    """Return the class of a residual block, a module of the library `ml`."""
    nn, joined = ml.nn, _joined(ml)

    class Block(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, ins: int, outs: int, stride: int) -> None:
            super().__init__()
            self.conv_1 = nn.Conv2d(ins, outs, 3, stride, 1, bias=False)
            self.conv_2 = nn.Conv2d(outs, outs, 3, 1, 1, bias=False)
            self.norm_1, self.norm_2 = nn.BatchNorm2d(outs), nn.BatchNorm2d(outs)
            self.shortcut = nn.Identity()
            if stride > 1:
                conv = nn.Conv2d(ins, outs, 1, stride, bias=False)
                self.shortcut = nn.Sequential(conv, nn.BatchNorm2d(outs))

        def forward(self, x: Any) -> Any:
            y = joined(self.conv_1, self.norm_1, x)
            return joined(self.conv_2, self.norm_2, y, self.shortcut(x))

    return Block


def _resnet_step(ml: Any, lay: Callable[[Any], Any], batch: int) -> Run:
    ml.manual_seed(0)
    nn, make_block = ml.nn, block_type(ml)
    stem = nn.Conv2d(1, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU()
    blocks = make_block(32, 32, 1), make_block(32, 64, 2), make_block(64, 128, 2)
    pool = nn.AdaptiveAvgPool2d(1), nn.Flatten()
    model = lay(nn.Sequential(*stem, *blocks, *pool, nn.Linear(128, 10)))
    x, target = lay(ml.randn(batch, 1, 28, 28)), ml.randint(0, 10, (batch,))
    return sgd_step(ml, model.parameters(), lambda: model(x), target, 0.05, 0.9)

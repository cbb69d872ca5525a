# SPDX-License-Identifier: MIT
"""Fourier transforms, whose complex numbers are pairs in the last dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._kernels.spec import Array
from autocalc._ops.arranging import joining
from autocalc._ops.creation.from_data import from_numpy
from autocalc._ops.matrices import matmul
from autocalc._tensor import Tensor, dtypes
from autocalc.nn import functional
from autocalc.onnx._node import Node
from autocalc.onnx._table import reads


def _matrix(rows: int, columns: int, size: int, inverse: bool) -> tuple[Array, Array]:
    """Return cosines and sines ``[rows, columns]`` of a transform of `size` numbers."""
    product = np.outer(np.arange(rows), np.arange(columns)) % size
    angle = 2 * np.pi * product / size
    return np.cos(angle), np.sin(angle) if inverse else -np.sin(angle)


def _transform(x: Tensor, size: int, inverse: bool, half: bool) -> Tensor:
    """Transform ``x [..., N, 1 or 2]`` by products with two matrices."""
    parts = [x[..., i] for i in range(x.shape[-1])]
    used = min(x.shape[-2], size)
    parts = [one.narrow(-1, 0, used) for one in parts]
    if inverse and half:
        return _real(parts, size).unsqueeze(-1)
    rows = size // 2 + 1 if half else size
    cosines, sines = (
        from_numpy(m).to(x.dtype) for m in _matrix(used, rows, size, inverse)
    )
    real, imaginary = matmul.matmul(parts[0], cosines), matmul.matmul(parts[0], sines)
    if len(parts) == 2:
        real = real - matmul.matmul(parts[1], sines)
        imaginary = imaginary + matmul.matmul(parts[1], cosines)
    out = joining.stack([real, imaginary], -1)
    return out / size if inverse else out


def _real(parts: list[Tensor], size: int) -> Tensor:
    """Return the real numbers of which these are the first half of a transform."""
    used = min(parts[0].shape[-1], size // 2 + 1)
    cosines, sines = _matrix(used, size, size, True)
    doubled = np.full((used, 1), 2.0)
    doubled[0] = 1
    if size % 2 == 0 and used == size // 2 + 1:
        doubled[-1] = 1
    dtype = parts[0].dtype
    out = matmul.matmul(parts[0][..., :used], from_numpy(cosines * doubled).to(dtype))
    if len(parts) == 2:
        exact = from_numpy(sines * doubled).to(dtype)
        out = out - matmul.matmul(parts[1][..., :used], exact)
    return out / size


@reads("DFT", numbers=(1, 2), unused=("axis",))
def _(
    node: Node,
    x: Tensor,
    length: list[int] | None = None,
    axes: list[int] | None = None,
) -> Tensor:
    axis = node.get("axis", 1) if node.opset < 20 else (axes[0] if axes else -2)
    inverse, half = bool(node.get("inverse", 0)), bool(node.get("onesided", 0))
    axis %= x.ndim
    count = x.shape[axis]
    size = length[0] if length else 2 * (count - 1) if inverse and half else count
    moved = x.movedim(axis, -2)
    return _transform(moved, size, inverse, half).movedim(-2, axis)


@reads("STFT", numbers=(1, 3))
def _(
    node: Node,
    x: Tensor,
    step: list[int],
    window: Tensor | None = None,
    length: list[int] | None = None,
) -> Tensor:
    size = length[0] if length else x.shape[1] if window is None else window.shape[0]
    count = 1 + (x.shape[1] - size) // step[0]
    frames = [x[:, i * step[0] : i * step[0] + size] for i in range(count)]
    every = joining.stack(frames, 1)
    if window is not None:
        behind = size - window.shape[0]
        every = every * functional.pad(window, [0, behind]).reshape(-1, 1)
    return _transform(every, size, False, bool(node.get("onesided", 1)))


@reads("MelWeightMatrix", numbers=(0, 1, 2, 3, 4), unused=("output_datatype",))
def _(
    node: Node,
    bins: list[int],
    length: list[int],
    rate: list[int],
    low: list[float],
    high: list[float],
) -> Tensor:
    """Return triangles over frequencies that are even on the mel scale."""
    ends = 2595 * np.log10(1 + np.array([low[0], high[0]]) / 700)
    mels = ends[0] + np.arange(bins[0] + 2) * (ends[1] - ends[0]) / (bins[0] + 2)
    hertz = 700 * (10 ** (mels / 2595) - 1)
    places = np.floor((length[0] + 1) * hertz / rate[0]).astype(np.int64)
    out: Any = np.zeros((length[0] // 2 + 1, bins[0]), np.float32)
    for i in range(bins[0]):
        first, middle, last = places[i : i + 3]
        if middle == first:
            out[middle, i] = 1
        else:
            rows = np.arange(first, middle + 1)
            out[rows, i] = (rows - first) / (middle - first)
        if last > middle:
            rows = np.arange(middle, last)
            out[rows, i] = (last - rows) / (last - middle)
    return from_numpy(out).to(node.dtype("output_datatype", dtypes.float32))

# SPDX-License-Identifier: MIT
"""The array namespace `xp` for NumPy, which references use.

It consists of NumPy's functions and of a few functions that NumPy lacks.  It also
replaces functions of NumPy whose Python overhead is larger than their work on a few
elements.  A device with another array library passes a module with the same names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from autocalc._kernels import rules
from autocalc._kernels.linalg import _numpy as linalg  # noqa: F401  xp.linalg
from autocalc._kernels.philox import philox_words
from autocalc._kernels.spec import Array, Shape

_erf = np.frompyfunc(math.erf, 1, 1)
_erfc = np.frompyfunc(math.erfc, 1, 1)


def erf(a: Array) -> Array:
    """Return the error function of `a` in float64."""
    return np.asarray(_erf(a), dtype=np.float64)


def erfc(a: Array) -> Array:
    """Return 1 minus the error function of `a`, in float64."""
    return np.asarray(_erfc(a), dtype=np.float64)


#: The number of terms that are added one after the other in a long sum.
_RUN = 4096


def _is_long(a: Array, axis: Any) -> bool:
    """Return whether many float64 numbers are reduced to one."""
    axes = (axis,) if isinstance(axis, int) else axis
    count = a.size if axes is None else math.prod(a.shape[i] for i in axes)
    return bool(a.dtype == np.float64 and count > 4 * _RUN)


def _reduction(ufunc: Any, exact: bool = False) -> Any:
    """Return NumPy's reduction by a ufunc, without three outer Python frames.

    If `exact` is True, a reduction of many float64 numbers is computed in long double.
    """
    reduce = ufunc.reduce

    def reduced(
        a: Array, axis: Any = None, *, keepdims: bool = False, **more: Any
    ) -> Any:
        if exact and a.size > 4 * _RUN and not more and _is_long(a, axis):
            # For all axes except the last, NumPy adds the elements one after another.
            out = reduce(a, axis, np.longdouble, None, keepdims)
            return out.astype(np.float64)
        if more:  # a dtype, or an initial value
            return reduce(a, axis, keepdims=keepdims, **more)
        return reduce(a, axis, None, None, keepdims)

    return reduced


sum = _reduction(np.add, exact=True)
prod = _reduction(np.multiply, exact=True)
max = _reduction(np.maximum)
min = _reduction(np.minimum)


def any(a: Array) -> bool:
    """Return whether at least one element is not 0."""
    return bool(np.count_nonzero(a))


def all(a: Array) -> bool:
    """Return whether no element is 0."""
    return bool(np.count_nonzero(a) == a.size)


def swapaxes(a: Array, axis: int, other: int) -> Array:
    """Return a view of `a` with two dimensions exchanged."""
    return a.swapaxes(axis, other)


def take(a: Array, index: Array, axis: int) -> Array:
    """Return the slices of `a` that `index` selects along an axis."""
    return a.take(index, axis)


def repeat(a: Array, times: int, axis: int) -> Array:
    """Return `a` with each slice along an axis repeated `times` times."""
    return a.repeat(times, axis)


def argmax(a: Array, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Return the position of the first maximum along an axis."""
    return a.argmax(axis, keepdims=keepdims)


#: Some of NumPy's functions, such as `argsort` and `broadcast_shapes`, only support the
#: number of dimensions of NumPy 1.  With more dimensions, `ufunc.at` writes outside of
#: its memory.
_OLD_MOST = 32


def argsort(a: Array, axis: int, kind: Any) -> Array:
    """Return the order of the elements along an axis."""
    if a.ndim > _OLD_MOST:
        before, after = math.prod(a.shape[:axis]), math.prod(a.shape[axis + 1 :])
        return argsort(a.reshape(before, -1, after), 1, kind).reshape(a.shape)
    return a.argsort(axis, kind)


def broadcast_arrays(a: Array, b: Array) -> tuple[Array, Array]:
    """Return two arrays, broadcast to a common shape."""
    shape = broadcast_shapes(a.shape, b.shape)
    return np.broadcast_to(a, shape), np.broadcast_to(b, shape)


broadcast_shapes = partial(rules.broadcast_shapes, "broadcast")


def searchsorted(line: Array, values: Array, side: Any) -> Array:
    """Return the positions of values in a sorted 1-d array."""
    return line.searchsorted(values, side)


def cumsum(a: Array, axis: int) -> Array:
    """Return running sums of `a`, by blocks; float64 is summed in long double."""
    n = a.shape[axis]
    dtype = np.longdouble if a.dtype == np.float64 else a.dtype
    if n <= _RUN or a.dtype.kind != "f":
        return np.cumsum(a, axis=axis)
    lines = np.moveaxis(a, axis, -1)
    runs = [
        np.cumsum(lines[..., i : i + _RUN], axis=-1, dtype=dtype)
        for i in range(0, n, _RUN)
    ]
    before = np.zeros(lines.shape[:-1], dtype)
    for run in runs:
        np.add(run, before[..., None], out=run)
        before = run[..., -1]
    out = np.concatenate(runs, axis=-1).astype(a.dtype)
    return np.moveaxis(out, -1, axis)


def matmul(a: Array, b: Array) -> Array:
    """Return the matrix product; long sums are split in halves."""
    half = a.shape[-1] // 2
    if half < 2 * _RUN:
        return np.matmul(a, b)
    first = matmul(a[..., :half], b[:half] if b.ndim == 1 else b[..., :half, :])
    rest = matmul(a[..., half:], b[half:] if b.ndim == 1 else b[..., half:, :])
    return np.asarray(first + rest)


def clip(a: Array, low: Any, high: Any) -> Array:
    """Return `a` clipped to limits; NaN is kept."""
    return np.minimum(np.maximum(a, low), high)


round = np.rint


def transpose(a: Array, axes: Shape) -> Array:
    """Return a view of `a` with permuted dimensions."""
    return a.transpose(axes)


def full(shape: Any, value: Any, dtype: Any) -> Array:
    """Return a new array that is filled with a number."""
    out = np.empty(shape, dtype)
    out.fill(value)
    return out


def open_grid(shape: Shape) -> tuple[Array, ...]:
    """Return the indices of each dimension, in shapes that broadcast to `shape`."""
    return _open_grid(shape) if math.prod(shape) <= _SMALL_GRID else _grid(shape)


def _grid(shape: Shape) -> tuple[Array, ...]:
    return tuple(np.indices(shape, sparse=True))


#: The largest number of positions for which grids are cached.
_SMALL_GRID = 1024
_open_grid = lru_cache(256)(_grid)


def take_along_axis(a: Array, index: Array, axis: int) -> Array:
    """Return ``a[i][index[i][j]]`` for axis 1, and the same for other axes."""
    if a.ndim == 1:
        return a.take(index)
    where = list(open_grid(index.shape))
    where[axis] = index
    if a.ndim > _OLD_MOST:
        return a.reshape(-1)[_in_line(a.shape, where)]
    return a[tuple(where)]


def out_of_range(index: Array, size: int) -> Array:
    """Return where 64-bit integers are not from 0 to `size` - 1."""
    return index.view(np.uint64) >= _unsigned(size)  # as unsigned, -1 is the largest


@lru_cache(1024)
def _unsigned(size: int) -> Array:
    return np.array(size, np.uint64)  # NumPy is half as fast with a Python int


def zeros_like(a: Array) -> Array:
    """Return zeros with the shape and dtype of `a`."""
    return np.zeros(a.shape, a.dtype)


def _at(ufunc: Any, a: Array, index: tuple[Any, ...], src: Array) -> Array:
    """Return a copy of `a`, changed by ``ufunc.at(a, index, src)``."""
    out: Array = np.array(a)
    if out.ndim > _OLD_MOST:
        return _at_in_line(ufunc, out, index, src)
    ufunc.at(out, index, src)
    return out


def _at_in_line(ufunc: Any, a: Array, index: tuple[Any, ...], src: Array) -> Array:
    """Compute `_at` for any number of dimensions, with flattened arrays."""
    out, places = a.reshape(-1), _in_line(a.shape, index)
    ufunc.at(out, places.reshape(-1), np.broadcast_to(src, places.shape).reshape(-1))
    return out.reshape(a.shape)


def _in_line(shape: Shape, index: Sequence[Any]) -> Array:
    """Return the flat positions of the elements that an index selects.

    `index` has an array for each dimension, or a single 1-d array and slices.
    """
    alone = isinstance(index[0], slice) or len(index) < len(shape)
    places: Any = 0
    for d, n in enumerate(shape):
        one = index[d] if d < len(index) else slice(None)
        if alone:
            line = np.arange(n) if isinstance(one, slice) else one
            one = line.reshape(-1, *[1] * (len(shape) - 1 - d))
        places = places * n + one
    return places


def index_mul(a: Array, index: tuple[Array, ...], src: Array) -> Array:
    """Return `a` after ``a[index] *= src``; repeated indices multiply repeatedly."""
    return _at(np.multiply, a, index, src)


def index_max(a: Array, index: tuple[Array, ...], src: Array) -> Array:
    """Return the larger of `a` and each ``src[i]`` at ``index[i]``; NaN wins."""
    return _at(np.maximum, a, index, src)


def index_min(a: Array, index: tuple[Array, ...], src: Array) -> Array:
    """Return the smaller of `a` and each ``src[i]`` at ``index[i]``; NaN wins."""
    return _at(np.minimum, a, index, src)


def index_set(a: Array, index: tuple[Any, ...], src: Array) -> Array:
    """Return `a` with ``src[i]`` at ``index[i]``; for equal indices, the last wins."""
    out: Array = np.array(a)
    if out.ndim > _OLD_MOST:
        line = out.reshape(-1)
        line[_in_line(a.shape, index)] = src
        return line.reshape(a.shape)
    out[index] = src
    return out


def index_add(a: Array, index: tuple[Array, ...], src: Array) -> Array:
    """Return `a` with ``src[i]`` added at ``index[i]``, in the order of `i`.

    If many numbers may be added at one position, the sums have a higher precision.
    """
    if a.dtype.kind != "f" or src.size <= _RUN:
        return _at(np.add, a, index, src)
    wide = a.astype(np.float64 if a.dtype.itemsize < 8 else np.longdouble)
    out: Array = _at(np.add, wide, index, src).astype(a.dtype)
    return out


def windows(
    a: Array, kernel: Shape, counts: Shape, stride: Shape, dilation: Shape
) -> Array:
    """Return the elements of windows over the last dims, [..., *kernel, *counts]."""
    lead = a.shape[: -len(kernel)]
    out = np.empty((*lead, *kernel, *counts), a.dtype)
    for tap, read in _taps(len(lead), kernel, counts, stride, dilation):
        out[tap] = a[read]
    return out


def add_windows(a: Array, sizes: Shape, stride: Shape, dilation: Shape) -> Array:
    """Apply the adjoint of `windows`: sum overlapping elements, [..., *sizes]."""
    dims = len(sizes)
    lead, kernel = a.shape[: -2 * dims], a.shape[-2 * dims : -dims]
    out = np.zeros((*lead, *sizes), a.dtype)
    for tap, read in _taps(len(lead), kernel, a.shape[-dims:], stride, dilation):
        out[read] += a[tap]
    return out


@lru_cache(256)
def _taps(
    lead: int, kernel: Shape, counts: Shape, stride: Shape, dilation: Shape
) -> tuple[tuple[Any, Any], ...]:
    """Return the index of each tap of windows, and the index that it reads."""
    whole = (slice(None),) * lead
    found = []
    for tap in np.ndindex(*kernel):
        each = zip(tap, dilation, counts, stride, strict=True)
        read = (slice(i * d, i * d + n * s, s) for i, d, n, s in each)
        found.append(((*whole, *tap), (*whole, *read)))
    return tuple(found)


def random_words(seed: int, start: int, count: int) -> Array:
    """Return words `start` to ``start + count`` of the Philox stream of `seed`."""
    return philox_words(seed, start, count)


def __getattr__(name: str) -> Any:
    """Return NumPy's function, and store it in this module."""
    value = globals()[name] = getattr(np, name)
    return value

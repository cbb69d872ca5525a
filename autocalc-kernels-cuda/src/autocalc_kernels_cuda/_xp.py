# SPDX-License-Identifier: MIT
"""`xp` for CuPy: the namespace that references are written against, on the device.

It is CuPy itself, what CuPy lacks, and what it does otherwise than NumPy.  Sums into
places that are named several times run in the order of their sources, as NumPy's do:
CuPy's own use atomic additions, whose order is another one in each run.

Decompositions of matrices are computed by NumPy on the host: their references rely on
LAPACK's errors, and no model that trains spends its time there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import cupy
import numpy as np

from autocalc_kernels_cuda._nvrtc import kernel
from autocalc_kernels_cuda._types import BLOCK, CTYPES, blocks

Shape = tuple[int, ...]

#: The widest format of the device.
longdouble = np.float64

broadcast_shapes = np.broadcast_shapes
ndindex = np.ndindex
round = cupy.rint


def errstate(**_: Any) -> Any:
    """Return a context that changes nothing: the device does not warn."""
    return nullcontext()


# ------------------------------------------------------------ functions of elements

_erf = cupy.ElementwiseKernel("float64 x", "float64 y", "y = erf(x)", "autocalc_erf")
_erfc = cupy.ElementwiseKernel("float64 x", "float64 y", "y = erfc(x)", "autocalc_erfc")


def erf(a: Any) -> Any:
    """Return the error function of `a` in float64."""
    return _erf(asarray(a).astype(np.float64))


def erfc(a: Any) -> Any:
    """Return 1 less the error function of `a`, in float64."""
    return _erfc(asarray(a).astype(np.float64))


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` where the condition holds, else `b`; each may be a number."""
    if not isinstance(condition, cupy.ndarray):
        condition = cupy.asarray(condition)
    return cupy.where(condition, _number(a), _number(b))


def clip(a: Any, low: Any, high: Any) -> Any:
    """Return `a` within limits; NaN stays."""
    return cupy.minimum(cupy.maximum(a, _number(low)), _number(high))


def _number(a: Any) -> Any:
    """Return a 0-d array of NumPy as the number in it, which CuPy takes."""
    return a[()] if isinstance(a, np.ndarray) and a.ndim == 0 else a


def asarray(a: Any, dtype: Any = None) -> Any:
    """Return `a` as an array of the device."""
    return cupy.asarray(_number(a), dtype)


def _with_accumulate(ufunc: Any) -> Any:
    """Return a function of two arrays that also has NumPy's `accumulate`."""

    def call(*operands: Any, **more: Any) -> Any:
        return ufunc(*map(_number, operands), **more)

    call.accumulate = lambda a, axis=0: _accumulate(ufunc, a, axis)  # type: ignore[attr-defined]
    return call


def _accumulate(ufunc: Any, a: Any, axis: int) -> Any:
    """Return the running result along an axis, by doubling: log2(n) steps."""
    out = cupy.moveaxis(a, axis, 0).copy()
    step = 1
    while step < len(out):
        moved = out.copy()
        moved[step:] = ufunc(out[:-step], out[step:])
        out, step = moved, 2 * step
    return cupy.moveaxis(out, 0, axis)


maximum = _with_accumulate(cupy.maximum)
minimum = _with_accumulate(cupy.minimum)
logaddexp = _with_accumulate(cupy.logaddexp)


# ------------------------------------------------------------ reductions


def sum(a: Any, axis: Any = None, *, keepdims: bool = False, dtype: Any = None) -> Any:
    """Return the sum over axes."""
    if axis == ():
        return _widened(a, dtype)
    return cupy.sum(a, axis=axis, dtype=dtype, keepdims=keepdims)


def prod(a: Any, axis: Any = None, *, keepdims: bool = False, dtype: Any = None) -> Any:
    """Return the product over axes."""
    if axis == ():
        return _widened(a, dtype)
    return cupy.prod(a, axis=axis, dtype=dtype, keepdims=keepdims)


def _widened(a: Any, dtype: Any) -> Any:
    """Return `a` in the dtype that NumPy adds it in."""
    if dtype is None:
        dtype = a.dtype if a.dtype.kind == "f" else np.dtype(np.int64)
    return a.astype(dtype)


def _extreme(reduce: Any, pair: Any) -> Callable[..., Any]:
    def reduced(
        a: Any, axis: Any = None, *, keepdims: bool = False, initial: Any = None
    ) -> Any:
        if axis == ():
            out = a.copy()
        elif initial is not None and a.size == 0:
            return full(_reduced(a.shape, axis, keepdims), initial, a.dtype)
        else:
            out = reduce(a, axis=axis, keepdims=keepdims)
        return out if initial is None else pair(out, initial)

    return reduced


def _reduced(shape: Shape, axis: Any, keepdims: bool) -> Shape:
    """Return the shape that a reduction leaves."""
    return np.empty(shape, np.bool_).any(axis=axis, keepdims=keepdims).shape


max = _extreme(cupy.max, cupy.maximum)
min = _extreme(cupy.min, cupy.minimum)


def any(a: Any) -> bool:
    """Return whether an element is not 0; the host waits for it."""
    return bool(cupy.any(asarray(a)))


def all(a: Any) -> bool:
    """Return whether no element is 0; the host waits for it."""
    return bool(cupy.all(asarray(a)))


def argmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Any:
    """Return where the largest element along an axis is, the first of equals."""
    return cupy.argmax(a, axis=axis, keepdims=keepdims)


# ------------------------------------------------------------ order and places


def swapaxes(a: Any, axis: int, other: int) -> Any:
    """Return a view of `a` with two dimensions exchanged."""
    return a.swapaxes(axis, other)


def transpose(a: Any, axes: Shape) -> Any:
    """Return a view of `a` with its dimensions in another order."""
    return a.transpose(axes)


def take(a: Any, index: Any, axis: int) -> Any:
    """Return the parts of `a` that `index` names along an axis."""
    return cupy.take(a, asarray(index), axis=axis)


def repeat(a: Any, times: int, axis: int) -> Any:
    """Return `a` with each part along an axis as often as said."""
    return cupy.repeat(a, times, axis)


def argsort(a: Any, axis: int, kind: Any = "stable") -> Any:
    """Return the order of the elements along an axis."""
    if a.size == 0:
        return cupy.zeros(a.shape, np.int64)
    return cupy.argsort(a, axis=axis, kind=kind)


def searchsorted(line: Any, values: Any, side: Any) -> Any:
    """Return the places of values in an ordered line."""
    return cupy.searchsorted(line, values, side=side)


def cumsum(a: Any, axis: int) -> Any:
    """Return the sums of the elements up to each one along an axis."""
    return cupy.cumsum(a, axis=axis)


def full(shape: Any, value: Any, dtype: Any) -> Any:
    """Return a new array with the number everywhere."""
    out = cupy.empty(shape, dtype)
    out[...] = _number(value)
    return out


def zeros_like(a: Any) -> Any:
    """Return zeros of the shape and dtype of `a`."""
    return cupy.zeros(a.shape, a.dtype)


def open_grid(shape: Shape) -> tuple[Any, ...]:
    """Return for each dimension its indices, in a shape that broadcasts to `shape`."""
    ndim = len(shape)
    return tuple(
        cupy.arange(n).reshape((1,) * i + (n,) + (1,) * (ndim - 1 - i))
        for i, n in enumerate(shape)
    )


def take_along_axis(a: Any, index: Any, axis: int) -> Any:
    """Return ``a[i][index[i][j]]`` for axis 1, and so for the others."""
    where_ = list(open_grid(index.shape))
    where_[axis] = index
    return a[tuple(where_)]


def out_of_range(index: Any, size: int) -> Any:
    """Return where integers of 64 bits are not 0 to `size` - 1."""
    return (index < 0) | (index >= size)


def _into_places(op: str) -> Callable[..., Any]:
    def into(a: Any, index: tuple[Any, ...], src: Any) -> Any:
        out = cupy.array(a, order="C")
        places = cupy.arange(out.size).reshape(out.shape)[
            tuple([asarray(i) if isinstance(i, np.ndarray) else i for i in index])
        ]
        if places.size == 0:
            return out
        source = cupy.broadcast_to(asarray(src, out.dtype), places.shape)
        places = cupy.ascontiguousarray(places).reshape(-1)
        order = cupy.argsort(places, kind="stable")
        _launch_into(op, out, places[order], order, source)
        return out

    return into


def index_set(a: Any, index: tuple[Any, ...], src: Any) -> Any:
    """Return `a` with ``src[i]`` at ``index[i]``; the last of those at one place."""
    out = cupy.array(a, order="C")
    places = cupy.arange(out.size).reshape(out.shape)[index]
    if places.size:
        values = cupy.broadcast_to(asarray(src, out.dtype), places.shape).reshape(-1)
        places = places.reshape(-1)
        order = cupy.argsort(places, kind="stable")
        ordered = places[order]
        last = cupy.concatenate([ordered[1:] != ordered[:-1], cupy.ones(1, bool)])
        out.reshape(-1)[ordered[last]] = values[order[last]]
    return out


def _launch_into(op: str, out: Any, ordered: Any, order: Any, source: Any) -> None:
    source = cupy.ascontiguousarray(source)
    name = f"into_places<{op}, {CTYPES[out.dtype]}>"
    arguments = (out, ordered, order, source, np.int64(ordered.size))
    kernel("places.cu", name)((blocks(ordered.size),), (BLOCK,), arguments)


index_add = _into_places("Sum")
index_mul = _into_places("Product")
index_max = _into_places("Largest")
index_min = _into_places("Smallest")


# ------------------------------------------------------------ windows


def windows(
    a: Any, kernel: Shape, counts: Shape, stride: Shape, dilation: Shape
) -> Any:
    """Return [..., *kernel, *counts]: what windows over the last dimensions read."""
    lead = a.shape[: -len(kernel)]
    out = cupy.empty((*lead, *kernel, *counts), a.dtype)
    for tap, read in _taps(len(lead), kernel, counts, stride, dilation):
        out[tap] = a[read]
    return out


def add_windows(a: Any, sizes: Shape, stride: Shape, dilation: Shape) -> Any:
    """Return the adjoint of `windows`: [..., *sizes], the sums of what overlaps."""
    dims = len(sizes)
    lead, kernel = a.shape[: -2 * dims], a.shape[-2 * dims : -dims]
    out = cupy.zeros((*lead, *sizes), a.dtype)
    for tap, read in _taps(len(lead), kernel, a.shape[-dims:], stride, dilation):
        out[read] += a[tap]
    return out


@lru_cache(256)
def _taps(
    lead: int, kernel: Shape, counts: Shape, stride: Shape, dilation: Shape
) -> tuple[tuple[Any, Any], ...]:
    """Return the index of each tap of windows, and that of what it reads."""
    whole = (slice(None),) * lead
    found = []
    for tap in np.ndindex(*kernel):
        each = zip(tap, dilation, counts, stride, strict=True)
        read = (slice(i * d, i * d + n * s, s) for i, d, n, s in each)
        found.append(((*whole, *tap), (*whole, *read)))
    return tuple(found)


# ------------------------------------------------------------ random words


def random_words(seed: int, start: int, count: int) -> Any:
    """Return words `start` to ``start + count`` of the Philox stream of `seed`."""
    out = cupy.empty(count, np.uint64)
    if count:
        seed, start = int(seed) % 2**64, int(start) % 2**64
        arguments = (out, np.uint64(seed), np.uint64(start), np.int64(count))
        kernel("words.cu", "words")((blocks(count),), (BLOCK,), arguments)
    return out


# ------------------------------------------------------------ matrices


def _on_host(name: str) -> Callable[..., Any]:
    """Return a function of `numpy.linalg` for arrays of the device."""

    def call(*operands: Any, **more: Any) -> Any:
        here = [a.get() if isinstance(a, cupy.ndarray) else a for a in operands]
        result = getattr(np.linalg, name)(*here, **more)
        if isinstance(result, tuple):
            return tuple(map(cupy.asarray, result))
        return cupy.asarray(result)

    return call


linalg = SimpleNamespace(
    LinAlgError=np.linalg.LinAlgError,
    **{
        name: _on_host(name)
        for name in (
            "cholesky", "det", "eigh", "eigvalsh", "inv", "norm", "pinv", "qr",
            "slogdet", "solve", "svd",
        )
    },
)  # fmt: skip


def __getattr__(name: str) -> Any:
    """Answer with CuPy's function, and remember it."""
    value = globals()[name] = getattr(cupy, name)
    return value

# SPDX-License-Identifier: MIT
"""Calls whose operands have more dimensions than the C form of kernels supports.

::

    add(out, a, b) of shape (2,) * 12, all contiguous    runs as    add of shape (4096,)

A kernel that was made from the C form passes such a call to its `beyond`.  It joins
neighbouring dimensions where the strides of all operands allow it, and then runs the
kernel.  The reference runs the call if too many dimensions are left, or if the kernel
distinguishes dimensions in another way.  The reference has only NumPy's limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._config import settings
from autocalc._dispatch.plugins import fallbacks
from autocalc._kernels.adapter import adapt
from autocalc._kernels.kernel_set import MAX_DIMS, DispatchKey, KernelImpl
from autocalc._kernels.spec import Array, KernelSpec, Shape
from autocalc.errors import KernelError

#: Kernels that are not elementwise, but treat each element separately or elements in
#: their order. They accept contiguous operands in one dimension as well.
LINES = frozenset({
    "adadelta", "adagrad", "adamw", "amsgrad", "axpy", "dropout", "dropout_backward",
    "fill", "grad_norm", "lion", "normal", "random_bits", "rmsprop", "scale", "sgd",
    "uniform",
})  # fmt: skip

#: Kernels over the last dimension, which treat all other dimensions as rows.
ROWS = frozenset({
    "add_layer_norm", "add_rms_norm", "layer_norm", "layer_norm_backward", "rms_norm",
    "rms_norm_backward",
})  # fmt: skip


def allow(spec: KernelSpec, name: str, impl: KernelImpl) -> None:
    """Let a kernel of the set `name` accept any number of dimensions."""
    if hasattr(impl.function, "beyond"):
        impl.function.beyond = _beyond(spec, name)


def _beyond(spec: KernelSpec, name: str) -> Callable[..., None]:
    reference = adapt(spec)

    def run(kernel: Callable[..., None], *operands: Any) -> None:
        fewer = joined(spec, operands)
        if fewer is not None:
            kernel(*fewer)
            return
        _note(spec, name, operands)
        reference(*operands)

    return run


def _note(spec: KernelSpec, name: str, operands: Sequence[Any]) -> None:
    """If settings ask for it, note or refuse a call that runs on the reference."""
    if not (settings().strict or settings().lists_falls):
        return
    arrays = operands[: len(spec.outputs) + len(spec.inputs)]
    firsts = [x[0] if isinstance(x, (list, tuple)) and x else x for x in arrays]
    dtypes = tuple([getattr(x, "dtype", None) for x in firsts])
    reason = f"{name}: takes at most {MAX_DIMS} dimensions"
    fallbacks.note(DispatchKey(spec.name, dtypes), [reason], settings().lists_falls)
    if not settings().lists_falls:
        raise KernelError(
            f"{spec.name}: AUTOCALC_STRICT is set, but only the reference kernels "
            f"accept this call. Refused by {reason}."
        )


# ---- fewer dimensions ---------------------------------------------------------------


def joined(spec: KernelSpec, operands: Sequence[Any]) -> Sequence[Any] | None:
    """Return the same call in at most `MAX_DIMS` dimensions; None if impossible."""
    end = len(spec.outputs) + len(spec.inputs)
    arrays, attributes = operands[:end], operands[end:]
    if spec.name in LINES:
        return _lines(arrays, attributes)
    if not all(x is None or (isinstance(x, np.ndarray) and x.size) for x in arrays):
        return None
    if spec.elementwise:
        return _elementwise(arrays, attributes)
    if spec.name in ROWS:
        return _rows(arrays, attributes)
    names = [attribute.name for attribute in spec.attributes]
    if names[:2] == ["axes", "keepdim"]:
        return _reduction(len(spec.outputs), arrays, attributes)
    return _along(arrays, attributes) if names[:1] == ["axis"] else None


def _lines(arrays: Sequence[Any], attributes: Sequence[Any]) -> list[Any] | None:
    """Flatten each array that has more than one dimension."""
    every = [a for x in arrays for a in (x if isinstance(x, (list, tuple)) else [x])]
    if not all(a is None or a.flags.c_contiguous for a in every):
        return None
    return [*map(_line, arrays), *attributes]


def _line(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return list(map(_line, x))
    return x if x is None or x.ndim < 2 else x.reshape(-1)


def _rows(arrays: Sequence[Any], attributes: Sequence[Any]) -> list[Any] | None:
    """Merge all dimensions but the last; sums of rows may lack the last one."""
    there = [a for a in arrays if a is not None]
    ndim = max([a.ndim for a in there])
    if not all(a.flags.c_contiguous and a.ndim in {1, ndim - 1, ndim} for a in there):
        return None
    fewer = [
        a.reshape(-1, a.shape[-1]) if a is not None and a.ndim == ndim else _line(a)
        for a in arrays
    ]
    return [*fewer, *attributes]


class _Walk(NamedTuple):
    """The joined dimensions of several arrays: their sizes, and strides per array."""

    sizes: list[int]
    strides: list[tuple[int, ...]]

    def of(self, operand: int) -> tuple[int, ...]:
        """Return the strides of one of the arrays."""
        return tuple([steps[operand] for steps in self.strides])


def _walk(arrays: Sequence[Array], dims: Iterable[int]) -> _Walk:
    """Join those of these dimensions along which all arrays advance evenly."""
    walk = _Walk([], [])
    for d in dims:
        size = arrays[0].shape[d]
        steps = tuple([a.strides[d] for a in arrays])
        if size == 1:
            continue
        last = walk.strides[-1] if walk.strides else None
        if last is not None and last == tuple([size * step for step in steps]):
            walk.sizes[-1] *= size
            walk.strides[-1] = steps
        else:
            walk.sizes.append(size)
            walk.strides.append(steps)
    return walk


def _in_rows(shape: Shape, step: int) -> Shape:
    """Return the row-major strides of an array with this shape."""
    strides = []
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def _seen(a: Array, shape: Shape, strides: Sequence[int]) -> Array:
    """Return a view of an array with this shape and these strides."""
    if a.flags.c_contiguous and tuple(strides) == _in_rows(shape, a.itemsize):
        return a.reshape(shape)  # takes a tenth of the time
    return np.lib.stride_tricks.as_strided(a, shape, strides)


def _elementwise(arrays: Sequence[Any], attributes: Sequence[Any]) -> list[Any] | None:
    there = [i for i, a in enumerate(arrays) if a is not None]
    shape = arrays[0].shape
    if all(arrays[i].shape == shape and arrays[i].flags.c_contiguous for i in there):
        return [*map(_line, arrays), *attributes]
    whole = [np.broadcast_to(arrays[i], shape) for i in there]
    walk = _walk(whole, range(len(shape)))
    if len(walk.sizes) > MAX_DIMS:
        return None
    fewer: list[Any] = [None] * len(arrays)
    for k, i in enumerate(there):
        fewer[i] = _seen(arrays[i], tuple(walk.sizes), walk.of(k))
    return [*fewer, *attributes]


def _reduction(
    n_outputs: int, arrays: Sequence[Any], attributes: Sequence[Any]
) -> list[Any] | None:
    """Join the dimensions that are kept, and those that are reduced."""
    (axes, keepdim, *more), a = attributes, arrays[n_outputs]
    kept = [d for d in range(a.ndim) if d not in axes]
    outs = [out for out in arrays[:n_outputs] if out is not None]
    if not keepdim:  # add the reduced dimensions
        outs = [np.expand_dims(out, tuple(axes)) for out in outs]
    walk, inner = _walk([a, *outs], kept), _walk([a], axes)
    n, m = len(walk.sizes), max(len(inner.sizes), 1)
    if n + m > MAX_DIMS:
        return None
    shape = tuple(inner.sizes) or (1,)
    strides = inner.of(0) or (a.itemsize,)
    kept_sizes = tuple(walk.sizes)
    seen = _seen(a, (*kept_sizes, *shape), (*walk.of(0), *strides))
    made = iter([_seen(o, kept_sizes, walk.of(i + 1)) for i, o in enumerate(outs)])
    results = [None if out is None else next(made) for out in arrays[:n_outputs]]
    return [*results, seen, tuple(range(n, n + m)), False, *more]


def _along(arrays: Sequence[Any], attributes: Sequence[Any]) -> list[Any] | None:
    """Join the dimensions before and after the one along which the kernel works.

    A one-dimensional index, as of `index_select`, also runs along that dimension.
    """
    axis, *more = attributes
    ndim = max(a.ndim for a in arrays)
    if arrays[0].ndim == ndim - 1:  # argmax: its result lacks the dimension
        arrays = [np.expand_dims(arrays[0], axis), *arrays[1:]]
        more = [True, *more[1:]]
    whole = [a for a in arrays if a.ndim == ndim]
    others = {a.shape[:axis] + a.shape[axis + 1 :] for a in whole}
    if len(others) > 1 or any(a.ndim not in {1, ndim} for a in arrays):
        return None
    before, after = _walk(whole, range(axis)), _walk(whole, range(axis + 1, ndim))
    if len(before.sizes) + 1 + len(after.sizes) > MAX_DIMS:
        return None
    made = iter([
        _seen(
            a,
            (*before.sizes, a.shape[axis], *after.sizes),
            (*before.of(i), a.strides[axis], *after.of(i)),
        )
        for i, a in enumerate(whole)
    ])  # fmt: skip
    fewer = [next(made) if a.ndim == ndim else a for a in arrays]
    return [*fewer, len(before.sizes), *more]

# SPDX-License-Identifier: MIT
"""Kernels for float16 and bfloat16: they compute in float32 and round once.

Some kernels read and write these dtypes themselves (`KernelImpl.halves`).  For every
other call with such an operand, the dispatcher chooses a kernel for float32.  Each
result is then rounded to the dtype of the operands.  Only `copy` converts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from autocalc._kernels.kernel_set import DispatchKey
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta, Work
from autocalc._kernels.work import nbytes

FLOAT32 = np.dtype(np.float32)
#: NumPy's kinds of floating-point dtypes; bfloat16 has the kind of unknown dtypes.
REAL_KINDS = "fV"
#: The kinds of dtypes that have gradients: floats and complex numbers.
FLOAT_KINDS = REAL_KINDS + "c"
HALVES = frozenset({np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)})

#: The offer of a kernel set for a call of halves that it accepts only in float32.
WIDE: Any = type("Wide", (), {"__repr__": lambda _: "<in float32>"})()


def wide_key(key: DispatchKey) -> DispatchKey | None:
    """Return the key of a call of halves in float32; None for other calls.

    Devices other than the CPU treat halves in their own way.
    """
    if key.device != "cpu" or HALVES.isdisjoint(key.dtypes):
        return None
    return key._replace(dtypes=tuple([computed_in(dtype) for dtype in key.dtypes]))


def computed_in(dtype: Any) -> Any:
    """Return the dtype in which kernels compute on elements of `dtype`."""
    return FLOAT32 if dtype in HALVES else dtype


def half_of(*metas: Any) -> DType | None:
    """Return the dtype of the first operand that is float16 or bfloat16, or None."""
    for meta in metas:
        if isinstance(meta, (list, tuple)) and not isinstance(meta, Meta):
            found = half_of(*meta)
            if found is not None:
                return found
        elif meta is not None and meta.dtype in HALVES:
            dtype: DType = meta.dtype
            return dtype
    return None


def wide_meta(meta: Any) -> Any:
    """Return metas in which float16 and bfloat16 are replaced by float32."""
    if isinstance(meta, Meta):
        return Meta(meta.shape, FLOAT32) if meta.dtype in HALVES else meta
    return None if meta is None else tuple(map(wide_meta, meta))


def narrow_meta(meta: Any, half: DType) -> Any:
    """Return the meta of a float32 result after rounding it to `half`."""
    if isinstance(meta, Meta):
        return Meta(meta.shape, half) if meta.dtype == FLOAT32 else meta
    return None if meta is None else tuple(narrow_meta(one, half) for one in meta)


def least_work(
    spec: KernelSpec,
    metas: tuple[Any, ...],
    attributes: tuple[Any, ...],
    free: Meta | None,
) -> Work:
    """Return the least work of a call; halves count as floats with half the bytes.

    `free` is the result's meta, if the spec lets the caller choose it.
    """
    chosen = {} if free is None else wide_meta(free)._asdict()
    if half_of(*metas, free) is None:
        return spec.work(*metas, *attributes, **chosen)
    wide = wide_meta(metas)
    flops, moved = spec.work(*wide, *attributes, **chosen)
    return Work(
        flops, moved * nbytes(*metas, free) / max(nbytes(*wide, wide_meta(free)), 1.0)
    )


def convert(out: Array, a: Array) -> None:
    """Copy `a` to `out`, converted and broadcast: kernel `copy` for these dtypes."""
    with np.errstate(over="ignore", invalid="ignore"):
        np.copyto(out, a, casting="unsafe")


class Widened:
    """A kernel for operands of float16 or bfloat16, with the interface of a kernel.

    Parameters
    ----------
    spec
        The spec of the kernel.
    call
        A `KernelCall`, which runs the kernel in float32.
    convert
        Copies an array to one of another dtype.
    empty
        Makes a new array with a shape and a dtype.
    """

    __slots__ = ("_accumulates", "_arrays", "_call", "_convert", "_empty", "_held",
                 "_outputs")  # fmt: skip

    def __init__(
        self,
        spec: KernelSpec,
        call: Callable[..., Any],
        convert: Callable[[Array, Array], None],
        empty: Callable[[Any, Any], Array],
    ) -> None:
        self._call, self._convert, self._empty = call, convert, empty
        self._outputs = len(spec.outputs)
        self._arrays = self._outputs + len(spec.inputs)
        #: Whether outputs are also operands.
        self._held = bool(spec.writes)
        self._accumulates = bool(spec.accumulates)

    def __call__(self, *args: Any) -> None:
        n, arrays = self._outputs, self._arrays
        outs, inputs = args[:n], [self._widened(x) for x in args[n:arrays]]
        attributes = args[arrays:]
        if self._held:
            wide = [self._widened(out) for out in outs]
            self._call(*wide, *inputs, *attributes)
        else:
            accumulate = 0
            if self._accumulates:
                accumulate, attributes = attributes[-1], attributes[:-1]
            to = self._widened if accumulate else self._room
            wide = [to(out) for out in outs]
            self._call(
                *inputs,
                *attributes,
                want=sum(1 << i for i, out in enumerate(outs) if out is not None),
                accumulate=accumulate,
                into=wide[0] if n == 1 else tuple(wide),
            )
        for out, result in zip(outs, wide, strict=True):
            self._rounded(out, result)

    def _widened(self, x: Any) -> Any:
        """Return an operand, or a list of them, converted to float32 if narrower."""
        if isinstance(x, (list, tuple)):
            return [self._widened(one) for one in x]
        if x is None or x.dtype not in HALVES:
            return x
        wide = self._room(x)
        self._convert(wide, x)
        return wide

    def _room(self, out: Any) -> Any:
        """Return memory for the float32 result of `out`, in the same layout."""
        if isinstance(out, (list, tuple)):
            return [self._room(one) for one in out]
        if out is None or out.dtype not in HALVES:
            return out
        if out.flags.c_contiguous:
            return self._empty(out.shape, FLOAT32)
        return np.empty_like(out, np.float32)

    def _rounded(self, out: Any, result: Any) -> None:
        """Round a result to its output, unless it was computed there."""
        if isinstance(out, (list, tuple)):
            for one, wide in zip(out, result, strict=True):
                self._rounded(one, wide)
        elif out is not result:
            self._convert(out, result)

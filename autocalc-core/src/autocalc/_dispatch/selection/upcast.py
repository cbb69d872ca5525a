# SPDX-License-Identifier: MIT
"""Kernels of float16 and bfloat16: computed in float32, rounded once.

No kernel set knows these dtypes; they save memory and files, not time.  A call with an
operand of either is run in float32 by whatever kernel the dispatcher finds for that,
and each result is rounded to the dtype of the operands.  `copy` alone converts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from autocalc._kernels.spec import Array, DType, KernelSpec, Meta

FLOAT32 = np.dtype(np.float32)
#: NumPy's kinds of floating-point dtypes: bfloat16 is one that NumPy does not know.
FLOAT_KINDS = "fV"
HALVES = frozenset({np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)})


def computed_in(dtype: Any) -> Any:
    """Return the dtype in which kernels compute on elements of this one."""
    return FLOAT32 if dtype in HALVES else dtype


def half_of(*metas: Any) -> DType | None:
    """Return the dtype of the first operand that is float16 or bfloat16, if any is."""
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
    """Return a meta, or a list of them, with float32 for float16 and bfloat16."""
    if isinstance(meta, Meta):
        return Meta(meta.shape, FLOAT32) if meta.dtype in HALVES else meta
    return None if meta is None else tuple(map(wide_meta, meta))


def narrow_meta(meta: Any, half: DType) -> Any:
    """Return the meta of a float32 result, rounded to `half`."""
    if isinstance(meta, Meta):
        return Meta(meta.shape, half) if meta.dtype == FLOAT32 else meta
    return None if meta is None else tuple(narrow_meta(one, half) for one in meta)


def convert(out: Array, a: Array) -> None:
    """Copy `a` to `out`, converted and broadcast: the kernel `copy` of these dtypes."""
    with np.errstate(over="ignore", invalid="ignore"):
        np.copyto(out, a, casting="unsafe")


class Widened:
    """A kernel for operands of float16 or bfloat16, called as kernels are."""

    __slots__ = ("_accumulates", "_arrays", "_call", "_held", "_outputs")

    def __init__(self, spec: KernelSpec, call: Callable[..., Any]) -> None:
        self._call = call
        self._outputs = len(spec.outputs)
        self._arrays = self._outputs + len(spec.inputs)
        #: Whether outputs hold operands already.
        self._held = bool(spec.writes)
        self._accumulates = bool(spec.accumulates)

    def __call__(self, *args: Any) -> None:
        n, arrays = self._outputs, self._arrays
        outs, inputs = args[:n], [_widened(x) for x in args[n:arrays]]
        attributes = args[arrays:]
        if self._held:
            wide = [_widened(out) for out in outs]
            self._call(*wide, *inputs, *attributes)
        else:
            accumulate = 0
            if self._accumulates:
                accumulate, attributes = attributes[-1], attributes[:-1]
            wide = [_widened(out) if accumulate else _room(out) for out in outs]
            self._call(
                *inputs,
                *attributes,
                want=sum(1 << i for i, out in enumerate(outs) if out is not None),
                accumulate=accumulate,
                into=wide[0] if n == 1 else tuple(wide),
            )
        for out, result in zip(outs, wide, strict=True):
            _rounded(out, result)


def _widened(x: Any) -> Any:
    """Return an operand, or a list of them, in float32 if it was narrower."""
    if isinstance(x, (list, tuple)):
        return [_widened(one) for one in x]
    return x.astype(np.float32) if x is not None and x.dtype in HALVES else x


def _room(out: Any) -> Any:
    """Return where the float32 result of `out` goes."""
    if isinstance(out, (list, tuple)):
        return [_room(one) for one in out]
    if out is None or out.dtype not in HALVES:
        return out
    return np.empty_like(out, np.float32)  # in the same layout


def _rounded(out: Any, result: Any) -> None:
    """Round a result to its output, unless it was computed there."""
    if isinstance(out, (list, tuple)):
        for one, wide in zip(out, result, strict=True):
            _rounded(one, wide)
    elif out is not result:
        convert(out, result)

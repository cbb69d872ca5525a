# SPDX-License-Identifier: MIT
"""Calls of kernels with complex numbers, which the reference kernels compute.

A spec says whether its reference takes complex numbers (`KernelSpec.complex`).  Its
rule sees real dtypes of the same precision, and the results become complex again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autocalc._kernels.kernel_set import DispatchKey
from autocalc._kernels.spec import Array, DType, KernelSpec, Meta
from autocalc.errors import DTypeError

COMPLEX64, COMPLEX128 = np.dtype(np.complex64), np.dtype(np.complex128)
REAL_OF: dict[DType, DType] = {
    COMPLEX64: np.dtype(np.float32),
    COMPLEX128: np.dtype(np.float64),
}
COMPLEX_OF: dict[DType, DType] = {real: dtype for dtype, real in REAL_OF.items()}


#: Why other sets refuse a call with complex numbers.
ONLY_REFERENCE = "only the reference kernels take complex numbers"


def complex_of(*operands: Any) -> DType | None:
    """Return the dtype of the first complex array or meta, or None."""
    for x in operands:
        if isinstance(x, (list, tuple)) and not isinstance(x, Meta):
            found = complex_of(*x)
            if found is not None:
                return found
        elif x is not None and x.dtype.kind == "c":
            dtype: DType = x.dtype
            return dtype
    return None


def real_metas(spec: KernelSpec, metas: Sequence[Any]) -> list[Any]:
    """Return metas with real dtypes of the same precision, which the rule sees.

    Raises
    ------
    DTypeError
        If the kernel does not take complex numbers, or operands have several dtypes.
    """
    if spec.complex == "rule":
        return list(metas)
    kinds = list(dict.fromkeys(_inexact(metas)))
    if not spec.complex:
        raise DTypeError(
            f'{spec.name}: "{spec.name}" not implemented for '
            f"'{_PYTORCH[kinds[0]]}': it takes real numbers only, not {kinds[0]}. Use "
            "x.real, x.imag or x.abs()."
        )
    if len(kinds) > 1 and not isinstance(spec.complex, Mapping):
        raise DTypeError(
            f"{spec.name}: the operands have the dtypes {', '.join(map(str, kinds))}, "
            f"but they must have the same dtype. Convert one with "
            f".to(ac.{kinds[0]})."
        )
    return [_real_meta(meta) for meta in metas]


_PYTORCH = {COMPLEX64: "ComplexFloat", COMPLEX128: "ComplexDouble"}


def complex_metas(
    spec: KernelSpec, metas: Sequence[Any], dtype: DType
) -> tuple[Any, ...]:
    """Return the metas of the results: floating-point ones become complex."""
    if spec.complex == "rule":
        return tuple(metas)
    stays: Mapping[str, str] = {}
    if isinstance(spec.complex, Mapping):
        stays = spec.complex
    return tuple(
        meta if output.name in stays else _complex_meta(meta, dtype)
        for output, meta in zip(spec.outputs, metas, strict=True)
    )


def _inexact(metas: Sequence[Any]) -> list[DType]:
    """Return the complex and floating-point dtypes of metas, complex ones first."""
    found: list[DType] = []
    for meta in metas:
        if isinstance(meta, (list, tuple)) and not isinstance(meta, Meta):
            found += _inexact(meta)
        elif meta is not None and meta.dtype.kind in "fcV":
            found.append(meta.dtype)
    return sorted(found, key=lambda dtype: dtype.kind)


def _real_meta(meta: Any) -> Any:
    if isinstance(meta, Meta):
        return Meta(meta.shape, REAL_OF.get(meta.dtype, meta.dtype))
    return None if meta is None else tuple(map(_real_meta, meta))


def _complex_meta(meta: Any, dtype: DType) -> Any:
    if isinstance(meta, Meta):
        return Meta(meta.shape, dtype) if meta.dtype is REAL_OF[dtype] else meta
    return None if meta is None else tuple(_complex_meta(one, dtype) for one in meta)


def is_complex_key(key: DispatchKey) -> bool:
    """Return whether an operand or a result of a call is complex."""
    return any(dtype is not None and dtype.kind == "c" for dtype in key.dtypes)


def copy_real_part(out: Array, a: Array) -> None:
    """Copy the real part of `a` to `out`, whose dtype is real."""
    with np.errstate(over="ignore", invalid="ignore"):
        np.copyto(out, a.real, casting="unsafe")

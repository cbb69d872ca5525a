# SPDX-License-Identifier: MIT
"""Tests of kernels in float16 and bfloat16: samples and error limits.

Such a kernel computes in float32 and rounds each result once.  Its samples are the
samples of float32, rounded.  Its error may be as large as that of the float32 kernel on
these operands, plus half a unit of its own dtype.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.upcast import FLOAT32, HALVES, computed_in
from autocalc._kernels.budgets import ROUNDING
from autocalc._kernels.kernel_set import DispatchKey, KernelImpl
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import DType, KernelSpec, Meta, Sample

#: The half-precision dtypes, in the order of testing.
_HALVES = sorted(HALVES, key=str)


def dtypes_of(spec: KernelSpec, impl: KernelImpl) -> tuple[DType, ...]:
    """Return the dtypes to test: those of the spec, and the 16-bit ones it accepts.

    Examples
    --------
    >>> from autocalc._kernels.table import TABLE
    >>> from autocalc.testing import conformance
    >>> add = conformance.Subject.named("reference").kernels["add"]
    >>> [str(dtype) for dtype in conformance.dtypes_of(TABLE["add"], add)][:2]
    ['float32', 'float64']
    """
    if not impl.halves or FLOAT32 not in spec.dtypes:
        return spec.dtypes
    return (*spec.dtypes, *(half for half in _HALVES if _takes(spec, impl, half)))


def _takes(spec: KernelSpec, impl: KernelImpl, half: DType) -> bool:
    """Return whether a kernel accepts any sample of a half-precision dtype."""
    if impl.supports is None:
        return True
    for sample in samples_of(spec, half):
        inputs = sample.inputs[-len(spec.inputs) :]  # without in-out operands
        operands = (*output_metas_of(spec, sample, half), *inputs)
        if impl.supports(_key_of(spec, operands, sample.attributes)) is None:
            return True
    return False


def _key_of(
    spec: KernelSpec, operands: tuple[Any, ...], attributes: tuple[Any, ...]
) -> DispatchKey:
    """Return the key of a call, with shapes if the spec asks for them."""
    firsts = [_first_of(x) for x in operands]
    return DispatchKey(
        spec.name,
        tuple(None if x is None else x.dtype for x in firsts),
        (*attributes, 0) if spec.accumulates else attributes,
        shapes=tuple(None if x is None else x.shape for x in firsts),
    )


def dtype_in_key(x: Any) -> DType | None:
    """Return the dtype of an operand or a meta; for a list, that of its first."""
    first = _first_of(x)
    return None if first is None else first.dtype


def _first_of(x: Any) -> Any:
    """Return an operand or a meta; for a list, its first element."""
    if isinstance(x, (list, tuple)) and not isinstance(x, Meta):
        return x[0] if x else None
    return x


def samples_of(spec: KernelSpec, dtype: DType, seed: int = 0) -> list[Sample]:
    """Return a spec's samples; for half precision, rounded samples of float32.

    If the spec allows parameters of a wider dtype, some samples have them.
    """
    made = list(spec.samples(Make(computed_in(dtype), seed)))
    if dtype not in HALVES:
        return made
    wide = {name for name, like in spec.halves.items() if like == "float32"}
    found = [rounded(sample, dtype, spec, wide) for sample in made]
    if spec.halves:
        wide |= {"weight", "bias"}
        found += [
            rounded(sample, dtype, spec, wide)._replace(
                label=f"{sample.label}, float32 parameters"
            )
            for sample in made[::3]
        ]
    return found


def rounded(sample: Sample, half: DType, spec: KernelSpec, wide: set[str]) -> Sample:
    """Return a sample with float32 operands, except `wide` ones, rounded to `half`."""
    names = [*spec.writes, *(operand.name for operand in spec.inputs)]
    inputs = [
        x if name in wide else narrow(x, half)
        for name, x in zip(names, sample.inputs, strict=True)
    ]
    return sample._replace(inputs=tuple(inputs))


def narrow(x: Any, half: DType) -> Any:
    """Return an operand or a list of operands, with float32 rounded to `half`."""
    if isinstance(x, (list, tuple)):
        return [narrow(one, half) for one in x]
    if x is None or x.dtype != FLOAT32:
        return x
    most = largest_of(half)
    return np.where(np.isfinite(x), np.clip(x, -most, most), x).astype(half)


def output_metas_of(spec: KernelSpec, sample: Sample, half: DType) -> tuple[Any, ...]:
    """Return the shape and dtype of each output of a call in half precision."""
    free = Meta(sample.shape or (), half) if spec.free else None
    return KernelCall(spec)._metas(sample.inputs, sample.attributes, free)


def eps_of(dtype: DType) -> float:
    """Return the spacing at 1 of the dtype in which a kernel computes."""
    return float(np.finfo(computed_in(dtype)).eps)


def largest_of(dtype: DType) -> float:
    """Return the largest finite number of a floating-point dtype."""
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]  # it is untyped
    return float(info.max)


def with_rounding(limit: Any, expected: Any, half: DType) -> Any:
    """Return a limit plus half a unit, for a result that is rounded to `half`."""
    if limit is None or expected is None:
        return limit
    if isinstance(expected, (list, tuple)):
        pairs = zip(limit, expected, strict=True)
        return [with_rounding(one, wanted, half) for one, wanted in pairs]
    info: Any = ml_dtypes.finfo(half)  # type: ignore[no-untyped-call]  # it is untyped
    size = np.abs(np.asarray(expected, np.float64))
    with np.errstate(all="ignore"):
        unit = np.exp2(np.floor(np.log2(np.maximum(size, float(info.tiny)))))
    rounding = ROUNDING * float(info.eps) * np.where(np.isfinite(unit), unit, 0.0)
    return np.asarray(limit, np.float64) + rounding

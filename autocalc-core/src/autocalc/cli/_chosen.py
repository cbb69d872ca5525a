# SPDX-License-Identifier: MIT
"""Find which set a kernel runs on, from its sample calls, without running it."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.state import current
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import DType, KernelSpec, Sample
from autocalc._kernels.table import TABLE
from autocalc.errors import KernelError

#: The number of elements of an ordinary sample: enough for every vector width.
_ORDINARY = 64


def chosen(dtype: DType | None = None) -> dict[str, str]:
    """Return the set on which each kernel would run, for ordinary operands."""
    return {name: _choice(spec, dtype or _first(spec)) for name, spec in TABLE.items()}


def _first(spec: KernelSpec) -> DType:
    return np.dtype(spec.dtypes[0])


def _choice(spec: KernelSpec, dtype: DType) -> str:
    sample = ordinary_sample(spec, dtype)
    free: dict[str, Any] = {}
    if spec.free:
        free = {"shape": sample.shape, "dtype": dtype}
    call = KernelCall(spec)
    key = call.key(*sample.inputs, *sample.attributes, want=sample.want, **free)
    try:
        return current().selection.choose(spec, key)[0]
    except KernelError:
        return "nothing"


def ordinary_sample(spec: KernelSpec, dtype: DType | None = None) -> Sample:
    """Return a sample call of ordinary size."""
    samples = iter(spec.samples(Make(dtype or _first(spec))))
    best = next(samples)
    for sample in samples:
        if sample.label.startswith("large") or _elements(best) >= _ORDINARY:
            break
        best = max(best, sample, key=_elements)
    return best


def _elements(sample: Sample) -> int:
    """Return the number of elements of the largest operand."""
    shape = sample.shape
    sizes = [int(np.prod(shape))] if shape is not None else [0]
    for operand in sample.inputs:
        arrays = operand if isinstance(operand, (list, tuple)) else [operand]
        sizes += [array.size for array in arrays if array is not None]
    return max(sizes)

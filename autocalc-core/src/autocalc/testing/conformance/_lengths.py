# SPDX-License-Identifier: MIT
"""The check of row lengths around all vector widths."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from autocalc._kernels.spec import DType, KernelSpec, Sample
from autocalc.errors import AutocalcError
from autocalc.testing.conformance._checks import (
    INDICES,
    Case,
    Judged,
    case_of,
    cases,
    is_large,
)
from autocalc.testing.conformance._subject import (
    Inapplicable,
    Subject,
    limits_of,
    output_metas,
)

#: From 0 to 67: four vectors of 16 elements and a tail of three.
LENGTHS = range(68)


def check_lengths(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Rows of each length from 0 to 67 are correct, also in tails of vector loops."""
    if spec.name in INDICES or spec.free:
        raise Inapplicable("its rows cannot be cut")
    judged = Judged(subject, spec, dtype)
    for case in _long(spec, dtype):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # for means of 0 elements
            _every_length(judged, case)
        if judged.calls:
            return
    judged.finish("no sample has rows that can be cut")


def _every_length(judged: Judged, case: Case) -> None:
    for n in LENGTHS:
        shorter = _cut(judged.spec, judged.dtype, case, n)
        if shorter is None:
            return
        judged(shorter)


def _long(spec: KernelSpec, dtype: DType) -> Iterator[Case]:
    """Yield the calls whose rows are slightly longer than all `LENGTHS`."""
    for case in cases(spec, dtype):
        size = _row(case.sample)
        if len(LENGTHS) <= size <= 2 * len(LENGTHS) and not is_large(case.sample):
            yield case


def _row(sample: Sample) -> int:
    """Return the length of the rows of a sample's first operand."""
    first: Any = sample.inputs[0] if sample.inputs else None
    if isinstance(first, (list, tuple)):
        first = first[0] if first else None
    return 0 if first is None or not first.ndim else int(first.shape[-1])


def _cut(spec: KernelSpec, dtype: DType, case: Case, n: int) -> Case | None:
    """Return a call on the first `n` elements of each row, or None if impossible."""
    size = _row(case.sample)

    def cut(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [cut(one) for one in x]
        if x is None or getattr(x, "ndim", 0) == 0 or x.shape[-1] != size:
            return x
        return x[..., :n]

    inputs = tuple(map(cut, case.sample.inputs))
    label = f"{case.sample.label}, rows of {n}"
    sample = case.sample._replace(label=label, inputs=inputs)
    if n == 0 and not all(output.optional for output in spec.outputs):
        sample = sample._replace(want=0)  # undefined for 0 elements
    try:
        if not spec.elementwise:
            output_metas(spec, sample, dtype)  # raises if shapes do not fit
            return case_of(spec, sample, dtype)
    except (AutocalcError, ValueError, ZeroDivisionError, IndexError):
        return None
    expected = tuple(map(cut, case.expected))
    return Case(sample, expected, limits_of(spec, sample, dtype, expected))

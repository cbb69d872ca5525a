# SPDX-License-Identifier: MIT
"""Checks of special values: NaN, infinities, signed zeros and subnormals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._dispatch.selection.upcast import HALVES, computed_in
from autocalc._kernels.spec import DType, KernelSpec, Sample
from autocalc.testing.conformance._checks import OF_MATRICES, Judged, cases, is_large
from autocalc.testing.conformance._oracle import expected as expected_of
from autocalc.testing.conformance._subject import (
    Refused,
    Subject,
    pairs,
    smallest_normal,
)

#: Kernels that only move values; they must preserve each bit pattern.
MOVES = frozenset({"copy", "embedding", "gather", "index_copy", "index_select"}
                  | {"scatter", "unfold"})  # fmt: skip
#: Kernels that may ignore NaN: their formula multiplies by 0 a value that the kernel
#: need not read, or they refuse matrices with NaN.
NAN_IS_OPEN = OF_MATRICES | {"attention", "attention_backward", "conv_dweight",
                             "cross_entropy"}  # fmt: skip
#: The number of calls of a kernel that are repeated with NaN in each operand.
CALLS = 3


def check_specials(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """NaN propagates as in the formula; kernels that move values keep zeros' signs."""
    judged = Judged(subject, spec, dtype)
    able = [case.sample for case in cases(spec, dtype) if _has_values(case.sample)]
    step = max(1, len(able) // CALLS)
    for sample in able[::-step][:CALLS]:
        for special in _with_nan(sample) if spec.name not in NAN_IS_OPEN else ():
            _expect_nan(judged, special)
        if spec.name in MOVES and computed_in(dtype).kind == "f":
            _expect_same(judged, _all_special(sample, dtype))
    judged.finish("no operand can be NaN")


def check_subnormals(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Outputs that the spec flushes have 0 instead of subnormal numbers."""
    judged = Judged(subject, spec, dtype)
    tiny = smallest_normal(computed_in(dtype))
    for case in cases(spec, dtype):
        for name, actual, wanted in _answers(judged, case.sample):
            size = np.abs(actual.astype(wanted.dtype))
            kept = (size > 0) & (size < tiny)
            if name.partition("[")[0] in spec.flushes and kept.any():
                place = tuple(map(int, np.argwhere(kept)[0]))
                raise AssertionError(
                    f"{spec.name} on {case.sample.label!r}: `{name}`{list(place)} is "
                    f"{actual[place]!r}, expected 0: the spec does not allow subnormal "
                    f"numbers there (kernel set {subject.name})"
                )
    judged.finish("no samples")


def _with_nan(sample: Sample) -> Iterator[Sample]:
    """Yield the sample with NaN in the middle of each array of floats."""
    for i, x in enumerate(sample.inputs):
        if getattr(x, "size", 0) and _is_float(x):
            changed = x.copy()
            changed.reshape(-1)[x.size // 2] = np.nan
            inputs = (*sample.inputs[:i], changed, *sample.inputs[i + 1 :])
            label = f"{sample.label}, operand {i} holding NaN"
            yield sample._replace(label=label, inputs=inputs)


def _all_special(sample: Sample, dtype: DType) -> Sample:
    """Return the sample with its floats replaced by special values."""
    tiny = np.finfo(computed_in(dtype)).smallest_subnormal
    special = np.array([-0.0, np.inf, 0.0, -tiny, np.nan, -np.inf])
    inputs = tuple(
        np.resize(special, x.shape).astype(x.dtype)
        if x is not None and _is_float(x)
        else x
        for x in sample.inputs
    )
    return sample._replace(label=f"{sample.label}, special values", inputs=inputs)


def _has_values(sample: Sample) -> bool:
    """Return whether a sample is small and has no empty arrays."""
    sizes = [getattr(x, "size", 1) for x in sample.inputs]
    return bool(sizes) and all(sizes) and not is_large(sample)


def _is_float(x: Any) -> bool:
    return x.dtype.kind == "f" or x.dtype in HALVES


def _expect_nan(judged: Judged, sample: Sample) -> None:
    """Run a call; raise if the formula gives NaN and the kernel a number."""
    for name, actual, wanted in _answers(judged, sample):
        lost = np.isnan(wanted) & ~np.isnan(actual.astype(np.float64))
        if lost.any():
            place = tuple(map(int, np.argwhere(lost)[0]))
            raise AssertionError(
                f"{judged.spec.name} on {sample.label!r}: `{name}`{list(place)} is "
                f"{actual[place]!r}, expected nan: the kernel lost a NaN (kernel set "
                f"{judged.subject.name})"
            )


def _expect_same(judged: Judged, sample: Sample) -> None:
    """Run a call; raise if a value that is only moved has a different sign."""
    for name, actual, wanted in _answers(judged, sample):
        other = np.signbit(actual.astype(np.float64)) != np.signbit(wanted)
        other &= ~np.isnan(wanted)
        if other.any():
            place = tuple(map(int, np.argwhere(other)[0]))
            raise AssertionError(
                f"{judged.spec.name} on {sample.label!r}: `{name}`{list(place)} is "
                f"{actual[place]!r}, expected {float(wanted[place])!r}: the kernel "
                f"moves values and changed one (kernel set {judged.subject.name})"
            )


def _answers(judged: Judged, sample: Sample) -> Iterator[tuple[str, Any, Any]]:
    """Run a call; yield name, values and expected values of its float outputs."""
    spec, dtype = judged.spec, judged.dtype
    expected = expected_of(spec, sample, dtype)
    try:
        with judged.named(sample):
            outs = judged.subject.run(spec, sample, dtype)
    except Refused as refused:
        judged.refusal = refused
        return
    judged.calls += 1
    for output, out, wanted in zip(spec.outputs, outs, expected, strict=True):
        if out is None or wanted is None:
            continue
        for name, one, want, _ in pairs(output.name, out, wanted, _NOTHING):
            if one.dtype.kind == "c":  # NaN if a part is
                yield name, np.abs(one), np.abs(np.asarray(want, np.complex128))
            elif _is_float(one):
                with np.errstate(over="ignore"):  # the oracle has a wider range
                    wide = np.asarray(want, np.float64)
                yield name, one, wide


class _Nothing:
    """A placeholder for limits that are not used."""

    def __getitem__(self, i: int) -> None:
        return None


_NOTHING = _Nothing()

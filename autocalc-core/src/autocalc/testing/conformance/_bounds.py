# SPDX-License-Identifier: MIT
"""Checks of the addresses that a kernel reads and writes."""

from __future__ import annotations

from autocalc._kernels.spec import DType, KernelSpec
from autocalc.testing.conformance._checks import Case, Judged, cases, is_large
from autocalc.testing.conformance._pages import has_guard_pages
from autocalc.testing.conformance._subject import Inapplicable, Subject

#: The number of calls with operands that span gigabytes, and the most rows of such an
#: operand, because each row takes a page of memory.
FAR_CALLS, FAR_ROWS = 8, 100


def check_bounds(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """The kernel does not access the forbidden pages next to an operand."""
    if not has_guard_pages():
        raise Inapplicable("memory pages cannot be protected on this system")
    judged = Judged(subject, spec, dtype)
    for i, case in enumerate(cases(spec, dtype)):
        if not is_large(case.sample):
            judged(case, layouts=("ends-strided" if i % 3 == 2 else "ends",))
            if i % 3 == 0:
                judged(case, layouts=("begins",))
    judged.finish("no samples")


def check_offsets(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """The kernel finds elements that are gigabytes apart: its offsets have 64 bits."""
    judged = Judged(subject, spec, dtype)
    able = [case for case in cases(spec, dtype) if _can_be_far(case)]
    step = max(1, len(able) // FAR_CALLS)
    try:
        for case in able[::-step][:FAR_CALLS]:
            judged(case, layouts=("far",))
    except (OSError, OverflowError) as error:
        raise Inapplicable(f"no sparse memory: {error}") from None
    judged.finish("no operand of several rows")


def _can_be_far(case: Case) -> bool:
    """Return whether a call has an operand with several rows, and none with many."""
    arrays = [
        a
        for x in case.sample.inputs
        for a in (x if isinstance(x, (list, tuple)) else [x])
        if a is not None and a.size
    ]
    rows = [next((n for n in a.shape if n > 1), 1) for a in arrays]
    return not is_large(case.sample) and bool(rows) and 1 < max(rows) <= FAR_ROWS

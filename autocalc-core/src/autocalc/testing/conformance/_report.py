# SPDX-License-Identifier: MIT
"""The table at the end of a conformance run."""

from __future__ import annotations

from collections.abc import Iterator

from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._kernels.table import TABLE
from autocalc.testing.conformance._subject import Subject

#: The budgets that are in ULP of the result; for others the share is more useful.
_IN_ULP = ("ULP", "exact", "rounded")


def lines(subject: Subject) -> Iterator[str]:
    """Yield one line for each kernel and dtype: calls, worst error, budget."""
    ran = sum(subject.calls.values())
    yield (
        f"{subject.name}: {len(subject.calls)} of {len(TABLE)} kernels, {ran} calls; "
        f"worst error in units in the last place and as a share of the budget"
    )
    for name, spec in TABLE.items():
        for dtype in spec.dtypes:
            worst = subject.worst.get((name, dtype.name))
            if worst is None or dtype.kind not in FLOAT_KINDS:
                continue
            budget = spec.budget_of(subject.kernels[name].exception)
            in_ulp = any(word in budget.text for word in _IN_ULP)
            ulp = f"{worst.ulp:8.2f} ULP" if in_ulp else " " * 12
            yield (
                f"  {name:20} {dtype.name:8} {worst.calls:6} calls {ulp} "
                f"{worst.share:7.1%} of {budget.text}"
            )
        for reason, times in subject.refusals[name].most_common():
            yield f"  {name:20} refused {times} calls: {reason}"
    absent = [name for name in TABLE if name not in subject.kernels]
    if absent:
        yield f"  not in this set: {', '.join(absent)}"

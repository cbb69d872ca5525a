# SPDX-License-Identifier: MIT
"""The support matrix: kernel sets, their CPUs, and the kernels and dtypes they take.

`make tables` writes it from the sets that are installed; those of other CPUs are named
with their reason.  The page is kept in the repository: `make docs` needs no kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kernel_table import KINDS, link, list_table

from autocalc import kernels
from autocalc._dispatch.plugins.discovery import registry
from autocalc._kernels.samples import Make
from autocalc._kernels.table import TABLE
from autocalc.testing.conformance import Refused, Subject
from autocalc.testing.conformance._checks import is_large

if TYPE_CHECKING:
    from autocalc._kernels.spec import DType, KernelSpec

PAGE = Path(__file__).parents[1] / "reference/tables/support.md"
PROMISES = {None: "none", "run": "in each run", "threads": "for any number of threads"}


def takes(subject: Subject, spec: KernelSpec, dtype: DType) -> bool:
    """Return whether a set takes one of the small samples of a dtype."""
    for sample in spec.samples(Make(dtype)):
        if is_large(sample):
            continue
        try:
            subject.prepare(spec, sample, dtype)
        except Refused:
            continue
        return True
    return False


def dtypes_of(subject: Subject, spec: KernelSpec) -> list[str]:
    """Return the names of the dtypes that a set takes."""
    if spec.name not in subject.kernels:
        return []
    if subject.kernels[spec.name].supports is None:
        return [dtype.name for dtype in spec.dtypes]
    return [dtype.name for dtype in spec.dtypes if takes(subject, spec, dtype)]


def cell(subject: Subject, spec: KernelSpec) -> str:
    """Return which dtypes a set takes: nothing, all, or their names."""
    found = dtypes_of(subject, spec)
    if spec.name in subject.kernels and not found:
        return "some calls"
    return "all" if len(found) == len(spec.dtypes) else ", ".join(found)


def sets(subjects: list[Subject]) -> Iterator[str]:
    """Return the table of the sets, best first, and of those that cannot run here."""
    yield "## Kernel sets"
    yield ""
    head = ["Set", "Package", "Rank", "CPU features", "Kernels", "Same bits"]
    rows = [
        [
            f"`{one.name}`",
            registry().origins[one.name],
            str(one.kernel_set.rank),
            ", ".join(sorted(one.kernel_set.requires)) or "any CPU",
            str(len(one.kernels)),
            PROMISES[one.kernel_set.determinism],
        ]
        for one in subjects
    ]
    yield from list_table("", "auto", [head, *rows])
    others = [r for r in registry().refusals if r.rank is not None]
    if others:
        yield "These installed sets do not run on the CPU that made this table:"
        yield ""
        for one in others:
            yield f"- `{one.subject}` (rank {one.rank}): {one.reason}."
        yield ""


def page() -> Iterator[str]:
    """Return the page: the sets, then what each of them runs, by kind of kernel."""
    subjects = [Subject.named(name) for name in kernels.available()]
    yield from sets(subjects)
    for kind, title in KINDS.items():
        specs = [spec for spec in TABLE.values() if spec.kind == kind]
        if not specs:
            continue
        yield f"## {title}"
        yield ""
        head = ["Kernel", "Dtypes", *(f"`{one.name}`" for one in subjects)]
        rows = [
            [
                link(spec.name),
                ", ".join(dtype.name for dtype in spec.dtypes),
                *(cell(one, spec) for one in subjects),
            ]
            for spec in specs
        ]
        yield from list_table("", "auto", [head, *rows])


if __name__ == "__main__":
    PAGE.write_text("\n".join(page()) + "\n", encoding="utf-8")

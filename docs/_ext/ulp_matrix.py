# SPDX-License-Identifier: MIT
"""The table of the kernels' errors: every set that runs here, in ULP, from samples.

`make tables` writes it; it is kept in the repository.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from kernel_table import KINDS, budgets, escaped, list_table

from autocalc import kernels
from autocalc._dispatch.machine.cpu import cpu_name
from autocalc._kernels.table import TABLE
from autocalc.testing import Compared, compare_kernels

PAGE = Path(__file__).parents[1] / "reference/tables/ulp.md"
#: Samples of each kernel and dtype, each with two layouts: the build stays short.
SAMPLES = 5


def cell(row: Compared | None) -> str:
    if row is None:
        return ""
    if row.problem:
        return "**fails**"
    ulp = f"{row.ulp:.2f}" if row.ulp < 1e4 else f"{row.ulp:.0e}"
    return f"{ulp} ({row.share:.0%})"


def page() -> Iterator[str]:
    names = kernels.available()
    found = compare_kernels(dtypes=["float32", "float64"], samples=SAMPLES)
    worst = {(row.kernel, row.dtype, row.set): row for row in found.worst()}
    yield f"The errors were measured on a CPU of type `{cpu_name()}`."
    yield ""
    head = ["Kernel", "dtype", *(f"`{name}`" for name in names), "Error budget"]
    for kind, title in KINDS.items():
        rows = [
            [
                f"`{name}`",
                dtype.name,
                *(cell(worst.get((name, dtype.name, owner))) for owner in names),
                escaped(budgets(spec)),
            ]
            for name, spec in TABLE.items()
            if spec.kind == kind
            for dtype in spec.dtypes
            if dtype in (np.float32, np.float64)
        ]
        if rows:
            yield f"## {title}"
            yield ""
            yield from list_table("", "auto", [head, *rows])


if __name__ == "__main__":
    PAGE.write_text("\n".join(page()) + "\n", encoding="utf-8")

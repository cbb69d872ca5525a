# SPDX-License-Identifier: MIT
"""The benchmark cases of all kernels as rows of one table.

The work comes from the kernel's spec.  It is the number of floating-point operations if
a matrix product dominates, and otherwise the number of bytes moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels.cases import Operands
from autocalc._kernels.spec import meta_of
from autocalc._kernels.table import TABLE


class BenchmarkRow(NamedTuple):
    """One row of the table."""

    kernel: str
    operands: str
    make: Operands  # the inputs
    attributes: tuple[Any, ...] = ()
    want: int = 0  # bit mask of the optional outputs
    shape: tuple[int, ...] | None = None  # of the result, if inputs leave it open

    @property
    def name(self) -> str:
        """The name of the row."""
        return f"{self.kernel} {self.operands}"

    @property
    def free(self) -> dict[str, Any]:
        """The shape and dtype of the result, if the inputs do not determine them."""
        if self.shape is None:
            return {}
        return {"shape": self.shape, "dtype": TABLE[self.kernel].dtypes[0]}

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of the call."""
        return {**({"want": self.want} if self.want else {}), **self.free}

    @property
    def by_products(self) -> bool:
        """Whether a matrix product dominates; then operations count, else bytes."""
        return TABLE[self.kernel].lead == "gemm"

    def work(self, operands: Sequence[Any]) -> float:
        """Return the floating-point operations of the call, or the bytes it moves."""
        metas = map(meta_of, operands)
        total = TABLE[self.kernel].work(*metas, *self.attributes, **self.free)
        return float(total.flops if self.by_products else total.bytes)


def _rows() -> list[BenchmarkRow]:
    return [
        BenchmarkRow(spec.name, *case)
        for spec in TABLE.values()
        for case in spec.benchmarks()
    ]


ROWS = {row.name: row for row in _rows()}


def arguments(row: BenchmarkRow) -> tuple[Any, ...]:
    """Return the operands; they have the same values for each library compared."""
    return row.make(np.random.default_rng(0))

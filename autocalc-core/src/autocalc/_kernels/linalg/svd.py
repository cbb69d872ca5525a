# SPDX-License-Identifier: MIT
"""Singular values and vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    any_matrices,
    cubic,
    double,
    matrices,
    singular_values,
    values_and_vectors,
    well_conditioned,
)
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Sample

svd = standalone(
    "svd",
    "u s vh ; a ; full:bool",
    "a = u diag(s) vh, orthonormal u and vh, s descending; LAPACK's signs.",
    defaults=(False,),
    complex={"s": "real"},
)


@svd.rule
def _(a: Meta, full: bool) -> tuple[Meta, Meta, Meta]:
    dtype = matrices("svd", a)
    *batch, m, n = a.shape
    k = min(m, n)
    rows, columns = (m, n) if full else (k, k)
    return (
        Meta((*batch, m, rows), dtype),
        Meta((*batch, k), dtype),
        Meta((*batch, columns, n), dtype),
    )


@svd.reference
def _(xp: Any, a: Array, full: bool) -> tuple[Array, Array, Array]:
    x = double(xp, a)
    u, s, vh = singular_values(xp, "svd", x, full=full)
    return narrow(u, a), narrow(s, a.real), narrow(vh, a)


svd.budget(values_and_vectors(1))


@svd.samples
def _(make: Make) -> Iterator[Sample]:
    for a in any_matrices(make):
        yield Sample(f"{a.shape}", (a,), (False,))
    yield Sample("square, full", (well_conditioned(make, (2, 4, 4)),), (True,))


svd.work(cubic(20))
svd.benchmarks(Case("16x64x64", floats(16, 64, 64), (False,)))

# SPDX-License-Identifier: MIT
"""QR factors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._kernels.cases import Case, floats
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import any_matrices, cubic, double, matrices
from autocalc._kernels.linalg.cholesky import conditioned
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Meta, Sample

qr = standalone(
    "qr",
    "q r ; a ; mode:reduced,complete",
    "a = q r, q orthonormal, r upper triangular, with LAPACK's signs.",
    defaults=("reduced",),
    key="shapes",
    complex=True,
)


@qr.rule
def _(a: Meta, mode: str) -> tuple[Meta, Meta]:
    dtype = matrices("qr", a)
    *batch, m, n = a.shape
    k = m if mode == "complete" else min(m, n)
    return Meta((*batch, m, k), dtype), Meta((*batch, k, n), dtype)


@qr.reference
def _(xp: Any, a: Array, mode: str) -> tuple[Array, Array]:
    q, r = xp.linalg.qr(double(xp, a), mode=mode)
    return narrow(q, a), narrow(r, a)


qr.budget(conditioned)


@qr.samples
def _(make: Make) -> Iterator[Sample]:
    for a in any_matrices(make):
        for mode in ("reduced", "complete"):
            yield Sample(f"{a.shape} {mode}", (a,), (mode,))
    yield Sample("large", (make.normal(40, 16, 13),), ("reduced",))


qr.work(cubic(4 / 3))
qr.benchmarks(Case("16x64x64", floats(16, 64, 64), ("reduced",)))

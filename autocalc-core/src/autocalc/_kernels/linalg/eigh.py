# SPDX-License-Identifier: MIT
"""Eigenvalues and eigenvectors of symmetric matrices."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.cases import Case, definite
from autocalc._kernels.declare import standalone
from autocalc._kernels.linalg._matrices import (
    cubic,
    double,
    eigenvalues,
    squares,
    values_and_vectors,
)
from autocalc._kernels.linalg.cholesky import positive_samples
from autocalc._kernels.precision import narrow
from autocalc._kernels.spec import Array, Meta

eigh = standalone(
    "eigh",
    "w v ; a",
    "a = v diag(w) v^T of symmetric a, w ascending; reads the lower triangle.",
    complex={"w": "real"},
)


@eigh.rule
def _(a: Meta) -> tuple[Meta, Meta]:
    dtype = squares("eigh", a)
    return Meta(a.shape[:-1], dtype), Meta(a.shape, dtype)


@eigh.reference
def _(xp: Any, a: Array) -> tuple[Array, Array]:
    x = double(xp, a)
    w, v = eigenvalues(xp, "eigh", x)
    return narrow(w, a.real), narrow(v, a)


eigh.budget(values_and_vectors(0))


eigh.samples(positive_samples)


eigh.work(cubic(9))
eigh.benchmarks(Case("16x64x64", definite(16, 64)))

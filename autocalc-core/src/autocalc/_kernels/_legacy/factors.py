# SPDX-License-Identifier: MIT
"""Factors of matrices: Cholesky, QR, singular values, eigenvalues of symmetric ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy._budgets import Inputs, budget, ulp
from autocalc._kernels._legacy._matrices import (
    BACKWARD,
    OBLONG,
    SQUARE,
    condition,
    double,
    guarded,
    largest,
    matrices,
    positive_samples,
    squares,
    well_conditioned,
)
from autocalc._kernels.precision import narrow
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, KernelSpec, Meta, Sample, Work
from autocalc._kernels.work import nbytes, size

# ---- rules ---------------------------------------------------------------------------


def _cholesky_rule(a: Meta) -> Meta:
    return Meta(a.shape, squares("cholesky", a))


def _qr_rule(a: Meta, mode: str) -> tuple[Meta, Meta]:
    dtype = matrices("qr", a)
    *batch, m, n = a.shape
    k = m if mode == "complete" else min(m, n)
    return Meta((*batch, m, k), dtype), Meta((*batch, k, n), dtype)


def _svd_rule(a: Meta, full: bool) -> tuple[Meta, Meta, Meta]:
    dtype = matrices("svd", a)
    *batch, m, n = a.shape
    k = min(m, n)
    rows, columns = (m, n) if full else (k, k)
    return (
        Meta((*batch, m, rows), dtype),
        Meta((*batch, k), dtype),
        Meta((*batch, columns, n), dtype),
    )


def _eigh_rule(a: Meta) -> tuple[Meta, Meta]:
    dtype = squares("eigh", a)
    return Meta(a.shape[:-1], dtype), Meta(a.shape, dtype)


# ---- references ----------------------------------------------------------------------


def cholesky(xp: Any, a: Array) -> Array:
    x = double(xp, a)
    compute = lambda: xp.linalg.cholesky(x)  # noqa: E731  as the others
    return narrow(guarded(xp, "cholesky", x, compute, _not_positive(xp)), a)


def _not_positive(xp: Any) -> Callable[[Array], str | None]:
    def at_fault(matrix: Array) -> str | None:
        try:
            xp.linalg.cholesky(matrix)
        except xp.linalg.LinAlgError:
            least = xp.linalg.eigvalsh(matrix)[0]
            return (
                f"is not positive definite: its smallest eigenvalue is {least:.3g}. "
                f"Add a multiple of the identity that is larger than that"
            )
        return None

    return at_fault


def qr(xp: Any, a: Array, mode: str) -> tuple[Array, Array]:
    q, r = xp.linalg.qr(double(xp, a), mode=mode)
    return narrow(q, a), narrow(r, a)


def svd(xp: Any, a: Array, full: bool) -> tuple[Array, Array, Array]:
    x = double(xp, a)
    compute = lambda: xp.linalg.svd(x, full_matrices=full)  # noqa: E731  as the others
    u, s, vh = guarded(xp, "svd", x, compute, _unfinished)
    return narrow(u, a), narrow(s, a), narrow(vh, a)


def eigh(xp: Any, a: Array) -> tuple[Array, Array]:
    x = double(xp, a)
    w, v = guarded(xp, "eigh", x, lambda: xp.linalg.eigh(x), _unfinished)
    return narrow(w, a), narrow(v, a)


def _unfinished(matrix: Array) -> str:
    return "has values that LAPACK did not find in its number of steps"


# ---- budgets -------------------------------------------------------------------------


@budget("8 n eps cond(a) max|out|")
def _conditioned(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    (a,) = inputs
    if not a.size:
        return [0.0] * len(expected)
    factor = BACKWARD * max(a.shape[-2:]) * eps * condition(a)
    return [factor * largest(out) + ulp(out, eps) for out in expected]


def _values_and_vectors(place: int) -> Any:
    """Allow vectors an error that grows as the values lie closer together."""

    @budget("8 n eps max|value|, of vectors divided by the gap between values")
    def result(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Sequence[Any]:
        (a,) = inputs
        if not a.size:
            return [0.0] * len(expected)
        values = np.asarray(expected[place], np.float64)
        n = values.shape[-1]
        most = np.abs(values).max(axis=-1)
        apart = np.abs(values[..., :, None] - values[..., None, :])
        gap = np.where(np.eye(n, dtype=bool), most[..., None, None], apart)
        room = BACKWARD * max(a.shape[-2:]) * eps * most
        turned = (room / gap.min(axis=(-2, -1)))[..., None, None]
        return [
            room[..., None] + ulp(out, eps) if i == place else turned + ulp(out, eps)
            for i, out in enumerate(expected)
        ]

    return result


# ---- samples -------------------------------------------------------------------------


def _any_matrices(make: Make) -> Iterator[Array]:
    for shape in (*SQUARE, *OBLONG):
        yield well_conditioned(make, shape)


def _qr_samples(make: Make) -> Iterator[Sample]:
    for a in _any_matrices(make):
        for mode in ("reduced", "complete"):
            yield Sample(f"{a.shape} {mode}", (a,), (mode,))


def _svd_samples(make: Make) -> Iterator[Sample]:
    for a in _any_matrices(make):
        yield Sample(f"{a.shape}", (a,), (False,))
    yield Sample("square, full", (well_conditioned(make, (2, 4, 4)),), (True,))


# ---- work ----------------------------------------------------------------------------


def _cubic(factor: float) -> Any:
    """Count `factor` m n min(m, n) operations for each matrix."""

    def work(a: Meta, *rest: Any) -> Work:
        return Work(factor * size(a) * min(a.shape[-2:]), 3 * nbytes(a))

    return work


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="cholesky",
        kind="standalone",
        signature="out ; a",
        doc="The lower triangular L of a = L L^T; reads the lower triangle.",
        rule=_cholesky_rule,
        reference=cholesky,
        budget=_conditioned,
        samples=positive_samples,
        work=_cubic(1 / 3),
    ),
    KernelSpec(
        name="qr",
        kind="standalone",
        signature="q r ; a ; mode:reduced,complete",
        doc="a = q r, q orthonormal, r upper triangular, with LAPACK's signs.",
        rule=_qr_rule,
        reference=qr,
        budget=_conditioned,
        samples=_qr_samples,
        work=_cubic(4 / 3),
        defaults=("reduced",),
    ),
    KernelSpec(
        name="svd",
        kind="standalone",
        signature="u s vh ; a ; full:bool",
        doc="a = u diag(s) vh, orthonormal u and vh, s descending; LAPACK's signs.",
        rule=_svd_rule,
        reference=svd,
        budget=_values_and_vectors(1),
        samples=_svd_samples,
        work=_cubic(20),
        defaults=(False,),
    ),
    KernelSpec(
        name="eigh",
        kind="standalone",
        signature="w v ; a",
        doc="a = v diag(w) v^T of symmetric a, w ascending; reads the lower triangle.",
        rule=_eigh_rule,
        reference=eigh,
        budget=_values_and_vectors(0),
        samples=positive_samples,
        work=_cubic(9),
    ),
)

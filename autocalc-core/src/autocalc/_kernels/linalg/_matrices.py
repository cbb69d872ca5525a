# SPDX-License-Identifier: MIT
"""Checks, error bounds and samples of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, budget, ulp
from autocalc._kernels.rules import float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, DType, Meta, Shape, Work
from autocalc._kernels.work import nbytes, size
from autocalc.errors import LinAlgError, ShapeError

#: Shapes with one matrix, several matrices, no matrices, and matrices without elements.
SQUARE: tuple[Shape, ...] = ((1, 1), (3, 3), (2, 3, 4, 4), (17, 17), (0, 2, 2), (0, 0))


#: Also shapes of tall and wide matrices.
OBLONG: tuple[Shape, ...] = ((4, 3), (3, 4), (2, 1, 5, 2), (9, 17), (0, 3, 2), (2, 0))


#: LAPACK's algorithms are backward stable, with errors of n * eps times a small
#: constant.
BACKWARD = 8.0


def matrices(where: str, a: Meta) -> DType:
    """Return the dtype of `a`, which must be [..., m, n] of floats."""
    dtype = float_dtype(where, a)
    if len(a.shape) < 2:
        raise ShapeError(
            f"linalg.{where}: The input tensor A must have at least 2 dimensions. Its "
            f"shape is {a.shape}; reshape a vector to a matrix with one row or column."
        )
    return dtype


def squares(where: str, a: Meta) -> DType:
    """Return the dtype of `a`, which must be [..., n, n] of floats."""
    dtype = matrices(where, a)
    if a.shape[-1] != a.shape[-2]:
        raise ShapeError(
            f"{where}: `a` has shape {a.shape}; it must be batches of square matrices, "
            f"not matrices of {a.shape[-2]} by {a.shape[-1]}."
        )
    return dtype


def double(xp: Any, a: Array) -> Array:
    """Return `a` in float64 or complex128, the widest formats of LAPACK."""
    return a.astype(xp.complex128 if a.dtype.kind == "c" else xp.float64)


def check_finite(xp: Any, where: str, a: Array, *, lower: bool = False) -> None:
    """Raise if a matrix holds infinity or NaN, because LAPACK might not terminate.

    If `lower` is True, only the lower triangles are checked.
    """
    if math.isfinite(xp.vdot(a, a).real):  # half the time of isfinite
        return
    good = xp.isfinite(a)
    if lower:
        good = good | ~xp.tri(a.shape[-1], dtype=bool)
    if good.all():
        return
    *place, row, column = (
        int(i) for i in xp.unravel_index(int(good.argmin()), a.shape)
    )
    value = a[tuple(place)][row, column]
    _refuse(where, place, a, ("", f"holds {value} in row {row}, column {column}"))


def _refuse(
    where: str, place: Sequence[int], a: Array, why: tuple[str, str]
) -> NoReturn:
    reason, fault = why
    which, batch, shape = "`a`", "", a.shape[-2:]
    if place:
        which = f"matrix {tuple(place)} of `a`"
        batch = f"(Batch element {np.ravel_multi_index(place, a.shape[:-2])}): "
    raise LinAlgError(f"{where}: {batch}{reason}{which}, of shape {shape}, {fault}.")


def guarded(
    xp: Any,
    where: str,
    a: Array,
    compute: Callable[[], Any],
    at_fault: Callable[[Array], tuple[str, str] | None],
) -> Any:
    """Return ``compute()``; if LAPACK fails, raise an error that names the matrix.

    ``at_fault(matrix)`` returns where the computation stopped and the problem of a
    matrix, or None if there is none.
    """
    try:
        return compute()
    except xp.linalg.LinAlgError as error:
        for place in np.ndindex(a.shape[:-2]):
            fault = at_fault(a[place])
            if fault is not None:
                _refuse(where, place, a, fault)
        raise LinAlgError(f"{where}: {error}") from None


def singular(xp: Any) -> Callable[[Array], tuple[str, str] | None]:
    """Return a function that tests whether a matrix is singular."""

    def at_fault(matrix: Array) -> tuple[str, str] | None:
        sign, _ = xp.linalg.slogdet(matrix)
        if sign:
            return None
        if not xp.isfinite(matrix).all():
            return "", "is singular, and holds infinity or NaN"
        sizes = xp.linalg.svd(matrix, compute_uv=False)
        reason = (
            f"The diagonal element {_zero_pivot(xp, matrix)} is zero, the inversion "
            "could not be completed: "
        )
        return reason, (
            f"is singular: its singular values are between {sizes[-1]:.3g} and "
            f"{sizes[0]:.3g}, so it has no inverse. Add a small multiple of the "
            f"identity, or use the singular value decomposition"
        )

    return at_fault


def _zero_pivot(xp: Any, matrix: Array) -> int:
    """Return the number of the first zero on the diagonal of the factor U, from 1."""
    left = xp.array(matrix)
    for k in range(len(left)):
        row = k + int(xp.abs(left[k:, k]).argmax())
        left[[k, row]] = left[[row, k]]
        if not left[k, k]:
            return k + 1
        left[k + 1 :] -= left[k + 1 :, k : k + 1] / left[k, k] * left[k]
    return len(left)


def condition(a: Array) -> Array:
    """Return the factor by which the inverse amplifies errors in `a`, [..., 1, 1]."""
    return np.linalg.cond(np.asarray(a, np.float64))[..., None, None]


def largest(a: Array) -> Array:
    """Return the largest ``|element|`` of each matrix, [..., 1, 1]."""
    size = np.abs(np.asarray(a, np.float64))
    return size.max(axis=(-2, -1), keepdims=True, initial=0.0)


def well_conditioned(make: Make, shape: Shape) -> Array:
    """Return random matrices, with 2 n added to the diagonal of square matrices."""
    a = make.normal(*shape)
    n = min(shape[-2:])
    if n:
        a[..., np.arange(n), np.arange(n)] += 2 * n
    return a


def singular_values(xp: Any, where: str, a: Array, *, full: bool = True) -> Any:
    """Return u, s, vh of each matrix."""
    check_finite(xp, where, a)
    find = partial(xp.linalg.svd, full_matrices=full)
    return guarded(xp, where, a, lambda: find(a), unfinished(find))


def eigenvalues(xp: Any, where: str, a: Array) -> Any:
    """Return eigenvalues and eigenvectors of symmetric matrices (lower triangles)."""
    check_finite(xp, where, a, lower=True)
    find = xp.linalg.eigh
    return guarded(xp, where, a, lambda: find(a), unfinished(find))


def unfinished(
    find: Callable[[Array], Any],
) -> Callable[[Array], tuple[str, str] | None]:
    """Return a function that tests whether `find` fails for a matrix."""

    def at_fault(matrix: Array) -> tuple[str, str] | None:
        try:
            find(matrix)
        except np.linalg.LinAlgError:
            return "", "has values that LAPACK did not find in its number of steps"
        return None

    return at_fault


def values_and_vectors(place: int) -> Any:
    """Allow errors of vectors that grow as the values get closer to each other."""

    @budget("8 n eps max|value|, of vectors divided by the gap between values")
    def result(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Limits:
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


def any_matrices(make: Make) -> Iterator[Array]:
    for shape in (*SQUARE, *OBLONG):
        yield well_conditioned(make, shape)


def cubic(factor: float) -> Any:
    """Count `factor` m n min(m, n) operations for each matrix."""

    def work(a: Meta, *rest: Any) -> Work:
        return Work(factor * size(a) * min(a.shape[-2:]), 3 * nbytes(a))

    return work


def cubic_work(factor: float) -> Any:
    """Count `factor` n^3 operations for each matrix, as LAPACK's manual does."""

    def work(a: Meta, *rest: Any) -> Work:
        return Work(factor * size(a) * a.shape[-1], nbytes(a, *rest, a))

    return work

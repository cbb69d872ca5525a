# SPDX-License-Identifier: MIT
"""Determinants, their logarithms, and the derivatives of every order."""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import multi, nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops.elementwise import arithmetic, exponential
from autocalc._ops.matrices import _complex_rules, _matrix_rules, matmul
from autocalc._tensor import Tensor

det_op = nary("det", saves="a")


det_op.op.complex_rule = _complex_rules.det


@det_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return dA = g C with the cofactors C, which singular matrices have as well."""
    return k.mul(_matrix_rules.matrix(k, g), k.cofactor(*n.saved))


@method("det")
@declared
def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the determinant of each matrix of `A`, of shape [..., n, n].

    It has gradients of every order, also where a matrix is singular.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n].
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.linalg.det(ac.tensor([[2.0, 0.0], [0.0, 4.0]])).item()
    8.0
    """
    return det_op(check_tensor("det", A))


cofactor = nary("cofactor", saves="a")


@cofactor.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return dA, the derivative along g: the second derivative of det is symmetric."""
    return k.cofactor_derivative(*n.saved, _one(k, g))


cofactor_derivative = nary("cofactor_derivative", saves="a d")


@cofactor_derivative.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return dA, the derivative along g, too; for dd_i, g takes the place of d_i."""
    a, d = n.saved
    more = k.cat([d, _one(k, g)], 0)
    return (
        k.cofactor_derivative(a, more) if n.needs(0) else None,
        _in_directions(k, a, more) if n.needs(1) else None,
    )


def _in_directions(k: Any, a: Any, more: Any) -> Any:
    """Return, for each direction but the last, the derivative along the others."""
    every = range(k.shape(more)[0] - 1)
    parts = [k.slice(more, (slice(i, i + 1),)) for i in (*every, len(every))]
    slopes = [
        k.cofactor_derivative(a, k.cat([p for p in parts if p is not parts[i]], 0))
        for i in every
    ]
    return k.cat([_one(k, slope) for slope in slopes], 0)


def _one(k: Any, x: Any) -> Any:
    return k.reshape(x, (1, *k.shape(x)))


slogdet_op = multi("slogdet", saves="a")


slogdet_op.op.complex_rule = _complex_rules.slogdet


@slogdet_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return dA = g A'^-1 for log abs(det); the sign is constant."""
    (a,), (_, g_log) = n.saved, g
    if g_log is None:
        return k.zeros(n.shapes[0], n.dtype)
    return k.mul(_matrix_rules.matrix(k, g_log), matmul.transposed(k, k.inv(a)))


class SlogdetResult(NamedTuple):
    """The result of `slogdet`."""

    sign: Tensor
    logabsdet: Tensor


@method("slogdet")
@declared
def slogdet(A: Tensor, *, out: tuple[Tensor, Tensor] | None = None) -> SlogdetResult:
    """Return the sign of the determinant and the logarithm of its absolute value.

    For a singular matrix, the sign is 0 and the logarithm is -infinity.

    Parameters
    ----------
    A
        A tensor of shape [..., n, n].
    out
        Tensors to write the results into; the results are converted to their dtypes.

    Examples
    --------
    >>> import autocalc as ac
    >>> sign, logabs = ac.slogdet(ac.tensor([[2.0, 0.0], [0.0, 0.5]]))
    >>> sign.item(), logabs.item()
    (1.0, 0.0)
    """
    return SlogdetResult(*slogdet_op(check_tensor("slogdet", A)))


@method("logdet")
@rounded_once
def logdet(input: Tensor) -> Tensor:
    """Return the logarithm of the determinant of each matrix.

    It is NaN where the determinant is negative.

    Parameters
    ----------
    input
        A tensor of shape [..., n, n].

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logdet(ac.tensor([[2.0, 0.0], [0.0, 0.5]]))
    tensor(0.)
    """
    sign, log = slogdet(input)
    if sign.is_complex():
        return arithmetic.add_op(exponential.log(sign), log)
    return arithmetic.add_op(arithmetic.mul(exponential.sqrt(sign), 0.0), log)

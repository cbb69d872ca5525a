# SPDX-License-Identifier: MIT
"""Covariance and correlation of variables: cov, corrcoef."""

from __future__ import annotations

from autocalc._ops._operator.arguments import as_int, check_tensor
from autocalc._ops._operator.checks import refuse_booleans
from autocalc._ops._operator.coerce import cast, to_float
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops.arranging import diagonal
from autocalc._ops.complex_numbers import making, parts
from autocalc._ops.elementwise import arithmetic, clamping, comparison, exponential
from autocalc._ops.matrices.matmul import matmul
from autocalc._ops.reductions import reduction
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError

__all__ = ["corrcoef", "cov"]


@method("cov")
@rounded_once
def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariance matrix of variables; each row holds one variable.

    ``cov[i, j] = sum_k w_k (x_ik - m_i) (x_jk - m_j) / n``, where w_k is the weight of
    observation k, m is the weighted mean, and n is the sum of the weights minus
    `correction`. If there are `aweights` a, ``sum_k w_k a_k / sum_k w_k`` times
    `correction` is subtracted instead.

    Parameters
    ----------
    input
        A tensor of shape [variables, observations]; or [observations] for a single
        variable, whose variance is returned.
    correction
        The number that is subtracted in the divisor n: 1 gives the unbiased estimate, 0
        gives the mean of the products.
    fweights
        The frequencies of the observations, a vector of integers.
    aweights
        The weights of the observations, a vector of floats.

    Returns
    -------
    Tensor
        A tensor of shape [variables, variables]; a 0-d tensor for a single variable.

    Raises
    ------
    ShapeError
        If `input` has more than two dimensions, or the weights have another shape.
    DTypeError
        If `fweights` does not hold integers, or `aweights` does not hold floats.
    ArgumentError
        If a weight is negative.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.cov(ac.tensor([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    where = "cov"
    rows = _rows(where, input)
    less = as_int(where, "correction", correction)
    weights = _weights(rows, fweights, aweights)
    if weights is None:
        mean, total = reduction.mean(rows, 1, True), rows.shape[1]
        centred = arithmetic.sub_op(rows, mean)
        weighted = centred
        count: Tensor | float = max(total - less, 0)
    else:
        total_weight = reduction.sum(weights)
        mean = reduction.sum(arithmetic.mul(rows, weights), 1, True) / total_weight
        centred = arithmetic.sub_op(rows, mean)
        weighted = arithmetic.mul(centred, weights)
        squares = weights if aweights is None else _squares(weights, aweights)
        lost = reduction.sum(squares) / total_weight if aweights is not None else 1.0
        count = clamping.clamp_min(total_weight - lost * less, 0.0)
    found = arithmetic.div(matmul(weighted, parts.adjoint(centred)), count)
    return view.reshape(found, ()) if found.numel() == 1 else found


def _squares(weights: Tensor, aweights: Tensor) -> Tensor:
    return arithmetic.mul(weights, cast(aweights, weights.dtype))


def _rows(where: str, input: Tensor) -> Tensor:
    """Return the observations as a float matrix with one row for each variable."""
    refuse_booleans(where, check_tensor(where, input))
    if input.ndim > 2:
        raise ShapeError(
            f"{where}: `input` has shape {input.shape}; it must have at most two "
            "dimensions, [variables, observations]."
        )
    x = input if input.dtype.is_differentiable else to_float(input)
    return x if x.ndim == 2 else view.reshape(x, (1, -1))


def _weights(
    rows: Tensor, fweights: Tensor | None, aweights: Tensor | None
) -> Tensor | None:
    """Return the product of both kinds of weights, in the dtype of the observations."""
    product: Tensor | None = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        _check_weights(name, given, rows.shape[1])
        one = cast(given, rows.dtype.to_real())
        product = one if product is None else arithmetic.mul(product, one)
    return product


def _check_weights(name: str, given: Tensor, count: int) -> None:
    if check_tensor("cov", given).shape != (count,):
        raise ShapeError(
            f"cov: `{name}` has shape {given.shape}; it must have shape ({count},), "
            "with one weight for each observation."
        )
    refuse_booleans("cov", given)
    if given.is_floating_point() != (name == "aweights"):
        kind = "floats" if name == "aweights" else "integers"
        raise DTypeError(f"cov: `{name}` is {given.dtype.name}; it must hold {kind}.")
    if reduction.any(comparison.lt(given.detach(), 0)).item():
        message = f"cov: `{name}` holds a negative weight; all must be 0 or more."
        raise ArgumentError(message)


@method("corrcoef")
@rounded_once
def corrcoef(input: Tensor) -> Tensor:
    """Return Pearson's correlation coefficients of variables, between -1 and 1.

    Coefficient (i, j) is ``cov[i, j] / sqrt(cov[i, i] * cov[j, j])``; it is NaN for a
    constant variable.

    Parameters
    ----------
    input
        A tensor of shape [variables, observations], or [observations] for a single
        variable.

    Returns
    -------
    Tensor
        A tensor of shape [variables, variables]; a 0-d tensor for a single variable.

    Raises
    ------
    ShapeError
        If `input` has more than two dimensions.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.corrcoef(ac.tensor([[0.0, 1.0, 2.0], [4.0, 2.0, 0.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    found = cov(_rows("corrcoef", input))
    if found.ndim == 0:
        return arithmetic.div(found, found)
    spread = exponential.sqrt(diagonal.diagonal(found))
    scaled = arithmetic.div(found, view.unsqueeze(spread, 1))
    scaled = arithmetic.div(scaled, view.unsqueeze(spread, 0))
    if not scaled.is_complex():
        return clamping.clamp(scaled, -1.0, 1.0)
    both = [clamping.clamp(x, -1.0, 1.0) for x in (scaled.real, scaled.imag)]
    return making.complex(*both)

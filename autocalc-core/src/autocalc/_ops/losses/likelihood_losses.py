# SPDX-License-Identifier: MIT
"""Negative log-likelihoods of counts and measurements; divergences of distributions."""

from __future__ import annotations

import math
import warnings

from autocalc._dispatch.selection.state import recorder
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, check_reduction, refuse_booleans
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import full as full_of
from autocalc._ops.elementwise import arithmetic, clamping, comparison, exponential
from autocalc._ops.elementwise.zero_weights import weigh_op
from autocalc._ops.indexing import masking
from autocalc._ops.losses import _loss_reduction
from autocalc._ops.reductions import extrema
from autocalc._ops.reductions import reduction as reduction_ops
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number, require
from autocalc._tensor.dtypes import DType
from autocalc._tensor.limits import finfo
from autocalc.errors import ArgumentError, AutocalcWarning, ShapeError


@autocasts("float32")
@declared
@rounded_once(promotes=True)
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return exp(x) - t x, the negative log-likelihood of Poisson counts t.

    Parameters
    ----------
    input
        The logarithm x of the expected count; with ``log_input=False``, the expected
        count itself.
    target
        The counts t; shapes are broadcast.
    log_input
        True if `input` is a logarithm; otherwise the loss is x - t log(x + eps).
    full
        True to add Stirling's approximation of log(t!), which is t log(t) - t +
        log(2 pi t) / 2, where t is above 1.
    size_average, reduce
        Deprecated: use `reduction`.
    eps
        The number eps of the formula for ``log_input=False``; it avoids the logarithm
        of 0.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.poisson_nll_loss(ac.tensor([0.0]), ac.tensor([3.0]))
    tensor(1.)
    """
    where = "poisson_nll_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_tensor(where, input), check_tensor(where, target)
    eps = number(where, "eps", eps)
    if log_input:
        product = weigh_op if input.is_floating_point() else arithmetic.mul
        loss = exponential.exp(input) - product(target, input)
    elif eps == 0:
        loss = input - exponential.weighed_log(target, input)
    else:
        loss = input - target * exponential.log(arithmetic.add_op(input, eps))
    if full:
        refuse_booleans(where, target)
        loss = loss + _stirling(target)
    return _loss_reduction.reduced(loss, reduction)


def _stirling(t: Tensor) -> Tensor:
    """Return log(t!) where t is above 1, else 0."""
    large = comparison.gt(t, 1)
    t = masking.where(large, t, 1.0)
    value = t * exponential.log(t) - t + exponential.log(t * (2 * math.pi)) * 0.5
    return masking.where(large, value, 0.0)


@declared
@rounded_once(promotes=True)
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor | float,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Return (log(v) + (x - t)^2 / v) / 2, where v = max(var, eps).

    Nix and Weigend: Estimating the mean and variance of the target probability
    distribution (1994).

    Parameters
    ----------
    input
        The expected values x.
    target
        The observed values t; shapes are broadcast.
    var
        The variances: a tensor with the shape of `input`, or with a last dimension of
        size 1, or without the last dimension; or one Python float.
    full
        True to add the constant log(2 pi) / 2.
    eps
        The smallest variance; the gradient of `var` ignores this limit.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ShapeError
        If the shape of `var` does not fit that of `input`.
    ArgumentError
        If a variance is negative, or `eps` is not above 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, t = ac.tensor([1.0, 2.0]), ac.tensor([1.0, 4.0])
    >>> ac.nn.functional.gaussian_nll_loss(x, t, ac.ones(2))
    tensor(1.)
    """
    where = "gaussian_nll_loss"
    check_reduction(where, reduction)
    check_tensor(where, input)
    require(where, "eps", eps, number(where, "eps", eps) > 0, "above 0")
    v = _at_least(_variance(where, input, var), eps)
    difference = arithmetic.sub_op(input, target)
    loss = (exponential.log(v) + difference * difference / v) * 0.5
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _loss_reduction.reduced(loss, reduction)


def _float_dtype(x: Tensor) -> DType:
    return x.dtype if x.is_floating_point() else dtypes.get_default_dtype()


def _variance(where: str, input: Tensor, var: Tensor | float) -> Tensor:
    """Return the checked variances in a shape that broadcasts to that of `input`."""
    if isinstance(var, float):
        var = full_of(input.shape, var, dtype=_float_dtype(input))
    check_float(where, var)
    shape = input.shape
    if var.shape != shape and var.shape == shape[:-1]:
        var = view.unsqueeze(var, -1)
    pairs = zip(shape, var.shape, strict=False)
    others = [ours for theirs, ours in pairs if ours != theirs]
    if var.ndim != len(shape) or others not in ([], [1]):
        raise ShapeError(
            f"{where}: var is of incorrect size, {var.shape}, for an input of shape "
            f"{shape}; it "
            "must have the same shape, the same shape with one size of 1, or the "
            "shape without the last dimension."
        )
    looks = var.numel() and recorder() is None  # a replay would not check
    if looks and extrema.ends(var.detach())[0] < 0:
        message = (
            f"{where}: var has negative entry/entries; variances must be 0 or more."
        )
        raise ArgumentError(message)
    return var


def _at_least(var: Tensor, eps: float) -> Tensor:
    """Return max(var, eps) with the gradient of var."""
    still = var.detach()
    limited = clamping.clamp(still, min=eps)
    return masking.where(comparison.lt(still, eps), var - still + limited, var)


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Return t (log(t) - x), the Kullback-Leibler divergence of exp(x) from t.

    Parameters
    ----------
    input
        The log-probabilities x, of any shape.
    target
        The probabilities t, or their logarithms if `log_target` is True.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"batchmean"`` divides the sum by the batch size, which is the divergence
        itself; ``"mean"`` divides it by the number of elements; or ``"sum"``, or
        ``"none"``.
    log_target
        True if `target` holds logarithms of probabilities.

    Examples
    --------
    >>> import autocalc as ac
    >>> q = ac.tensor([0.5, 0.5])
    >>> ac.nn.functional.kl_div(ac.log(ac.tensor([0.25, 0.75])), q, reduction="sum")
    tensor(0.1438)
    """
    where = "kl_div"
    if reduction == "mean" and size_average is None and reduce is None:
        message = (
            "kl_div: reduction='mean' divides the sum by the number of elements, "
            "which does not give the divergence; 'batchmean' divides it by the number "
            "of distributions."
        )
        warnings.warn(message, AutocalcWarning, stacklevel=3)
    reduction = _loss_reduction.chosen(
        where, size_average, reduce, reduction, "batchmean"
    )
    check_float(where, input, target)
    if log_target:
        empty = comparison.eq(target, -math.inf)  # exp(-inf) is 0, and NaN stays NaN
        finite = masking.where(empty, finfo(target.dtype).min, target)
        loss = weigh_op(exponential.exp(finite), arithmetic.sub_op(finite, input))
    else:
        empty = comparison.eq(target, 0.0)  # 0 log 0 is 0
        log_t = exponential.log(masking.where(empty, 1.0, target))
        loss = weigh_op(target, arithmetic.sub_op(log_t, input))
    if reduction != "batchmean":
        return _loss_reduction.reduced(loss, reduction)
    total = reduction_ops.sum(loss)
    return total / input.shape[0] if input.ndim else total

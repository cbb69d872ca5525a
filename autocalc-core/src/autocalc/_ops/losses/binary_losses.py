# SPDX-License-Identifier: MIT
"""Losses of two classes: probabilities or logits, and targets from 0 to 1."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.state import recorder
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_float, refuse_booleans
from autocalc._ops._operator.coerce import cast, coerce, same_dtype
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, clamping, comparison, exponential
from autocalc._ops.elementwise.zero_weights import weigh_op
from autocalc._ops.indexing import masking
from autocalc._ops.losses import _loss_reduction
from autocalc._ops.reductions.extrema import ends
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError


@autocasts("float32")
@rounded_once
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return -(t log(p) + (1 - t) log(1 - p)), where p is `input`, t is `target`.

    Each logarithm is limited to -100 or more, so that the loss is finite.

    Parameters
    ----------
    input
        The probabilities p between 0 and 1, of any shape.
    target
        The targets t between 0 and 1, with the shape of `input`; often 0 or 1.
    weight
        A factor for each element; it is broadcast.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ArgumentError
        If an element of `input` or `target` is not between 0 and 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> p, t = ac.tensor([0.5, 0.0]), ac.tensor([1.0, 0.0])
    >>> ac.nn.functional.binary_cross_entropy(p, t, reduction="sum").item()
    0.6931471824645996
    """
    where = "binary_cross_entropy"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_float(where, input, target)
    if input._array.shape != target._array.shape:
        _loss_reduction.same_shape(where, input, target)
    same_dtype(where, input, target)
    _check_probabilities(where, "input", input)
    _check_probabilities(where, "target", target)
    return _mean_entropy(input, target, weight, reduction)


@traced
def _mean_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str
) -> Tensor:
    loss = _entropies(input, target)
    if weight is not None:
        loss = _weighted("binary_cross_entropy", loss, weight)
    return _loss_reduction.reduced(loss, reduction)


@one_node("binary_cross_entropy", "a b", like="mul")
def _entropies(input: Tensor, target: Tensor) -> Tensor:
    """Return the loss of each element."""
    k, p, t = arrays, input._array, target._array
    one, least = constant(1, p.dtype), constant(-100, p.dtype)
    hit = k.mul(t, k.maximum(k.log(p), least))
    miss = k.mul(k.sub(one, t), k.maximum(k.log(k.sub(one, p)), least))
    return make(k.neg(k.add(hit, miss)), None)


@_entropies.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    p, t = n.saved
    one = k.constant(1, p)
    q = k.sub(one, p)
    dp = dt = None
    if n.needs(0):
        of_miss = _times_slope(k, k.mul(g, k.sub(one, t)), q)
        dp = k.sub(of_miss, _times_slope(k, k.mul(g, t), p))
    if n.needs(1):
        limited = _limited_log if k.records else _limited_array
        dt = k.mul(g, k.sub(limited(q), limited(p)))
    return dp, dt


def _times_slope(k: Any, g: Any, p: Any) -> Any:
    """Return g times the derivative of `_limited_log`."""
    small = k.compare(p, k.constant(1e-12, p), "lt")
    usual = k.div(g, k.where(small, k.constant(1, p), p))
    return k.where(small, k.mul(g, k.constant(1e12, p)), usual)


def _weighted(where: str, loss: Tensor, weight: Tensor | None) -> Tensor:
    """Return the losses times a weight, which broadcasts to them, in their dtype."""
    if weight is None:
        return loss
    _loss_reduction.fits(where, loss, weight=weight)
    return weigh_op(cast(weight, loss.dtype), loss)


def _check_probabilities(where: str, name: str, p: Tensor) -> None:
    a = p._array
    if a.size == 0 or recorder() is not None:  # a replay would not check
        return
    low, high = ends(p.detach() if p._edge else p)
    if not (low >= 0 and high <= 1):  # also raises for NaN
        raise ArgumentError(
            f"{where}: `{name}` has elements from {low} to {high}, but probabilities "
            "must be between 0 and 1. For logits, use "
            "binary_cross_entropy_with_logits."
        )


def _limited_array(p: Any) -> Any:
    """Return the result of `_limited_log` for an array."""
    return arrays.maximum(arrays.log(p), constant(-100, p.dtype))


def _limited_log(p: Tensor) -> Tensor:
    """Return max(log(p), -100), with the derivative 1 / p, at most 1e12.

    Below 1e-12 the derivative is that of a line.  So the gradient leads away from a
    probability of 0, where the gradient of a clamp would be 0.
    """
    still = p.detach()
    value = clamping.clamp_min(exponential.log(still), -100.0)
    line = arithmetic.add_op(value, arithmetic.mul(arithmetic.sub_op(p, still), 1e12))
    small = comparison.lt(p, 1e-12)
    inside = exponential.log(masking.where(small, 1.0, p))
    return masking.where(small, line, inside)


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Return the binary cross-entropy of sigmoid(input), with a weight for target 1.

    With x = `input`, t = `target` and w = `pos_weight`, the loss of an element is
    ``w t log(1 + exp(-x)) + (1 - t) log(1 + exp(x))``.  This form neither overflows nor
    loses digits.  The first term is 0 if ``w t`` is 0, and the second term is 0 if
    ``1 - t`` is 0, even if x is infinite.

    Parameters
    ----------
    input
        The logits x, of any shape.
    target
        The targets t, of the shape of `input`; often 0 and 1.
    weight
        A factor for each element; it is broadcast.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
    pos_weight
        The factor w of the terms with target 1; it is broadcast.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, t = ac.tensor([0.0, 1000.0]), ac.tensor([1.0, 1.0])
    >>> ac.nn.functional.binary_cross_entropy_with_logits(x, t, reduction="none")
    tensor([0.6931, 0.0000])
    """
    where = "binary_cross_entropy_with_logits"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    check_float(where, input, target)
    _loss_reduction.same_shape(where, input, target)
    if pos_weight is not None:
        _loss_reduction.fits(where, input, pos_weight=pos_weight)
        refuse_booleans(where, pos_weight)
        pos_weight = cast(pos_weight, input.dtype)
    loss = of_logits(input, target, pos_weight)
    return _loss_reduction.reduced(_weighted(where, loss, weight), reduction)


def of_logits(x: Tensor, t: Tensor, pos_weight: Tensor | None = None) -> Tensor:
    """Return -(w t log(s) + (1 - t) log(1 - s)) for each element; s = sigmoid(x)."""
    x, t = coerce("binary_cross_entropy_with_logits", x, t)
    share = t if pos_weight is None else arithmetic.mul(pos_weight, t)
    return logistic_loss_op(x, share, arithmetic.sub_op(1.0, t))


logistic_loss_op = nary("logistic_loss", saves="a yes no")


@logistic_loss_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    a, yes, no = n.saved
    slopes: list[Any] = [None, None, None]
    if n.needs(0):
        slopes[0] = k.mul(g, k.logistic_slope(a, yes, no))
    if n.needs(1):
        slopes[1] = k.weigh(g, k.softplus(k.neg(a), 1.0, 1e30))
    if n.needs(2):
        slopes[2] = k.weigh(g, k.softplus(a, 1.0, 1e30))
    return tuple(
        None if slope is None else k.sum_to(slope, shape)
        for slope, shape in zip(slopes, n.shapes, strict=True)
    )

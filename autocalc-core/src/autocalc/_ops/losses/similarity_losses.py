# SPDX-License-Identifier: MIT
"""Losses of pairs and triplets of vectors, by cosine or distance."""

from __future__ import annotations

from collections.abc import Callable

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import check_reduction
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import clamping, comparison, exponential
from autocalc._ops.indexing import masking
from autocalc._ops.losses import _loss_reduction
from autocalc._ops.matrices import distance as distance_ops
from autocalc._ops.reductions import reduction as reduction_ops
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc.errors import ArgumentError, ShapeError


@autocasts("float32")
@rounded_once(promotes=True)
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return 1 - cos where the target is 1, and max(cos - margin, 0) where it is -1.

    Parameters
    ----------
    input1, input2
        Tensors of shape (N, D) or (D,); cos is the cosine of the angle between their
        vectors.
    target
        1 for vectors that belong together, -1 for other pairs, of shape (N,) or ().
    margin
        A pair with target -1 has the loss 0 if its cosine is at most this number.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ShapeError
        If the shapes of `input1`, `input2` and `target` are neither (N, D), (N, D) and
        (N,) nor (D,), (D,) and ().

    Examples
    --------
    >>> import autocalc as ac
    >>> a, b = ac.tensor([[1.0, 0.0]]), ac.tensor([[0.0, 1.0]])
    >>> ac.nn.functional.cosine_embedding_loss(a, b, ac.tensor([1]))
    tensor(1.)
    """
    where = "cosine_embedding_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    a, b = comparison.float_inputs(where, check_tensor(where, input1), input2)
    check_tensor(where, target)
    if input1.ndim not in (1, 2) or a.shape != b.shape or a.shape[:-1] != target.shape:
        raise ShapeError(
            f"{where}: the inputs have the shapes {input1.shape} and {input2.shape}, "
            f"and `target` has the shape {target.shape}. Both inputs must have the "
            f"shape (N, D) and `target` (N,), or both inputs (D,) and `target` (): "
            f"{_needed(input1, input2, target)}."
        )
    cosine, target = _cosine(a, b), cast(target, a.dtype)
    apart = clamping.clamp(cosine - margin, min=0.0)
    apart = masking.where(comparison.eq(target, -1), apart, 0.0)
    loss = masking.where(comparison.eq(target, 1), 1.0 - cosine, apart)
    return _loss_reduction.reduced(loss, reduction)


def _cosine(a: Tensor, b: Tensor) -> Tensor:
    """Return a.b / sqrt((a.a + e) (b.b + e)); e = 1e-12 permits vectors of 0."""
    dot = reduction_ops.sum(a * b, -1)
    sizes = [reduction_ops.sum(x * x, -1) + 1e-12 for x in (a, b)]
    return dot / exponential.sqrt(sizes[0] * sizes[1])


@autocasts("float32")
@traced
@rounded_once(promotes=True)
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return max(d(anchor, positive) - d(anchor, negative) + margin, 0).

    Balntas and others: Learning local feature descriptors with triplets (BMVC 2016).

    Parameters
    ----------
    anchor, positive, negative
        Tensors of shape (N, D) or (D,).
    margin
        The margin between the two distances, above 0.
    p, eps
        The parameters of the distance d, as in `pairwise_distance`.
    swap
        True to use d(positive, negative) where it is smaller than d(anchor, negative).
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ArgumentError
        If `margin` is not positive.

    Examples
    --------
    >>> import autocalc as ac
    >>> a, p, n = ac.tensor([[0.0]]), ac.tensor([[1.0]]), ac.tensor([[1.5]])
    >>> ac.nn.functional.triplet_margin_loss(a, p, n)
    tensor(0.5000)
    """
    where = "triplet_margin_loss"
    reduction = _loss_reduction.chosen(where, size_average, reduce, reduction)
    _same_dimensions(where, anchor, positive, negative)

    def distance(a: Tensor, b: Tensor) -> Tensor:
        return distance_ops.pairwise_distance(a, b, p, eps)

    triplet = anchor, positive, negative
    return _loss_reduction.reduced(
        _lead(where, distance, triplet, margin, swap), reduction
    )


def _same_dimensions(where: str, *tensors: Tensor) -> None:
    if len({check_tensor(where, x).ndim for x in tensors}) > 1:
        shapes = ", ".join(str(x._array.shape) for x in tensors)
        raise ShapeError(
            f"{where}: the tensors have shapes {shapes}; they must have the same "
            f"number of dimensions."
        )


def _needed(input1: Tensor, input2: Tensor, target: Tensor) -> str:
    """Return what does not fit in a call of `cosine_embedding_loss`."""
    if target.ndim > 1:
        return "0D or 1D target tensor expected"
    if {input1.ndim, input2.ndim} != {target.ndim + 1}:
        return f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors"
    return "the size of each tensor must match the size of the others"


def _lead(
    where: str,
    distance: Callable[[Tensor, Tensor], Tensor],
    triplet: tuple[Tensor, Tensor, Tensor],
    margin: float,
    swap: bool,
) -> Tensor:
    """Return max(d(anchor, positive) - d(anchor, negative) + margin, 0)."""
    if number(where, "margin", margin) <= 0:
        raise ArgumentError(f"{where}: `margin` is {margin}; it must be above 0.")
    anchor, positive, negative = triplet
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = clamping.minimum(far, distance(positive, negative))
    return clamping.clamp(near - far + margin, min=0.0)


@declared
@rounded_once
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return max(d(anchor, positive) - d(anchor, negative) + margin, 0).

    The distance d is `distance_function`.

    Parameters
    ----------
    anchor, positive, negative
        Tensors that `distance_function` accepts.
    distance_function
        The distance d, a function of two tensors; by default `pairwise_distance`.
    margin
        The margin between the two distances, above 0.
    swap
        True to use d(positive, negative) where it is smaller than d(anchor, negative).
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Raises
    ------
    ArgumentError
        If `margin` is not positive.

    Examples
    --------
    >>> import autocalc as ac
    >>> a, p, n = ac.tensor([0.0]), ac.tensor([1.0]), ac.tensor([1.5])
    >>> ac.nn.functional.triplet_margin_with_distance_loss(
    ...     a, p, n, distance_function=lambda x, y: (x - y).abs()
    ... )
    tensor(0.5000)
    """
    where = "triplet_margin_with_distance_loss"
    check_reduction(where, reduction)
    _same_dimensions(where, anchor, positive, negative)
    distance = distance_function or distance_ops.pairwise_distance
    triplet = anchor, positive, negative
    return _loss_reduction.reduced(
        _lead(where, distance, triplet, margin, swap), reduction
    )

# SPDX-License-Identifier: MIT
"""Losses of numbers and of vectors."""

from __future__ import annotations

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, number, plain
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn import functional
from autocalc.nn._layers.losses.loss import _Loss
from autocalc.nn._module.module import Module


class MSELoss(_Loss):
    """Squared error: (x - t)^2, for an input x and a target t of the same shape.

    Parameters
    ----------
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([1.0, 2.0]), ac.tensor([1.0, 5.0])
    >>> ac.nn.MSELoss()(x, y), ac.nn.MSELoss(reduction="sum")(x, y)
    (tensor(4.5000), tensor(9.))
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of an input and a target of the same shape."""
        return functional.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    """Absolute error: abs(x - t), for an input x and a target t of the same shape.

    Parameters
    ----------
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([1.0, 2.0]), ac.tensor([1.0, 5.0])
    >>> ac.nn.L1Loss()(x, y), ac.nn.L1Loss(reduction="sum")(x, y)
    (tensor(1.5000), tensor(3.))
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of an input and a target of the same shape."""
        return functional.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Smooth L1 loss: d^2 / (2 beta) if d < beta, otherwise d - beta / 2.

    d = abs(x - t) is the absolute error of an input x and a target t of the same shape.

    Parameters
    ----------
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.
    beta
        The error at which the loss changes from quadratic to linear; 0 or more.

    Examples
    --------
    >>> import autocalc as ac
    >>> loss = ac.nn.SmoothL1Loss(reduction="none")
    >>> loss(ac.tensor([0.0, 0.5, 3.0]), ac.zeros(3))
    tensor([0.0000, 0.1250, 2.5000])
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of an input and a target of the same shape."""
        return functional.smooth_l1_loss(
            input, target, reduction=self.reduction, beta=self.beta
        )


class HuberLoss(_Loss):
    """Huber loss: d^2 / 2 if d <= delta, otherwise delta (d - delta / 2).

    d = abs(x - t) is the absolute error of an input x and a target t of the same shape.

    Parameters
    ----------
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.
    delta
        The error at which the loss changes from quadratic to linear; above 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> loss = ac.nn.HuberLoss(reduction="none", delta=2.0)
    >>> loss(ac.tensor([0.0, 1.0, 3.0]), ac.zeros(3))
    tensor([0.0000, 0.5000, 4.0000])
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        if not isinstance(plain(delta), (float, int)):
            raise DTypeError(
                f"HuberLoss: delta must be a float or int, got: {type(delta)}."
            )
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of an input and a target of the same shape."""
        return functional.huber_loss(input, target, self.reduction, self.delta)


class CosineEmbeddingLoss(_Loss):
    """Cosine loss: 1 - cos for target 1, max(cos - margin, 0) for target -1.

    cos is the cosine of the angle between the two vectors.

    Parameters
    ----------
    margin
        The constant margin of the formula.
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> loss = ac.nn.CosineEmbeddingLoss(reduction="none")
    >>> x, y = ac.tensor([[1.0, 0.0], [1.0, 0.0]]), ac.tensor([[1.0, 1.0], [1.0, 1.0]])
    >>> loss(x, y, ac.tensor([1, -1]))
    tensor([0.2929, 0.7071])
    """

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Return the loss of vectors (N, D) and (N, D) and of targets (N,)."""
        return functional.cosine_embedding_loss(
            input1, input2, target, self.margin, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """Triplet loss: max(d(anchor, positive) - d(anchor, negative) + margin, 0).

    d is `functional.pairwise_distance`.

    Parameters
    ----------
    margin
        The constant margin of the formula; above 0.
    p, eps
        The order p of the norm, and the constant eps that is added to the difference.
        See `functional.pairwise_distance`.
    swap
        True to use d(positive, negative) instead of d(anchor, negative) where it is
        smaller.
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> loss = ac.nn.TripletMarginLoss()
    >>> loss(ac.zeros(1, 2), ac.tensor([[3.0, 4.0]]), ac.tensor([[0.0, 5.5]]))
    tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        check_flags("TripletMarginLoss", swap=swap)
        if not number("TripletMarginLoss", "margin", margin) > 0:
            message = f"TripletMarginLoss: `margin` is {margin}; it must be above 0."
            raise ArgumentError(message)
        super().__init__(size_average, reduce, reduction)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss of anchors, positives and negatives of shape (N, D)."""
        return functional.triplet_margin_loss(
            anchor,
            positive,
            negative,
            self.margin,
            self.p,
            self.eps,
            self.swap,
            reduction=self.reduction,
        )


class CosineSimilarity(Module):
    """Cosine similarity: ``sum(x1 x2) / (max(|x1|, eps) max(|x2|, eps))`` along `dim`.

    Parameters
    ----------
    dim, eps
        The dimension of the vectors, and the constant eps of the formula.  eps avoids a
        division by 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.tensor([[3.0, 4.0], [1.0, 0.0]]), ac.tensor([[4.0, 3.0], [0.0, 2.0]])
    >>> ac.nn.CosineSimilarity(dim=1)(x, y)
    tensor([0.9600, 0.0000])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the cosine of the angle between x1 and x2, without dimension `dim`."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """Distance of two vectors: the p-norm of x1 - x2 + eps along the last dimension.

    Parameters
    ----------
    p, eps
        The order p of the norm, and the constant eps of the formula.
    keepdim
        True to keep the last dimension, with size 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, y = ac.zeros(2, 2), ac.tensor([[3.0, 4.0], [1.0, 0.0]])
    >>> ac.nn.PairwiseDistance(p=2.0)(x, y)
    tensor([5.0000, 1.0000])
    """

    def __init__(
        self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
    ) -> None:
        check_flags("PairwiseDistance", keepdim=keepdim)
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Return the distances of x1 and x2, which are broadcast to one shape."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)

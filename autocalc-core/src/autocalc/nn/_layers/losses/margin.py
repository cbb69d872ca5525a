# SPDX-License-Identifier: MIT
"""Losses that are 0 beyond a margin, and smooth variants of them."""

from __future__ import annotations

from collections.abc import Callable

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, number, require
from autocalc.errors import ArgumentError
from autocalc.nn import functional
from autocalc.nn._layers.losses.loss import _Loss, _WeightedLoss
from autocalc.nn._layers.losses.regression import PairwiseDistance


class MarginRankingLoss(_Loss):
    """Ranking loss of two scores: max(-t (x1 - x2) + margin, 0).

    The target t is 1 if x1 should be larger than x2, and -1 if x2 should be larger.

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
    >>> loss = ac.nn.MarginRankingLoss(margin=0.5)
    >>> loss(ac.tensor([1.0]), ac.tensor([3.0]), ac.tensor([1]))
    tensor(2.5000)
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
        """Return the loss of two scores and of targets that are 1 or -1."""
        return functional.margin_ranking_loss(
            input1, input2, target, self.margin, reduction=self.reduction
        )


class HingeEmbeddingLoss(_Loss):
    """Hinge loss of a distance x: x for target 1, max(margin - x, 0) for target -1.

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
    >>> loss = ac.nn.HingeEmbeddingLoss(reduction="none")
    >>> loss(ac.tensor([0.25, 0.25, 3.0]), ac.tensor([1, -1, -1]))
    tensor([0.2500, 0.7500, 0.0000])
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of distances and of targets that are 1 or -1."""
        return functional.hinge_embedding_loss(
            input, target, self.margin, reduction=self.reduction
        )


class SoftMarginLoss(_Loss):
    """Logistic loss: log(1 + exp(-t x)), for a score x and a target t of 1 or -1.

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
    >>> loss = ac.nn.SoftMarginLoss(reduction="none")
    >>> loss(ac.tensor([0.0, 2.0, 2.0]), ac.tensor([1, 1, -1]))
    tensor([0.6931, 0.1269, 2.1269])
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores and of targets that are 1 or -1."""
        return functional.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """Multi-label margin loss: sum_ij max(1 - (x_j - x_i), 0) / C.

    x are the scores of an example. j runs over its labels, i runs over all other
    classes, and C is the number of classes.

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
    >>> scores = ac.tensor([[0.5, 2.0, 0.75, 1.5]])
    >>> labels = ac.tensor([[1, 3, -1, -1]])
    >>> ac.nn.MultiLabelMarginLoss()(scores, labels)  # label 3 leads 2 by 0.75
    tensor(0.0625)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores (N, C) and labels (N, C) of dtype int64.

        Each row of labels ends at its first -1.
        """
        return functional.multilabel_margin_loss(
            input, target, reduction=self.reduction
        )


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Mean over all classes of the binary cross-entropy of logits.

    The loss of one class is -(t log(s) + (1 - t) log(1 - s)), where s = sigmoid(x), x
    is the logit of the class, and t is its target.

    Parameters
    ----------
    weight
        A factor for each class, of shape (C,).  None means 1.
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> logits, target = ac.tensor([[0.0, 2.0]]), ac.tensor([[1.0, 1.0]])
    >>> ac.nn.MultiLabelSoftMarginLoss()(logits, target)
    tensor(0.4100)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits (N, C) and of targets (N, C) that are 0 or 1."""
        return functional.multilabel_soft_margin_loss(
            input, target, self.weight, reduction=self.reduction
        )


class MultiMarginLoss(_WeightedLoss):
    """Multi-class margin loss: sum_j w_y max(margin - x_y + x_j, 0)^p / C.

    x are the scores of an example, y is its label, and j runs over all other classes.
    C is the number of classes.

    Parameters
    ----------
    p
        The exponent p: 1 or 2.
    margin
        The amount by which the score of the label should exceed all other scores.
    weight
        The factors w, one for each class, of shape (C,).  None means 1.
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> scores = ac.tensor([[2.0, 1.5, 0.0], [0.0, 3.0, 1.0]])
    >>> ac.nn.MultiMarginLoss(reduction="none")(scores, ac.tensor([0, 1]))  # 0.5 / 3, 0
    tensor([0.1667, 0.0000])
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        if number("MultiMarginLoss", "p", p) not in (1, 2):
            raise ArgumentError(f"MultiMarginLoss: `p` is {p}; it must be 1 or 2.")
        super().__init__(weight, size_average, reduce, reduction)
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of scores (N, C) and labels (N,) of dtype int64."""
        return functional.multi_margin_loss(
            input, target, self.p, self.margin, self.weight, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """Triplet loss: max(d(anchor, positive) - d(anchor, negative) + margin, 0).

    The distance d is a function of your choice.

    Parameters
    ----------
    distance_function
        The function d of two tensors.  None means `PairwiseDistance()`.
    margin
        The constant margin of the formula; above 0.
    swap
        True to use d(positive, negative) instead of d(anchor, negative) where it is
        smaller.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> loss = ac.nn.TripletMarginWithDistanceLoss(
    ...     distance_function=lambda x, y: (x - y).abs().amax(-1)
    ... )
    >>> loss(ac.zeros(1, 2), ac.tensor([[2.0, 1.0]]), ac.tensor([[2.5, 0.0]]))
    tensor(0.5000)
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        where = "TripletMarginWithDistanceLoss"
        check_flags(where, swap=swap)
        require(where, "margin", margin, number(where, "margin", margin) > 0, "above 0")
        super().__init__(reduction=reduction)
        self.distance_function = distance_function or PairwiseDistance()
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Return the loss of anchors, positives and negatives of the same shape."""
        return functional.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )

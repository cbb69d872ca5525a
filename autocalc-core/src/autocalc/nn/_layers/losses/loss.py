# SPDX-License-Identifier: MIT
"""Losses of classes and of probabilities."""

from __future__ import annotations

from autocalc._ops.losses import _loss_reduction
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags
from autocalc.nn import functional
from autocalc.nn._module.module import Module


class _Loss(Module):
    """A loss of an input and a target.

    Parameters
    ----------
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.
    """

    #: Reductions that a loss has in addition to the usual three.
    _more_reductions: tuple[str, ...] = ()

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        where = type(self).__name__
        self.reduction = _loss_reduction.chosen(
            where, size_average, reduce, reduction, *self._more_reductions
        )


class _WeightedLoss(_Loss):
    """A loss with a weight for each class or element."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class _LossOfLabels(_WeightedLoss):
    """A loss of classes that ignores the rows with one chosen label."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class CrossEntropyLoss(_LossOfLabels):
    """Cross-entropy of logits, with class labels or class probabilities as targets.

    With logits x and target probabilities q, the loss of a row is::

        -sum_c weight_c * q_c * log(softmax(x)_c)

    A class label y means q_y = 1 and q_c = 0 for all other classes.  The logits have
    the shape (C,), (N, C) or (N, C, d1, ...).

    Parameters
    ----------
    weight
        A factor for each class, of shape (C,).  None means 1.
    ignore_index
        The class label of rows that are ignored.
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.  The mean of losses with labels is weighted
        by `weight`.
    label_smoothing
        The share of the target that is distributed evenly over all classes, from 0 to
        1.

    Examples
    --------
    >>> import autocalc as ac
    >>> loss = ac.nn.CrossEntropyLoss()
    >>> loss(ac.zeros(3, 10), ac.tensor([1, 0, 4])).item()  # log(10)
    2.3025851249694824
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, ignore_index, reduce, reduction)
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits (N, C, ...) and of labels or probabilities.

        Labels have the shape (N, ...) and dtype int64 or uint8.  Probabilities have the
        shape of the logits.
        """
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_LossOfLabels):
    """Negative log-likelihood: -weight[y] * x[y].

    x are log-probabilities, one for each class, and y is the class label.

    Parameters
    ----------
    weight
        A factor for each class, of shape (C,).  None means 1.
    ignore_index
        The class label of rows that are ignored.
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.  The mean is weighted by `weight`.

    Examples
    --------
    >>> import autocalc as ac
    >>> log_p = ac.tensor([[0.5, 0.5], [0.25, 0.75]]).log()
    >>> ac.nn.NLLLoss(reduction="none")(log_p, ac.tensor([0, 1]))
    tensor([0.6931, 0.2877])
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of log-probabilities (N, C, ...) and labels (N, ...)."""
        return functional.nll_loss(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class BCELoss(_WeightedLoss):
    """Binary cross-entropy: -(t log(p) + (1 - t) log(1 - p)).

    p is the predicted probability, and t is the target, from 0 to 1.  Both have the
    same shape.

    Parameters
    ----------
    weight
        A factor for each element; it is broadcast to the shape of the input.
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> p, target = ac.tensor([0.5, 0.9]), ac.tensor([0.0, 1.0])
    >>> ac.nn.BCELoss(reduction="none")(p, target)  # -log(0.5), -log(0.9)
    tensor([0.6931, 0.1054])
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of probabilities and targets of the same shape."""
        return functional.binary_cross_entropy(
            input, target, self.weight, reduction=self.reduction
        )


class BCEWithLogitsLoss(_WeightedLoss):
    """Binary cross-entropy of logits: -(w t log(s) + (1 - t) log(1 - s)).

    s = sigmoid(x), where x is the logit.  t is the target, from 0 to 1, and w is
    `pos_weight`.  Input and target have the same shape.  The result does not overflow
    for large logits.

    Parameters
    ----------
    weight
        A factor for each element; it is broadcast to the shape of the input.
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        The reduction of the losses of all elements: ``"mean"``, ``"sum"`` or
        ``"none"``.
    pos_weight
        The factor w of positive targets; it is broadcast to the shape of the input.

    Examples
    --------
    >>> import autocalc as ac
    >>> logits, target = ac.tensor([0.0, 0.0]), ac.tensor([0.0, 1.0])
    >>> loss = ac.nn.BCEWithLogitsLoss(reduction="none", pos_weight=ac.tensor(2.0))
    >>> loss(logits, target)  # log(2), 2 log(2)
    tensor([0.6931, 1.3863])
    """

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits and targets of the same shape."""
        return functional.binary_cross_entropy_with_logits(
            input,
            target,
            self.weight,
            reduction=self.reduction,
            pos_weight=self.pos_weight,
        )


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence: t (log(t) - x).

    x is the logarithm of the predicted probability, and t is the target probability.
    Both have the same shape.

    Parameters
    ----------
    size_average, reduce
        Deprecated; use `reduction` instead.
    reduction
        ``"batchmean"`` divides the sum by the size of the first dimension, which gives
        the divergence itself.  ``"mean"`` divides the sum by the number of elements.
        The other choices are ``"sum"`` and ``"none"``.
    log_target
        True if the target holds log(t) instead of t.

    Examples
    --------
    >>> import autocalc as ac
    >>> p, target = ac.tensor([[0.5, 0.5]]), ac.tensor([[0.25, 0.75]])
    >>> ac.nn.KLDivLoss(reduction="batchmean")(p.log(), target)
    tensor(0.1308)
    >>> ac.nn.KLDivLoss(reduction="batchmean")(target.log(), target)
    tensor(0.)
    """

    _more_reductions = ("batchmean",)

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        check_flags("KLDivLoss", log_target=log_target)
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of log-probabilities and targets of the same shape."""
        return functional.kl_div(
            input, target, reduction=self.reduction, log_target=self.log_target
        )

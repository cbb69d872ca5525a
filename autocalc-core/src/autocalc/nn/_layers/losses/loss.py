# SPDX-License-Identifier: MIT
"""Losses."""

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
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
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
    """A loss with a factor for each class or element."""

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
    """A loss of classes, whose rows with one label count for nothing."""

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
    """-sum_c q_c log(softmax(x)_c), of logits and labels, or a distribution q.

    Parameters
    ----------
    weight
        A factor for each class, (C,).
    ignore_index
        The label of rows that are left out.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"`` (weighted), ``"sum"`` or ``"none"``.
    label_smoothing
        The share of the target that is spread over all classes.

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
        """Return the loss of logits (N, C, ...) and labels (N, ...), or q."""
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class NLLLoss(_LossOfLabels):
    """-weight[label] * x[label], of log-probabilities and class labels.

    Parameters
    ----------
    weight
        A factor for each class, (C,).
    ignore_index
        The label of rows that are left out.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"`` (weighted), ``"sum"`` or ``"none"``.

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
    """-(t log(p) + (1 - t) log(1 - p)), of probabilities p and targets t.

    Parameters
    ----------
    weight
        A factor for each element, broadcast.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> p, target = ac.tensor([0.5, 0.9]), ac.tensor([0.0, 1.0])
    >>> ac.nn.BCELoss(reduction="none")(p, target)  # -log(0.5), -log(0.9)
    tensor([0.6931, 0.1054])
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.binary_cross_entropy(
            input, target, self.weight, reduction=self.reduction
        )


class BCEWithLogitsLoss(_WeightedLoss):
    """-(w t log(s) + (1 - t) log(1 - s)), s = sigmoid(x), w = pos_weight.

    Parameters
    ----------
    weight
        A factor for each element, broadcast.
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
    pos_weight
        A factor for the positive class, broadcast.

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
        """Return the loss."""
        return functional.binary_cross_entropy_with_logits(
            input,
            target,
            self.weight,
            reduction=self.reduction,
            pos_weight=self.pos_weight,
        )


class KLDivLoss(_Loss):
    """t (log(t) - x), of log-probabilities x and probabilities t.

    Parameters
    ----------
    size_average, reduce
        Deprecated: use `reduction`.
    reduction
        ``"batchmean"``, the divergence itself; ``"mean"``, ``"sum"`` or ``"none"``.
    log_target
        True if the target is log(t).

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
        """Return the loss."""
        return functional.kl_div(
            input, target, reduction=self.reduction, log_target=self.log_target
        )

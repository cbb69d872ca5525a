# SPDX-License-Identifier: MIT
"""Losses."""

from __future__ import annotations

from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.nn._checks import check_reduction
from autocalc.nn._module import Module


class CrossEntropyLoss(Module):
    """-log(softmax(x)[label]), of logits and class labels.

    Parameters
    ----------
    weight
        A factor for each class, (C,).
    ignore_index
        Rows with this label count for nothing.
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

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        *,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__()
        check_reduction("CrossEntropyLoss", reduction)
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.reduction = reduction
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss of logits (N, C, ...) and labels (N, ...)."""
        return functional.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class MSELoss(Module):
    """(x - y)^2.

    Parameters
    ----------
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
    """

    def __init__(self, *, reduction: str = "mean") -> None:
        super().__init__()
        check_reduction("MSELoss", reduction)
        self.reduction = reduction

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Return the loss."""
        return functional.mse_loss(input, target, reduction=self.reduction)

# SPDX-License-Identifier: MIT
"""A scheduler that lowers the learning rate when a metric stops improving."""

from __future__ import annotations

import math
from typing import Any

from autocalc._dispatch.selection.state import refuse_reading
from autocalc._tensor.checks import require
from autocalc.errors import ArgumentError
from autocalc.optim._optimizer import Optimizer, is_number
from autocalc.optim._rates import rate_of, set_rate
from autocalc.optim._schedulers._base import (
    OUTSIDE,
    LRScheduler,
    by_group,
    check_optimizer,
    require_number,
)


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the learning rate by `factor` when a metric stops improving.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    mode
        ``"min"`` if a smaller metric is better, for example a loss.  ``"max"`` if a
        larger one is better, for example an accuracy.
    factor
        The factor of the learning rate; less than 1.
    patience
        The largest number of consecutive epochs without an improvement that does not
        change the learning rate.
    threshold
        The smallest change of the metric that counts as an improvement.
    threshold_mode
        ``"rel"`` if `threshold` is a fraction of the best metric so far; ``"abs"`` if
        it is a difference from the best metric.
    cooldown
        The number of epochs after a change in which the metric is ignored.
    min_lr
        The lowest learning rate: one number, or one for each group.  One number also
        applies to groups that are added later.
    eps
        The smallest change of the learning rate.  A smaller change is not made.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> plateau = ac.optim.lr_scheduler.ReduceLROnPlateau(sgd, patience=1)
    >>> for loss in (3.0, 2.0, 2.0, 2.0):
    ...     plateau.step(loss)
    >>> plateau.get_last_lr()
    [0.1]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        where = "ReduceLROnPlateau"
        check_optimizer(where, optimizer)
        require(where, "mode", mode, mode in ("min", "max"), "'min' or 'max'")
        is_known = threshold_mode in ("rel", "abs")
        require(where, "threshold_mode", threshold_mode, is_known, "'rel' or 'abs'")
        below = is_number(factor) and factor < 1
        require(where, "factor", factor, below, "a number below 1")
        require_number(where, "threshold", threshold)
        self.optimizer = optimizer
        self.min_lrs = by_group(where, "min_lr", min_lr, optimizer)
        are_many = isinstance(min_lr, (list, tuple))
        self.default_min_lr = None if are_many else self.min_lrs[0]
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    def step(self, metrics: Any) -> None:  # type: ignore[override]  # as PyTorch's
        """Process the metric of an epoch: a number, or a tensor with one element."""
        refuse_reading("ReduceLROnPlateau.step", OUTSIDE)
        figure = self._figure(metrics)
        self.last_epoch += 1
        if self._is_better(figure):
            self.best = figure
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._lower()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0

    @staticmethod
    def _figure(metrics: Any) -> float:
        try:
            return float(metrics)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"ReduceLROnPlateau.step: `metrics` is {metrics!r}; it must be a "
                f"number, such as the loss of the epoch."
            ) from None

    def _is_better(self, figure: float) -> bool:
        down = self.mode == "min"
        margin = -self.threshold if down else self.threshold
        if self.threshold_mode == "rel":
            limit = self.best * (1 + margin)
        else:
            limit = self.best + margin
        return figure < limit if down else figure > limit

    def _lower(self) -> None:
        groups = self.optimizer.param_groups
        if self.default_min_lr is not None:  # it applies to added groups, too
            self.min_lrs += [self.default_min_lr] * (len(groups) - len(self.min_lrs))
        if len(groups) != len(self.min_lrs):
            raise ArgumentError(
                "ReduceLROnPlateau: The number of param groups in the optimizer is "
                f"{len(groups)}, but `min_lrs` has {len(self.min_lrs)} numbers; extend "
                "`min_lrs`, too."
            )
        for group, least in zip(groups, self.min_lrs, strict=True):
            before = rate_of(group)
            lr = max(before * self.factor, least)
            if before - lr > self.eps:
                set_rate(group, lr)

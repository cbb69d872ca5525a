# SPDX-License-Identifier: MIT
"""The learning rate for a training with averaged weights."""

from __future__ import annotations

import math
from typing import Any

from autocalc._tensor.checks import plain, require, short
from autocalc.errors import ArgumentError
from autocalc.optim._optimizer import Optimizer, is_number
from autocalc.optim._rates import rate_of
from autocalc.optim._schedulers._base import LRScheduler, by_group, check_optimizer


def _cosine(share: float) -> float:
    return (1 - math.cos(math.pi * share)) / 2


def _line(share: float) -> float:
    return share


_CURVES = {"cos": _cosine, "linear": _line}


class SWALR(LRScheduler):
    """Changes the learning rate to `swa_lr` over `anneal_epochs` steps; then keeps it.

    It is used while the weights are averaged.  Each step first undoes the change of the
    previous step, so another scheduler may also change the rate between two steps.

    Izmailov et al.: Averaging weights leads to wider optima and better generalization
    (UAI 2018).

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    swa_lr
        The learning rate while weights are averaged: one number, or one for each group.
    anneal_epochs
        The number of steps until the learning rate is `swa_lr`; 0 or more.
    anneal_strategy
        The form of the change: ``"cos"`` or ``"linear"``.
    last_epoch
        If a training is resumed, the number of its last finished step, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> swa = ac.optim.swa_utils.SWALR(sgd, 0.5, 2, "linear")
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates += swa.get_last_lr()
    ...     swa.step()
    >>> rates
    [1.0, 0.75, 0.5, 0.5]
    """

    _is_relative = True

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        where = "SWALR"
        check_optimizer(where, optimizer)
        if anneal_strategy not in _CURVES:
            raise ArgumentError(
                f"{where}: anneal_strategy must be 'cos' or 'linear', not "
                f"{short(anneal_strategy)}."
            )
        steps = plain(anneal_epochs)
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
            raise ArgumentError(
                f"{where}: anneal_epochs must be an integer, 0 or more, not "
                f"{short(anneal_epochs)}."
            )
        anneal_epochs = steps
        rates = by_group(where, "swa_lr", swa_lr, optimizer)
        for rate, group in zip(rates, optimizer.param_groups, strict=True):
            require(where, "swa_lr", rate, is_number(rate), "a number")
            group["swa_lr"] = rate
        self.anneal_epochs = anneal_epochs
        self._anneal_strategy = anneal_strategy
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this step."""
        step = self.last_epoch
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        return [_moved(g, before, now) for g in self.optimizer.param_groups]

    def _share(self, step: int) -> float:
        over = step / max(1, self.anneal_epochs)
        return _CURVES[self._anneal_strategy](min(max(over, 0.0), 1.0))


def _moved(group: dict[str, Any], before: float, now: float) -> float:
    """Return the rate in which the goal has the share `now` instead of `before`."""
    goal: float = group["swa_lr"]
    if before == 1:
        return goal
    start = (rate_of(group) - before * goal) / (1 - before)
    return float(goal * now + start * (1 - now))

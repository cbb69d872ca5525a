# SPDX-License-Identifier: MIT
"""Schedulers that follow a cosine.

Loshchilov, Hutter: SGDR, stochastic gradient descent with warm restarts (ICLR 2017).
"""

from __future__ import annotations

import math

from autocalc._dispatch.selection.state import refuse_reading
from autocalc.optim._optimizer import Optimizer
from autocalc.optim._rates import set_rate
from autocalc.optim._schedulers._base import (
    OUTSIDE,
    LRScheduler,
    require_count,
    require_number,
)


class CosineAnnealingLR(LRScheduler):
    """Lowers the learning rate to `eta_min` over `T_max` epochs, along half a cosine.

    The learning rate is::

        lr = eta_min + (base_lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2

    Each epoch computes it from the rate of the previous epoch, so a change of the rate
    by another scheduler is kept.

    Loshchilov, Hutter: SGDR, stochastic gradient descent with warm restarts (ICLR
    2017).

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    T_max
        The number of epochs until the learning rate is `eta_min`; 1 or more.
    eta_min
        The lowest learning rate.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> scheduler = ac.optim.lr_scheduler.CosineAnnealingLR(sgd, T_max=4)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(round(scheduler.get_last_lr()[0], 4))
    ...     scheduler.step()
    >>> rates
    [1.0, 0.8536, 0.5, 0.1464, 0.0]
    """

    _is_relative = True

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        require_count("CosineAnnealingLR", "T_max", T_max)
        require_number("CosineAnnealingLR", "eta_min", eta_min)
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in the next epoch."""
        if self._is_initial:
            return self.get_last_lr()
        now, before = self._height(self.last_epoch), self._height(self.last_epoch - 1)
        # At the lowest point lr - eta_min is 0, so the next rate starts from the base
        # rate.
        from_zero = (self.last_epoch - 1) % (2 * self.T_max) == self.T_max
        return [
            self.eta_min
            + ((base if from_zero else lr) - self.eta_min)
            * (now if from_zero else now / before)
            for base, lr in zip(self.base_lrs, self.get_last_lr(), strict=True)
        ]

    def _restart(self) -> None:
        for group, base in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            set_rate(group, base)
        self.last_epoch = 0

    def _height(self, epoch: int) -> float:
        """Return the value of the cosine, between 1 and 0."""
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """Lowers the learning rate along half a cosine, and restarts it repeatedly.

    The first period takes `T_0` epochs.  Each further period takes `T_mult` times as
    many epochs as the one before.

    Loshchilov, Hutter: SGDR, stochastic gradient descent with warm restarts (ICLR
    2017).

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    T_0, T_mult
        The number of epochs of the first period, and the factor for the next ones.
    eta_min
        The learning rate at the end of each period.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> restarts = ac.optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd, T_0=2)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates += restarts.get_last_lr()
    ...     restarts.step()
    >>> [round(rate, 3) for rate in rates]
    [1.0, 0.5, 1.0, 0.5, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        where = "CosineAnnealingWarmRestarts"
        require_count(where, "T_0", T_0)
        require_count(where, "T_mult", T_mult)
        require_number(where, "eta_min", eta_min)
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group after `T_cur` of `T_i` epochs."""
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def _begin(self) -> None:
        self.step(self.last_epoch + 1)

    def _restart(self) -> None:
        self.step(0)

    def step(self, epoch: float | None = None) -> None:
        """Begin the next epoch, or go to `epoch`.

        `epoch` may be a fraction, to set the learning rate within an epoch.
        """
        if epoch is None:
            super().step()
            return
        where = "CosineAnnealingWarmRestarts.step"
        refuse_reading(f"{where}(epoch)", f"Leave `epoch` out. {OUTSIDE}")
        require_number(where, "epoch", epoch, 0)
        self._go_to(epoch)

    def _advance(self) -> None:
        if self.last_epoch < 0:
            self._go_to(0)
            return
        self.T_cur += 1
        if self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        self._enter(self.last_epoch + 1)

    def _go_to(self, epoch: float) -> None:
        self.T_cur, self.T_i = epoch, self.T_0
        if self.T_mult == 1:
            self.T_cur %= self.T_0
        while self.T_cur >= self.T_i:
            self.T_cur -= self.T_i
            self.T_i *= self.T_mult
        self._enter(math.floor(epoch))

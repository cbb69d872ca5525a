# SPDX-License-Identifier: MIT
"""Schedulers: learning rates that change from epoch to epoch."""

from __future__ import annotations

import math
from typing import Any

from autocalc.errors import ArgumentError, DTypeError
from autocalc.optim._optimizer import Optimizer


class LRScheduler:
    """The base of schedulers: ``step()`` once an epoch, behind the optimizer's steps.

    Parameters
    ----------
    optimizer
        Whose groups' ``"lr"`` is set.
    last_epoch
        The epochs that are over, when training goes on; -1 at the beginning.

    Attributes
    ----------
    base_lrs
        The groups' learning rates at the beginning.
    last_epoch
        How many times `step` was called.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        _check_optimizer(type(self).__name__, optimizer)
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group["initial_lr"] = group["lr"]
            elif "initial_lr" not in group:
                message = (
                    f"{type(self).__name__}: `last_epoch`={last_epoch} goes on with a "
                    f"training, but the optimizer's groups have no 'initial_lr'; load "
                    f"its state first."
                )
                raise ArgumentError(message)
        self.optimizer = optimizer
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def get_lr(self) -> list[float]:
        """Return each group's learning rate in epoch `last_epoch`."""
        raise NotImplementedError

    def step(self) -> None:
        """Begin the next epoch: set the learning rates."""
        self.last_epoch += 1
        groups = self.optimizer.param_groups
        for group, lr in zip(groups, self.get_lr(), strict=True):
            group["lr"] = lr

    def get_last_lr(self) -> list[float]:
        """Return the learning rates that hold now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a `state_dict`."""
        self.__dict__.update(state_dict)

    def _current(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]


def _check_optimizer(where: str, given: Any) -> None:
    if not isinstance(given, Optimizer):
        message = (
            f"{where}: `optimizer` is a {type(given).__name__}; it must be an "
            f"Optimizer."
        )
        raise DTypeError(message)


class StepLR(LRScheduler):
    """Multiplies the learning rate by `gamma` every `step_size` epochs.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> scheduler = ac.optim.lr_scheduler.StepLR(sgd, step_size=2, gamma=0.5)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates += scheduler.get_last_lr()
    ...     scheduler.step()
    >>> rates
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        step_size: int,
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        if step_size < 1:
            message = f"StepLR: `step_size` is {step_size}; it must be 1 or more."
            raise ArgumentError(message)
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the current rates, multiplied if a step has ended."""
        ended = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        factor = self.gamma if ended else 1.0
        return [lr * factor for lr in self._current()]


class CosineAnnealingLR(LRScheduler):
    """Lets the learning rate fall to `eta_min` over `T_max` epochs, as half a cosine.

    lr = eta_min + (base_lr - eta_min) * (1 + cos(pi * epoch / T_max)) / 2.  It is
    computed from the rate before, so that changes by others are kept in proportion.

    Loshchilov, Hutter: SGDR, stochastic gradient descent with warm restarts (ICLR
    2017).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_max < 1:
            message = f"CosineAnnealingLR: `T_max` is {T_max}; it must be 1 or more."
            raise ArgumentError(message)
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the next rates on the cosine."""
        if self.last_epoch == 0:
            return self._current()
        now, before = self._height(self.last_epoch), self._height(self.last_epoch - 1)
        rates = []
        for base, lr in zip(self.base_lrs, self._current(), strict=True):
            if (self.last_epoch - 1) % (2 * self.T_max) == self.T_max:
                lr = self.eta_min + (base - self.eta_min) * now  # noqa: PLW2901  from 0
            else:
                lr = self.eta_min + (lr - self.eta_min) * now / before  # noqa: PLW2901
            rates.append(lr)
        return rates

    def _height(self, epoch: int) -> float:
        """Return where the cosine stands between 1 and 0."""
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

# SPDX-License-Identifier: MIT
"""The base of schedulers: learning rates that change from epoch to epoch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from autocalc._tensor.checks import require
from autocalc.errors import ArgumentError, DTypeError
from autocalc.optim._optimizer import Optimizer, is_number
from autocalc.optim._rates import number_of, rate_of, set_rate


class LRScheduler:
    """The base of schedulers: ``step()`` once an epoch, after the optimizer's steps.

    A training is resumed in one of two ways, both after the optimizer's
    ``load_state_dict``: by `load_state_dict`, or by `last_epoch`.  The rates are then
    those of the training that was not interrupted.

    Parameters
    ----------
    optimizer
        Whose groups' ``"lr"`` is set.
    last_epoch
        The number of the last epoch that is over, from 0 on, if a training is resumed
        whose state was saved after ``last_epoch + 1`` steps; -1 at the beginning.

    Attributes
    ----------
    base_lrs
        The groups' learning rates at the beginning.
    last_epoch
        How many times `step` was called.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Halved(ac.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> scheduler = Halved(sgd)
    >>> scheduler.step()
    >>> sgd.param_groups[0]["lr"]
    0.5
    """

    #: Attributes that a state does not hold.
    _unsaved: tuple[str, ...] = ()
    #: Whether rates follow from the rates before.  If it is resumed, such a scheduler
    #: keeps the rates that the optimizer's state brought.
    _is_relative = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(type(self).__name__, optimizer)
        check_last_epoch(type(self).__name__, last_epoch)
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", rate_of(group))
            elif "initial_lr" not in group:
                message = (
                    f"{type(self).__name__}: `last_epoch`={last_epoch} goes on with a "
                    f"training, but the optimizer's groups have no 'initial_lr'; load "
                    f"its state first."
                )
                raise ArgumentError(message)
        self.optimizer = optimizer
        groups = optimizer.param_groups
        self.base_lrs = [number_of(group["initial_lr"]) for group in groups]
        self.last_epoch = last_epoch
        self._begin()

    def _begin(self) -> None:
        """Set the rates of the first epoch, or of the one that is resumed."""
        if self._is_relative and self.last_epoch >= 0:
            self.last_epoch += 1
            return
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """Return each group's learning rate in epoch `last_epoch`."""
        raise NotImplementedError

    def step(self) -> None:
        """Begin the next epoch: set the learning rates."""
        self._enter(self.last_epoch + 1)

    def _enter(self, epoch: int) -> None:
        """Set the learning rates of `epoch`, given those of the one before."""
        self.last_epoch = epoch
        groups = self.optimizer.param_groups
        for group, lr in zip(groups, self.get_lr(), strict=True):
            set_rate(group, lr)

    def _restart(self) -> None:
        """Begin at epoch 0 in the middle of a training, as `SequentialLR` asks."""
        self._enter(0)

    def _rewind(self) -> None:
        """Forget all steps: a combined scheduler decides when the first is taken."""
        self.last_epoch = -1

    def get_last_lr(self) -> list[float]:
        """Return the learning rates that hold now, as numbers."""
        return [rate_of(group) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimizer, and functions that were given."""
        left_out = {"optimizer", *self._unsaved}
        state = {k: v for k, v in self.__dict__.items() if k not in left_out}
        # What PyTorch's schedulers keep in addition, so that they can go on from it.
        count = self.last_epoch + 1
        return {**state, "_last_lr": self.get_last_lr(), "_step_count": count}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a `state_dict`, with the rates that held when it was saved."""
        groups, rates = self.optimizer.param_groups, state_dict.get("_last_lr")
        if rates is not None and len(rates) != len(groups):
            message = (
                f"{type(self).__name__}.load_state_dict: the state has {len(rates)} "
                f"learning rates, the optimizer has {len(groups)} parameter groups; "
                f"give the state of a scheduler of as many groups."
            )
            raise ArgumentError(message)
        self.__dict__.update(state_dict)
        for group, lr in zip(groups, rates or (), strict=False):
            set_rate(group, lr)


def check_optimizer(where: str, given: Any) -> None:
    """Raise unless `given` is an optimizer."""
    if not isinstance(given, Optimizer):
        message = (
            f"{where}: `optimizer` is a {type(given).__name__}; it must be an "
            f"Optimizer."
        )
        raise DTypeError(message)


def check_last_epoch(where: str, given: Any) -> None:
    """Raise unless `given` is the number of an epoch, or -1."""
    is_epoch = isinstance(given, Integral) and int(given) >= -1
    require(where, "last_epoch", given, is_epoch, "an integer, -1 or more")


def require_count(where: str, name: str, value: Any) -> None:
    """Raise unless a setting is an integer of 1 or more."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    require(where, name, value, is_count, "an integer, 1 or more")


def require_number(
    where: str, name: str, value: Any, low: float = -math.inf, high: float = math.inf
) -> None:
    """Raise unless a setting is a number from `low` to `high`."""
    needed = "a number" if low == -math.inf else f"a number from {low} to {high}"
    require(where, name, value, is_number(value) and low <= value <= high, needed)


def by_group(where: str, name: str, given: Any, optimizer: Optimizer) -> list[Any]:
    """Return one value for each group, from such a list or from one value."""
    count = len(optimizer.param_groups)
    if not isinstance(given, (list, tuple)):
        return [given] * count
    if len(given) != count:
        message = (
            f"{where}: `{name}` has {len(given)} values for {count} parameter groups; "
            f"give one for each, or one for all."
        )
        raise ArgumentError(message)
    return list(given)

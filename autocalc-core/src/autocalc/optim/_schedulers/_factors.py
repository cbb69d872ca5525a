# SPDX-License-Identifier: MIT
"""Schedulers that multiply the learning rate by a factor when an epoch begins.

They multiply the current rate, so that two of them, or changes by a user, combine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any, TypeAlias

from autocalc._tensor.checks import plain, require, sequence
from autocalc.errors import DTypeError
from autocalc.optim._optimizer import Optimizer
from autocalc.optim._rates import set_rate
from autocalc.optim._schedulers._base import (
    LRScheduler,
    by_group,
    check_optimizer,
    require_count,
    require_number,
)

Rule: TypeAlias = Callable[[int], float]


class Multiplying(LRScheduler):
    """The base: `_ratio` is the factor of an epoch, `_start` that of epoch 0."""

    _is_relative = True
    _start = 1.0

    def _ratio(self, epoch: int) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """Return the current learning rate of each group times the factor."""
        epoch = self.last_epoch
        factor = self._ratio(epoch) if epoch else self._start
        return [lr * factor for lr in self.get_last_lr()]

    def _restart(self) -> None:
        for group, base in zip(self.optimizer.param_groups, self.base_lrs, strict=True):
            set_rate(group, base * self._start)
        self.last_epoch = 0


class StepLR(Multiplying):
    """Multiplies the learning rate by `gamma` every `step_size` epochs.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    step_size
        The number of epochs between two changes; 1 or more.
    gamma
        The factor of the learning rate.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

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
        require_count("StepLR", "step_size", step_size)
        require_number("StepLR", "gamma", gamma)
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _ratio(self, epoch: int) -> float:
        return 1.0 if epoch % self.step_size else self.gamma


class MultiStepLR(Multiplying):
    """Multiplies the learning rate by `gamma` at the epochs in `milestones`.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    milestones
        The epochs, as integers.  The learning rate changes at each of them.
    gamma
        The factor of the learning rate.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> scheduler = ac.optim.lr_scheduler.MultiStepLR(sgd, [1, 3], gamma=0.5)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates += scheduler.get_last_lr()
    ...     scheduler.step()
    >>> rates
    [1.0, 0.5, 0.5, 0.25, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        given = sequence("MultiStepLR", "milestones", milestones)
        epochs = [plain(epoch) for epoch in given]
        are_epochs = all(isinstance(epoch, int) and epoch >= 0 for epoch in epochs)
        needed = "epochs, integers of 0 or more"
        require("MultiStepLR", "milestones", given, are_epochs, needed)
        require_number("MultiStepLR", "gamma", gamma)
        self.milestones = Counter(epochs)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _ratio(self, epoch: int) -> float:
        return float(self.gamma ** self.milestones[epoch])

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore the state from a `state_dict`.

        The milestones may be strings, as in a dict that was stored as JSON.
        """
        super().load_state_dict(state_dict)
        self.milestones = Counter({int(k): n for k, n in self.milestones.items()})


class ExponentialLR(Multiplying):
    """Multiplies the learning rate by `gamma` after every epoch.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    gamma
        The factor of the learning rate.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> scheduler = ac.optim.lr_scheduler.ExponentialLR(sgd, gamma=0.5)
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates += scheduler.get_last_lr()
    ...     scheduler.step()
    >>> rates
    [1.0, 0.5, 0.25, 0.125]
    """

    def __init__(
        self, optimizer: Optimizer, gamma: float, last_epoch: int = -1
    ) -> None:
        require_number("ExponentialLR", "gamma", gamma)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _ratio(self, epoch: int) -> float:
        return self.gamma


class LinearLR(Multiplying):
    """Changes the learning rate linearly over `total_iters` epochs.

    It goes from `start_factor` to `end_factor` times the initial rate.  It is often
    used as a warm-up.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    start_factor, end_factor
        The factors of the initial rate in the first epoch and in epoch `total_iters`.
    total_iters
        The number of epochs in which the learning rate changes.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> scheduler = ac.optim.lr_scheduler.LinearLR(sgd, 0.25, total_iters=3)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates += scheduler.get_last_lr()
    ...     scheduler.step()
    >>> rates
    [0.25, 0.5, 0.75, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        require_number("LinearLR", "start_factor", start_factor, 0, 1)
        needed = "above 0: what it leaves is multiplied later"
        require("LinearLR", "start_factor", start_factor, start_factor > 0, needed)
        require_number("LinearLR", "end_factor", end_factor, 0, 1)
        require_count("LinearLR", "total_iters", total_iters)
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    @property
    def _start(self) -> float:  # type: ignore[override]  # here it is a setting
        return self.start_factor

    def _height(self, epoch: int) -> float:
        past = epoch / self.total_iters
        return self.start_factor * (1 - past) + self.end_factor * past

    def _ratio(self, epoch: int) -> float:
        if epoch > self.total_iters:
            return 1.0
        return self._height(epoch) / self._height(epoch - 1)


class ConstantLR(Multiplying):
    """Multiplies the learning rate by `factor` during the first `total_iters` epochs.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    factor
        The factor of the initial rate, from 0 to 1.
    total_iters
        The number of epochs with the factor.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> scheduler = ac.optim.lr_scheduler.ConstantLR(sgd, 0.5, total_iters=2)
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates += scheduler.get_last_lr()
    ...     scheduler.step()
    >>> rates
    [0.5, 0.5, 1.0, 1.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        require_number("ConstantLR", "factor", factor, 0, 1)
        needed = "above 0: it is divided out again"
        require("ConstantLR", "factor", factor, factor > 0, needed)
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    @property
    def _start(self) -> float:  # type: ignore[override]  # here it is a setting
        return self.factor

    def _ratio(self, epoch: int) -> float:
        return 1.0 / self.factor if epoch == self.total_iters else 1.0


class PolynomialLR(Multiplying):
    """Lowers the learning rate to 0 as a polynomial: (1 - epoch / total_iters)**power.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    total_iters
        The number of epochs until the learning rate is 0.
    power
        The exponent of the polynomial.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> scheduler = ac.optim.lr_scheduler.PolynomialLR(sgd, total_iters=4, power=2.0)
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates.append(round(scheduler.get_last_lr()[0], 4))
    ...     scheduler.step()
    >>> rates
    [1.0, 0.5625, 0.25, 0.0625, 0.0]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        require_count("PolynomialLR", "total_iters", total_iters)
        require_number("PolynomialLR", "power", power)
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def _ratio(self, epoch: int) -> float:
        left = self.total_iters - epoch
        return 1.0 if left < 0 else float((left / (left + 1)) ** self.power)


class _ByRule(LRScheduler):
    """The base of schedulers with functions of the epoch, one for each group."""

    _unsaved = ("lr_lambdas",)

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Rule | Sequence[Rule],
        last_epoch: int = -1,
    ) -> None:
        where = type(self).__name__
        check_optimizer(where, optimizer)
        self.lr_lambdas = by_group(where, "lr_lambda", lr_lambda, optimizer)
        for rule in self.lr_lambdas:
            if not callable(rule):
                raise DTypeError(
                    f"{where}: `lr_lambda` is a {type(rule).__name__}; it must be a "
                    f"function of the epoch, or a list of such functions."
                )
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return the state as a dict.

        The dict does not hold the functions.  If a function is an object of a class
        with ``__call__``, the dict holds the object's attributes.
        """
        kept = [
            None if isinstance(rule, FunctionType) else dict(vars(rule))
            for rule in self.lr_lambdas
        ]
        return {**super().state_dict(), "lr_lambdas": kept}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore the state from a `state_dict`; the functions are not replaced."""
        state = dict(state_dict)
        for rule, kept in zip(self.lr_lambdas, state.pop("lr_lambdas"), strict=True):
            if kept is not None:
                vars(rule).update(kept)
        super().load_state_dict(state)


class LambdaLR(_ByRule):
    """Sets the learning rate to the initial rate times a function of the epoch.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    lr_lambda
        The function that computes the factor from the number of the epoch; or a list of
        functions, one for each group.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=8.0)
    >>> scheduler = ac.optim.lr_scheduler.LambdaLR(sgd, lambda epoch: 0.5**epoch)
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [4.0]
    """

    def get_lr(self) -> list[float]:
        """Return the initial learning rate of each group times its factor."""
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * rule(self.last_epoch) for base, rule in pairs]


class MultiplicativeLR(_ByRule):
    """Multiplies the learning rate by a function of the epoch, after every epoch.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    lr_lambda
        The function that computes the factor from the number of the epoch; or a list of
        functions, one for each group.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> scheduler = ac.optim.lr_scheduler.MultiplicativeLR(
    ...     sgd, lambda epoch: 0.5 if epoch < 3 else 1.0
    ... )
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates += scheduler.get_last_lr()
    ...     scheduler.step()
    >>> rates
    [1.0, 0.5, 0.25, 0.25]
    """

    _is_relative = True

    def get_lr(self) -> list[float]:
        """Return the current learning rate of each group times its factor."""
        rates = self.get_last_lr()
        if self._is_initial:
            return rates
        pairs = zip(rates, self.lr_lambdas, strict=True)
        return [lr * rule(self.last_epoch) for lr, rule in pairs]

# SPDX-License-Identifier: MIT
"""Schedulers that combine others: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from autocalc._tensor.checks import sequence
from autocalc.errors import ArgumentError, DTypeError
from autocalc.optim._optimizer import Optimizer
from autocalc.optim._rates import set_rate
from autocalc.optim._schedulers._base import LRScheduler, check_last_epoch
from autocalc.optim._schedulers._plateau import ReduceLROnPlateau


class _Combined(LRScheduler):
    """The base of both: schedulers of one optimizer, with their states.

    When it is resumed, it runs its schedulers again from the beginning.  The rates of
    one scheduler do not determine the rates of all of them together.
    """

    _unsaved = ("_schedulers",)

    def _take(self, optimizer: Optimizer | None, schedulers: Any) -> None:
        where = type(self).__name__
        self._schedulers: list[LRScheduler] = sequence(where, "schedulers", schedulers)
        if not self._schedulers:
            raise ArgumentError(f"{where}: `schedulers` is empty; give one or more.")
        for i, scheduler in enumerate(self._schedulers):
            needs_figure = isinstance(scheduler, ReduceLROnPlateau)
            if needs_figure or not isinstance(scheduler, LRScheduler):
                raise DTypeError(
                    f"{where}: `schedulers[{i}]` is a {type(scheduler).__name__}; it "
                    f"must be a scheduler whose step() takes no arguments."
                )
        self.optimizer = optimizer or self._schedulers[0].optimizer
        for i, scheduler in enumerate(self._schedulers):
            if scheduler.optimizer is not self.optimizer:
                raise ArgumentError(
                    f"{where}: `schedulers[{i}]`, a {type(scheduler).__name__}, "
                    "belongs to another optimizer; all schedulers must have the same "
                    "optimizer."
                )

    def _rewind(self) -> None:
        super()._rewind()
        for scheduler in self._schedulers:
            scheduler._rewind()

    def _restart(self) -> None:
        self._follow(0)

    def _follow(self, steps: int) -> None:
        """Begin at epoch 0 with the initial rates, and take `steps` steps."""
        self._rewind()
        for group in self.optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        self._begin()
        for _ in range(steps):
            self.step()

    def state_dict(self) -> dict[str, Any]:
        """Return the state as a dict, with the states of the inner schedulers."""
        inner = [scheduler.state_dict() for scheduler in self._schedulers]
        return {**super().state_dict(), "_schedulers": inner}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore the state from a `state_dict` of the same schedulers."""
        state = dict(state_dict)
        inner = state.pop("_schedulers")
        for scheduler, one in zip(self._schedulers, inner, strict=True):
            scheduler.load_state_dict(one)
        super().load_state_dict(state)


class SequentialLR(_Combined):
    """Uses several schedulers one after the other; changes them at the `milestones`.

    Parameters
    ----------
    optimizer
        The optimizer of all schedulers.
    schedulers
        One or more schedulers.  Each of them starts with its own epoch 0.
    milestones
        The epochs at which the next scheduler starts.  There is one epoch fewer than
        there are schedulers.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        -1 means a new training.  The `last_epoch` of each scheduler in the list is
        ignored.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> parts = [ConstantLR(sgd, 0.1, total_iters=9), ExponentialLR(sgd, gamma=0.5)]
    >>> scheduler = SequentialLR(sgd, parts, milestones=[2])
    >>> rates = []
    >>> for epoch in range(5):
    ...     rates += scheduler.get_last_lr()
    ...     scheduler.step()
    >>> rates
    [0.1, 0.1, 1.0, 0.5, 0.25]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        self._take(optimizer, schedulers)
        milestones = sequence("SequentialLR", "milestones", milestones)
        if len(milestones) != len(self._schedulers) - 1:
            raise ArgumentError(
                f"SequentialLR: `milestones` are {milestones} for "
                f"{len(self._schedulers)} schedulers; give one milestone fewer than "
                "schedulers."
            )
        self._milestones = milestones
        check_last_epoch("SequentialLR", last_epoch)
        self._follow(last_epoch + 1)

    def _begin(self) -> None:
        self.last_epoch += 1
        self._schedulers[bisect_right(self._milestones, 0)]._begin()

    def _advance(self) -> None:
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        if i and self._milestones[i - 1] == self.last_epoch:
            self._schedulers[i]._restart()
        else:
            self._schedulers[i].step()


class ChainedScheduler(_Combined):
    """Uses several schedulers at the same time; their factors are multiplied.

    Parameters
    ----------
    schedulers
        One or more schedulers of one optimizer.  If a training is resumed, all of them
        must have the same `last_epoch`.
    optimizer
        The optimizer.  The default is the optimizer of the first scheduler.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.optim.lr_scheduler import ChainedScheduler, ExponentialLR, StepLR
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=1.0)
    >>> both = ChainedScheduler([ExponentialLR(sgd, 0.5), StepLR(sgd, 2, 0.25)])
    >>> rates = []
    >>> for epoch in range(4):
    ...     rates += both.get_last_lr()
    ...     both.step()
    >>> rates
    [1.0, 0.5, 0.0625, 0.03125]
    """

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        self._take(optimizer, schedulers)
        self.last_epoch, *others = {s.last_epoch for s in self._schedulers}
        if self.last_epoch > 0 and not others and not self._is_relative:
            self._follow(self.last_epoch)

    @property
    def _is_relative(self) -> bool:  # type: ignore[override]  # here others decide
        return all(scheduler._is_relative for scheduler in self._schedulers)

    def _begin(self) -> None:
        self.last_epoch += 1
        for scheduler in self._schedulers:
            scheduler._begin()

    def _advance(self) -> None:
        self.last_epoch += 1
        for scheduler in self._schedulers:
            scheduler.step()

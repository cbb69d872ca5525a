# SPDX-License-Identifier: MIT
"""The base of schedulers: learning rates that change from epoch to epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

from autocalc._dispatch._callers import warn
from autocalc._dispatch.selection.state import on_host, refuse_reading
from autocalc._tensor import Tensor
from autocalc._tensor.checks import plain, require
from autocalc.errors import ArgumentError, AutocalcWarning, DTypeError, MissingKeyError
from autocalc.optim._optimizer import Optimizer, is_number
from autocalc.optim._rates import number_of, rate_of, set_rate

#: The hint for a step that decides by tensor values, which no recording can hold.
OUTSIDE = (
    "Call it outside of the compiled function, or run the function eagerly: "
    "ac.compile(step, fallback=True)"
)

#: The warning of `step` if it gets the number of an epoch.
EPOCH_DEPRECATION_WARNING = (
    "step: `epoch` is deprecated; call step() once an epoch, without it."
)

#: How the two `step` methods must be called.
_ORDER = (
    "Call optimizer.step() before scheduler.step(). PyTorch's documentation explains "
    "the order under optim.html#how-to-adjust-learning-rate."
)

#: The settings of a group that schedulers change.
_MOVED = ("lr", "momentum", "betas")


class LRScheduler:
    """The base class of learning rate schedulers.

    Call ``step()`` once after each epoch, after the steps of the optimizer.

    There are two ways to resume a training.  First load the state of the optimizer.
    Then either call `load_state_dict` of the scheduler, or pass `last_epoch`.  In both
    cases the learning rates are the same as in an uninterrupted training.

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets its learning rates, ``group["lr"]``.
    last_epoch
        If a training is resumed, the number of its last finished epoch, counted from 0.
        Before the state of the training was saved, `step` had been called
        ``last_epoch + 1`` times.  -1 means a new training.

    Attributes
    ----------
    base_lrs
        The initial learning rate of each group.
    last_epoch
        The number of calls of `step` so far.

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

    #: Attributes that are not part of the state.
    _unsaved: tuple[str, ...] = ()
    #: Whether rates are computed from the previous rates.  When such a scheduler is
    #: resumed, it keeps the rates of the optimizer's state.
    _is_relative = False
    _is_initial = False
    #: The versions of the parameters at the start, until the first epoch ends.
    _untouched: list[int] | None = None
    #: What an assignment gave the optimizer as `step`, until then.
    _own_step: Any = None

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(type(self).__name__, optimizer)
        check_last_epoch(type(self).__name__, last_epoch)
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", rate_of(group))
            elif "initial_lr" not in group:
                raise MissingKeyError(
                    f"{type(self).__name__}: `last_epoch`={last_epoch} continues a "
                    "training run, but the groups of the optimizer have no "
                    "'initial_lr'; load the state of the optimizer first."
                )
        self.optimizer = optimizer
        groups = optimizer.param_groups
        self.base_lrs = [number_of(group["initial_lr"]) for group in groups]
        self.last_epoch = last_epoch
        self._begin()
        self._untouched = _versions(optimizer)
        self._own_step = vars(optimizer).get("step")

    def _begin(self) -> None:
        """Set the rates of the first epoch, or of the epoch that is resumed."""
        if self._is_relative and self.last_epoch >= 0:
            self.last_epoch += 1
            return
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in epoch `last_epoch`."""
        raise NotImplementedError

    def step(self, epoch: float | None = None) -> None:
        """Begin the next epoch: set the learning rates.

        If `epoch` is given, go to that epoch instead.
        """
        if self._untouched is not None and not self._is_initial:
            self._check_order()
        if epoch is None:
            self._on_host(self._advance)
            return
        warn(EPOCH_DEPRECATION_WARNING, AutocalcWarning)
        where = f"{type(self).__name__}.step"
        refuse_reading(f"{where}(epoch)", f"Leave `epoch` out. {OUTSIDE}")
        is_later = isinstance(epoch, int) and epoch >= self.last_epoch
        require(
            where, "epoch", epoch, is_later, f"an integer, {self.last_epoch} or more"
        )
        while self.last_epoch < epoch:
            self._advance()

    def _check_order(self) -> None:
        """Warn if the first epoch ends before the first step of the optimizer."""
        optimizer, why = self.optimizer, ""
        if vars(optimizer).get("step") is not self._own_step:
            why = (
                "`optimizer.step()` has been overridden since the scheduler was made, "
                "so the scheduler cannot tell if it was called"
            )
        elif not optimizer._has_stepped and self._untouched == _versions(optimizer):
            why = (
                "the optimizer has not changed any parameter yet, so the first "
                "learning rate would never be used"
            )
        if why:
            where = f"{type(self).__name__}.step"
            warn(f"{where}: {why}. {_ORDER}", AutocalcWarning)
        self._untouched = self._own_step = None

    def _advance(self) -> None:
        """Do the work of `step`."""
        self._enter(self.last_epoch + 1)

    def _on_host(self, advance: Callable[[], None]) -> None:
        """Set the rates; if recorded, also at each replay."""
        groups = self.optimizer.param_groups
        rates = [x._array for g in groups if isinstance(x := g["lr"], Tensor)]
        writes = [(g, key) for g in groups for key in _MOVED if key in g]
        on_host(advance, rates, writes=writes)

    def _enter(self, epoch: int) -> None:
        """Set the learning rates of `epoch`, given those of the epoch before."""
        self.last_epoch = epoch
        groups = self.optimizer.param_groups
        for group, lr in zip(groups, self.get_lr(), strict=True):
            set_rate(group, lr)

    def _restart(self) -> None:
        """Start at epoch 0 during a training, as `SequentialLR` requests it."""
        self._enter(0)

    def _rewind(self) -> None:
        """Forget all steps: a combined scheduler decides when the first is taken."""
        self.last_epoch = -1

    def get_last_lr(self) -> list[float]:
        """Return the current learning rate of each group, as a list of numbers."""
        return [rate_of(group) for group in self.optimizer.param_groups]

    @property
    def _last_lr(self) -> list[float]:
        return self.get_last_lr()

    @_last_lr.setter
    def _last_lr(self, rates: Any) -> None:
        """Ignore the rates that schedulers of PyTorch set; the groups hold them."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler as a dict.

        It does not contain the optimizer or functions.
        """
        left_out = {"optimizer", "_untouched", "_own_step", *self._unsaved}
        state = {k: v for k, v in self.__dict__.items() if k not in left_out}
        # PyTorch's schedulers keep this in addition, so that they can load the state.
        count = self.last_epoch + 1
        return {**state, "_last_lr": self.get_last_lr(), "_step_count": count}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore the state from a `state_dict`, including the learning rates."""
        groups, rates = self.optimizer.param_groups, state_dict.get("_last_lr")
        if rates is not None and len(rates) != len(groups):
            raise ArgumentError(
                f"{type(self).__name__}.load_state_dict: the state has {len(rates)} "
                f"learning rates, but the optimizer has {len(groups)} parameter "
                "groups; give the state of a scheduler with as many groups."
            )
        self.__dict__.update(state_dict)
        if self.last_epoch > 0:
            self._untouched = None
        for group, lr in zip(groups, rates or (), strict=False):
            set_rate(group, lr)


def _versions(optimizer: Optimizer) -> list[int]:
    """Return how often each parameter was written."""
    groups = optimizer.param_groups
    return [param._cell().count for group in groups for param in group["params"]]


def check_optimizer(where: str, given: Any) -> None:
    """Raise unless `given` is an optimizer."""
    if not isinstance(given, Optimizer):
        raise DTypeError(
            f"{where}: `optimizer` is a {type(given).__name__}; it must be an "
            f"Optimizer, such as ac.optim.SGD(model.parameters(), lr=0.1)."
        )


def check_last_epoch(where: str, given: Any) -> None:
    """Raise unless `given` is the number of an epoch, or -1."""
    is_epoch = isinstance(given, Integral) and int(given) >= -1
    require(where, "last_epoch", given, is_epoch, "an integer, -1 or more")


def require_count(where: str, name: str, value: Any) -> None:
    """Raise unless a setting is an integer of 1 or more."""
    value = plain(value)
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    require(where, name, value, is_count, "an integer, 1 or more")


def require_number(
    where: str, name: str, value: Any, low: float = -math.inf, high: float = math.inf
) -> None:
    """Raise unless a setting is a number from `low` to `high`."""
    needed = "a number" if low == -math.inf else f"a number from {low} to {high}"
    require(where, name, value, is_number(value) and low <= value <= high, needed)


def by_group(where: str, name: str, given: Any, optimizer: Optimizer) -> list[Any]:
    """Return one value for each group, from such a list or from one value.

    Tensors are read once, so that later writes into them change nothing.
    """
    count = len(optimizer.param_groups)
    if not isinstance(given, (list, tuple)):
        return [number_of(given)] * count
    if len(given) != count:
        raise ArgumentError(
            f"{where}: {name} must have one value for each of the {count} parameter "
            f"groups, or be one value for all; it has {len(given)}."
        )
    return [number_of(value) for value in given]

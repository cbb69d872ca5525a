# SPDX-License-Identifier: MIT
"""Learning rates that rise and fall periodically."""

from __future__ import annotations

import math
from collections.abc import Callable

from autocalc._tensor.checks import check_flags, require
from autocalc.optim._optimizer import Optimizer
from autocalc.optim._rates import set_rate
from autocalc.optim._schedulers._base import by_group, check_optimizer, require_count
from autocalc.optim._schedulers._momenta import MovingMomentum

#: What the argument of the height's factor counts: cycles or steps.
_COUNTED = {"triangular": "cycle", "triangular2": "cycle", "exp_range": "iterations"}


class CyclicLR(MovingMomentum):
    """Raises the learning rate from `base_lr` to `max_lr` and back, in cycles.

    Call ``step`` after each batch.

    Smith: Cyclical learning rates for training neural networks (WACV 2017).

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets the learning rates of its groups, and their
        momentum if `cycle_momentum` is True.
    base_lr, max_lr
        The lowest and the highest learning rate: one number, or one for each group.
    step_size_up, step_size_down
        The number of steps of the rise and of the fall.  The default of
        `step_size_down` is `step_size_up`.
    mode
        The height of the cycles.  ``"triangular"``: all cycles have the same height.
        ``"triangular2"``: each cycle has half the height of the previous one.
        ``"exp_range"``: the height is multiplied by ``gamma**step``.
    gamma
        The constant gamma of ``"exp_range"``.
    scale_fn
        A function that returns the factor of the height.  It replaces `mode`.
    scale_mode
        The argument of `scale_fn`: ``"cycle"`` for the number of the cycle, from 1 on,
        or ``"iterations"`` for the number of the step, from 0 on.
    cycle_momentum
        True to also change the momentum (for Adam, beta1).  The momentum falls from
        `max_momentum` to `base_momentum` while the learning rate rises, and rises again
        while the learning rate falls.
    base_momentum, max_momentum
        The limits of the momentum: one number, or one for each group.
    last_epoch
        If a training is resumed, the number of its last finished step, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=0.1, momentum=0.9)
    >>> cycle = ac.optim.lr_scheduler.CyclicLR(sgd, 0.0, 1.0, step_size_up=2)
    >>> rates = []
    >>> for step in range(6):
    ...     rates += cycle.get_last_lr()
    ...     cycle.step()
    >>> rates
    [0.0, 0.5, 1.0, 0.5, 0.0, 0.5]
    """

    _unsaved = ("_scale_fn_custom",)

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.8,
        max_momentum: float | list[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        where = "CyclicLR"
        check_flags(where, cycle_momentum=cycle_momentum)
        check_optimizer(where, optimizer)
        down = step_size_up if step_size_down is None else step_size_down
        require_count(where, "step_size_up", step_size_up)
        require_count(where, "step_size_down", down)
        require(where, "mode", mode, mode in _COUNTED, f"one of {', '.join(_COUNTED)}")
        known = scale_mode in _COUNTED.values()
        require(where, "scale_mode", scale_mode, known, "'cycle' or 'iterations'")
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = _COUNTED[mode] if scale_fn is None else scale_mode
        lowest = by_group(where, "base_lr", base_lr, optimizer)
        self.max_lrs = by_group(where, "max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, lowest, strict=True):
                set_rate(group, lr)
        self._take_momentum(optimizer, cycle_momentum)
        self.base_momentums = by_group(where, "base_momentum", base_momentum, optimizer)
        self.max_momentums = by_group(where, "max_momentum", max_momentum, optimizer)
        if cycle_momentum and last_epoch == -1:
            pairs = zip(self.base_momentums, self.max_momentums, strict=True)
            for group, (low, high) in zip(optimizer.param_groups, pairs, strict=True):
                group.update(max_momentum=high, base_momentum=low)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest
        self._enter(self.last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this step; also set the momenta."""
        height = self._height()
        if self.cycle_momentum:
            self._set_momenta(height)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height for low, high in pairs]

    def _height(self) -> float:
        """Return the position of this step between the lowest and the highest rate."""
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1 + self.last_epoch / self.total_size - cycle
        rising = place <= self.step_ratio
        ratio = self.step_ratio
        part = place / ratio if rising else (place - 1) / (ratio - 1)
        return part * self.scale_fn(
            cycle if self.scale_mode == "cycle" else self.last_epoch
        )

    def scale_fn(self, x: float) -> float:
        """Return the factor of the height for cycle or step `x`."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "exp_range":
            return float(self.gamma**x)
        return 1.0 if self.mode == "triangular" else 0.5 ** (x - 1)

    def _set_momenta(self, height: float) -> None:
        pairs = zip(self.base_momentums, self.max_momentums, strict=True)
        for group, (low, high) in zip(self.optimizer.param_groups, pairs, strict=True):
            self._set_momentum(group, high - (high - low) * height)

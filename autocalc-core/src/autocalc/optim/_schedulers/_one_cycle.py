# SPDX-License-Identifier: MIT
"""One rise and fall of the learning rate over the whole training."""

from __future__ import annotations

import math
from typing import Any

from autocalc._tensor.checks import check_flags, require
from autocalc.errors import ArgumentError
from autocalc.optim._optimizer import Optimizer
from autocalc.optim._schedulers._base import (
    by_group,
    check_optimizer,
    require_count,
    require_number,
)
from autocalc.optim._schedulers._momenta import MovingMomentum


def _cosine(start: float, end: float, share: float) -> float:
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


def _line(start: float, end: float, share: float) -> float:
    return start + (end - start) * share


_CURVES = {"cos": _cosine, "linear": _line}


class OneCycleLR(MovingMomentum):
    """Raises the learning rate to `max_lr` and lowers it, once in a whole training.

    The rate starts at max_lr / div_factor.  It reaches `max_lr` after the share
    `pct_start` of all steps.  At the end it is max_lr / (div_factor *
    final_div_factor).  Call `step` after each batch.

    Smith, Topin: Super-convergence (2018).

    Parameters
    ----------
    optimizer
        The optimizer.  The scheduler sets the learning rates of its groups, and their
        momentum if `cycle_momentum` is True.
    max_lr
        The highest learning rate: one number, or one for each group.
    total_steps
        The number of all steps of the training.  If it is None, `epochs` and
        `steps_per_epoch` are needed.
    epochs, steps_per_epoch
        The numbers of epochs and of steps per epoch, used instead of `total_steps`.
    pct_start
        The share of the steps in which the learning rate rises, from 0 to 1.
    anneal_strategy
        The form of the rise and of the fall: ``"cos"`` or ``"linear"``.
    cycle_momentum
        True to also change the momentum (for Adam, beta1).  The momentum falls from
        `max_momentum` to `base_momentum` while the learning rate rises, and rises again
        while the learning rate falls.
    base_momentum, max_momentum
        The limits of the momentum: one number, or one for each group.
    div_factor, final_div_factor
        The divisors that give the initial and the final learning rate; see above.
    three_phase
        True to divide the fall into two parts.  The first part takes as many steps as
        the rise and ends at the initial rate.  The second part ends at the final rate.
    last_epoch
        If a training is resumed, the number of its last finished step, counted from 0.
        -1 means a new training.

    Examples
    --------
    >>> import autocalc as ac
    >>> sgd = ac.optim.SGD([ac.zeros(1)], lr=0.1, momentum=0.9)
    >>> cycle = ac.optim.lr_scheduler.OneCycleLR(sgd, max_lr=1.0, total_steps=10)
    >>> rates = []
    >>> for step in range(9):
    ...     rates += cycle.get_last_lr()
    ...     cycle.step()
    >>> [round(rate, 2) for rate in rates]
    [0.04, 0.52, 1.0, 0.95, 0.81, 0.61, 0.39, 0.19, 0.05]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_flags(
            "OneCycleLR", cycle_momentum=cycle_momentum, three_phase=three_phase
        )
        where = "OneCycleLR"
        check_optimizer(where, optimizer)
        require_number(where, "pct_start", pct_start, 0, 1)
        known = anneal_strategy in _CURVES
        needed = "'cos' or 'linear'"
        require(where, "anneal_strategy", anneal_strategy, known, needed)
        self.total_steps = _steps(total_steps, epochs, steps_per_epoch)
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._take_momentum(optimizer, cycle_momentum)
        rates = by_group(where, "max_lr", max_lr, optimizer)
        high = by_group(where, "max_momentum", max_momentum, optimizer)
        low = by_group(where, "base_momentum", base_momentum, optimizer)
        for i, group in enumerate(optimizer.param_groups):
            first = rates[i] / div_factor
            ends = {"max_lr": rates[i], "min_lr": first / final_div_factor}
            if cycle_momentum:
                ends |= {"max_momentum": high[i], "base_momentum": low[i]}
            if last_epoch == -1:
                group.update(ends, initial_lr=first)
            else:  # those of the optimizer state first
                group.update({**ends, **group})
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """Return the learning rate of each group in this step; also set the momenta."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ArgumentError(
                f"OneCycleLR: step {step} of {self.total_steps}: the cycle has ended. "
                "Set `total_steps` to the number of steps of the training."
            )
        phase, share = self._place(step)
        curve = _CURVES[self._anneal_func_type]
        rates = []
        for group in self.optimizer.param_groups:
            start, end = group[phase["start_lr"]], group[phase["end_lr"]]
            rates.append(curve(start, end, share))
            if self.cycle_momentum:
                start, end = (
                    group[phase["start_momentum"]],
                    group[phase["end_momentum"]],
                )
                self._set_momentum(group, curve(start, end, share))
        return rates

    def _place(self, step: int) -> tuple[dict[str, Any], float]:
        """Return the phase of a step, and the finished share of that phase."""
        begun = 0.0
        *others, last = self._schedule_phases
        for phase in others:
            if step <= phase["end_step"]:
                return phase, _share(step, begun, phase["end_step"])
            begun = phase["end_step"]
        return last, _share(step, begun, last["end_step"])


def _share(step: int, begun: float, end: float) -> float:
    return (step - begun) / (end - begun) if end != begun else 1.0


def _steps(total: int | None, epochs: int | None, per_epoch: int | None) -> int:
    where = "OneCycleLR"
    if total is not None:
        require_count(where, "total_steps", total)
        return total
    if epochs is None or per_epoch is None:
        raise ArgumentError(
            f"{where}: `total_steps` is missing; give it, or both `epochs` and "
            f"`steps_per_epoch`."
        )
    require_count(where, "epochs", epochs)
    require_count(where, "steps_per_epoch", per_epoch)
    return epochs * per_epoch


def _phases(total: int, rise: float, three: bool) -> list[dict[str, Any]]:
    """Return the start and end values of each phase, under the names in groups."""

    def phase(end: float, lrs: str, momenta: str) -> dict[str, Any]:
        words = {"initial": "initial_lr", "max": "max_lr", "min": "min_lr"}
        start_lr, end_lr = (words[word] for word in lrs.split())
        start, stop = (f"{word}_momentum" for word in momenta.split())
        return {
            "end_step": end,
            "start_lr": start_lr,
            "end_lr": end_lr,
            "start_momentum": start,
            "end_momentum": stop,
        }

    up = phase(rise * total - 1, "initial max", "max base")
    if not three:
        return [up, phase(total - 1, "max min", "base max")]
    down = phase(2 * rise * total - 2, "max initial", "base max")
    return [up, down, phase(total - 1, "initial min", "max max")]

# SPDX-License-Identifier: MIT
"""Schedulers that also change the momentum, which for Adam is the first beta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autocalc.errors import ArgumentError
from autocalc.optim._optimizer import Optimizer
from autocalc.optim._schedulers._base import LRScheduler


class MovingMomentum(LRScheduler):
    """The base class of schedulers that can change the momentum, too."""

    cycle_momentum: bool
    use_beta1: bool

    def _take_momentum(self, optimizer: Optimizer, cycle_momentum: bool) -> None:
        self.cycle_momentum = cycle_momentum
        self.use_beta1 = "betas" in optimizer.defaults
        if cycle_momentum and not {"momentum", "betas"} & optimizer.defaults.keys():
            raise ArgumentError(
                f"{type(self).__name__}: {type(optimizer).__name__} has neither "
                "momentum nor betas that could be cycled; pass cycle_momentum=False."
            )

    def _momentum(self, group: dict[str, Any]) -> Any:
        return group["betas"][0] if self.use_beta1 else group["momentum"]

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the scheduler as a dict.

        It does not contain the optimizer or functions.
        """
        state = super().state_dict()
        if self.cycle_momentum:
            groups = self.optimizer.param_groups
            state["_last_momentum"] = [self._momentum(group) for group in groups]
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore the state from a `state_dict`, with learning rates and momenta."""
        super().load_state_dict(state_dict)
        momenta = state_dict.get("_last_momentum", ())  # states of PyTorch have none
        for group, momentum in zip(self.optimizer.param_groups, momenta, strict=False):
            self._set_momentum(group, momentum)

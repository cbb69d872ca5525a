# SPDX-License-Identifier: MIT
"""The settings of an optimizer: what its constructor is given."""

from __future__ import annotations

from typing import Any

from autocalc._tensor.checks import check_switches
from autocalc.optim._optimizer import Group, refuse

#: Flags among the settings.
_FLAGS = {"amsgrad", "centered", "decoupled_weight_decay", "maximize", "nesterov"}

#: Flags of PyTorch that are taken, so that programs carry over, and mean nothing here.
_IGNORED = {"capturable", "foreach", "fused"}


def settings_of(arguments: dict[str, Any]) -> Group:
    """Return the settings among the arguments of a constructor, its `locals()`.

    Raises
    ------
    ArgumentError
        If a flag is none, or `differentiable` is asked for: a step is not recorded.
    """
    where = type(arguments["self"]).__name__
    own = {"self", "params", "differentiable", "__class__"}
    given = {name: value for name, value in arguments.items() if name not in own}
    flags = {name: given[name] for name in given if name in _FLAGS | _IGNORED}
    check_switches(where, **flags)
    refuse(where, differentiable=arguments.get("differentiable", False))
    return {
        name: bool(value) if name in _FLAGS else value
        for name, value in given.items()
        if name not in _IGNORED
    }

# SPDX-License-Identifier: MIT
"""The settings of an optimizer, which its constructor takes."""

from __future__ import annotations

from typing import Any

from autocalc._tensor.checks import check_switches
from autocalc.errors import ArgumentError
from autocalc.optim._optimizer import Group
from autocalc.optim._recorded import RecordedSteps
from autocalc.optim._wide import SETTINGS

#: Flags among the settings.
_FLAGS = {"amsgrad", "centered", "decoupled_weight_decay", "differentiable"}
_FLAGS |= {"maximize", "nesterov"}

#: Flags that a group holds only if they are set.
_OPTIONS = {"differentiable", *SETTINGS}

#: Flags of PyTorch that are accepted for compatibility and have no effect.
_IGNORED = {"capturable", "foreach", "fused"}


def settings_of(arguments: dict[str, Any]) -> Group:
    """Return the settings in the arguments of a constructor, its `locals()`.

    The settings for the update of half precision are only included if they are
    requested, because PyTorch does not have them.

    Raises
    ------
    ArgumentError
        If a flag is not a boolean, or if both `differentiable` and `fused` are
        requested.
    """
    where = type(arguments["self"]).__name__
    own = {"self", "params", "__class__"}
    given = {name: value for name, value in arguments.items() if name not in own}
    flags = {
        name: given[name] for name in given if name in _FLAGS | _IGNORED | {*SETTINGS}
    }
    check_switches(where, **flags)
    if given.get("differentiable"):
        _record_steps(where, arguments["self"], given)
    return {
        name: bool(value) if name in flags else value
        for name, value in given.items()
        if name not in _IGNORED and (name not in _OPTIONS or value)
    }


def _record_steps(where: str, optimizer: Any, given: dict[str, Any]) -> None:
    """Record the steps of an optimizer, replacing its other implementations."""
    for name in ("fused", *SETTINGS):
        if given.get(name):
            raise ArgumentError(
                f"{where}: `{name}` does not support `differentiable`; give only one "
                "of them."
            )
    vars(optimizer)["_step_group"] = RecordedSteps(optimizer)

# SPDX-License-Identifier: MIT
"""An optimizer's state as plain data, in PyTorch's layout.

``{"state": {0: {...}, 1: {...}}, "param_groups": [{"lr": ..., "params": [0, 1]}]}``:
parameters are numbered through all groups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DTypeError


def collect(optimizer: Any) -> dict[str, Any]:
    """Return the state of all parameters and the settings of all groups."""
    numbers = {id(p): i for i, p in enumerate(_all_params(optimizer))}
    groups = [
        {**group, "params": [numbers[id(p)] for p in group["params"]]}
        for group in optimizer.param_groups
    ]
    state = {
        numbers[id(param)]: dict(values)
        for param, values in optimizer.state.items()
        if values and id(param) in numbers
    }
    shared = {k: v for k, v in optimizer.state.items() if not isinstance(k, Tensor)}
    return {"state": state | shared, "param_groups": groups}


def _all_params(optimizer: Any) -> Iterator[Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]


def load(optimizer: Any, state_dict: Mapping[str, Any]) -> None:
    """Check everything, then replace settings and state."""
    where = f"{optimizer._name}.load_state_dict"
    saved = _groups(where, state_dict)
    ours = optimizer.param_groups
    _check_sizes(where, ours, saved)
    numbers = [number for group in saved for number in group["params"]]
    params = dict(zip(numbers, _all_params(optimizer), strict=True))
    given = {number_in(key): value for key, value in state_dict["state"].items()}
    state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
    for number, values in given.items():
        if number in params:
            state[params[number]] = {
                name: _value(optimizer, number, name, value, params[number])
                for name, value in values.items()
                # PyTorch's momentum_buffer is None before the first step.
                if value is not None or name not in optimizer._buffers
            }
        elif not isinstance(number, int):  # what all parameters share
            state[number] = copied(values)
    groups = [
        {**optimizer.defaults, **_own(new), "params": old["params"]}
        for old, new in zip(ours, saved, strict=True)
    ]
    for group in groups:
        optimizer._check_group(group)
    optimizer.param_groups[:] = groups
    optimizer._loaded(state)
    optimizer.state = state


def _own(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings whose tensors, such as learning rates, are copies."""
    return {name: copied(value) for name, value in settings.items()}


def _groups(where: str, state_dict: Any) -> list[dict[str, Any]]:
    if not isinstance(state_dict, Mapping) or not {"state", "param_groups"} <= set(
        state_dict
    ):
        message = (
            f"{where}: the state must be a dict with 'state' and 'param_groups', as "
            f"state_dict() gives it."
        )
        raise DTypeError(message)
    return list(state_dict["param_groups"])


def _check_sizes(where: str, ours: list[Any], saved: list[Any]) -> None:
    given = [len(group["params"]) for group in saved]
    needed = [len(group["params"]) for group in ours]
    if given != needed:
        message = (
            f"{where}: the state has groups of {given} parameters, the optimizer of "
            f"{needed}; give the state of an optimizer of the same groups."
        )
        raise ArgumentError(message)


def number_in(key: Any) -> Any:
    """Return a parameter's number; formats like JSON make texts of them."""
    return int(key) if isinstance(key, str) and key.isdigit() else key


def copied(value: Any) -> Any:
    """Return a state value of which no tensor is shared, in dicts and lists too."""
    if isinstance(value, Tensor):
        return value.detach().to(value.dtype, copy=True)
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return value


def _value(optimizer: Any, number: int, name: str, value: Any, param: Tensor) -> Any:
    """Return a copy of a state value: of the parameter's dtype, a number, or as is."""
    if name in optimizer._numbers | optimizer._buffers and isinstance(value, list):
        return [_value(optimizer, number, name, v, param) for v in value]
    if name in optimizer._numbers and isinstance(value, Tensor):
        return value.item()
    if name not in optimizer._buffers or not isinstance(value, Tensor):
        return copied(value)
    needed = optimizer._state_shape(name, param)
    if value.shape != needed:
        message = (
            f"{optimizer._name}.load_state_dict: {name!r} of parameter {number} has "
            f"shape {value.shape}; of a parameter of shape {param.shape} it must be "
            f"{needed}."
        )
        raise ArgumentError(message)
    return value.detach().to(param.dtype, copy=True)

# SPDX-License-Identifier: MIT
"""The state of an optimizer as plain data, in the layout of PyTorch.

The layout is ``{"state": {0: {...}, 1: {...}}, "param_groups": [{"lr": ..., "params":
[0, 1]}]}``.  Parameters are numbered consecutively over all groups.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, DTypeError, MissingKeyError
from autocalc.optim._wide import MASTER, state_dtype


def named(
    where: str, params: list[Any], groups: list[dict[str, Any]]
) -> tuple[list[Any], dict[str, list[str]]]:
    """Return the parameters of a new group, and their names if they came as pairs.

    Either all parameters of an optimizer have names, or none has.
    """
    pairs = [isinstance(param, tuple) for param in params]
    with_names = pairs.count(True)
    others = ["param_names" in group for group in groups if group["params"]]
    if with_names not in {0, len(params)} or (
        params and others and others[0] != bool(with_names)
    ):
        raise ArgumentError(
            f"{where}: some parameters have names and others do not; give "
            "model.named_parameters() for all of them, or model.parameters()."
        )
    if not with_names:
        return params, {}
    _check_pairs(where, params)
    return [param for _, param in params], {"param_names": [name for name, _ in params]}


def _check_pairs(where: str, params: list[Any]) -> None:
    for i, pair in enumerate(params):
        if len(pair) != 2 or not isinstance(pair[0], str):
            raise DTypeError(
                f"{where}: `params[{i}]` is a tuple of {len(pair)}; it must be a name "
                f"and a Tensor, or a Tensor."
            )


def collect(optimizer: Any) -> dict[str, Any]:
    """Return the state of all parameters and the settings of all groups."""
    numbers: dict[int, int] = {}
    for i, p in enumerate(_all_params(optimizer)):
        numbers.setdefault(id(p), i)  # the first of two equal ones
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
    groups = [
        {**optimizer.defaults, **_names(old), **_own(new), "params": old["params"]}
        for old, new in zip(ours, saved, strict=True)
    ]
    params = {
        number: (param, group)
        for group, new in zip(groups, saved, strict=True)
        for number, param in zip(new["params"], group["params"], strict=True)
    }
    given = {number_in(key): value for key, value in state_dict["state"].items()}
    state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
    for number, values in given.items():
        if number in params:
            param, group = params[number]
            dtype = state_dtype(group, param)
            state[param] = {
                name: _value(optimizer, number, name, value, param, dtype)
                for name, value in values.items()
                # PyTorch's momentum_buffer is None before the first step.
                if value is not None or name not in optimizer._buffers
            }
        elif not isinstance(number, int):  # shared by all parameters
            state[number] = copied(values)
    for group in groups:
        optimizer._check_group(group)
    optimizer.param_groups[:] = groups
    optimizer._loaded(state)
    optimizer.state = state


def _names(group: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names of a group's parameters; loaded names replace the old ones."""
    return {key: group[key] for key in ("param_names",) if key in group}


def _own(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which tensors, such as learning rates, are copies."""
    return {name: copied(value) for name, value in settings.items()}


def _groups(where: str, state_dict: Any) -> list[dict[str, Any]]:
    if not isinstance(state_dict, Mapping) or not {"state", "param_groups"} <= set(
        state_dict
    ):
        raise MissingKeyError(
            f"{where}: the state must be a dict with 'state' and 'param_groups', as "
            "state_dict() returns it."
        )
    return list(state_dict["param_groups"])


def _check_sizes(where: str, ours: list[Any], saved: list[Any]) -> None:
    given = [len(group["params"]) for group in saved]
    needed = [len(group["params"]) for group in ours]
    if given != needed:
        raise ArgumentError(
            f"{where}: the state has groups of {given} parameters, but the optimizer "
            f"has groups of {needed}; give the state of an optimizer with the same "
            "groups."
        )


def number_in(key: Any) -> Any:
    """Return the number of a parameter; formats like JSON store it as a string."""
    return int(key) if isinstance(key, str) and key.isdigit() else key


def copied(value: Any) -> Any:
    """Return a copy of a state value, including tensors in dicts and lists."""
    if isinstance(value, Tensor):
        return value.detach().to(value.dtype, copy=True)
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return value


def _value(
    optimizer: Any, number: int, name: str, value: Any, param: Tensor, dtype: DType
) -> Any:
    """Return a copy of a state value: in the given dtype, a number, or unchanged."""
    buffers = optimizer._buffers | {MASTER}
    if name in optimizer._numbers | buffers and isinstance(value, list):
        return [_value(optimizer, number, name, v, param, dtype) for v in value]
    if name in optimizer._numbers and isinstance(value, Tensor):
        return value.item()
    if name not in buffers or not isinstance(value, Tensor):
        return copied(value)
    needed = optimizer._state_shape(name, param)
    if value.shape != needed:
        raise ArgumentError(
            f"{optimizer._name}.load_state_dict: {name!r} of parameter {number} has "
            f"shape {value.shape}; for a parameter of shape {param.shape} it must have "
            f"shape {needed}."
        )
    return value.detach().to(dtype, copy=True)

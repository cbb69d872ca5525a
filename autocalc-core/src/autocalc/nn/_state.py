# SPDX-License-Identifier: MIT
"""A module's state: collected into one dict, and loaded all or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc.errors import CheckpointError, DTypeError
from autocalc.nn import _hooks
from autocalc.nn._parameter import Parameter
from autocalc.nn._registry import PARAMETER, enter
from autocalc.nn._uninitialized import is_lazy


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` did not find, and what it found and did not need."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class Slot(NamedTuple):
    """One entry of a state: the module that has it, its name, and the tensor there."""

    owner: Any
    name: str
    tensor: Tensor

    def put(self, value: Tensor, assign: bool) -> None:
        """Copy `value` into the tensor, or with `assign` let it take the place."""
        if not assign:
            if is_lazy(value):
                return  # so is the tensor
            if is_lazy(self.tensor):
                self.tensor.materialize(value.shape)  # type: ignore[attr-defined]
            self.tensor.copy_(value.detach())
            return
        kind = self.owner._names[self.name]
        if kind == PARAMETER and not isinstance(value, Parameter):
            value = Parameter(value, self.tensor.requires_grad)
        enter(self.owner, self.name, value, kind)


def own_slots(module: Any) -> Iterator[Slot]:
    """Yield a module's own parameters, then its buffers that are saved."""
    for registry in (module._parameters, module._buffers):
        for name, tensor in registry.items():
            if tensor is not None and name not in module._unsaved:
                yield Slot(module, name, tensor)


def collect(
    module: Any, state: dict[str, Any], prefix: str, keep_vars: bool
) -> dict[str, Any]:
    """Add the state of `module` and of its children to `state`."""
    hooks = module._hooks or _hooks.Hooks()
    _hooks.run(hooks.state_pre, module, prefix, keep_vars)
    for slot in own_slots(module):
        tensor = slot.tensor
        state[prefix + slot.name] = tensor if keep_vars else tensor.detach()
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(
                destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars
            )
    _hooks.run(hooks.state_post, module, state, prefix, {})
    return state


class Loading:
    """One `load_state_dict`: look at everything first, then write."""

    def __init__(self, state: Mapping[str, Any], strict: bool) -> None:
        self.state = dict(state)
        self.strict = strict
        self.slots: dict[str, Slot] = {}
        self.errors: list[str] = []
        self.visited: list[Any] = []

    def visit(self, module: Any, prefix: str) -> None:
        """Note the keys that `module` and its children need; nothing is written."""
        if module._hooks is not None:
            hooks = module._hooks.load_state_pre
            seen: tuple[Any, ...] = (
                self.state,
                prefix,
                {},
                self.strict,
                [],
                [],
                self.errors,
            )
            _hooks.run(hooks, module, *seen)
        for slot in own_slots(module):
            self.slots[prefix + slot.name] = slot
        for name, child in module._modules.items():
            if child is not None:
                self.visit(child, f"{prefix}{name}.")
        self.visited.append(module)

    def compare(self) -> IncompatibleKeys:
        """Find the keys that do not fit, and check the values of those that do."""
        for key, slot in self.slots.items():
            if key in self.state:
                self._check(key, slot)
        return IncompatibleKeys(
            [key for key in self.slots if key not in self.state],
            [key for key in self.state if key not in self.slots],
        )

    def _check(self, key: str, slot: Slot) -> None:
        value = self.state[key]
        if not isinstance(value, Tensor):
            kind = type(value).__name__
            self.errors.append(f"{key} is a {kind} and must be a Tensor")
        elif is_lazy(slot.tensor):
            return  # it takes any shape
        elif is_lazy(value):
            self.errors.append(f"{key} has no shape yet")
        elif value.shape != slot.tensor.shape:
            self.errors.append(
                f"{key} has shape {value.shape}, the module's {slot.tensor.shape}"
            )

    def write(self, assign: bool) -> None:
        """Take over every value."""
        with no_grad():
            for key, slot in self.slots.items():
                if key in self.state:
                    slot.put(self.state[key], assign)


def load(module: Any, state: Any, strict: bool, assign: bool) -> IncompatibleKeys:
    """Load `state` into `module` if all of it fits; else raise and change nothing."""
    if not isinstance(state, Mapping):
        message = (
            f"load_state_dict: the state is a {type(state).__name__}; it must be a "
            f"dict of tensors, as state_dict() gives it."
        )
        raise DTypeError(message)
    loading = Loading(state, strict)
    loading.visit(module, "")
    keys = loading.compare()
    _raise_if_wrong(type(module).__name__, loading, keys)
    loading.write(assign)
    for visited in loading.visited:
        if visited._hooks is not None:
            _hooks.run(visited._hooks.load_state_post, visited, keys)
    return keys


def _raise_if_wrong(name: str, loading: Loading, keys: IncompatibleKeys) -> None:
    problems = list(loading.errors)
    if loading.strict and keys.missing_keys:
        problems.append(f"missing: {', '.join(keys.missing_keys)}")
    if loading.strict and keys.unexpected_keys:
        problems.append(f"unexpected: {', '.join(keys.unexpected_keys)}")
    if not problems:
        return
    advice = "Load it into the module that it was saved from"
    if loading.strict and not loading.errors:
        advice += ", or pass strict=False to leave these keys alone"
    listed = "\n  ".join(problems)
    message = (
        f"load_state_dict: the state does not fit {name}; nothing was loaded:\n"
        f"  {listed}\n{advice}."
    )
    raise CheckpointError(message)

# SPDX-License-Identifier: MIT
"""The state of a module, collected in one dict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from autocalc._tensor import Tensor
from autocalc.errors import HookError, ModuleError
from autocalc.nn._module import hooks as _hooks
from autocalc.nn._module.parameter import Parameter
from autocalc.nn._module.registry import PARAMETER, enter
from autocalc.nn._module.uninitialized import is_lazy

#: The key of the result of `get_extra_state`.
EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """The names that `load_state_dict` did not find, and those it did not expect."""

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
    """One entry of a state: its module, its name and its tensor."""

    owner: Any
    name: str
    tensor: Tensor

    def put(self, value: Tensor, assign: bool) -> None:
        """Copy `value` into the tensor, or with `assign` replace the tensor."""
        if not assign:
            if is_lazy(value):
                return  # the tensor is lazy, too
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
    local_metadata = {"version": module._version}
    if hasattr(state, "_metadata"):
        state._metadata[prefix[:-1]] = local_metadata
    hooks = module._hooks or _hooks.Hooks()
    _hooks.run(hooks.state_pre, module, prefix, keep_vars)
    module._save_to_state_dict(state, prefix, keep_vars)
    for name, child in module._modules.items():
        if child is not None:
            child.state_dict(
                destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars
            )
    for hook in tuple(hooks.state_post.values()):
        changed = hook.function(module, state, prefix, local_metadata)
        if changed is not None and not hook.replaces:
            raise HookError(
                "register_state_dict_post_hook: a state_dict post-hook must return "
                f"None, but it returned a {type(changed).__name__}."
            )
        state = changed if hook.replaces and changed is not None else state
    return state


def save_to_state_dict(
    self: Any, destination: dict[str, Any], prefix: str, keep_vars: bool
) -> None:
    """Add the parameters and buffers of this module, without its children, to a dict.

    A subclass may override this method.
    """
    for slot in own_slots(self):
        tensor = slot.tensor
        destination[prefix + slot.name] = tensor if keep_vars else tensor.detach()
    if overrides(self, "get_extra_state", get_extra_state):
        destination[prefix + EXTRA] = self.get_extra_state()


def get_extra_state(self: Any) -> Any:
    """Return additional state of a module; subclasses override it.

    `state_dict` stores the result under the key ``"_extra_state"``.
    """
    raise _without(self, "get")


def set_extra_state(self: Any, state: Any) -> None:
    """Restore the state that `get_extra_state` returned; subclasses override it."""
    raise _without(self, "set")


def _without(module: Any, verb: str) -> ModuleError:
    return ModuleError(
        f"{verb}_extra_state: {type(module).__name__} has no extra state; a class that "
        f"has some defines both `get_extra_state` and `set_extra_state`."
    )


def overrides(module: Any, method: str, base: Any) -> bool:
    """Return whether a module overrides the method `base` of Module."""
    return getattr(getattr(module, method), "__func__", None) is not base

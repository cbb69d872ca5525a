# SPDX-License-Identifier: MIT
"""`load_state_dict`: all or nothing.

Modules note what they would load, and it is written only if everything fits.  Methods
and hooks of users may write at once.  So the old values of those modules are kept until
the load succeeds, and are restored if it fails.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from autocalc._dispatch._callers import warn
from autocalc._graph._grad_mode import no_grad
from autocalc._tensor import Tensor
from autocalc.errors import AutocalcWarning, CheckpointError, DTypeError
from autocalc.nn._module import hooks
from autocalc.nn._module.rollback import Restoring
from autocalc.nn._module.state import (
    EXTRA,
    IncompatibleKeys,
    Slot,
    overrides,
    own_slots,
    set_extra_state,
)
from autocalc.nn._module.uninitialized import is_lazy

#: The name of ``load_state_dict(assign=True)`` in `local_metadata`.
ASSIGN = "assign_to_params_buffers"


class Loading:
    """One `load_state_dict`: check everything first, then write."""

    def __init__(self, metadata: Mapping[str, Any], assign: bool) -> None:
        self.metadata = metadata
        self.assign = assign
        self.keys = IncompatibleKeys([], [])
        self.errors: list[str] = []
        self.writes: list[Callable[[], Any]] = []
        self.visited: list[Any] = []

    def visit(self, module: Any, state: Mapping[str, Any], prefix: str) -> None:
        """Collect what `module` and its children take of `state`."""
        local_metadata = dict(self.metadata.get(prefix[:-1], {}))
        if self.assign:
            local_metadata[ASSIGN] = True
        own = LoadedState(state, None if writes_itself(module) else self.writes)
        lists = self.keys.missing_keys, self.keys.unexpected_keys, self.errors
        module._load_from_state_dict(own, prefix, local_metadata, True, *lists)
        for name, child in module._modules.items():
            if child is not None:
                inner = f"{prefix}{name}."
                part = {k: v for k, v in own.items() if k.startswith(inner)}
                self.visit(child, part, inner)
        self.visited.append(module)

    def write(self) -> None:
        """Write every noted value."""
        with no_grad():
            for write in self.writes:
                write()


class LoadedState(dict[str, Any]):
    """A part of a state that is being loaded, with the list of noted writes."""

    def __init__(
        self, state: Mapping[str, Any], writes: list[Callable[[], Any]] | None
    ) -> None:
        super().__init__(state)
        self.writes = writes


def writes_itself(module: Any) -> bool:
    """Return whether a module has its own loading method, which writes at once."""
    return overrides(module, "_load_from_state_dict", load_from_state_dict)


def _has_extra(module: Any) -> bool:
    return overrides(module, "set_extra_state", set_extra_state)


def load_from_state_dict(
    self: Any,
    state_dict: dict[str, Any],
    prefix: str,
    local_metadata: Mapping[str, Any],
    strict: bool,
    missing_keys: list[str],
    unexpected_keys: list[str],
    error_msgs: list[str],
) -> None:
    """Load the parameters and buffers of this module, but not those of its children.

    A subclass may override this method, for example to rename keys of `state_dict`,
    which is a copy, and then call the method of the base class.  `local_metadata` holds
    the ``"version"`` that was saved.  If the whole `load_state_dict` fails, all changes
    are undone.
    """
    lists = missing_keys, unexpected_keys, error_msgs
    if self._hooks is not None:
        seen = (state_dict, prefix, local_metadata, strict, *lists)
        for hook in tuple(self._hooks.load_state_pre.values()):
            hook.function(*((self, *seen) if hook.with_module else seen))
    taking = Taking(state_dict, prefix, missing_keys if strict else [], error_msgs)
    assign = bool(local_metadata.get(ASSIGN))
    for slot in own_slots(self):
        taking.tensor(slot, assign)
    if _has_extra(self):
        taking.extra(self)
    if strict:
        unexpected_keys += taking.unexpected(self._modules)
    _write(state_dict, taking.writes)


class Taking:
    """The part of a state that one module takes."""

    def __init__(
        self, state: dict[str, Any], prefix: str, missing: list[str], errors: list[str]
    ) -> None:
        self.state, self.prefix = state, prefix
        self.missing, self.errors = missing, errors
        self.names: set[str] = set()
        self.writes: list[Callable[[], Any]] = []

    def tensor(self, slot: Slot, assign: bool) -> None:
        """Note the value of a parameter or buffer, if there is one that fits."""
        key = self._key(slot.name)
        if key not in self.state:
            self.missing.append(key)
            return
        value = self.state[key]
        if not isinstance(value, Tensor):
            kind = type(value).__name__
            self.errors.append(
                f"{key}: expected torch.Tensor or Tensor-like object from checkpoint "
                f"but received a {kind}"
            )
        elif is_lazy(slot.tensor):  # it takes any shape
            self.writes.append(lambda: slot.put(value, assign))
        elif is_lazy(value):
            self.errors.append(
                f"{key} is to take the shape of an uninitialized parameter, which has "
                f"none yet"
            )
        elif value.shape != slot.tensor.shape:
            shape = slot.tensor.shape
            self.errors.append(
                f"size mismatch for {key}: copying a param with shape {value.shape} "
                f"into the module's of shape {shape}"
            )
        else:
            if slot.tensor.is_meta and not value.is_meta and not assign:
                _warn_of_meta(key)
            self.writes.append(lambda: slot.put(value, assign))

    def extra(self, module: Any) -> None:
        """Note the value for `set_extra_state`."""
        key = self._key(EXTRA)
        if key not in self.state:
            self.missing.append(key)
            return
        value = self.state[key]
        self.writes.append(lambda: module.set_extra_state(value))

    def unexpected(self, children: Mapping[str, Any]) -> list[str]:
        """Return the keys that neither the module nor one of its children has."""
        found = []
        for key in self.state:
            if key.startswith(self.prefix):
                name, dot, _ = key[len(self.prefix) :].partition(".")
                if name not in (children if dot else self.names):
                    found.append(key)
        return found

    def _key(self, name: str) -> str:
        self.names.add(name)
        return self.prefix + name


def _warn_of_meta(key: str) -> None:
    """Warn that a tensor without values takes none."""
    warn(
        f"load_state_dict: for {key}: copying from a non-meta parameter in the "
        "checkpoint to a meta parameter in the module has no effect. Pass assign=True "
        "to put the tensors of the checkpoint into the module.",
        AutocalcWarning,
    )


def _write(state: dict[str, Any], writes: list[Callable[[], Any]]) -> None:
    """Note the writes for later, or write at once."""
    later = getattr(state, "writes", None)
    if later is not None:
        later += writes
        return
    with no_grad():
        for write in writes:
            write()


def _instead_of(state: Any) -> str:
    """Return a hint on what to pass in place of a path, a module or another object."""
    if isinstance(state, (str, os.PathLike)):
        return "what the file holds, ac.load(path)"
    if hasattr(state, "state_dict"):
        return "its state, other.state_dict()"
    return "a dict of tensors, as state_dict() does"


def load(module: Any, state: Any, strict: bool, assign: bool) -> IncompatibleKeys:
    """Load `state` into `module` if all of it fits; else raise and change nothing."""
    if not isinstance(state, Mapping):
        raise DTypeError(
            f"load_state_dict: Expected state_dict to be dict-like, got "
            f"{type(state).__name__}; give {_instead_of(state)}."
        )
    loading = Loading(getattr(state, "_metadata", None) or {}, assign)
    with Restoring(_at_risk(module)):
        loading.visit(module, state, "")
        after = [m for m in loading.visited if m._hooks and m._hooks.load_state_post]
        if loading.errors or not after:
            _raise_if_wrong(type(module).__name__, loading, strict)
        loading.write()
        for visited in after:  # hooks may remove keys from the lists
            hooks.run(visited._hooks.load_state_post, visited, loading.keys)
        _raise_if_wrong(type(module).__name__, loading, strict)
    return loading.keys


def _at_risk(module: Any) -> list[Any]:
    """Return the modules that methods or hooks of users may change too early."""
    every = list(module.modules())
    if any(m._hooks is not None and m._hooks.load_state_post for m in every):
        return every
    found: dict[Any, None] = {}
    for m in every:
        hooked = m._hooks is not None and m._hooks.load_state_pre
        if hooked or writes_itself(m) or _has_extra(m):
            found.update(dict.fromkeys(m.modules()))
    return list(found)


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)


def _raise_if_wrong(name: str, loading: Loading, strict: bool) -> None:
    problems = list(loading.errors)
    keys = loading.keys
    if strict and keys.missing_keys:
        problems.append(f"Missing key(s) in state_dict: {_quoted(keys.missing_keys)}")
    if strict and keys.unexpected_keys:
        listed = _quoted(keys.unexpected_keys)
        problems.append(f"Unexpected key(s) in state_dict: {listed}")
    if not problems:
        return
    advice = "Load it into the module that it was saved from"
    if strict and not loading.errors:
        advice += ", or pass strict=False to leave these keys alone"
    listed = "\n  ".join(problems)
    raise CheckpointError(
        f"load_state_dict: the state does not fit {name}; nothing was loaded:\n"
        f"  {listed}\n{advice}."
    )

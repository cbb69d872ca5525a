# SPDX-License-Identifier: MIT
"""`functional_call`: call a module with other parameters and buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, check_type
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter
from autocalc.nn._module.registry import BUFFER, PARAMETER

_NAME = "functional_call"
_MISSING = object()


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Mapping[str, Tensor] | Sequence[Mapping[str, Tensor]],
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers than its own.

    The module is not changed.  Gradients flow to the given tensors.  If the call
    assigns another tensor to one of the given names, this tensor is put into the
    mapping.

    Parameters
    ----------
    module
        The module to call.
    parameter_and_buffer_dicts
        A mapping of names, as in `state_dict`, to tensors; or several such mappings
        without common names.  For all other names, the module's own tensors are used.
    args
        The positional arguments of the call: a tuple, or a single argument.
    kwargs
        The keyword arguments of the call.  None means no keyword arguments.
    tie_weights
        True if a tensor given for a tied parameter is used under all names of that
        parameter.
    strict
        True if exactly the parameters and buffers of the module must be given.

    Raises
    ------
    ArgumentError
        If `strict` is True and names are missing or unknown, if two mappings have a
        name in common, or if different tensors are given for one tied parameter.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.func import functional_call
    >>> layer = ac.nn.Linear(2, 1)
    >>> given = {"weight": ac.ones(1, 2), "bias": ac.zeros(1)}
    >>> functional_call(layer, given, ac.tensor([3.0, 4.0]))
    tensor([7.])
    """
    check_type(_NAME, "module", module, Module, "a Module")
    check_flags(_NAME, tie_weights=tie_weights, strict=strict)
    given = _merged(parameter_and_buffer_dicts)
    own = _own(module) if strict or tie_weights else {}
    replaced = _tied(own, given) if tie_weights else given
    if strict:
        _check_all(own, replaced)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    assigned: dict[str, Any] = {}
    try:
        with _replaced(module, replaced, assigned):
            return module(*arguments, **(kwargs or {}))
    finally:
        _give_back(parameter_and_buffer_dicts, assigned)


def _own(module: Module) -> dict[str, Tensor]:
    """Return all parameters, and then all buffers, under each of their names."""
    found: dict[str, dict[str, Tensor]] = {PARAMETER: {}, BUFFER: {}}
    for prefix, inner in module.named_modules(remove_duplicate=False):
        values = vars(inner)
        for name, kind in inner._names.items():
            if kind in found and values[name] is not None:
                path = f"{prefix}.{name}" if prefix else name
                found[kind][path] = values[name]
    return found[PARAMETER] | found[BUFFER]


def _merged(given: Any) -> dict[str, Any]:
    """Return several dicts merged into one."""
    merged: dict[str, Any] = {}
    for one in (given,) if isinstance(given, Mapping) else given:
        check_type(_NAME, "parameter_and_buffer_dicts", one, Mapping, "a dict")
        twice = merged.keys() & one.keys()
        if twice:
            raise ArgumentError(
                f"{_NAME}: {sorted(twice)} appeared in multiple dictionaries; give "
                f"each name once."
            )
        merged |= one
    for name, value in merged.items():
        if value is not None and not isinstance(value, Tensor):
            raise DTypeError(
                f"{_NAME}: {name!r} is given a {type(value).__name__}; it must be a "
                f"Tensor or None. {value!r} is not an instance of torch.Tensor."
            )
    return merged


def _check_all(own: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    missing, unknown = sorted(own.keys() - given), sorted(given.keys() - own)
    if missing or unknown:
        raise ArgumentError(
            f"{_NAME}: with strict=True, exactly the parameters and buffers must be "
            f"given.{_keys('Unexpected', unknown)}{_keys('Missing', missing)}"
        )


def _keys(kind: str, names: Sequence[str]) -> str:
    """Return a sentence about the names, or nothing if there are none."""
    return f" {kind} key(s): {', '.join(map(repr, names))}." if names else ""


def _tied(own: Mapping[str, Any], given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the given values under all names of shared parameters."""
    groups: dict[int, list[str]] = {}
    for name, value in own.items():
        groups.setdefault(id(value), []).append(name)
    if len(groups) == len(own):
        return dict(given)
    tied = dict(given)
    for names in groups.values():
        values = {id(given[name]): given[name] for name in names if name in given}
        if len(values) > 1:
            keys = sorted(name for name in names if name in given)
            raise ArgumentError(
                f"{_NAME} got multiple values for keys {keys}, which are the same "
                "parameter; give one tensor, or tie_weights=False."
            )
        for value in values.values():
            tied |= dict.fromkeys(names, value)
    return tied


@contextmanager
def _replaced(
    module: Module, given: Mapping[str, Any], assigned: dict[str, Any]
) -> Iterator[None]:
    """Give modules other tensors for a block, then restore their own.

    `assigned` receives what the block assigns to the names in `given`.
    """
    before: list[tuple[str, Module, str, Any]] = []
    try:
        for path, value in given.items():
            place, _, name = path.rpartition(".")
            owner: Module = module.get_submodule(place)
            old = vars(owner).get(name, _MISSING)
            if old is not _MISSING and old is not None and not isinstance(old, Tensor):
                raise DTypeError(
                    f"{_NAME}: attribute `{name}`: {old!r} is not an instance of "
                    "torch.Tensor, so no tensor can be given for it."
                )
            before.append((path, owner, name, old))
            if old is _MISSING and isinstance(value, Parameter):
                owner._names[name] = PARAMETER
            vars(owner)[name] = value
        yield
    finally:
        for path, owner, name, old in reversed(before):
            attributes = vars(owner)
            new = attributes.get(name, _MISSING)
            if new is not given[path] and new is not _MISSING:
                assigned[path] = new
            if old is not _MISSING:
                attributes[name] = old
            else:
                attributes.pop(name, None)
                owner._names.pop(name, None)


def _give_back(given: Any, assigned: Mapping[str, Any]) -> None:
    """Write what the module assigned into the mappings that hold the names."""
    for one in (given,) if isinstance(given, Mapping) else given:
        if isinstance(one, MutableMapping):
            one.update({name: assigned[name] for name in one if name in assigned})

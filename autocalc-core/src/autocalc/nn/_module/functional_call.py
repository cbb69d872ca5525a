# SPDX-License-Identifier: MIT
"""`functional_call`: call a module with other parameters and buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, check_type
from autocalc.errors import ArgumentError, DTypeError
from autocalc.nn._module.module import Module
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

    The module is not changed.  Gradients flow to the given tensors.

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
    if strict:
        _check_all(own, given)
    if tie_weights:
        given = _tied(own, given)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given):
        return module(*arguments, **(kwargs or {}))


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


def _merged(given: Any) -> dict[str, Tensor]:
    """Return several dicts merged into one."""
    merged: dict[str, Tensor] = {}
    for one in (given,) if isinstance(given, Mapping) else given:
        check_type(_NAME, "parameter_and_buffer_dicts", one, Mapping, "a dict")
        twice = merged.keys() & one.keys()
        if twice:
            raise ArgumentError(
                f"{_NAME}: several dicts hold {', '.join(map(repr, sorted(twice)))}; "
                f"give each name once."
            )
        merged |= one
    for name, value in merged.items():
        if not isinstance(value, Tensor):
            raise DTypeError(
                f"{_NAME}: {name!r} is given a {type(value).__name__}; it must be a "
                f"Tensor."
            )
    return merged


def _check_all(own: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    missing, unknown = sorted(own.keys() - given), sorted(given.keys() - own)
    if missing or unknown:
        raise ArgumentError(
            f"{_NAME}: with strict=True, exactly the parameters and buffers must be "
            f"given; missing: {missing}, unknown: {unknown}."
        )


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
            raise ArgumentError(
                f"{_NAME}: {', '.join(map(repr, names))} are the same parameter but "
                "were given different tensors; give one tensor, or tie_weights=False."
            )
        for value in values.values():
            tied |= dict.fromkeys(names, value)
    return tied


@contextmanager
def _replaced(module: Module, given: Mapping[str, Tensor]) -> Iterator[None]:
    """Give modules other tensors for a block, then restore their own."""
    before = []
    try:
        for path, value in given.items():
            place, _, name = path.rpartition(".")
            attributes = vars(module.get_submodule(place))
            before.append((attributes, name, attributes.get(name, _MISSING)))
            attributes[name] = value
        yield
    finally:
        for attributes, name, value in reversed(before):
            if value is _MISSING:
                del attributes[name]
            else:
                attributes[name] = value

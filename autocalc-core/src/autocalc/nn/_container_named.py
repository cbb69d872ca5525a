# SPDX-License-Identifier: MIT
"""Modules that hold modules by name, and parameters in a list or by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import sequence, short
from autocalc.errors import DimensionError, DTypeError, ModuleError
from autocalc.nn._container import _module_or_none
from autocalc.nn._module import Module
from autocalc.nn._parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self


def _pairs(given: Any) -> list[tuple[str, Any]]:
    """Return (name, value) pairs from a mapping or from such pairs."""
    if isinstance(given, Mapping):
        return list(given.items())
    pairs = sequence("update", "modules", given)
    if any(not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in pairs):
        message = f"update: {short(given)} does not hold pairs of a name and a value."
        raise DTypeError(message)
    return [tuple(pair) for pair in pairs]


class _Named(Module):
    """What both dicts share: a view of the attributes of one kind, by name."""

    def _entries(self) -> Any:
        raise NotImplementedError

    def _key(self, key: Any) -> str:
        if key not in self._entries():
            known = ", ".join(self._entries()) or "none"
            message = f"{self._get_name()}: there is no {key!r}; there is {known}."
            raise ModuleError(message)
        return str(key)

    def __getitem__(self, key: str) -> Any:
        return self._entries()[self._key(key)]

    def __setitem__(self, key: str, value: Any) -> None:
        raise NotImplementedError

    def __delitem__(self, key: str) -> None:
        delattr(self, self._key(key))

    def __len__(self) -> int:
        return len(self._entries())

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __contains__(self, key: object) -> bool:
        return key in self._entries()

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return list(self._entries())

    def values(self) -> Iterable[Any]:
        """Return what is held."""
        return list(self._entries().values())

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return (name, value) pairs."""
        return list(self._entries().items())

    def pop(self, key: str) -> Any:
        """Take an entry out and return it."""
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        """Take all entries out."""
        for key in self.keys():
            del self[key]

    def update(self, entries: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Add entries, or replace those of the same names."""
        for name, value in _pairs(entries):
            self[name] = value


class ModuleDict(_Named):
    """Modules by name, found by `parameters`, `state_dict` and their like.

    Parameters
    ----------
    modules
        A mapping of names to modules, or pairs; None keeps a place empty.

    Examples
    --------
    >>> import autocalc as ac
    >>> choices = ac.nn.ModuleDict({"relu": ac.nn.ReLU(), "tanh": ac.nn.Tanh()})
    >>> choices["relu"](ac.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    def __init__(
        self,
        modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None,
    ) -> None:
        super().__init__()
        self.update({} if modules is None else modules)

    def _entries(self) -> Any:
        return self._modules

    def __setitem__(self, key: str, module: Module) -> None:
        self.register_module(key, _module_or_none(self, module))


def _parameter(owner: Module, value: Any) -> Parameter:
    if not isinstance(value, Tensor):
        message = (
            f"{owner._get_name()}: holds parameters, not a {type(value).__name__}."
        )
        raise DTypeError(message)
    return value if isinstance(value, Parameter) else Parameter(value)


def _described(module: Module) -> str:
    lines = []
    for name, param in module._parameters.items():
        size = "x".join(map(str, param.shape))
        text = f"[{param.dtype.name} of size {size}]"
        lines.append(f"\n    ({name}): Parameter containing: {text}")
    body = "".join(lines)
    return f"{module._get_name()}({body}\n)" if body else f"{module._get_name()}()"


class ParameterDict(_Named):
    """Parameters by name, found by `parameters`, `state_dict` and their like.

    Parameters
    ----------
    parameters
        A mapping of names to tensors, or pairs; tensors become parameters.

    Examples
    --------
    >>> import autocalc as ac
    >>> scales = ac.nn.ParameterDict({"left": ac.ones(2), "right": ac.ones(3)})
    >>> list(scales.state_dict()), scales["right"].requires_grad
    (['left', 'right'], True)
    """

    def __init__(
        self,
        parameters: Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] | None = None,
    ) -> None:
        super().__init__()
        self.update(parameters or {})

    def _entries(self) -> Any:
        return self._parameters

    def __setitem__(self, key: str, value: Tensor) -> None:
        self.register_parameter(key, _parameter(self, value))

    def __repr__(self) -> str:
        """List names, dtypes and shapes."""
        return _described(self)


class ParameterList(Module):
    """A list of parameters, found by `parameters`, `state_dict` and their like.

    Parameters
    ----------
    values
        Tensors, which become parameters.

    Examples
    --------
    >>> import autocalc as ac
    >>> weights = ac.nn.ParameterList(ac.ones(2, 2) for _ in range(3))
    >>> len(weights), list(weights.state_dict())
    (3, ['0', '1', '2'])
    """

    def __init__(self, values: Iterable[Tensor] | None = None) -> None:
        super().__init__()
        self.extend(() if values is None else values)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(list(self._parameters.values()))

    def _key(self, index: int) -> str:
        size = len(self)
        if not -size <= index < size:
            message = (
                f"ParameterList: index {index} is out of range for {size} parameters."
            )
            raise DimensionError(message)
        return str(index % size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return ParameterList(list(self)[index])
        return self._parameters[self._key(index)]

    def __setitem__(self, index: int, value: Tensor) -> None:
        self.register_parameter(self._key(index), _parameter(self, value))

    def append(self, value: Tensor) -> Self:
        """Add a parameter at the end; return the list."""
        self.register_parameter(str(len(self)), _parameter(self, value))
        return self

    def extend(self, values: Iterable[Tensor]) -> Self:
        """Add parameters at the end; return the list."""
        if isinstance(values, Tensor):
            message = (
                f"{type(self).__name__}: `values` is one tensor of shape "
                f"{values.shape}; give a list of tensors, such as [tensor]."
            )
            raise DTypeError(message)
        for value in sequence(type(self).__name__, "values", values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Tensor]) -> Self:
        return self.extend(values)

    def __repr__(self) -> str:
        """List positions, dtypes and shapes."""
        return _described(self)

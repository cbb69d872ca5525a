# SPDX-License-Identifier: MIT
"""Parameters and other tensors in a dict or a list."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from autocalc._tensor import Tensor
from autocalc._tensor.checks import sequence
from autocalc.errors import DimensionError, DTypeError, ModuleError
from autocalc.nn._layers.containers.named import _Named, _pairs
from autocalc.nn._module import registry
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self


def _held(value: Any) -> Any:
    """Return a tensor as a parameter, and any other object unchanged."""
    plain = isinstance(value, Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if plain else value


def _described(module: Any, entries: Iterable[tuple[Any, Any]]) -> str:
    lines = []
    for name, value in entries:
        text = f"Object of type: {type(value).__name__}"
        if isinstance(value, Tensor):
            size = "x".join(map(str, value.shape))
            text = f"Parameter containing: [{value.dtype.name} of size {size}]"
        lines.append(f"\n    ({name}): {text}")
    body = "".join(lines)
    return f"{module._get_name()}({body}\n)" if body else f"{module._get_name()}()"


class ParameterDict(_Named):
    """A dict of parameters; `parameters`, `state_dict` and similar methods find them.

    A tensor that is assigned becomes a `Parameter`.  A value may also be a module; the
    same methods find its parameters.  All other values are stored, but they are not
    part of the state.

    Parameters
    ----------
    parameters
        A mapping of names to values, or an iterable of (name, value) pairs.  The names
        of a plain dict are sorted.  An `OrderedDict` and pairs keep their order.

    Examples
    --------
    >>> import autocalc as ac
    >>> scales = ac.nn.ParameterDict({"left": ac.ones(2), "right": ac.ones(3)})
    >>> list(scales.state_dict()), scales["right"].requires_grad
    (['left', 'right'], True)
    """

    def __init__(
        self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] | None = None
    ) -> None:
        super().__init__()
        self._order: dict[str, None] = {}
        self.update({} if parameters is None else parameters)

    def _entries(self) -> Any:
        return {key: getattr(self, key) for key in self._order}

    def __contains__(self, key: object) -> bool:
        return key in self._order

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[str]:
        return iter(self._order)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._order)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key(key))

    def __setitem__(self, key: str, value: Any) -> None:
        if key not in self._order:
            registry.check_name(type(self).__name__, self, key, registry.PARAMETER)
        setattr(self, key, _held(value))
        self._order[key] = None

    def __delitem__(self, key: str) -> None:
        delattr(self, self._key(key))
        del self._order[key]

    def update(self, entries: Any) -> None:
        """Add entries; replace the values of names that exist already.

        The argument is the same as for the class.
        """
        if isinstance(entries, ParameterDict):
            entries = entries.items()
        pairs = _pairs(entries)
        if isinstance(entries, Mapping) and not isinstance(entries, OrderedDict):
            pairs.sort(key=lambda pair: pair[0])
        for name, value in pairs:
            self[name] = value

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`, or `default` if there is no such entry."""
        return self[key] if key in self else default  # noqa: SIM401  this is `get`

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of `key`; if there is none, first store `default` there."""
        if key not in self:
            self[key] = default
        return self[key]

    def popitem(self) -> tuple[str, Any]:
        """Remove the last entry and return its name and its value.

        Raises
        ------
        ModuleError
            If the dict is empty.
        """
        if not self._order:
            raise ModuleError(
                f"{type(self).__name__}: no entry can be removed, because the dict is "
                "empty."
            )
        key = next(reversed(self._order))
        return key, self.pop(key)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a new `ParameterDict` in which every name has the value `default`."""
        return ParameterDict([(key, default) for key in keys])

    def copy(self) -> ParameterDict:
        """Return a new `ParameterDict` that holds the same parameters and values."""
        return ParameterDict(self.items())

    def __or__(self, other: Any) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: Any) -> ParameterDict:
        joined = ParameterDict(other)
        joined.update(self)
        return joined

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def __repr__(self) -> str:
        """List names, dtypes and shapes."""
        return _described(self, self.items())


class ParameterList(Module):
    """A list of parameters; `parameters`, `state_dict` and similar methods find them.

    A tensor that is added becomes a `Parameter`.  A value may also be a module; the
    same methods find its parameters.  All other values are stored, but they are not
    part of the state.

    Parameters
    ----------
    values
        The initial values of the list.

    Examples
    --------
    >>> import autocalc as ac
    >>> weights = ac.nn.ParameterList(ac.ones(2, 2) for _ in range(3))
    >>> len(weights), list(weights.state_dict())
    (3, ['0', '1', '2'])
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(() if values is None else values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(i)) for i in range(self._size)])

    def _key(self, index: int) -> str:
        size, index = len(self), operator.index(index)
        if not -size <= index < size:
            raise DimensionError(
                f"ParameterList: index {index} is out of range for {size} parameters."
            )
        return str(index % size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return ParameterList(list(self)[index])
        return getattr(self, self._key(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._key(index), _held(value))

    def append(self, value: Any) -> Self:
        """Append a parameter or another value; return the list."""
        setattr(self, str(self._size), _held(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Append several parameters or other values; return the list."""
        if isinstance(values, Tensor):
            raise DTypeError(
                f"{type(self).__name__}: `values` is one tensor of shape "
                f"{values.shape}; give a list of tensors, such as [tensor]."
            )
        text = isinstance(values, (str, Mapping))
        where = type(self).__name__
        for value in values if text else sequence(where, "values", values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def __repr__(self) -> str:
        """List positions, dtypes and shapes."""
        return _described(self, enumerate(self))

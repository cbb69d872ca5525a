# SPDX-License-Identifier: MIT
"""Modules that hold other modules: in a chain or in a list."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, overload

from autocalc._tensor.checks import sequence, short
from autocalc.errors import ArgumentError, DimensionError, DTypeError
from autocalc.nn._layers.containers.chain import stages
from autocalc.nn._module.module import Module, not_called
from autocalc.nn._module.registry import MODULE

if TYPE_CHECKING:
    from typing_extensions import Self


class _ModuleSequence(Module):
    """The base of `Sequential` and `ModuleList`: children named 0, 1, 2, ..."""

    @overload
    def __getitem__(self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: int) -> Module: ...
    def __getitem__(self, index: int | slice) -> Module | Self:
        if isinstance(index, slice):
            return self._with(list(self._modules.items())[index])
        return self._modules[self._key(index)]  # type: ignore[no-any-return]  # a Module

    def _taken(self, module: Any) -> Any:
        """Return `module`, or raise if a container may not hold it."""
        return _checked(self, module)

    def _with(self, items: list[tuple[str, Module]]) -> Self:
        """Return a new container of these modules."""
        raise NotImplementedError

    def __setitem__(self, index: int, module: Module) -> None:
        self.register_module(self._key(index), self._taken(module))

    def __delitem__(self, index: int | slice) -> None:
        keys = list(self._modules)
        for key in keys[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, key)
        if any(key.isdigit() for key in keys):
            self._renumber(list(self))

    def _renumber(self, modules: list[Module]) -> None:
        self._modules.clear()
        for i, module in enumerate(modules):
            self.register_module(str(i), module)

    def _key(self, index: Any) -> str:
        """Return the name of the module at a position, counted from either end."""
        size = len(self)
        try:
            position = operator.index(index)
        except TypeError:
            raise DTypeError(
                f"{self._get_name()}: {index!r} is not a valid index; use integers and "
                "slices."
            ) from None
        if not -size <= position < size:
            raise DimensionError(
                f"{self._get_name()}: index {position} is out of range for {size} "
                f"modules."
            )
        return list(self._modules)[position]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        # Sequential runs this in each call, so it does not use the registry's view.
        values = self.__dict__
        names = self._names.items()
        return iter([values[name] for name, kind in names if kind == MODULE])

    def __contains__(self, module: object) -> bool:
        return any(module is other for other in self)

    def append(self, module: Module) -> Self:
        """Add a module at the end; return the container."""
        self.register_module(str(len(self)), self._taken(module))
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end; return the container."""
        for module in sequence(type(self).__name__, "modules", modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before the one at `index`; return the container."""
        modules = list(self)
        modules.insert(index, self._taken(module))
        self._renumber(modules)
        return self

    def pop(self, index: int = -1) -> Module:
        """Remove a module and return it."""
        module = self[index]
        del self[index]
        return module

    def __mul__(self, other: int) -> Self:
        return self._with([(str(i), m) for i, m in enumerate(self._times(other))])

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        return self.extend(self._times(other)[len(self) :])

    def _times(self, count: Any) -> list[Module]:
        """Return the modules `count` times; all copies are the same objects."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ArgumentError(
                f"{self._get_name()}: it can be multiplied by an integer, 1 or more, "
                f"not by {short(count)}."
            )
        return list(self) * count

    def __add__(self, other: Iterable[Module]) -> Self:
        return self._with([(str(i), m) for i, m in enumerate([*self, *other])])

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)


def _checked(owner: Module, module: Any) -> Any:
    if not isinstance(module, Module):
        raise DTypeError(
            f"{owner._get_name()}: it can hold only modules, not a "
            f"{type(module).__name__}.{_remedy(owner, module)}"
        )
    return module


def _remedy(owner: Module, module: Any) -> str:
    """Return a sentence on what to do about an object that is not a module."""
    if isinstance(module, type):
        return f" Make a module of the class: {module.__name__}()."
    if isinstance(module, (list, tuple)):
        return f" Give its elements: {owner._get_name()}(*modules)."
    function = getattr(module, "__name__", "")
    if callable(module) and function:
        return f" Make a module whose `forward` calls {function}."
    return ""


def _module_or_none(owner: Module, module: Any) -> Any:
    """Return a module, or None, which keeps a place empty; raise for anything else."""
    return None if module is None else _checked(owner, module)


class Sequential(_ModuleSequence):
    """Calls several modules one after the other.

    Each module gets the output of the previous one.  A batch norm and an activation
    that follows it directly (`ReLU`, `ReLU6`, `Hardtanh`, `LeakyReLU`, `Hardswish` or
    `SiLU`) run as one kernel.  If one of the two has hooks, they run as two kernels.

    Parameters
    ----------
    *args
        The modules, or one dict of modules by name.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Sequential(ac.nn.Linear(4, 8), ac.nn.ReLU())
    Sequential(
      (0): Linear(in_features=4, out_features=8, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], dict)
        items = args[0].items() if named else enumerate(args)
        for name, module in items:
            self.register_module(str(name), _checked(self, module))

    def _with(self, items: list[tuple[str, Module]]) -> Sequential:
        return Sequential(dict(items))

    def forward(self, input: Any) -> Any:
        """Return the output of the last module."""
        for call in stages(list(self)):
            input = call(input)
        return input


class ModuleList(_ModuleSequence):
    """A list of modules; `parameters`, `state_dict` and similar methods find them.

    Parameters
    ----------
    modules
        The modules of the list.  An entry may be None.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ModuleList(ac.nn.Linear(4, 4) for _ in range(3))
    ModuleList(
      (0-2): 3 x Linear(in_features=4, out_features=4, bias=True)
    )
    """

    forward: Callable[..., Any] = not_called

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def _taken(self, module: Any) -> Any:
        return _module_or_none(self, module)

    def _with(self, items: list[tuple[str, Module]]) -> ModuleList:
        return ModuleList(module for _, module in items)

    def __repr__(self) -> str:
        """List the modules; show neighbours with the same text in one line."""
        runs: list[tuple[int, int, str]] = []
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        lines = [_line(*run).replace("\n", "\n  ") for run in runs]
        body = "".join(f"\n  {line}" for line in lines)
        return f"{self._get_name()}({body}\n)" if lines else f"{self._get_name()}()"


def _line(first: int, last: int, text: str) -> str:
    if first == last:
        return f"({first}): {text}"
    return f"({first}-{last}): {last - first + 1} x {text}"

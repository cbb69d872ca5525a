# SPDX-License-Identifier: MIT
"""The parts of a module: its attributes by kind, and the tree of submodules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, check_switches, short
from autocalc.errors import ArgumentError, DTypeError, ModuleError
from autocalc.nn._module import registry
from autocalc.nn._module.buffer import Buffer
from autocalc.nn._module.hooks import Hooks
from autocalc.nn._module.parameter import Parameter
from autocalc.nn._module.registry import BUFFER, MODULE, PARAMETER, Registry
from autocalc.nn._module.uninitialized import UninitializedBuffer

#: The classes of tensors that become buffers when they are assigned.
_BUFFERS = (Buffer, UninitializedBuffer)


def asked(module: Any, name: str) -> Any:
    """Return an attribute of a module whose class defines `__getattr__`.

    Call that `__getattr__` for parameters, buffers and modules, as in PyTorch, which
    stores them where Python's lookup does not find them.  So the method sees each read.
    """
    names = object.__getattribute__(module, "__dict__").get("_names", ())
    if name in names:
        return type(module).__getattr__(module, name)
    return object.__getattribute__(module, name)


#: The type of the modules in the tree: `Module`, which inherits from this class.
M = TypeVar("M")


class ModuleTree(Generic[M]):
    """The part of `Module` that finds its parameters, buffers and submodules."""

    training: bool
    _names: dict[str, str]
    _unsaved: set[str]
    _hooks: Hooks | None

    #: Whether `__init__` calls the `__init__` of the next class, such as a mix-in, with
    #: the arguments that it gets.
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            given = [*map(short, args), *(f"{k}={short(v)}" for k, v in kwargs.items())]
            raise DTypeError(
                f"{type(self).__name__}: Module.__init__() was given "
                f"{', '.join(given)}, but it takes no arguments. Remove them, or set "
                "call_super_init = True in the class if they are for a mix-in."
            )
        self.__dict__.update(training=True, _names={}, _unsaved=set(), _hooks=None)
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # ---- attributes --------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._make_room(name, PARAMETER)
            self.register_parameter(name, value)
        elif isinstance(value, ModuleTree):
            self._make_room(name, MODULE)
            self.register_module(name, value)  # type: ignore[arg-type]  # a Module
        elif isinstance(value, _BUFFERS) and self._may_hold_buffer(name):
            self._make_room(name, BUFFER)
            kept = {} if value.persistent else {"persistent": False}
            self.register_buffer(name, value, **kept)
        elif name in self.__dict__.get("_names", ()):
            self._assign(name, value)
        else:
            object.__setattr__(self, name, value)

    def _may_hold_buffer(self, name: str) -> bool:
        """Return whether `name` is not the name of a parameter or of a module."""
        names: dict[str, str] = self.__dict__.get("_names", {})
        return names.get(name, BUFFER) == BUFFER

    def __init_subclass__(cls, **words: Any) -> None:
        super().__init_subclass__(**words)
        if "__getattr__" in cls.__dict__:
            cls.__getattribute__ = asked  # type: ignore[method-assign]

    if not TYPE_CHECKING:  # type checkers know the attributes

        def __getattr__(self, name: str) -> Any:
            # Wrappers call this method by name; the normal lookup raises the right
            # error.
            return object.__getattribute__(self, name)

    def _make_room(self, name: str, kind: str) -> None:
        """Remove an attribute that another one of a different kind replaces."""
        if "_names" not in self.__dict__:
            raise ModuleError(
                f"{type(self).__name__}: {name!r} was assigned before "
                f"Module.__init__() ran; call super().__init__() first."
            )
        if self._names.get(name) != kind:
            self.__dict__.pop(name, None)
            self._names.pop(name, None)

    def _assign(self, name: str, value: Any) -> None:
        """Assign a value that is no parameter and no module to a registered name."""
        kind = self._names[name]
        where = type(self).__name__
        needed = {PARAMETER: Parameter, BUFFER: Tensor, MODULE: ModuleTree}[kind]
        registry.check_value(where, name, value, needed, kind)
        registry.enter(self, name, value, kind)

    def __delattr__(self, name: str) -> None:
        object.__delattr__(self, name)
        self._names.pop(name, None)
        self._unsaved.discard(name)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter as the attribute `name`; the parameter may be None."""
        where = "register_parameter"
        registry.check_name(where, self, name, PARAMETER)
        registry.check_value(where, name, param, Parameter, PARAMETER)
        registry.check_leaf(where, name, param)
        registry.enter(self, name, param, PARAMETER)

    def register_buffer(
        self, name: str, tensor: Tensor | None, persistent: bool = True
    ) -> None:
        """Register a buffer: a tensor that belongs to the state, but is not trained.

        Parameters
        ----------
        name
            The name of the attribute.
        tensor
            The buffer.  It may be None.
        persistent
            True to include the buffer in `state_dict`.

        Examples
        --------
        >>> import autocalc as ac
        >>> m = ac.nn.Module()
        >>> m.register_buffer("mean", ac.zeros(3))
        >>> m.mean.shape, list(m.state_dict())
        (autocalc.Size([3]), ['mean'])
        """
        check_switches("register_buffer", persistent=persistent)
        registry.check_name("register_buffer", self, name, BUFFER)
        registry.check_value("register_buffer", name, tensor, Tensor, BUFFER)
        registry.enter(self, name, tensor, BUFFER)
        if persistent:
            self._unsaved.discard(name)
        else:
            self._unsaved.add(name)

    def register_module(self, name: str, module: M | None) -> None:
        """Register a submodule as the attribute `name`; the submodule may be None."""
        registry.check_name("register_module", self, name, MODULE)
        registry.check_value("register_module", name, module, ModuleTree, MODULE)
        registry.enter(self, name, module, MODULE)

    def add_module(self, name: str, module: M | None) -> None:
        """Register a submodule; the same as `register_module`."""
        self.register_module(name, module)

    @property
    def _parameters(self) -> Registry:
        """The parameters of the module itself, by name."""
        return Registry(self, PARAMETER)

    @property
    def _buffers(self) -> Registry:
        """The buffers of the module itself, by name."""
        return Registry(self, BUFFER)

    @property
    def _non_persistent_buffers_set(self) -> set[str]:
        """The names of buffers that `state_dict` leaves out."""
        return self._unsaved

    @property
    def _modules(self) -> Registry:
        """The submodules of the module itself, by name."""
        return Registry(self, MODULE)

    # ---- what is inside ------------------------------------------------------------

    def named_modules(
        self,
        memo: set[Any] | None = None,
        prefix: str = "",
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, M]]:
        """Yield (name, module) for this module and all its submodules at any depth.

        The names begin with `prefix`.  A module that occurs twice is yielded once,
        unless `remove_duplicate` is False.
        """
        check_flags("named_modules", remove_duplicate=remove_duplicate)
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self  # type: ignore[misc]  # a Module
        for name, child in self._modules.items():
            if child is not None:
                inner = f"{prefix}.{name}" if prefix else name
                yield from child.named_modules(memo, inner, remove_duplicate)

    def modules(self) -> Iterator[M]:
        """Yield this module and all its submodules at any depth, each of them once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, M]]:
        """Yield (name, module) for the direct submodules."""
        seen: set[M] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[M]:
        """Yield the direct submodules."""
        return (child for _, child in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Yield (name, parameter) for all parameters, each of them once.

        Parameters
        ----------
        prefix
            A text that is put before each name.
        recurse
            True to include the parameters of submodules.
        remove_duplicate
            False to yield a shared parameter under all its names.

        Examples
        --------
        >>> import autocalc as ac
        >>> [(n, p.shape) for n, p in ac.nn.Linear(3, 2).named_parameters()]
        [('weight', autocalc.Size([2, 3])), ('bias', autocalc.Size([2]))]
        """
        check_flags(
            "named_parameters", recurse=recurse, remove_duplicate=remove_duplicate
        )
        return self._named(PARAMETER, prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Yield all parameters, each of them once, for example for an optimizer."""
        check_flags("parameters", recurse=recurse)
        return (param for _, param in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Yield (name, tensor) for all buffers, each of them once."""
        check_flags("named_buffers", recurse=recurse, remove_duplicate=remove_duplicate)
        return self._named(BUFFER, prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Yield all buffers, each of them once."""
        check_flags("buffers", recurse=recurse)
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _named(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(
            prefix=prefix, remove_duplicate=remove_duplicate
        ) if recurse else [(prefix, self)]  # fmt: skip
        for inner, module in modules:
            for name, value in Registry(module, kind).items():
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield (f"{inner}.{name}" if inner else name), value

    def get_submodule(self, target: str) -> M:
        """Return the submodule `target`, a dotted name such as ``"layers.0.norm"``."""
        found: Any = self
        for name in target.split(".") if target else ():
            inner = found._modules.get(name)
            if inner is None:
                known = ", ".join(found._modules) or "none"
                raise ModuleError(
                    f"get_submodule: {target!r}: {type(found).__name__} has no "
                    f"attribute `{name}` that is a module; its submodules are {known}."
                )
            found = inner
        return found  # type: ignore[no-any-return]  # a Module

    def set_submodule(self, target: str, module: M, strict: bool = False) -> None:
        """Make `module` the submodule `target`, a dotted name.

        Parameters
        ----------
        target
            The name, such as ``"layers.0.norm"``.  The module that holds it must exist.
        module
            The new submodule.
        strict
            True to allow only a name that a submodule has already.

        Examples
        --------
        >>> import autocalc as ac
        >>> net = ac.nn.Sequential(ac.nn.Linear(2, 2), ac.nn.ReLU())
        >>> net.set_submodule("1", ac.nn.Tanh())
        >>> net[1]
        Tanh()
        """
        where = "set_submodule"
        check_flags(where, strict=strict)
        if not target:
            message = f"{where}: `target` is empty; give the name of a submodule."
            raise ArgumentError(message)
        place, _, name = target.rpartition(".")
        owner: Any = self.get_submodule(place)
        registry.check_value(where, name, module, ModuleTree, MODULE)
        if strict:
            self.get_submodule(target)
        setattr(owner, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """Return the parameter with the dotted name `target`."""
        found: Parameter = self._get("get_parameter", target, PARAMETER)
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Return the buffer with the dotted name `target`."""
        found: Tensor = self._get("get_buffer", target, BUFFER)
        return found

    def _get(self, where: str, target: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        owned = Registry(self.get_submodule(path), kind)
        if owned.get(name) is None:
            known = ", ".join(owned) or "none"
            message = f"{where}: there is no {kind} {target!r}; there is {known}."
            raise ModuleError(message)
        return owned[name]

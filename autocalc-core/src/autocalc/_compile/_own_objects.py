# SPDX-License-Identifier: MIT
"""AutoCalc's own objects that a recorded function uses: modules, optimizers and others.

For a user's module, guards cover what AutoCalc reads from it: its parts, hooks, methods
and `training`.  The user's code itself is followed like other code.  For AutoCalc's own
modules and optimizers, guards cover all attributes and the methods that run.
"""

from __future__ import annotations

from types import CodeType, FunctionType, ModuleType
from typing import Any

from autocalc._compile._classes import method_of
from autocalc._compile._found import Found
from autocalc._compile._guards import Attributes, Inside
from autocalc._compile._objects import dict_of
from autocalc._compile._places import MISSING, Attribute, Element, Place
from autocalc._compile._reads import ESCAPES, Reads, reads_of
from autocalc._tensor import Tensor

#: The kinds of module hooks that calls run.
_HOOKS = ("forward_pre", "forward", "backward_pre", "backward")


class OwnObjects:
    """The modules, optimizers and other objects of AutoCalc that ran.

    Attributes
    ----------
    registered
        Parameters and buffers of the modules.
    optimizers
        The optimizers that ran.
    """

    def __init__(self, found: Found) -> None:
        self.registered: list[Tensor] = []
        self.optimizers: list[Any] = []
        self._found = found

    def other(self, thing: Any, reads: Reads, code: CodeType) -> None:
        """Guard all attributes of an object, such as a learning rate schedule."""
        own = dict_of(thing) or {}
        for key in list(own):
            label = f"{type(thing).__name__}.{key}"
            self._found.key(label, own, key, ESCAPES, reads, code)

    def module(self, module: Any) -> None:
        """Guard what a call of a module reads from it."""
        if not self._found.first(module, ""):
            return
        own = vars(module)
        values = [own.get(name) for name in module._names]
        self.registered += [x for x in values if isinstance(x, Tensor)]
        self._hooks(own.get("_hooks"))
        self._global_hooks()
        kind = type(module)
        method_of(self._found, kind, "__call__")
        if "parametrizations" in module._names:
            self._parametrized()
        if kind.__module__.startswith("autocalc."):
            place: Place = Attribute(self._found.held(module), "__class__")
            self._found.place(f"the class of {kind.__name__}", place, kind, None)
            self._found.guards.append(Attributes(self._found.held(module)))
            method_of(self._found, kind, "forward")
            self._functions(kind.forward)
            return
        title = kind.__name__
        self._found.elements(f"the names of {title}", module._names, None)
        place = Attribute(self._found.held(module), "__class__")
        self._found.place(f"the class of {title}", place, kind, None)
        for name in (*module._names, "training", "_hooks"):
            if name in own:
                place = Element(self._found.held(own), name)
                self._found.place(f"{title}.{name}", place, own[name], None)
            else:
                place = Attribute(self._found.held(module), name)
                value = getattr(module, name, MISSING)
                self._found.place(f"{title}.{name}", place, value, None)

    def _functions(self, method: Any) -> None:
        """Guard the functions whose names occur in a method of AutoCalc."""
        where = getattr(method, "__globals__", {})
        for name, path in reads_of(method.__code__).globals.items() if where else ():
            value = where.get(name)
            if isinstance(value, FunctionType):
                place = Element(self._found.held(where), name)
                self._found.place(name, place, value, None)
            elif isinstance(value, ModuleType):
                for of in path.keys() & vars(value).keys():
                    place = Element(self._found.held(vars(value)), of)
                    self._found.place(f"{name}.{of}", place, vars(value)[of], None)

    def _parametrized(self) -> None:
        """Guard whether parametrized tensors are computed only once, in `cached`."""
        from autocalc.nn.utils._parametrize import is_cached

        if self._found.first(is_cached, "cached"):
            held = self._found.held(is_cached)
            what = "whether parametrized tensors are kept"
            self._found.guards.append(Inside(what, held, lambda asked: asked()))

    def _global_hooks(self) -> None:
        """Guard the hooks that apply to all modules."""
        from autocalc.nn._module.hooks import ON_CALLS

        self._found.elements("hooks on every module", ON_CALLS, None)
        for _, hook in ON_CALLS.values():
            self._found.functions.know(hook.function)

    def _hooks(self, hooks: Any) -> None:
        """Guard the hooks of a module."""
        if hooks is not None:
            for kind in _HOOKS:
                called = getattr(hooks, kind)
                self._found.elements(f"{kind} hooks", called, None)
                for hook in called.values():
                    self._found.functions.know(hook.function)

    def optimizer(self, optimizer: Any) -> None:
        """Guard the groups of an optimizer, and its `step`."""
        if not self._found.first(optimizer, ""):
            return
        self.optimizers.append(optimizer)
        method_of(self._found, type(optimizer), "step")
        for group in optimizer.param_groups:
            group_guard = Attributes(self._found.held(group), ("lr",))
            self._found.guards.append(group_guard)  # the host reads the learning rate
            self._found.elements("params", group["params"], None)
        self._found.elements("param_groups", optimizer.param_groups, None)
        for name in ("param_groups", "state"):
            place = Element(self._found.held(vars(optimizer)), name)
            self._found.place(f"optimizer.{name}", place, vars(optimizer)[name], None)

    def states(self) -> None:
        """Guard the tensors in which optimizers keep their state."""
        for optimizer in self.optimizers:
            self._state(optimizer)

    def _state(self, optimizer: Any) -> None:
        self._found.elements("optimizer.state", optimizer.state, None)
        for kept in optimizer.state.values():
            tensors = {k: x for k, x in kept.items() if isinstance(x, Tensor)}
            if len(tensors) == len(kept):
                self._found.elements("optimizer.state", kept, None)
                continue
            for name, tensor in tensors.items():
                place = Element(self._found.held(kept), name)
                self._found.place(f"optimizer.state[{name!r}]", place, tensor, None)

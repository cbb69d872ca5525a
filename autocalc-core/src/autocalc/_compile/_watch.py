# SPDX-License-Identifier: MIT
"""Watches a recorded function: a replay looks at no Python value.

While a function is recorded, each Python function that runs is seen.  What its code can
read (`_reads.py`) is followed from its globals, its variables of enclosing functions
and its arguments, and guarded before it runs (`_found.py`).  So is what other functions
return to it.  Of AutoCalc's modules and optimizers all attributes are guarded; tensors
that are asked for their place in the graph or their size are guarded as they were.

A value that has changed leads to a new recording; one that the function itself changes
is an effect, which no replay would repeat.  So are draws from generators of random
numbers that are not AutoCalc's, and elements that are taken from iterators.
"""

from __future__ import annotations

import gc
import importlib.util
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from types import CodeType, FrameType, ModuleType
from typing import Any

from autocalc._compile._found import Found
from autocalc._compile._functions import contents
from autocalc._compile._guards import PLAIN, AnyGuard, Attributes, Drawn, Guard
from autocalc._compile._objects import dict_of, numpy_state
from autocalc._compile._places import (
    MISSING,
    Attribute,
    Element,
    OfClass,
    Place,
    Result,
    Variable,
)
from autocalc._compile._reads import Path, Reads, reads_of
from autocalc._compile._recorder import StepRecorder
from autocalc._compile._whose import asks_for_size, is_users, kind_of
from autocalc._dispatch._callers import UserLine, users_line
from autocalc._graph._node import Leaf, leaves
from autocalc._tensor import Tensor

_ESCAPES = Path()
_ESCAPES.escapes = True

#: Methods of Python's generators of random numbers, all in C.
_DRAWS = frozenset({"random", "getrandbits", "randbytes", "seed", "setstate"})

#: Hooks of a module that calls run.
_HOOKS = ("forward_pre", "forward", "backward_pre", "backward")


class FunctionWatch:
    """A ``with`` block in which Python functions are seen.

    Attributes
    ----------
    prints
        Lines that print.
    registered
        Parameters and buffers of the modules that ran.
    sizes
        The shapes that the user's code asked tensors for.
    asked
        Tensors that the user's code asked for anything, and whether for the gradient
        that they had before.

    Parameters
    ----------
    recording
        What is recorded in the same block.
    function
        What is recorded.
    spans
        Of the numbers that are followed: those that are not seen to decide are pinned.
    """

    def __init__(
        self, recording: StepRecorder, function: Any, spans: dict[Any, Any]
    ) -> None:
        self.prints: list[UserLine] = []
        self.registered: list[Tensor] = []
        self.sizes: list[Any] = []
        self.asked: dict[int, tuple[Tensor, bool]] = {}
        self._found = Found()
        self._found.functions.know(function)
        self._recording, self._function, self._spans = recording, function, spans
        self._is_first = True
        self._may_draw = False  # other threads draw as well
        # What runs when garbage is collected is no part of the function.
        codes = [getattr(callback, "__code__", None) for callback in gc.callbacks]
        self._kinds: dict[CodeType, str] = {code: "" for code in codes if code}

    @property
    def guards(self) -> list[AnyGuard]:
        """Of everything that was looked at."""
        return self._found.guards

    @property
    def numbers(self) -> list[Guard]:
        """The guards of numbers that may be inputs."""
        return [g for g in self.guards if isinstance(g, Guard) and g.is_number]

    def __enter__(self) -> FunctionWatch:
        self._drawn = numpy_state()
        self._gradients = {leaf: _id_of(leaf.grad) for leaf in leaves()}
        self._before: Any = sys.getprofile()
        sys.setprofile(self._event)
        return self

    def __exit__(self, *error: object) -> None:
        if hasattr(self._before, "enable"):  # cProfile's, which is no function
            sys.setprofile(None)
            self._before.enable()
        else:
            sys.setprofile(self._before)
        self._gradients.clear()
        self._found.forget_the_dead()
        if self._may_draw and numpy_state() != self._drawn:
            what = "the random numbers that NumPy draws; draw with AutoCalc's"
            self.guards.append(Drawn(what, None))

    # ---- what runs -----------------------------------------------------------------

    def _event(self, frame: FrameType, event: str, arg: Any) -> None:
        # Inside a kernel, or the host's own work, nothing is looked at: that is one
        # call.
        if self._recording.is_inside:
            return
        if event == "call":
            code = frame.f_code
            # One look-up for each call of a Python function; the kind of its code is
            # found once: the user's, AutoCalc's of a kind that matters here, or "".
            kind = self._kinds.get(code)
            if kind is None:
                kind = self._kinds[code] = kind_of(code, frame.f_globals)
            if kind == "users":
                self._users_frame(frame, code)
            elif kind == "asked":
                self._asked(frame, code)
            elif kind == "own":
                self._own_frame(frame)
        elif event == "return":
            if arg is not None and not isinstance(arg, Tensor):
                self._returned(frame, arg)
        elif event == "c_call":
            self._called(frame, arg)

    def _is_users(self, frame: FrameType | None) -> bool:
        if frame is None:
            return False
        kind = self._kinds.get(frame.f_code)
        if kind is None:
            kind = self._kinds[frame.f_code] = kind_of(frame.f_code, frame.f_globals)
        return kind == "users"

    def _called(self, frame: FrameType, function: Any) -> None:
        """See a call of a function in C."""
        if function is print:
            if (line := users_line()) not in self.prints:
                assert line is not None
                self.prints.append(line)
            return
        if function.__name__ in _DRAWS:
            if isinstance(getattr(function, "__self__", None), random.Random):
                what = "the random numbers that Python draws; draw with AutoCalc's"
                self.guards.append(Drawn(what, users_line()))
        elif self._spans and function.__module__ == "math" and self._is_users(frame):
            for span in self._spans.values():
                span.pin()

    def _asked(self, frame: FrameType, code: CodeType) -> None:
        """Note what the user's code asks a tensor for."""
        tensor = frame.f_locals.get("self")
        if not (isinstance(tensor, Tensor) and self._is_users(frame.f_back)):
            return
        if asks_for_size(code):
            self.sizes.append(tuple(tensor._array.shape))
        _, grad = self.asked.get(id(tensor), (tensor, False))
        if code.co_name == "grad" and isinstance(leaf := tensor._edge, Leaf):
            grad |= _id_of(leaf.grad) == self._gradients.get(leaf)
        self.asked[id(tensor)] = tensor, grad

    def _own_frame(self, frame: FrameType) -> None:
        """See a method of one of AutoCalc's modules or optimizers."""
        thing: Any = frame.f_locals.get("self")
        if hasattr(thing, "_names") and hasattr(thing, "training"):
            if self._found.first(thing, "run"):
                for module in thing.modules():  # some run as parts of others
                    self._module(module)
        elif hasattr(thing, "param_groups"):
            self._optimizer(thing)
        elif type(thing).__module__.startswith("autocalc.optim"):
            back = frame.f_back
            if back is not None and self._is_users(back):
                self._other(thing, reads_of(frame.f_code), back.f_code)

    def _other(self, thing: Any, reads: Reads, code: CodeType) -> None:
        """Guard all attributes of an object, as of a schedule of learning rates."""
        own = dict_of(thing) or {}
        for key in list(own):
            label = f"{type(thing).__name__}.{key}"
            self._found.key(label, own, key, _ESCAPES, reads, code)

    def _returned(self, frame: FrameType, value: Any) -> None:
        """See what a function returns to the user's."""
        back = frame.f_back
        if back is None or not self._is_users(back):
            return
        code = frame.f_code
        if self._kinds.get(code) == "setting" and isinstance(value, PLAIN):
            function = frame.f_globals.get(code.co_name)
            if getattr(function, "__code__", None) is code:
                place = Result(self._found.held(function))
                self._found.place(f"{code.co_name}()", place, value, back.f_code)
        elif not isinstance(value, PLAIN):
            reads = reads_of(back.f_code)
            what = f"{code.co_name}()"
            with self._perhaps_made():
                self._found.inside(what, value, reads, back.f_code, temporary=True)

    # ---- the user's frames ---------------------------------------------------------

    def _users_frame(self, frame: FrameType, code: CodeType) -> None:
        # What this code can read, in turn: globals, variables of enclosing functions,
        # arguments. The function that is compiled comes first; its arguments were there
        # before, those of functions that it calls may have been made by it.
        reads, found = reads_of(code), self._found
        self._may_draw |= "random" in reads.names or "random" in reads.globals
        where = frame.f_globals
        if found.first(where, (id(code), "globals")):
            self._globals(where, reads, code)
        values = frame.f_locals
        functions, cells = found.functions.running(frame)
        for function in functions:
            self._function_itself(function, reads, code)
            closure = zip(code.co_freevars, function.__closure__ or (), strict=True)
            for name, cell in closure:
                self._variable(name, cell, reads, code)
        for name, cell in cells.items():
            self._variable(name, cell, reads, code)
        if self._is_first and isinstance(self._function, partial):
            self._found.inside("the partial function", self._function, reads, code)
        with nullcontext() if self._is_first else self._perhaps_made():
            self._arguments(values, reads, code)
        self._is_first = False

    @contextmanager
    def _perhaps_made(self) -> Iterator[None]:
        """Mark values found in this block: the recorded function may have made them."""
        before, self._found.is_old = self._found.is_old, False
        try:
            yield
        finally:
            self._found.is_old = before

    def _arguments(self, values: Any, reads: Reads, code: CodeType) -> None:
        n = code.co_argcount + code.co_kwonlyargcount
        n += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        for name in code.co_varnames[:n]:
            if name in values:
                self._argument(name, values[name], reads, code)
        if n and code.co_varnames[0] in values:
            self._method(code, values[code.co_varnames[0]], reads)

    def _globals(self, where: Any, reads: Reads, code: CodeType) -> None:
        for name, path in reads.globals.items():
            self._found.key(name, where, name, path, reads, code)
        if "globals" in reads.globals:
            for name in reads.constants & where.keys():
                self._found.key(name, where, name, _ESCAPES, reads, code)
        for name, level in reads.imports:
            full = name
            if level:
                package = where.get("__package__") or ""
                full = importlib.util.resolve_name("." * level + name, package)
            module = sys.modules.get(full)
            if isinstance(module, ModuleType):
                self._found.inside(full, module, reads, code)

    def _variable(self, name: str, cell: Any, reads: Reads, code: CodeType) -> None:
        """Guard a variable of an enclosing function."""
        path = reads.locals.get(name)
        if path is None:
            return
        value = contents(cell)
        self._found.place(name, Variable(self._found.held(cell)), value, code)
        if value is not MISSING:
            self._found.look(name, value, path, reads, code)

    def _argument(self, name: str, value: Any, reads: Reads, code: CodeType) -> None:
        """Guard what code reads of an argument: containers may be made for the call."""
        path = reads.locals.get(name)
        if path is None or isinstance(value, (*PLAIN, Tensor)):
            return
        if isinstance(value, (list, tuple, dict, set)) or path.escapes:
            self._found.inside(name, value, reads, code, temporary=True)
        else:
            self._found.functions.know(value)
        for key, further in path.items():
            self._found.attribute(name, value, key, further, reads, code, named=True)

    def _function_itself(self, function: Any, reads: Reads, code: CodeType) -> None:
        """Guard the code of a function and the defaults of its arguments."""
        if not self._found.first(function, "function"):
            return
        held, name = self._found.held(function), function.__name__
        for key in ("__code__", "__defaults__"):
            value = getattr(function, key)
            self._found.place(f"{name}.{key}", Attribute(held, key), value, code)
        for part in (function.__defaults__, function.__kwdefaults__):
            if part:
                self._found.inside(f"a default of {name}", part, reads, code)

    def _method(self, code: CodeType, thing: Any, reads: Reads) -> None:
        """Guard that a class gives an object this method."""
        kind = thing if isinstance(thing, type) else type(thing)
        if not is_users(kind) or not self._found.first(thing, ("method", id(code))):
            return
        self._found.functions.know_methods(kind)
        if "super" in reads.globals:
            for base in filter(is_users, kind.__mro__):
                self._found.inside(f"super() of {kind.__name__}", base, reads, code)
        # The method is found in the first class of the method resolution order that has
        # it. So each class before is guarded to lack it, and the object's own dict too.
        name, bases = code.co_name, kind.__mro__
        having = [base for base in bases if name in vars(base)]
        if not having:
            return
        label = f"{kind.__name__}.{name}"
        this = [base for base in having if _code_of(vars(base)[name]) is code]
        for base in bases[: bases.index((this or having)[0]) + 1]:
            place: Place = OfClass(self._found.held(base), name)
            self._found.place(label, place, vars(base).get(name, MISSING), code)
        own = None if kind is thing else dict_of(thing)
        if isinstance(own, dict) and name not in own:
            place = Element(self._found.held(own), name)
            self._found.place(label, place, MISSING, code)

    # ---- AutoCalc's own objects ----------------------------------------------------

    def _module(self, module: Any) -> None:
        if not self._found.first(module, ""):
            return
        own = vars(module)
        values = [own.get(name) for name in module._names]
        self.registered += [x for x in values if isinstance(x, Tensor)]
        self._hooks(own.get("_hooks"))
        if type(module).__module__.startswith("autocalc."):
            self.guards.append(Attributes(module))
            return
        title = type(module).__name__
        for name in (*module._names, "training", "_hooks"):
            if name in own:
                place: Place = Element(self._found.held(own), name)
                self._found.place(f"{title}.{name}", place, own[name], None)
            else:
                place = Attribute(self._found.held(module), name)
                value = getattr(module, name, MISSING)
                self._found.place(f"{title}.{name}", place, value, None)

    def _hooks(self, hooks: Any) -> None:
        """Guard the hooks of a module."""
        if hooks is not None:
            for kind in _HOOKS:
                called = getattr(hooks, kind)
                self._found.elements(f"{kind} hooks", called, None)
                for hook in called.values():
                    self._found.functions.know(hook.function)

    def _optimizer(self, optimizer: Any) -> None:
        if not self._found.first(optimizer, ""):
            return
        for group in optimizer.param_groups:
            but = [
                k
                for k in group
                if (id(group), k) in self._recording.refreshed or k == "lr"
            ]
            self.guards.append(Attributes(group, but))
            self._found.elements("params", group["params"], None)
        self._found.elements("param_groups", optimizer.param_groups, None)
        place = Element(self._found.held(vars(optimizer)), "state")
        self._found.place("optimizer.state", place, optimizer.state, None)


def _code_of(method: Any) -> Any:
    """Return the code of a function, or of a class's or a static method."""
    return getattr(getattr(method, "__func__", method), "__code__", None)


def _id_of(gradient: Any) -> int | None:
    return None if gradient is None else id(gradient)

# SPDX-License-Identifier: MIT
"""Guards what the user's code can read before it runs, by the names in the code.

It can read globals, variables of enclosing functions and arguments.  It also depends on
the code and the defaults of functions, on the classes that have its methods, and on the
modules that it imports.
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import nullcontext
from inspect import CO_OPTIMIZED
from itertools import accumulate
from types import CodeType, FrameType, ModuleType
from typing import Any

from autocalc._compile._found import Found, is_opaque
from autocalc._compile._functions import contents
from autocalc._compile._guards import Drawn
from autocalc._compile._objects import dict_of, holds_values, kept_in_class
from autocalc._compile._places import (
    MISSING,
    Attribute,
    Element,
    OfClass,
    Place,
    Variable,
)
from autocalc._compile._reads import ESCAPES, Reads, reads_of
from autocalc._compile._whose import is_users
from autocalc._tensor import Tensor

#: Attributes of frames that lead to values of other functions.
_FRAMES = frozenset({"f_back", "f_builtins", "f_globals", "f_lasti", "f_locals"})


class UsersCode:
    """The user's code that runs during a recording; adds guards to `found`.

    Attributes
    ----------
    may_draw
        Whether code that ran may draw random numbers.  If not, another thread draws.
    """

    def __init__(self, found: Found) -> None:
        self.may_draw = False
        self._found, self._is_first = found, True

    def runs(self, frame: FrameType, code: CodeType) -> None:
        """Guard what the code of a frame that begins to run can read."""
        # This code can read globals, variables of enclosing functions and arguments.
        # The compiled function runs first, and its arguments existed before. The
        # arguments of functions that it calls may be objects that it made.
        reads, found = reads_of(code), self._found
        found.catches |= reads.catches
        self.may_draw |= "random" in reads.names or "random" in reads.globals
        where = frame.f_globals
        if found.first(where, (id(code), "globals", found.catches)):
            self._globals(where, frame.f_builtins, reads, code)
        values = frame.f_locals
        functions, cells = found.functions.running(frame)
        for function in functions:
            self._function_itself(function, reads, code)
            closure = zip(code.co_freevars, function.__closure__ or (), strict=True)
            for name, cell in closure:
                self._variable(name, cell, reads, code)
        for name, cell in cells.items():
            self._variable(name, cell, reads, code)
        for one in found.functions.partial(code):
            found.inside("the partial function", one, reads, code)
        if self._is_first:
            for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                found.unchanged(name, values.get(name), code)
        with nullcontext() if self._is_first else found.perhaps_made():
            self._arguments(values, reads, code)
        self._is_first = False

    def module(self, name: str, module: Any, reads: Reads, code: CodeType) -> None:
        """Guard what code reads from a module that it imports itself."""
        if isinstance(module, ModuleType):
            place = Element(self._found.held(sys.modules), name)
            self._found.place(name, place, module, code)
            self._found.inside(name, module, reads, code)

    def generated(self, frame: FrameType, code: CodeType, caller: CodeType) -> None:
        """Guard the defaults of methods that the library generated for user classes."""
        if not (code.co_filename.startswith("<") and code.co_argcount):
            return
        first = frame.f_locals[code.co_varnames[0]]
        kind = first if isinstance(first, type) else type(first)
        for name in ("__new__", "__init__") if is_users(kind) else ():
            method = kept_in_class(kind, name)[1]  # `__new__` is a static method
            if _code_of(method) is code:
                function = getattr(method, "__func__", method)
                self._function_itself(function, reads_of(caller), caller)

    def _arguments(self, values: Any, reads: Reads, code: CodeType) -> None:
        n = code.co_argcount + code.co_kwonlyargcount
        n += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
        names = code.co_varnames[:n]
        if not code.co_flags & CO_OPTIMIZED:  # code of `eval`, which gets variables
            names = (*names, *(values.keys() & reads.globals.keys()))
        for name in names:
            if name in values:
                self._argument(name, values[name], reads, code)
        if n and code.co_varnames[0] in values:
            self._method(code, values[code.co_varnames[0]], reads)

    def _globals(
        self, where: Any, of_python: Any, reads: Reads, code: CodeType
    ) -> None:
        for name, path in reads.globals.items():
            self._found.key(name, where, name, path, reads, code)
            if name not in where:
                place = Element(self._found.held(of_python), name)
                self._found.place(name, place, of_python.get(name, MISSING), code)
        if reads.names & _FRAMES:
            what = "the frames of functions that run"
            self._found.guards.append(Drawn(what, None, None, code, reads=True))
        for name in (reads.names | reads.operators) & vars(Tensor).keys():
            method = OfClass(self._found.held(Tensor), name)
            self._found.place(f"Tensor.{name}", method, vars(Tensor)[name], code)
        if "globals" in reads.globals:
            for name in reads.constants & where.keys():
                self._found.key(name, where, name, ESCAPES, reads, code)
        for name, level in reads.imports:
            full = name
            if level:
                package = where.get("__package__") or ""
                full = importlib.util.resolve_name("." * level + name, package)
            for one in accumulate(full.split("."), "{}.{}".format):
                self.module(one, sys.modules.get(one), reads, code)
        if reads.imports_any:
            what = "what `__import__` finds (importlib.import_module is guarded)"
            self._found.guards.append(Drawn(what, None, None, code, reads=True))

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
        """Guard what code reads from an argument; a call may make new containers."""
        path = reads.locals.get(name, reads.globals.get(name))
        if isinstance(value, Tensor) and path is not None:
            self._found.tensor(name, value, path, reads, code)
        if path is None or is_opaque(value):
            return
        is_called = path.called and holds_values(value)
        if isinstance(value, (list, tuple, dict, set)) or path.escapes or is_called:
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
        for key in ("__code__", "__defaults__", "__kwdefaults__"):
            value = getattr(function, key)
            if value is not None:  # defaults that are added later change no call
                self._found.place(f"{name}.{key}", Attribute(held, key), value, code)
                self._found.inside(f"{key} of {name}", value, reads, code)

    def _method(self, code: CodeType, thing: Any, reads: Reads) -> None:
        """Guard that an object gets this method from its class."""
        kind = thing if isinstance(thing, type) else type(thing)
        if not is_users(kind) or not self._found.first(thing, ("method", id(code))):
            return
        self._found.functions.know_methods(kind)
        if "super" in reads.globals:
            for base in filter(is_users, kind.__mro__):
                self._found.inside(f"super() of {kind.__name__}", base, reads, code)
        # Python finds the method in the first class of the method resolution order that
        # has it. So guards ensure that no earlier class and not the object's own dict
        # has it.
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


def _code_of(method: Any) -> Any:
    """Return the code of a function, a class method or a static method."""
    return getattr(getattr(method, "__func__", method), "__code__", None)

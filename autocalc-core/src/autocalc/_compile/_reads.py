# SPDX-License-Identifier: MIT
"""Determines from bytecode which values code can read.

Code reaches values from roots: globals, variables of enclosing functions, arguments.
For each root, a `Path` says which attributes the code reads from it, which attributes
from those, and so on.  A value *escapes* if the code does more with it, such as storing
it, passing it on or indexing it.  The code may then read any attribute that it names,
from anything reachable from the value.

The paths of this function are (e escapes, c is called, t is tested)::

    def step(x):                        globals  hasattr  c
        if hasattr(cfg, "clip"):                 cfg      e
            x = x * cfg.model.rate               cfg.clip  e t
        return scale(x, cfg.table)               cfg.model.rate  e
                                                 cfg.table  e
                                                 scale  c
                                        locals   x  e
"""

from __future__ import annotations

import dis
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from types import CodeType
from typing import Any

#: Instructions that use a root, and the table to which the root belongs.
_LOADS = {
    "LOAD_GLOBAL": "globals",
    "LOAD_NAME": "globals",
    "LOAD_FROM_DICT_OR_GLOBALS": "globals",
    "STORE_GLOBAL": "globals",
    "DELETE_GLOBAL": "globals",
    "LOAD_DEREF": "locals",
    "LOAD_CLOSURE": "locals",
    "LOAD_CLASSDEREF": "locals",
    "LOAD_FROM_DICT_OR_DEREF": "locals",
    "STORE_DEREF": "locals",
    "DELETE_DEREF": "locals",
}

#: Prefixes of operator instructions, and the method names of operators by symbol.
_OPERATIONS = ("BINARY_", "INPLACE_", "UNARY_")
_BY_SYMBOL = {
    "+": "add", "-": "sub", "*": "mul", "@": "matmul", "/": "truediv", "//": "floordiv",
    "%": "mod", "**": "pow", "&": "and", "|": "or", "^": "xor", "<<": "lshift",
    ">>": "rshift", "SUBSCR": "getitem", "NEGATIVE": "neg", "NOT": "bool",
    "TRUE_DIVIDE": "truediv", "FLOOR_DIVIDE": "floordiv", "SUBTRACT": "sub",
    "MULTIPLY": "mul", "MATRIX_MULTIPLY": "matmul", "MODULO": "mod", "POWER": "pow",
}  # fmt: skip

_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")
_NAMES = (*_ATTRIBUTES, "LOAD_SUPER_ATTR", "LOAD_SUPER_METHOD", "IMPORT_FROM")

#: Functions whose second argument names an attribute.
_BY_NAME = frozenset({"getattr", "hasattr", "setattr", "delattr"})

#: Instructions that put a value into an object, and names of functions that do so.
_STORES = frozenset({"STORE_ATTR", "STORE_SUBSCR", "STORE_SLICE"})
_PUTTING = frozenset(
    {"add", "append", "appendleft", "extend", "insert", "setattr", "setdefault",
     "update", "__setattr__", "__setitem__"}
)  # fmt: skip

#: Names that show that code reads attributes whose names do not occur in it.
_DYNAMIC = frozenset(
    {"vars", "dir", "__dict__", "__getattribute__", "attrgetter", "asdict", "astuple",
     "fields", "methodcaller", "getmembers", "getattr_static"}
)  # fmt: skip


class Path(dict[str, "Path"]):
    """The uses of a value by code: the attributes that it reads, each with its path.

    Attributes
    ----------
    escapes
        Whether the value is used in other ways than through its attributes.
    called
        Whether the value itself, or a method of it, is called.
    tested
        Whether the code tests whether the attribute exists.
    """

    __slots__ = ("called", "escapes", "tested")

    def __init__(self) -> None:
        super().__init__()
        self.escapes = self.called = self.tested = False

    @property
    def is_read(self) -> bool:
        """Whether the value is read; otherwise it is only assigned."""
        return bool(self) or self.escapes or self.called or self.tested

    def to(self, name: str) -> Path:
        """Return the path of an attribute; make one where there is none."""
        return self.setdefault(name, Path())


#: The uses of a value of which nothing more is known.
ESCAPES = Path()
ESCAPES.escapes = True


class Reads:
    """The reads of one code object.

    Attributes
    ----------
    globals, locals
        The paths of the roots: `locals` has arguments and variables of enclosing
        functions.
    imports, imports_any
        The modules that the code imports, as names with the level of relative imports;
        and whether it may import others.
    operators
        The special methods of the operators that it uses.
    names
        All attributes that it names, including those in inner functions.
    tests
        Whether it may test for attributes that do not exist.
    catches
        Whether it may continue after an error, such as that of a missing attribute.
    dynamic
        Whether it may read attributes whose names do not occur in it.
    stores
        Whether it may put values into objects.
    constants
        The texts among its constants.
    """

    def __init__(self, code: CodeType) -> None:
        self.globals: dict[str, Path] = {}
        self.locals: dict[str, Path] = {}
        self.imports: list[tuple[str, int]] = []
        self.imports_any = False
        self.operators: set[str] = set()
        self.names: set[str] = set()
        self.constants = {x for x in _texts(code.co_consts) if x.isidentifier()}
        self.dynamic = False
        #: The variables of enclosing functions. An inner function that uses them reads
        #: them itself, if it runs within the step.
        self._free = frozenset(code.co_freevars)
        steps = _steps(code)
        self._scan(steps)
        if "super" in self.globals and code.co_argcount:  # super() uses the argument
            self.locals.setdefault(code.co_varnames[0], Path()).escapes = True
        known = self.globals.keys() | self.names
        self.tests = "AttributeError" in known or bool(_BY_NAME & known)
        self.catches = "suppress" in known or _catches(steps)
        self.dynamic = self.dynamic or bool(_DYNAMIC & known)
        self.stores = bool(_PUTTING & known) or any(x.opname in _STORES for x in steps)
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                reads = reads_of(inner)
                self.names |= reads.names
                self.tests |= reads.tests
                self.catches |= reads.catches
                self.dynamic |= reads.dynamic
        if self.tests:
            self.names |= self.constants
        if self.names & {"format", "format_map"}:  # "{0.rate}".format(cfg)
            texts = "".join(x for x in _texts(code.co_consts) if "{" in x)
            self.names |= set(re.findall(r"\.([^\W\d]\w*)", texts))

    def _scan(self, steps: list[Any]) -> None:
        for i, step in enumerate(steps):
            if step.opname == "MATCH_CLASS" or _formats(steps, i):
                self.dynamic = True
            if step.opname in _NAMES:
                self.names.add(step.argval)
            elif step.opname.startswith(_OPERATIONS):
                self.operators |= _methods_of(step)
            elif step.opname == "IMPORT_NAME":
                level = steps[i - 2].argval if i > 1 else 0
                self.imports.append((step.argval, level or 0))
            table, names = _loaded(step)
            if "DEREF" not in step.opname and table == "locals":
                names = tuple([n for n in names if n not in self._free])
            for name in names[:-1]:
                getattr(self, table).setdefault(name, Path()).escapes = True
            if names:
                root = getattr(self, table).setdefault(names[-1], Path())
                self._follow(root, steps, i)
                if table == "globals" and names[-1] in _BY_NAME:
                    self._by_name(steps, i + 1)
                if table == "globals" and names[-1] == "__import__":
                    self._imported(steps, i + 1)

    def _follow(self, path: Path, steps: list[Any], i: int) -> None:
        """Note how code uses the value that a step has loaded."""
        if "LOAD" not in steps[i].opname:
            return
        called = _is_called(steps, i)
        i += 1
        while i < len(steps) and steps[i].opname in _ATTRIBUTES:
            step, owner = steps[i], path
            path = path.to(step.argval)
            called = _is_called(steps, i)
            owner.called |= called
            if not step.opname.startswith("LOAD"):
                return
            i += 1
        path.called |= called
        path.escapes |= not called

    def _imported(self, steps: list[Any], i: int) -> None:
        """Note the module that a call of `__import__` names."""
        while i < len(steps) and steps[i].opname == "PUSH_NULL":
            i += 1
        named = steps[i].argval if steps[i].opname == "LOAD_CONST" else None
        if isinstance(named, str):
            self.imports.append((named, 0))
        else:
            self.imports_any = True

    def _by_name(self, steps: list[Any], i: int) -> None:
        """Note the attribute that a call of `getattr`, `hasattr` and so on names."""
        while i < len(steps) and steps[i].opname == "PUSH_NULL":
            i += 1
        table, names = _loaded(steps[i]) if i < len(steps) else ("", ())
        if len(names) == 1:
            path = getattr(self, table).setdefault(names[0], Path())
            i += 1
            while i < len(steps) and steps[i].opname == "LOAD_ATTR":
                path = path.to(steps[i].argval)
                i += 1
            named = steps[i].argval if steps[i].opname == "LOAD_CONST" else None
            if isinstance(named, str):
                path = path.to(named)
                path.escapes = path.tested = True
                if _ends_call(steps, i + 1):
                    return
        self.dynamic = True


def _methods_of(step: Any) -> set[str]:
    """Return the special methods that an operation may call."""
    by = step.argrepr if step.opname == "BINARY_OP" else step.opname.split("_", 1)[1]
    name = _BY_SYMBOL.get(by.rstrip("="), by.lower())
    return {f"__{name}__", f"__r{name}__", f"__i{name}__"}


def _steps(code: CodeType) -> list[Any]:
    """Return the instructions of code without prefixes for long arguments."""
    steps = dis.get_instructions(code)
    return [step for step in steps if step.opname != "EXTENDED_ARG"]


def _catches(steps: list[Any]) -> bool:
    """Return whether code has an ``except``; the end of a ``with`` does not count."""
    names = [step.opname for step in steps]
    if "CHECK_EXC_MATCH" in names or "JUMP_IF_NOT_EXC_MATCH" in names:
        return True
    return ("PUSH_EXC_INFO", "POP_TOP") in pairwise(names)  # a bare except


def _ends_call(steps: list[Any], i: int) -> bool:
    """Return whether a call follows, directly or after one more argument."""
    if not steps[i].opname.startswith(("CALL", "PRECALL")):
        if steps[i].opname != "LOAD_CONST" and not _loaded(steps[i])[1]:
            return False
        i += 1
        while steps[i].opname == "LOAD_ATTR":
            i += 1
    return bool(steps[i].opname.startswith(("CALL", "PRECALL")))


def _formats(steps: list[Any], i: int) -> bool:
    """Return whether a step reads `format` from a text that is no constant."""
    is_one = steps[i].opname in _NAMES and steps[i].argval in {"format", "format_map"}
    return is_one and "LOAD_CONST" not in steps[i - 1].opname


def _texts(constants: tuple[Any, ...]) -> Iterator[str]:
    for x in constants:
        if isinstance(x, str):
            yield x
        elif isinstance(x, (tuple, frozenset)):
            yield from _texts(tuple(x))


def _loaded(step: Any) -> tuple[str, tuple[str, ...]]:
    """Return the table and the names of the roots that a step loads."""
    name = step.opname
    table = _LOADS.get(name, "")
    if not table and "LOAD_FAST" in name:
        table = "locals"
    if not table:
        return "", ()
    if name.startswith("STORE_FAST"):  # it stores one variable and loads another
        return table, tuple(step.argval[1:])
    return table, step.argval if isinstance(step.argval, tuple) else (step.argval,)


def _is_called(steps: list[Any], i: int) -> bool:
    """Return whether the value that a step loads is the function of a call."""
    step = steps[i]
    if step.opname == "LOAD_METHOD":
        return True
    if step.opname == "LOAD_ATTR":
        if sys.version_info >= (3, 12) and step.arg & 1:
            return True
    elif step.opname == "LOAD_GLOBAL" and sys.version_info >= (3, 11) and step.arg & 1:
        return _NULL_COMES_AFTER or _reaches_call(steps, i)
    if _NULL_COMES_AFTER:
        return i + 1 < len(steps) and steps[i + 1].opname == "PUSH_NULL"
    return i > 0 and steps[i - 1].opname == "PUSH_NULL" and _reaches_call(steps, i)


#: Whether the NULL that belongs to a called function comes after it on the stack.
_NULL_COMES_AFTER = sys.version_info >= (3, 13)

_JUMPS = frozenset([*dis.hasjrel, *dis.hasjabs])

_CALLS = frozenset({"PRECALL", "CALL", "CALL_FUNCTION_EX"})


def _reaches_call(steps: list[Any], i: int) -> bool:
    """Return whether a call uses what a step has loaded above a NULL.

    Otherwise something uses it before the call, like the list in ``functions[0](x)``.
    If the arguments contain jumps, the answer is False.
    """
    depth = 1  # of the stack, counted from the loaded value
    for step in steps[i + 1 :]:
        if step.opcode in _JUMPS or step.opname in {"COPY", "SWAP"}:
            return False
        depth += dis.stack_effect(step.opcode, step.arg)
        if step.opname in _CALLS:
            if depth <= 1:
                return True
        elif depth <= 1:
            return False
    return False


_known: dict[CodeType, Reads] = {}

#: The most code objects whose reads are remembered; beyond that, all are forgotten.
MAX_KNOWN = 4096


def reads_of(code: CodeType) -> Reads:
    """Return the reads of a code object."""
    found = _known.get(code)
    if found is None:
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        found = _known[code] = Reads(code)
    return found


#: The reads of code that may read any attribute.
EVERYTHING = reads_of((lambda: vars).__code__)

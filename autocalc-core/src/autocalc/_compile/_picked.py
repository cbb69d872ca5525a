# SPDX-License-Identifier: MIT
"""Finds the elements that a followed number selects in C code.

In ``scales[t]``, ``range(t)`` and ``"%d" % t`` Python passes a `Tracked` number to C.
C takes its value without calling any of its methods, so the bytecode must show where
this can happen.  Each `Use` is an instruction, with the names that occur in its
operands.  When a frame returns, a use counts if one of those names holds a followed
number and the instruction called no Python function.  Tensors and followed numbers
compute by Python functions, which ask the number themselves.
"""

from __future__ import annotations

import dis
import functools
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from autocalc._compile._objects import dict_of, kept_in_class
from autocalc._compile._places import MISSING
from autocalc._compile._tracked import GIVEN, Span, Tracked
from autocalc._tensor import Tensor

#: Types in C that use an integer's value.
_TAKES = frozenset(
    {"range", "bytes", "bytearray", "itemgetter", "islice", "repeat", "Decimal",
     "array", "complex", "timedelta"}
)  # fmt: skip

#: Modules of Python's library whose functions pass numbers on.
_HANDS_ON = ("functools", "contextlib", "collections", "dataclasses", "copy", "types")

#: Functions in C that call the operators of their arguments, or only store them.
_ASKS = frozenset(
    {"len", "min", "max", "abs", "sum", "divmod", "round", "pow", "sorted", "hash",
     "repr", "format", "print", "isinstance", "issubclass", "getattr", "setattr",
     "hasattr", "callable", "id", "iter", "next", "any", "all", "append", "extend",
     "add", "get", "setdefault", "update", "items", "keys", "values", "join", "cast",
     "__init__", "__new__"}
)  # fmt: skip

#: Operators by which a float uses an integer's value.
_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "**"})
_OF_FLOATS = frozenset(
    {"COMPARE_OP", "CONTAINS_OP", "BINARY_ADD", "BINARY_SUBTRACT", "BINARY_MULTIPLY",
     "BINARY_TRUE_DIVIDE", "BINARY_FLOOR_DIVIDE", "BINARY_POWER"}
)  # fmt: skip
_COMPARE = frozenset({"min", "max", "sorted", "sum"})

#: Functions in C that may return one of their arguments.
_CHOOSE = frozenset({"min", "max", "sum", "abs", "next", "round", "getattr"})

_LOADS = ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_GLOBAL", "LOAD_NAME")


class Use(NamedTuple):
    """An instruction that may pass a number to C.

    Attributes
    ----------
    offsets
        The offsets of the instruction.
    names, attributes, calls
        The contents of its operands; `names` is None where they are unknown.
    owner
        The variable whose element it takes, and the attributes on the way.
    callee
        The name of the function that it calls; "" where it calls nothing.
    floats
        Whether it uses an integer's value only if another operand is a float.
    others
        The code of its operands, some of which may be floats.
    """

    offsets: tuple[int, ...]
    names: frozenset[str] | None
    attributes: frozenset[str]
    calls: frozenset[int]
    owner: tuple[str, ...]
    callee: str
    floats: bool
    others: list[list[Any]]


@functools.lru_cache(maxsize=4096)
def uses_of(code: CodeType) -> list[Use]:
    """Return the uses in a code object."""
    steps = [s for s in dis.get_instructions(code) if s.opname != "EXTENDED_ARG"]
    found = (_use(steps, i) for i in range(len(steps)))
    return [use for use in found if use is not None]


@functools.lru_cache(maxsize=4096)
def _offsets(code: CodeType) -> list[int]:
    return [step.offset for step in dis.get_instructions(code)]


def _place(frame: FrameType) -> tuple[CodeType, int]:
    """Return the code and the offset of the instruction at which a frame is.

    Inline caches count as part of their instruction.
    """
    offsets = _offsets(frame.f_code)
    return frame.f_code, offsets[bisect_right(offsets, frame.f_lasti) - 1]


def _use(steps: list[Any], i: int) -> Use | None:
    step = steps[i]
    is_call = step.opname.startswith("CALL") and "INTRINSIC" not in step.opname
    offsets: tuple[int, ...] = (step.offset,)
    if is_call:
        count = 1 + (step.arg & 1) if step.opname.endswith("EX") else step.arg
        count += step.opname in {"CALL_KW", "CALL_FUNCTION_KW"}
        while i and steps[i - 1].opname in {"PRECALL", "KW_NAMES"}:
            i -= 1
            offsets = (*offsets, steps[i].offset)
    elif step.opname == "BINARY_SLICE" or _is_of_floats(step):
        count = 2
    elif step.opname in {"BINARY_SUBSCR", "BINARY_MODULO"} or (
        step.opname == "BINARY_OP" and step.argrepr in {"%", "%=", "[]"}
    ):
        count = 1
    else:
        return None
    if not count:
        return None
    start, loads_owner = _start(steps, i, count)
    names, attributes, calls = _made_of(steps[start : i + 1])
    if is_call or _is_of_floats(step):
        owner: tuple[str, ...] = ()
    else:
        owner = steps[start].argval[:1] if loads_owner else _owner(steps, start)
    callee = ""
    if is_call:
        while start and steps[start - 1].opname == "PUSH_NULL":  # Python 3.13 and later
            start -= 1
        named = start and steps[start - 1].opname.startswith("LOAD")
        callee = str(steps[start - 1].argval) if named else "?"
    floats = _is_of_floats(step) or callee in _COMPARE
    others: list[list[Any]] = []
    if floats:
        (names, attributes, calls), others = _whole(steps, i, count)
    around = names, attributes, calls, owner, callee, floats, others
    return Use(offsets, *around)


def _is_of_floats(step: Any) -> bool:
    """Return whether a float operand would compute with an integer by itself there."""
    if step.opname == "BINARY_OP":
        return step.argrepr.rstrip("=") in _ARITHMETIC
    return step.opname in _OF_FLOATS


def _whole(steps: list[Any], i: int, count: int) -> tuple[Any, list[list[Any]]]:
    """Return the contents of operands that may be integers, and the operands' code.

    The contents have the form that `_made_of` returns.  The code is that of all
    operands, which may be floats.
    """
    names: set[str] = set()
    attributes, calls = set(), set()
    others: list[list[Any]] = []
    for _ in range(count):
        end, (i, _) = i, _start(steps, i, 1)
        last, part = steps[end - 1], steps[i:end]
        if steps[end].is_jump_target:  # one of several operands; the rest is unknown
            ends = _ends(steps, end)
            names |= {s.argval for s in ends if s.opname.startswith(_LOADS)}
            others.append([])
            break
        if last.opname.startswith("CALL"):
            calls.add(last.offset)
            if part[0].argval in _CHOOSE:
                names |= _made_of([*part, steps[end]])[0] or set()
        elif last.opname == "LOAD_ATTR":
            attributes.add(last.argval)
        elif last.opname.startswith(("BINARY_OP", *_OF_FLOATS, *_LOADS)):
            found = _made_of([*part, steps[end]])
            if not _is_float(part):
                names |= found[0] or set()
                attributes |= found[1]
                calls |= found[2]
        others.append(part)
    return (frozenset(names), frozenset(attributes), frozenset(calls)), others


def _ends(steps: list[Any], i: int) -> list[Any]:
    """Return the steps that may put the last operand of a step on the stack."""
    places = [i, *(j for j, s in enumerate(steps) if s.argval == steps[i].offset)]
    return [steps[j - 1] for j in places if j == i or "JUMP_FORWARD" in steps[j].opname]


def _is_float(steps: list[Any]) -> bool:
    """Return whether the operators in these steps give a float."""
    divide = {"BINARY_TRUE_DIVIDE", "/"}
    return _writes_float(steps) or any({s.opname, s.argrepr} & divide for s in steps)


def _writes_float(steps: list[Any]) -> bool:
    return any(_has_float(s.argval) for s in steps if "CONST" in s.opname)


def _has_float(value: Any) -> bool:
    """Return whether a value is a float of C, or contains one."""
    if type(value) in (list, tuple, set, frozenset, dict):
        return any(map(_has_float, value))
    return isinstance(value, (float, np.floating, np.ndarray)) and (
        type(value) not in GIVEN
    )


def _owner(steps: list[Any], i: int) -> tuple[str, ...]:
    """Return the names that lead to the value that is loaded before a step."""
    names: tuple[str, ...] = ()
    while i and steps[i - 1].opname == "LOAD_ATTR":
        i -= 1
        names = (steps[i].argval, *names)
    if not i or not steps[i - 1].opname.startswith(_LOADS):
        return ()
    root = steps[i - 1].argval
    return root if isinstance(root, str) else root[-1], *names


def _start(steps: list[Any], i: int, count: int) -> tuple[int, bool]:
    """Return where the code begins that puts `count` operands on the stack.

    Also return whether its first instruction loads two values, one more than needed.
    """
    depth = 0
    while i and depth < count:
        i -= 1
        depth += dis.stack_effect(steps[i].opcode, steps[i].arg, jump=False)
    return i, depth > count and isinstance(steps[i].argval, tuple)


def _made_of(
    steps: list[Any],
) -> tuple[frozenset[str] | None, frozenset[str], frozenset[int]]:
    """Return the names in operands, their attributes, and the offsets of calls.

    The last step takes the operands.  If the code is a target of jumps, there may be
    other operands, and the names are None.
    """
    if any(step.is_jump_target for step in steps[1:]):
        return None, frozenset(), frozenset()
    names: set[str] = set()
    attributes, calls = set(), set()
    for step in steps[:-1]:
        if step.opname.startswith("CALL"):
            calls.add(step.offset)
        if step.opname.startswith(_LOADS):
            names |= {step.argval} if isinstance(step.argval, str) else set(step.argval)
        elif step.opname == "LOAD_ATTR":
            attributes.add(step.argval)
    return frozenset(names), frozenset(attributes), frozenset(calls)


class Picked:
    """Pins numbers whose values C uses, while a function is recorded.

    Parameters
    ----------
    spans
        The spans of the followed numbers.
    names
        The names of the attributes that hold followed numbers.
    """

    def __init__(self, spans: dict[Any, Span], names: Iterable[Any]) -> None:
        self._spans = spans
        self._names = {name for name in names if isinstance(name, str)}
        self._asked: set[tuple[CodeType, int]] = set()
        self._taken: set[tuple[CodeType, int]] = set()
        self._searched: set[tuple[CodeType, int]] = set()
        self._given: dict[tuple[CodeType, int], Span] = {}

    def calls(self, frame: FrameType | None) -> None:
        """Note that code calls a Python function, which asks its numbers itself."""
        if frame is not None:
            self._asked.add(_place(frame))

    def calls_c(self, frame: FrameType, function: Any) -> None:
        """Note that code calls a function in C."""
        module = str(function.__module__).partition(".")[0]
        if function.__name__ not in _ASKS - _COMPARE and module != "autocalc":
            self._taken.add(_place(frame))
            if module == "numpy" or function.__name__ in {"index", "count", "remove"}:
                self._searched.add(_place(frame))

    def library(self, frame: FrameType) -> None:
        """Pin the numbers that a function of Python's library receives."""
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module in _HANDS_ON or frame.f_code.co_filename.startswith("<"):
            return
        for value in frame.f_locals.values():
            for number in _numbers(value):
                if not number._span.hosted:
                    number._span.pin()

    def gives(self, frame: FrameType | None, value: Any) -> None:
        """Note that a function returns a followed number to code."""
        if frame is not None and type(value) in GIVEN:
            self._given[_place(frame)] = value._span

    def returns(self, frame: FrameType) -> None:
        """Pin the numbers that instructions of a frame have passed to C."""
        code = frame.f_code
        values: dict[str, Any] | None = None
        for use in uses_of(code):
            places = [(code, offset) for offset in use.offsets]
            is_asked = not self._asked.isdisjoint(places)
            is_asked = is_asked and self._searched.isdisjoint(places)
            if is_asked and use.callee not in _COMPARE:
                continue
            if use.callee not in {"", *_TAKES} and self._taken.isdisjoint(places):
                continue
            if values is None:
                values = {**frame.f_globals, **frame.f_locals}
            if use.floats and not _with_floats(use, values, is_asked):
                continue
            if use.owner and isinstance(_at(use.owner, values), Tensor | None):
                continue  # None: the variable is not assigned, so this did not run
            for span in self._handed(use, code, values):
                if not span.hosted:
                    span.pin()

    def _handed(
        self, use: Use, code: CodeType, values: dict[str, Any]
    ) -> Iterator[Span]:
        places = ((code, offset) for offset in use.calls)
        yield from (self._given[place] for place in places if place in self._given)
        if use.attributes & self._names:
            yield from self._spans.values()
        for name in values if use.names is None else use.names:
            for value in _numbers(values.get(name)):
                if not use.floats or type(value) is Tracked:
                    yield value._span


def _with_floats(use: Use, values: dict[str, Any], is_asked: bool) -> bool:
    """Return whether a float operand may use the value of an integer unnoticed."""
    found = [_value(part, values) for part in use.others]
    if any(map(_has_float, found)):
        return True
    return any(value is _UNKNOWN for value in found) and not is_asked


_UNKNOWN: Any = object()


def _value(steps: list[Any], values: dict[str, Any]) -> Any:
    """Return the value that simple code put on the stack, or `_UNKNOWN`."""
    value, *keys = _UNKNOWN, *steps
    for step in keys:
        if step.opname == "LOAD_CONST" and value is _UNKNOWN:
            value = step.argval
        elif step.opname.startswith(_LOADS) and isinstance(step.argval, str):
            value = values.get(step.argval, _UNKNOWN)
        elif step.opname == "LOAD_ATTR":
            own = dict_of(value) or {}
            value = own.get(step.argval, kept_in_class(type(value), step.argval)[1])
        elif step.opname not in {"PUSH_NULL", "NOP"}:
            return _element(steps, values)
    return value


def _element(steps: list[Any], values: dict[str, Any]) -> Any:
    """Return the element that code takes from a container with a constant key."""
    if len(steps) < 2:  # a copy on the stack, as in `a < b < c`
        return _UNKNOWN
    *first, key, last = steps
    if last.opname == "BINARY_SUBSCR" or last.argrepr == "[]":
        where = _value(first, values) if first else _UNKNOWN
        if type(where) in (dict, list, tuple) and key.opname == "LOAD_CONST":
            try:
                return where[key.argval]
            except (LookupError, TypeError):
                return None  # this code did not run
    if last.opname.startswith("CALL"):
        return _UNKNOWN if first[:1] and first[0].argval == "float" else None
    return _UNKNOWN if _is_float(steps) else None


def _at(names: Iterable[str], values: dict[str, Any]) -> Any:
    """Return the value to which a name and attributes lead; None if not assigned."""
    root, *attributes = names
    value = values.get(root)
    for name in attributes:
        value = (dict_of(value) or {}).get(name, MISSING)
    return value


def _numbers(value: Any) -> list[Any]:
    """Return the followed numbers in a value: itself, or those in a slice or tuple."""
    if type(value) in GIVEN:
        return [value]
    if type(value) is slice:
        value = value.start, value.stop, value.step
    if type(value) in (tuple, list):
        return [one for one in value if type(one) in GIVEN]
    return []

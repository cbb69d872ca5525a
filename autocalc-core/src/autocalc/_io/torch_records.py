# SPDX-License-Identifier: MIT
"""The records of a `torch.save` file, read without running any code.

The file describes its value by the instructions of a pickle.  Python's own unpickler
calls the names in it.  Here a name is only text.  The few names that stand for tensors
and for dicts of tensors are looked up in a table, and all others are errors.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any, NamedTuple

from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.state_dict import StateDict


class RecordError(ValueError):
    """An error for a record that is no tensor, dict, list, tuple or plain value."""


class Name(NamedTuple):
    """A name in a record; it is never imported and never called."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class Storage(NamedTuple):
    """A block of memory, as a record describes it."""

    dtype: Any
    key: str
    size: int


#: The arguments that describe a tensor: ``(storage, offset, size, stride,
#: requires_grad)``.
MakeTensor = Callable[[Storage, int, tuple[int, ...], tuple[int, ...], bool], Any]

#: Maps the name of a class of PyTorch to the dtype of its elements.
STORAGES = {
    "BFloat16Storage": dtypes.bfloat16,
    "BoolStorage": dtypes.bool_,
    "ByteStorage": dtypes.uint8,
    "CharStorage": dtypes.int8,
    "DoubleStorage": dtypes.float64,
    "FloatStorage": dtypes.float32,
    "HalfStorage": dtypes.float16,
    "IntStorage": dtypes.int32,
    "LongStorage": dtypes.int64,
    "ShortStorage": dtypes.int16,
}

_DTYPES = {Name("torch", dtype.name): dtype for dtype in dtypes.ALL + dtypes.COMPLEX}

_MARK = object()

#: Instructions that carry a plain value.
_PLAIN = frozenset(
    {
        *("BINFLOAT", "BININT", "BININT1", "BININT2", "BINUNICODE", "BINUNICODE8"),
        *("LONG1", "LONG4", "SHORT_BINUNICODE"),
    }
)

_MADE: dict[str, Callable[[], Any]] = {
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "NEWFALSE": lambda: False,
    "NEWTRUE": lambda: True,
    "NONE": lambda: None,
}


class Records:
    """Interprets the instructions of one description."""

    def __init__(self, make_tensor: MakeTensor) -> None:
        self._make_tensor = make_tensor
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def read(self, content: bytes) -> Any:
        """Return the value that `content` describes."""
        try:
            for opcode, argument, _ in pickletools.genops(content):
                if opcode.name == "STOP":
                    break
                self._step(opcode.name, argument)
            (value,) = self._stack
        except RecordError:
            raise
        except (ValueError, IndexError, KeyError, TypeError, OverflowError) as error:
            raise RecordError(f"its records are damaged ({error!r})") from error
        _expect_values([value])
        return value

    def _step(self, name: str, argument: Any) -> None:
        stack = self._stack
        if name in _PLAIN:
            stack.append(argument)
        elif name in _MADE:
            stack.append(_MADE[name]())
        elif name == "MARK":
            stack.append(_MARK)
        elif name in {"BINPUT", "LONG_BINPUT"}:
            self._memo[argument] = stack[-1]
        elif name == "MEMOIZE":
            self._memo[len(self._memo)] = stack[-1]
        elif name in {"BINGET", "LONG_BINGET"}:
            stack.append(self._memo[argument])
        elif name in {"GLOBAL", "STACK_GLOBAL"}:
            self._named(name, argument)
        elif name not in {"PROTO", "FRAME"}:
            self._built(name)

    def _named(self, name: str, argument: Any) -> None:
        if name == "GLOBAL":
            module, _, last = argument.partition(" ")
        else:
            last, module = self._pop(str), self._pop(str)
        named = Name(module, last)
        if named not in _ALLOWED and named not in _DTYPES:
            raise _refused(named)
        self._stack.append(_DTYPES.get(named, named))

    def _pop(self, kind: type[Any]) -> Any:
        value = self._stack.pop()
        if not isinstance(value, kind):
            raise RecordError(f"a {type(value).__name__} is no {kind.__name__}")
        return value

    def _since_mark(self) -> list[Any]:
        stack, items = self._stack, []
        while (item := stack.pop()) is not _MARK:
            items.append(item)
        return items[::-1]

    def _built(self, name: str) -> None:
        """Run an instruction that builds a value of others."""
        stack = self._stack
        if name == "TUPLE":
            stack.append(tuple(self._since_mark()))
        elif name in {"TUPLE1", "TUPLE2", "TUPLE3"}:
            count = int(name[-1])
            parts = tuple(stack[-count:])
            del stack[-count:]
            stack.append(parts)
        elif name in {"APPEND", "APPENDS"}:
            items = [stack.pop()] if name == "APPEND" else self._since_mark()
            _expect_values(items)
            self._last(list).extend(items)
        elif name in {"SETITEM", "SETITEMS"}:
            items = self._pair() if name == "SETITEM" else self._since_mark()
            _expect_values(items)
            self._last(dict).update(zip(items[::2], items[1::2], strict=True))
        elif name == "BINPERSID":
            stack.append(_storage(self._pop(tuple)))
        elif name == "REDUCE":
            arguments = self._pop(tuple)
            stack.append(self._reduced(self._pop(Name), arguments))
        elif name == "BUILD":
            self._metadata(stack.pop())
        else:
            raise RecordError(f"it has the instruction {name}, which no tensor needs")

    def _pair(self) -> list[Any]:
        value, key = self._stack.pop(), self._stack.pop()
        return [key, value]

    def _last(self, kind: type[Any]) -> Any:
        value = self._pop(kind)
        self._stack.append(value)
        return value

    def _metadata(self, state: Any) -> None:
        """Attach the versions of its modules to a state dict."""
        target = self._last(StateDict)
        known = isinstance(state, dict) and set(state) == {"_metadata"}
        if not known or not isinstance(state["_metadata"], dict):
            raise RecordError("an object is given attributes, which no tensor needs")
        target._metadata = dict(state["_metadata"])

    def _reduced(self, name: Name, arguments: tuple[Any, ...]) -> Any:
        if name == ORDERED:
            return StateDict(*arguments)
        if name == SIZE:
            (sizes,) = arguments
            return tuple(sizes)
        if name == PARAMETER:
            tensor, requires_grad, _ = arguments
            if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
                raise RecordError("a parameter is not a floating-point tensor")
            return tensor.requires_grad_(requires_grad is True)
        if name != TENSOR:
            raise _refused(name)
        storage, offset, size, stride, requires_grad, *_ = arguments
        if not isinstance(storage, Storage):
            raise RecordError("a tensor has no storage")
        wants = requires_grad is True and storage.dtype.is_floating_point
        return self._make_tensor(storage, offset, size, stride, wants)


ORDERED = Name("collections", "OrderedDict")
SIZE = Name("torch", "Size")
PARAMETER = Name("torch._utils", "_rebuild_parameter")
TENSOR = Name("torch._utils", "_rebuild_tensor_v2")
_ALLOWED = {ORDERED, SIZE, PARAMETER, TENSOR, *(Name("torch", n) for n in STORAGES)}


def _storage(record: tuple[Any, ...]) -> Storage:
    """Return the storage of ``("storage", class, key, device, count)``."""
    word, kind, key, _, count = record
    named = isinstance(kind, Name) and kind.name in STORAGES
    plain = isinstance(key, str) and type(count) is int and count >= 0
    if word != "storage" or not named or not plain:
        raise RecordError("a piece of memory is described by something else")
    return Storage(STORAGES[kind.name], key, count)


def _expect_values(items: list[Any]) -> None:
    """Raise if names or storages are values; check each nested tuple only once."""
    left, seen = list(items), set()
    while left:
        item = left.pop()
        if isinstance(item, (Name, Storage)):
            raise _refused(item)
        if isinstance(item, tuple) and id(item) not in seen:
            seen.add(id(item))
            left.extend(item)


def _refused(name: Any) -> RecordError:
    message = (
        f"it names {name}, and only tensors, ordered dicts and plain values are read: "
        f"nothing that a file names is ever called"
    )
    return RecordError(message)

# SPDX-License-Identifier: MIT
"""Call a kernel by its C form (`include/autocalc_kernel.h`) with ctypes.

`KernelImpl.native` is a capsule with an `ac_kernel_entry`.  Compiled programs call this
entry without Python, so it is tested on the same samples as the Python function.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from autocalc._kernels.kernel_set import KERNEL_API_VERSION, MAX_DIMS
from autocalc._kernels.spec import DType, KernelSpec
from autocalc.errors import KernelDataError

CAPSULE = b"autocalc.kernel"
MAX_OPERANDS = 16
DONE, BAD_VALUE, NO_MEMORY, UNSUPPORTED = range(4)
DTYPES: dict[DType, int] = {
    np.dtype(name): code
    for code, name in enumerate(
        ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "?", ml_dtypes.bfloat16, "f2")
    )
}

_Sizes = ctypes.c_int64 * MAX_DIMS
_Task = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
_ParallelFor = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_int64, _Task, ctypes.c_void_p
)
_Scratch = ctypes.CFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_size_t
)


class _Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("present", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("shape", _Sizes),
        ("strides", _Sizes),
    )


class _List(ctypes.Structure):
    _fields_ = (("values", ctypes.POINTER(ctypes.c_int64)), ("count", ctypes.c_int64))


class _Attribute(ctypes.Union):
    _fields_ = (("i", ctypes.c_int64), ("f", ctypes.c_double), ("list", _List))


class _Operand(ctypes.Structure):
    _fields_ = (("arrays", ctypes.POINTER(_Array)), ("count", ctypes.c_int64))


class _Call(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("n_outputs", ctypes.c_int32),
        ("n_inputs", ctypes.c_int32),
        ("n_attributes", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("operands", ctypes.POINTER(_Operand)),
        ("attributes", ctypes.POINTER(_Attribute)),
    )


class _Context(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("num_threads", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("parallel_for", _ParallelFor),
        ("scratch", _Scratch),
        ("state", ctypes.c_void_p),
    )


class _Status(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_int32),
        ("operand", ctypes.c_int32),
        ("index", ctypes.c_int64),
        ("value", ctypes.c_int64),
    )


class _Entry(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("signature", ctypes.c_char_p),
        ("function", ctypes.CFUNCTYPE(
            None,
            ctypes.POINTER(_Call), ctypes.POINTER(_Context), ctypes.POINTER(_Status),
        )),
    )  # fmt: skip


class Context:
    """A context that provides what the header guarantees, and nothing more.

    Tasks run in two pieces, as with two threads.  Scratch memory is aligned to 64
    bytes, is filled with NaN, and is freed at the end of the call.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, Any] = {}
        self._callbacks = _ParallelFor(self._parallel_for), _Scratch(self._scratch)
        self.struct = _Context(
            ctypes.sizeof(_Context), KERNEL_API_VERSION, 2, 0, *self._callbacks, None
        )

    @staticmethod
    def _parallel_for(_: int, tasks: int, task: Any, arg: int) -> None:
        first = (tasks + 1) // 2
        task(arg, 0, first)
        if first < tasks:
            task(arg, first, tasks)

    def _scratch(self, _: int, slot: int, size: int) -> int | None:
        if not 0 <= slot < 8:
            return None
        block = self._blocks[slot] = np.full(size + 64, 0xFF, np.uint8)
        return int(-(-block.ctypes.data // 64) * 64)


class NativeKernel:
    """A kernel that is called by its C form, with the arguments of its Python form.

    Raises
    ------
    AssertionError
        If the capsule does not hold a kernel, or holds another kernel.
    """

    def __init__(self, spec: KernelSpec, capsule: object) -> None:
        self.spec = spec
        self._capsule = capsule
        self._entry = _entry_of(capsule)
        for what, given, wanted in (
            ("name", self._entry.name.decode(), spec.name),
            ("signature", self._entry.signature.decode(), spec.signature),
        ):
            if given != wanted:
                message = f"its `native` has the {what} {given!r}, not {wanted!r}"
                raise AssertionError(message)

    def __call__(self, *args: Any) -> None:
        spec = self.spec
        n = len(spec.outputs) + len(spec.inputs)
        operands = list(args[:n])
        if spec.elementwise:
            operands[1:] = [
                None if a is None else np.broadcast_to(a, operands[0].shape)
                for a in operands[1:]
            ]
        given = (_Operand * n)(*map(_operand, operands))
        attributes = (_Attribute * (len(spec.attributes) or 1))(
            *self._attributes(args[n:])
        )
        call = _Call(
            *(ctypes.sizeof(_Call), KERNEL_API_VERSION),
            *(len(spec.outputs), len(spec.inputs), len(spec.attributes), 0),
            *(given, attributes),
        )
        context, status = Context(), _Status()
        self._entry.function(call, context.struct, status)
        self._judge(status)

    def _attributes(self, values: tuple[Any, ...]) -> Iterator[_Attribute]:
        for attribute, value in zip(self.spec.attributes, values, strict=True):
            if attribute.type == "float":
                yield _Attribute(f=value)
            elif attribute.type == "ints":
                numbers = (ctypes.c_int64 * len(value))(*value)
                yield _Attribute(list=_List(numbers, len(value)))
            else:
                is_word = attribute.type == "choice"
                yield _Attribute(i=attribute.choices.index(value) if is_word else value)

    def _judge(self, status: _Status) -> None:
        if status.code == BAD_VALUE:
            name = operand_name(self.spec, status.operand)
            raise KernelDataError(
                f"{self.spec.name}: `{name}` holds {status.value} at element "
                f"{status.index}, which the kernel cannot use"
            )
        if status.code != DONE:
            raise AssertionError(f"the C form ended with status {status.code}")


def operand_name(spec: KernelSpec, place: int) -> str:
    """Return the name of the operand, or array of a list, that a status names."""
    part, which = divmod(place, MAX_OPERANDS)
    operand = (*spec.outputs, *spec.inputs)[which]
    return f"{operand.name}[{part}]" if operand.is_list else operand.name


def _entry_of(capsule: object) -> _Entry:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    try:
        return _Entry.from_address(get(capsule, CAPSULE))
    except ValueError as error:
        raise AssertionError(
            f"its `native` is {capsule!r}, not a capsule called {CAPSULE.decode()!r}"
        ) from error


def _operand(operand: Any) -> _Operand:
    arrays = operand if isinstance(operand, (list, tuple)) else [operand]
    return _Operand((_Array * (len(arrays) or 1))(*map(_array, arrays)), len(arrays))


def _array(a: Any) -> _Array:
    if a is None:
        return _Array()
    return _Array(
        *(a.ctypes.data, DTYPES[a.dtype], a.ndim, 1, 0),
        *(_Sizes(*a.shape), _Sizes(*a.strides)),
    )

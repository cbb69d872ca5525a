# SPDX-License-Identifier: MIT
"""Memory sharing through DLPack, including bfloat16.

A DLPack capsule points to a description of memory.  NumPy makes and reads capsules, but
has no bfloat16.  It shares such elements as int16, and the functions here change the
code of the dtype in the description.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from autocalc._tensor.dtypes import bfloat16

#: DLPack's codes for signed integers and for bfloat16.
_INTEGER, _BFLOAT = 0, 4


class _Description(ctypes.Structure):
    """The beginning of a `DLTensor`, up to its dtype."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    )


class _Versioned(ctypes.Structure):
    """The beginning of a `DLManagedTensorVersioned`."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("owner", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Description),
    )


_name_of = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(
    ("PyCapsule_GetName", ctypes.pythonapi)
)
_address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def _description(capsule: Any) -> Any:
    """Return the description to which a new capsule points."""
    name = _name_of(capsule)
    address: Any = _address_of(capsule, name)
    if name == b"dltensor_versioned":
        return _Versioned.from_address(address).tensor
    return _Description.from_address(address)


def lend(array: Any, **options: Any) -> Any:
    """Return a capsule that shares an array's memory."""
    if array.dtype != bfloat16.numpy:
        return array.__dlpack__(**options)
    capsule = array.view(np.int16).__dlpack__(**options)
    _description(capsule).code = _BFLOAT
    return capsule


class _Lender:
    """Lends the memory of an object or a capsule; bfloat16 is lent as int16."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._is_capsule = type(source).__name__ == "PyCapsule"
        self.is_bfloat16 = False

    def __dlpack__(self, **options: Any) -> Any:
        made = self._is_capsule
        capsule = self._source if made else self._source.__dlpack__(**options)
        found = _description(capsule)
        if (found.code, found.bits) == (_BFLOAT, 16):
            found.code = _INTEGER
            self.is_bfloat16 = True
        return capsule

    def is_unversioned(self) -> bool:
        """Return whether the source is a capsule from before version 1 of DLPack."""
        return self._is_capsule and _name_of(self._source) == b"dltensor"

    def __dlpack_device__(self) -> Any:
        return (1, 0) if self._is_capsule else self._source.__dlpack_device__()


class _Writable:
    """Offers the memory of a read-only array for writing, and keeps the array alive."""

    def __init__(self, array: Any) -> None:
        given = array.__array_interface__
        address, _ = given["data"]
        self.__array_interface__ = {**given, "data": (address, False)}
        self._owner = array


def is_lender(source: Any) -> bool:
    """Return whether `source` is a DLPack capsule, or an object that makes them."""
    return type(source).__name__ == "PyCapsule" or hasattr(source, "__dlpack__")


def borrow(source: Any) -> Any:
    """Return an array on the memory that a DLPack object or capsule shares.

    NumPy takes memory for read-only if its capsule has no version, because only later
    capsules state this.  But such a capsule must not have read-only memory.
    So the array of a capsule without a version may be written.
    """
    lender: Any = _Lender(source)
    unversioned = lender.is_unversioned()
    array = np.from_dlpack(lender)
    if unversioned and not array.flags.writeable:
        array = np.asarray(_Writable(array))
    return array.view(bfloat16.numpy) if lender.is_bfloat16 else array

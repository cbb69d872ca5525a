# SPDX-License-Identifier: MIT
"""`FloatStorage`, `LongStorage` and similar classes, with which older programs work."""

from __future__ import annotations

from typing import Any

from autocalc._methods.typed_storage import TypedStorage
from autocalc._tensor import dtypes, spelling
from autocalc._tensor.dtypes import DType

__all__ = [
    "BFloat16Storage",
    "BoolStorage",
    "ByteStorage",
    "CharStorage",
    "DoubleStorage",
    "FloatStorage",
    "HalfStorage",
    "IntStorage",
    "LongStorage",
    "ShortStorage",
]


class OfOneDType(type):
    """The class of classes that make storages of one dtype.

    `isinstance` is True for storages of that dtype.
    """

    dtype: DType

    def __call__(cls, *data: Any, **words: Any) -> TypedStorage:
        """Make a storage of a number of elements, or of data."""
        return TypedStorage(*data, dtype=cls.dtype, **words)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, TypedStorage) and x.dtype is cls.dtype

    def __repr__(cls) -> str:
        return f"<class '{spelling.package}.{cls.__name__}'>"


class FloatStorage(metaclass=OfOneDType):
    """Make storages of float32: ``FloatStorage(3)``, ``FloatStorage([1, 2])``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.FloatStorage(2).fill_(3.0)
    TypedStorage([3.0, 3.0], dtype=autocalc.float32)
    >>> isinstance(ac.ones(1).storage(), ac.FloatStorage)
    True
    """

    dtype = dtypes.float32


class DoubleStorage(metaclass=OfOneDType):
    """Make storages of float64, as `FloatStorage` makes storages of float32."""

    dtype = dtypes.float64


class HalfStorage(metaclass=OfOneDType):
    """Make storages of float16, as `FloatStorage` makes storages of float32."""

    dtype = dtypes.float16


class BFloat16Storage(metaclass=OfOneDType):
    """Make storages of bfloat16, as `FloatStorage` makes storages of float32."""

    dtype = dtypes.bfloat16


class CharStorage(metaclass=OfOneDType):
    """Make storages of int8, as `FloatStorage` makes storages of float32."""

    dtype = dtypes.int8


class ShortStorage(metaclass=OfOneDType):
    """Make storages of int16, as `FloatStorage` makes storages of float32."""

    dtype = dtypes.int16


class IntStorage(metaclass=OfOneDType):
    """Make storages of int32, as `FloatStorage` makes storages of float32."""

    dtype = dtypes.int32


class LongStorage(metaclass=OfOneDType):
    """Make storages of int64, as `FloatStorage` makes storages of float32."""

    dtype = dtypes.int64


class ByteStorage(metaclass=OfOneDType):
    """Make storages of uint8, as `FloatStorage` makes storages of float32."""

    dtype = dtypes.uint8


class BoolStorage(metaclass=OfOneDType):
    """Make storages of booleans, as `FloatStorage` makes storages of float32."""

    dtype = dtypes.bool_

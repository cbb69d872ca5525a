# SPDX-License-Identifier: MIT
"""`FloatTensor`, `LongTensor` and similar classes, with which older programs work."""

from __future__ import annotations

from typing import Any

from autocalc._tensor import Tensor, dtypes, spelling
from autocalc._tensor.dtypes import DType

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "typename",
]


class Typed(type):
    """The class of classes that make tensors of one dtype.

    `isinstance` is True for tensors of that dtype.
    """

    dtype: DType

    def __call__(cls, *data: Any) -> Tensor:
        """Make a tensor of the given sizes, with undefined values, or of data."""
        return Tensor(*data, dtype=cls.dtype)

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Tensor) and x.dtype is cls.dtype

    def __repr__(cls) -> str:
        return f"<class '{spelling.package}.{cls.__name__}'>"


class FloatTensor(metaclass=Typed):
    """Make tensors of float32: ``FloatTensor(2, 3)``, ``FloatTensor([1, 2])``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.FloatTensor([1, 2])
    tensor([1., 2.])
    >>> isinstance(ac.ones(1), ac.FloatTensor)
    True
    """

    dtype = dtypes.float32


class DoubleTensor(metaclass=Typed):
    """Make tensors of float64, as `FloatTensor` makes tensors of float32."""

    dtype = dtypes.float64


class HalfTensor(metaclass=Typed):
    """Make tensors of float16, as `FloatTensor` makes tensors of float32."""

    dtype = dtypes.float16


class BFloat16Tensor(metaclass=Typed):
    """Make tensors of bfloat16, as `FloatTensor` makes tensors of float32."""

    dtype = dtypes.bfloat16


class CharTensor(metaclass=Typed):
    """Make tensors of int8, as `FloatTensor` makes tensors of float32."""

    dtype = dtypes.int8


class ShortTensor(metaclass=Typed):
    """Make tensors of int16, as `FloatTensor` makes tensors of float32."""

    dtype = dtypes.int16


class IntTensor(metaclass=Typed):
    """Make tensors of int32, as `FloatTensor` makes tensors of float32."""

    dtype = dtypes.int32


class LongTensor(metaclass=Typed):
    """Make tensors of int64, as `FloatTensor` makes tensors of float32."""

    dtype = dtypes.int64


class ByteTensor(metaclass=Typed):
    """Make tensors of uint8, as `FloatTensor` makes tensors of float32."""

    dtype = dtypes.uint8


class BoolTensor(metaclass=Typed):
    """Make tensors of booleans, as `FloatTensor` makes tensors of float32."""

    dtype = dtypes.bool_


_ALL = (
    *(FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor, CharTensor, ShortTensor),
    *(IntTensor, LongTensor, ByteTensor, BoolTensor),
)


def name_of(dtype: DType) -> str:
    """Return the name of the class that makes tensors of `dtype`."""
    (made,) = (one for one in _ALL if one.dtype is dtype)
    return f"{spelling.package}.{made.__name__}"


def dtype_named(given: Any) -> DType:
    """Return the dtype of a dtype, of a class of this file, or of the name of one."""
    if isinstance(given, Typed):
        return given.dtype
    last = given.rsplit(".", 1)[-1] if isinstance(given, str) else None
    for one in _ALL:
        if last == one.__name__:
            return one.dtype
    return dtypes.as_dtype(given)


def typename(obj: Any) -> str:
    """Return the name of the type of `obj`, such as "torch.FloatTensor".

    Parameters
    ----------
    obj
        A tensor, whose dtype determines the name, or any other object.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.typename(ac.ones(1)), ac.typename(3), ac.typename(ac.float32)
    ('autocalc.FloatTensor', 'int', 'autocalc._tensor.dtypes.DType')
    """
    if isinstance(obj, Tensor):
        return name_of(obj.dtype)
    named = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(named, "__module__", None) or ""
    name: str = named.__qualname__
    return name if module in ("", "builtins") else f"{module}.{name}"

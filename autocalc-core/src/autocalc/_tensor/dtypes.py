# SPDX-License-Identifier: MIT
"""The dtypes, and the promotion of two of them (with PyTorch's semantics).

float16 and bfloat16 are for storage: operators compute in float32 and round once.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.engine.eager import bind
from autocalc._tensor import spelling
from autocalc._tensor.checks import short
from autocalc.errors import DTypeError

_CATEGORIES = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}
OF_COMPLEX = _CATEGORIES["c"]


class DType:
    """The type of a tensor's elements; there is one object for each dtype.

    Attributes
    ----------
    name
        The name of the dtype, such as ``"float32"``.
    itemsize
        The number of bytes of one element.
    is_floating_point
        Whether the elements are floats.
    is_complex
        Whether the elements are complex numbers.
    is_differentiable
        Whether the elements are floats or complex numbers, so that gradients exist.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.ones(2, dtype=ac.int16)
    >>> x.dtype, x.dtype.itemsize, x.dtype.is_floating_point
    (autocalc.int16, 2, False)
    >>> isinstance(ac.float32, ac.DType)
    True
    """

    __slots__ = ("category", "is_floating_point", "itemsize", "name", "numpy")

    category: int

    def __init__(self, name: str, numpy: Any) -> None:
        self.name = name
        self.numpy: np.dtype[Any] = np.dtype(numpy)
        self.itemsize = self.numpy.itemsize
        #: 0 for bool, 1 for integers, 2 for floats, 3 for complex numbers.
        self.category = _CATEGORIES[self.numpy.kind]
        self.is_floating_point = self.category == 2

    @property
    def is_signed(self) -> bool:
        """Whether the dtype can hold negative values."""
        return self.category > 1 or self.numpy.kind == "i"

    @property
    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self.category == OF_COMPLEX

    @property
    def is_differentiable(self) -> bool:
        """Whether the elements are floats or complex numbers, which have gradients."""
        return self.is_floating_point or self.is_complex

    def to_complex(self) -> DType:
        """Return the complex dtype whose parts are as precise as this dtype.

        Raises
        ------
        DTypeError
            If the dtype is neither floating-point nor complex.
        """
        if self.is_complex:
            return self
        if not self.is_floating_point:
            raise DTypeError(
                f"to_complex: {self.name} has no complex dtype; convert the tensor to "
                "float32 or float64 first."
            )
        return complex128 if self is float64 else complex64

    def to_real(self) -> DType:
        """Return the dtype of the parts of a complex dtype; other dtypes are kept."""
        if not self.is_complex:
            return self
        return float64 if self is complex128 else float32

    @property
    def is_half(self) -> bool:
        """Whether elements are stored in this dtype but computed in float32."""
        return self is float16 or self is bfloat16

    def __repr__(self) -> str:
        return f"{spelling.package}.{self.name}"

    def __reduce__(self) -> Any:
        return as_dtype, (self.name,)


float16 = DType("float16", "f2")
bfloat16 = DType("bfloat16", ml_dtypes.bfloat16)
float32 = DType("float32", "f4")
float64 = DType("float64", "f8")
int8 = DType("int8", "i1")
int16 = DType("int16", "i2")
int32 = DType("int32", "i4")
int64 = DType("int64", "i8")
uint8 = DType("uint8", "u1")
bool_ = DType("bool", "?")
uint16 = DType("uint16", "u2")
uint32 = DType("uint32", "u4")
uint64 = DType("uint64", "u8")
complex64 = DType("complex64", "c8")
complex128 = DType("complex128", "c16")
cfloat, cdouble = complex64, complex128

ALL = (float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, bool_)
COMPLEX = (complex64, complex128)
#: Dtypes for storage: tensors are made, converted, viewed and compared.
STORED = (uint16, uint32, uint64)
_BY_NUMPY = {dtype.numpy: dtype for dtype in ALL + STORED + COMPLEX}
_BY_NAME = {dtype.name: dtype for dtype in ALL + STORED + COMPLEX}

_default = float32
bind(default_dtype=_default)


def of(dtype: np.dtype[Any]) -> DType:
    """Return AutoCalc's dtype for a dtype of NumPy.

    Raises
    ------
    DTypeError
        For a dtype that AutoCalc does not have.
    """
    try:
        return _BY_NUMPY[dtype]
    except KeyError:
        host = host_dtype(dtype)  # for an array on a device
        if host in _BY_NUMPY:
            return _BY_NUMPY[host]
        raise _unsupported(dtype) from None


def as_dtype(given: Any) -> DType:
    """Return the dtype that `given` names: ours, its name, NumPy's, or Python's."""
    if isinstance(given, DType):
        return given
    if given is float:
        return float64  # Python's float has 64 bits, whatever the default dtype is
    if given is complex:
        return complex128
    if given is int or given is bool:
        return int64 if given is int else bool_
    if isinstance(given, str) and given in _BY_NAME:
        return _BY_NAME[given]
    try:
        return of(np.dtype(given))
    except (TypeError, ValueError):
        raise _unsupported(given) from None


def _unsupported(given: object) -> DTypeError:
    text = str(given) if isinstance(given, (str, np.dtype)) else short(given)
    return DTypeError(
        f"dtype {text} is not supported; AutoCalc has "
        f"{', '.join(dtype.name for dtype in ALL + COMPLEX)}."
    )


def limits_of(dtype: DType) -> Any:
    """Return the NumPy dtype that has the limits, even if no tensor has the dtype."""
    return getattr(dtype, "limits", None) or dtype.numpy


def get_default_dtype() -> DType:
    """Return the default dtype, which a tensor of Python floats gets.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_default_dtype()
    autocalc.float32
    """
    return _default


def set_default_dtype(dtype: DType) -> None:
    """Set the default dtype, which Python floats become.

    Parameters
    ----------
    dtype
        The new default dtype, a floating-point dtype.

    Raises
    ------
    DTypeError
        If `dtype` is not a floating-point dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_default_dtype(ac.float64)
    >>> ac.tensor(1.5).dtype
    autocalc.float64
    >>> ac.set_default_dtype(ac.float32)
    """
    global _default
    dtype = as_dtype(dtype)
    if not dtype.is_floating_point:
        raise DTypeError(
            f"set_default_dtype: {dtype.name} is not a floating-point dtype; use "
            f"float32 or float64."
        )
    _default = dtype
    bind(default_dtype=dtype)


def of_scalar(value: object) -> DType:
    """Return the dtype of a Python number by itself."""
    if value.__class__ is float:
        return _default
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    if isinstance(value, (complex, np.complexfloating)):
        return _default.to_complex()
    return _default


def promote(a: DType, b: DType) -> DType:
    """Return the smallest dtype that can hold both dtypes (`torch.promote_types`).

    Parameters
    ----------
    a, b
        The two dtypes to promote.

    Raises
    ------
    DTypeError
        If one of them is uint16, uint32 or uint64, and the other one is another integer
        dtype or bool.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.promote_types(ac.uint8, ac.int8)
    autocalc.int16
    >>> ac.promote_types(ac.int64, ac.float32)
    autocalc.float32
    """
    if a is b:
        return a
    a, b = as_dtype(a), as_dtype(b)
    if OF_COMPLEX in (a.category, b.category):
        wide = float64 in (a, b) or complex128 in (a, b)
        return complex128 if wide else complex64
    if a.category != b.category and 2 in (a.category, b.category):
        return a if a.category > b.category else b
    if a in STORED or b in STORED:
        raise DTypeError(
            f"promotion for uint16, uint32 and uint64 is not supported, but {a.name} "
            f"and {b.name} meet; convert one operand to the dtype of the other with "
            "`.to`."
        )
    if a.category != b.category:
        return a if a.category > b.category else b
    if uint8 in (a, b):
        other = b if a is uint8 else a
        return int16 if other is int8 else other
    if a.itemsize == b.itemsize:
        return float32  # float16 and bfloat16: float32 is the smallest for both
    return a if a.itemsize > b.itemsize else b


def result_dtype(a: DType, a_rank: int, b: DType, b_rank: int) -> DType:
    """Return the dtype of an operation on two operands with ranks.

    A rank is 2 for tensors with dimensions, 1 for 0-d tensors, and 0 for Python
    numbers.  An operand of lower rank changes the dtype only if its category (bool,
    integer, float) is higher.  A Python float then has the default dtype.
    """
    if a_rank == b_rank:
        return promote(a, b)
    strong, weak = (a, b) if a_rank > b_rank else (b, a)
    if weak.category <= strong.category:
        return strong
    if weak.is_complex:  # a complex number is as precise as the floats next to it
        known = strong.is_floating_point
        return strong.to_complex() if known else _of_weak_complex(weak, a_rank, b_rank)
    weak_rank = min(a_rank, b_rank)
    if weak_rank == 0 and weak.is_floating_point:
        return _default
    return weak


def _of_weak_complex(weak: DType, a_rank: int, b_rank: int) -> DType:
    """Return the dtype of a complex operand next to integers or booleans."""
    return weak if min(a_rank, b_rank) else _default.to_complex()

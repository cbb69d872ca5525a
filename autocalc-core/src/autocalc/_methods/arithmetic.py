# SPDX-License-Identifier: MIT
"""What Python's operators call: ``a * b``, ``a < b``, ``a[i]``, ``a += b``."""

from __future__ import annotations

from typing import Any, cast

from autocalc._ops import _inplace_indices as inplace_indices
from autocalc._ops import arithmetic, bitwise, comparison, indexing, matmul
from autocalc._tensor import Tensor


def _is_operand(other: object) -> bool:
    """Return whether `other` can be compared; no tensor equals a stranger."""
    return isinstance(other, (int, float, list)) or hasattr(other, "__array__")


class Arithmetic:
    """Operators of Python, computed element by element."""

    __slots__ = ()

    def __add__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.add_op(self, other)

    __radd__ = __add__

    def __sub__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.sub_op(self, other)

    def __rsub__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.sub_op(other, self)

    def __mul__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.mul(self, other)

    __rmul__ = __mul__

    def __truediv__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.div_op(self, other)

    def __rtruediv__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.div_op(other, self)

    __rdiv__ = __rtruediv__

    def __pow__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.pow_op(self, other)

    def __rpow__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.pow_op(other, self)

    def __floordiv__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.floor_divide(self, other)

    def __rfloordiv__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.floor_divide(other, self)

    def __mod__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.remainder(self, other)

    def __rmod__(self: Tensor, other: Any) -> Tensor:
        return arithmetic.remainder(other, self)

    def __and__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_and(self, other)

    def __rand__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_and(other, self)

    def __or__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_or(self, other)

    def __ror__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_or(other, self)

    def __xor__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_xor(self, other)

    def __rxor__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_xor(other, self)

    def __lshift__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_left_shift(self, other)

    def __rlshift__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_left_shift(other, self)

    def __rshift__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_right_shift(self, other)

    def __rrshift__(self: Tensor, other: Any) -> Tensor:
        return bitwise.bitwise_right_shift(other, self)

    def __invert__(self: Tensor) -> Tensor:
        return bitwise.bitwise_not(self)

    def __rmatmul__(self: Tensor, other: Any) -> Tensor:
        return matmul.matmul(other, self)

    def __neg__(self: Tensor) -> Tensor:
        return arithmetic.neg(self)

    def __pos__(self: Tensor) -> Tensor:
        return self

    def __abs__(self: Tensor) -> Tensor:
        return arithmetic.abs(self)

    def __matmul__(self: Tensor, other: Any) -> Tensor:
        return matmul.matmul(self, other)

    def __eq__(self: Tensor, other: object) -> Tensor:  # type: ignore[override]  # element by element
        return (
            comparison.eq(self, cast("Any", other))
            if _is_operand(other)
            else NotImplemented
        )

    def __ne__(self: Tensor, other: object) -> Tensor:  # type: ignore[override]  # element by element
        return (
            comparison.ne(self, cast("Any", other))
            if _is_operand(other)
            else NotImplemented
        )

    __hash__ = object.__hash__

    def __lt__(self: Tensor, other: Any) -> Tensor:
        return comparison.lt(self, other)

    def __le__(self: Tensor, other: Any) -> Tensor:
        return comparison.le(self, other)

    def __gt__(self: Tensor, other: Any) -> Tensor:
        return comparison.gt(self, other)

    def __ge__(self: Tensor, other: Any) -> Tensor:
        return comparison.ge(self, other)

    def __getitem__(self: Tensor, index: Any) -> Tensor:
        return indexing.getitem(self, index)

    def __setitem__(self: Tensor, index: Any, value: Any) -> None:
        inplace_indices.setitem(self, index, value)

    def __iadd__(self: Tensor, other: Any) -> Tensor:
        return self.add_(other)

    def __isub__(self: Tensor, other: Any) -> Tensor:
        return self.sub_(other)

    def __imul__(self: Tensor, other: Any) -> Tensor:
        return self.mul_(other)

    def __itruediv__(self: Tensor, other: Any) -> Tensor:
        return self.div_(other)

    def __ipow__(self: Tensor, other: Any) -> Tensor:
        return self.pow_(other)

    def __ifloordiv__(self: Tensor, other: Any) -> Tensor:
        return self.floor_divide_(other)

    def __imod__(self: Tensor, other: Any) -> Tensor:
        return self.remainder_(other)

    def __iand__(self: Tensor, other: Any) -> Tensor:
        return self.bitwise_and_(other)

    def __ior__(self: Tensor, other: Any) -> Tensor:
        return self.bitwise_or_(other)

    def __ixor__(self: Tensor, other: Any) -> Tensor:
        return self.bitwise_xor_(other)

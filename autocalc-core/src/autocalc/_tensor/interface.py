# SPDX-License-Identifier: MIT
"""The types of the methods that `_methods` attaches to `Tensor`.

Made by ``make interface``: not to be edited.  Only type checkers and editors read it.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc._tensor.generator import Generator
from autocalc._tensor.layouts import layout as Layout  # it names a member here
from autocalc._tensor.memory_format import contiguous_format, preserve_format

TensorT = TypeVar("TensorT")


class TensorInterface(Generic[TensorT]):
    """Methods, their signatures and what they return; `TensorT` is `Tensor`."""

    __slots__ = ()
    __hash__ = object.__hash__

    @property
    def H(self) -> TensorT:
        """The conjugate of the transpose of a matrix; a view if it is real."""
        ...

    @property
    def T(self) -> TensorT:
        """A view with the dimensions in reverse order."""
        ...

    def __abs__(self) -> TensorT:
        """Return the absolute value of x, element by element."""
        ...

    def __add__(self, other: Any) -> TensorT:
        """Return x + y, element by element; shapes broadcast."""
        ...

    def __and__(self, other: Any) -> TensorT:
        """Return the bits that are set in both x and y, element by element; shapes broadcast."""
        ...

    def __array__(
        self, dtype: Any = None, copy: builtins.bool | None = None
    ) -> Any: ...

    def __array_wrap__(self, array: Any) -> TensorT:
        """Convert the result of a NumPy function; NumPy calls this method."""
        ...

    def __eq__(self, other: object) -> TensorT:  # type: ignore[override]  # element by element
        """Return whether x == y, element by element; shapes broadcast."""
        ...

    def __floordiv__(self, other: Any) -> TensorT:
        """Return floor(x / y), element by element; shapes broadcast."""
        ...

    def __ge__(self, other: Any) -> TensorT:
        """Return whether x >= y, element by element; shapes broadcast."""
        ...

    def __getitem__(self, index: Any) -> TensorT:
        """Return ``input[index]``."""
        ...

    def __gt__(self, other: Any) -> TensorT:
        """Return whether x > y, element by element; shapes broadcast."""
        ...

    def __iadd__(self, other: Any) -> TensorT:
        """Add alpha * other to the tensor in place; return the tensor."""
        ...

    def __iand__(self, other: Any) -> TensorT:
        """Apply `bitwise_and` to the tensor in place; return the tensor."""
        ...

    def __ifloordiv__(self, other: Any) -> TensorT:
        """Apply `floor_divide` to the tensor in place; return the tensor."""
        ...

    def __ilshift__(self, other: Any) -> TensorT:
        """Apply `bitwise_left_shift` to the tensor in place; return the tensor."""
        ...

    def __imod__(self, other: Any) -> TensorT:
        """Apply `remainder` to the tensor in place; return the tensor."""
        ...

    def __imul__(self, other: Any) -> TensorT:
        """Apply `mul` to the tensor in place; return the tensor."""
        ...

    def __invert__(self) -> TensorT:
        """Return x with each bit inverted (for booleans: the opposite of x), element by element."""
        ...

    def __ior__(self, other: Any) -> TensorT:
        """Apply `bitwise_or` to the tensor in place; return the tensor."""
        ...

    def __ipow__(self, other: Any) -> TensorT:
        """Apply `pow` to the tensor in place; return the tensor."""
        ...

    def __irshift__(self, other: Any) -> TensorT:
        """Apply `bitwise_right_shift` to the tensor in place; return the tensor."""
        ...

    def __isub__(self, other: Any) -> TensorT:
        """Subtract alpha * other from the tensor in place; return the tensor."""
        ...

    def __itruediv__(self, other: Any) -> TensorT:
        """Divide the tensor by `other` in place; return the tensor."""
        ...

    def __ixor__(self, other: Any) -> TensorT:
        """Apply `bitwise_xor` to the tensor in place; return the tensor."""
        ...

    def __le__(self, other: Any) -> TensorT:
        """Return whether x <= y, element by element; shapes broadcast."""
        ...

    def __lshift__(self, other: Any) -> TensorT:
        """Return x * 2^y for integers, element by element; shapes broadcast."""
        ...

    def __lt__(self, other: Any) -> TensorT:
        """Return whether x < y, element by element; shapes broadcast."""
        ...

    def __matmul__(self, other: Any) -> TensorT:
        """Return the matrix product; leading dimensions are broadcast as batches."""
        ...

    def __mod__(self, other: Any) -> TensorT:
        """Return x - y * floor(x / y), which has the sign of y, element by element; shapes broadcast."""
        ...

    def __mul__(self, other: Any) -> TensorT:
        """Return x * y, element by element; shapes broadcast."""
        ...

    def __ne__(self, other: object) -> TensorT:  # type: ignore[override]  # element by element
        """Return whether x != y, element by element; shapes broadcast."""
        ...

    def __neg__(self) -> TensorT:
        """Return -x, element by element."""
        ...

    def __or__(self, other: Any) -> TensorT:
        """Return the bits that are set in x or in y, element by element; shapes broadcast."""
        ...

    def __pos__(self) -> TensorT: ...

    def __pow__(self, other: Any) -> TensorT:
        """Return x to the power y, element by element; shapes broadcast."""
        ...

    def __radd__(self, other: Any) -> TensorT:
        """Return x + y, element by element; shapes broadcast."""
        ...

    def __rand__(self, other: Any) -> TensorT: ...

    def __rdiv__(self, other: Any) -> TensorT: ...

    def __reversed__(self) -> TensorT: ...

    def __rfloordiv__(self, other: Any) -> TensorT: ...

    def __rlshift__(self, other: Any) -> TensorT: ...

    def __rmatmul__(self, other: Any) -> TensorT: ...

    def __rmod__(self, other: Any) -> TensorT: ...

    def __rmul__(self, other: Any) -> TensorT:
        """Return x * y, element by element; shapes broadcast."""
        ...

    def __ror__(self, other: Any) -> TensorT: ...

    def __rpow__(self, other: Any) -> TensorT: ...

    def __rrshift__(self, other: Any) -> TensorT: ...

    def __rshift__(self, other: Any) -> TensorT:
        """Return floor(x / 2^y) for integers, element by element; shapes broadcast."""
        ...

    def __rsub__(self, other: Any) -> TensorT: ...

    def __rtruediv__(self, other: Any) -> TensorT: ...

    def __rxor__(self, other: Any) -> TensorT: ...

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write `value` into ``self[index]``, in place."""
        ...

    def __sub__(self, other: Any) -> TensorT:
        """Return x - y, element by element; shapes broadcast."""
        ...

    def __truediv__(self, other: Any) -> TensorT:
        """Return x / y, element by element; shapes broadcast."""
        ...

    def __xor__(self, other: Any) -> TensorT:
        """Return the bits that are set in exactly one of x and y, element by element; shapes broadcast."""
        ...

    def _array_of(self, data: builtins.tuple[Any, ...], dtype: DType | None) -> Any:
        """Return the array of ``Tensor(*data)``: of data, or of undefined values."""
        ...

    def _make_subclass(self, data: TensorT, require_grad: builtins.bool = False) -> Any:
        """Return a leaf of a given class on the memory of `data`."""
        ...

    def abs(self, *, out: TensorT | None = None) -> TensorT:
        """Return the absolute value of x, element by element."""
        ...

    def abs_(self) -> TensorT:
        """Apply `abs` to the tensor in place; return the tensor."""
        ...

    def absolute(self, *, out: TensorT | None = None) -> TensorT:
        """Return the absolute value of x, element by element."""
        ...

    def absolute_(self) -> TensorT:
        """Apply `abs` to the tensor in place; return the tensor."""
        ...

    def acos(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle in radians whose cosine is x, element by element."""
        ...

    def acos_(self) -> TensorT:
        """Apply `acos` to the tensor in place; return the tensor."""
        ...

    def acosh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the non-negative number whose hyperbolic cosine is x (NaN where x < 1), element by element."""
        ...

    def acosh_(self) -> TensorT:
        """Apply `acosh` to the tensor in place; return the tensor."""
        ...

    def add(
        self,
        other: TensorT | builtins.float,
        tensor: TensorT | None = None,
        *,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input + alpha * other."""
        ...

    def add_(
        self, other: Any, tensor: TensorT | None = None, *, alpha: Any = 1
    ) -> TensorT:
        """Add alpha * other to the tensor in place; return the tensor."""
        ...

    def addbmm(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return beta * input + alpha * (the sum of all batch1[i] @ batch2[i])."""
        ...

    def addbmm_(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Apply `addbmm` to the tensor in place; return the tensor."""
        ...

    def addcdiv(
        self,
        tensor1: TensorT,
        tensor2: TensorT,
        tensor: TensorT | None = None,
        *,
        value: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input + value * tensor1 / tensor2."""
        ...

    def addcdiv_(
        self,
        tensor1: TensorT,
        tensor2: TensorT,
        tensor: TensorT | None = None,
        *,
        value: builtins.float = 1,
    ) -> TensorT:
        """Apply `addcdiv` to the tensor in place; return the tensor."""
        ...

    def addcmul(
        self,
        tensor1: TensorT,
        tensor2: TensorT,
        tensor: TensorT | None = None,
        *,
        value: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input + value * tensor1 * tensor2."""
        ...

    def addcmul_(
        self,
        tensor1: TensorT,
        tensor2: TensorT,
        tensor: TensorT | None = None,
        *,
        value: builtins.float = 1,
    ) -> TensorT:
        """Apply `addcmul` to the tensor in place; return the tensor."""
        ...

    def addmm(
        self,
        mat1: TensorT,
        mat2: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return beta * input + alpha * (mat1 @ mat2)."""
        ...

    def addmm_(
        self,
        mat1: TensorT,
        mat2: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Apply `addmm` to the tensor in place; return the tensor."""
        ...

    def addmv(
        self,
        mat: TensorT,
        vec: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return beta * input + alpha * (mat @ vec)."""
        ...

    def addmv_(
        self,
        mat: TensorT,
        vec: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Apply `addmv` to the tensor in place; return the tensor."""
        ...

    def addr(
        self,
        vec1: TensorT,
        vec2: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return beta * input + alpha * outer(vec1, vec2)."""
        ...

    def addr_(
        self,
        vec1: TensorT,
        vec2: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Apply `addr` to the tensor in place; return the tensor."""
        ...

    def adjoint(self) -> TensorT:
        """Return the conjugate of each transposed matrix, ``[..., n, m]``."""
        ...

    def all(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return whether all elements over `dim` are non-zero."""
        ...

    def allclose(
        self,
        other: TensorT,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool:
        """Return whether ``|input - other| <= atol + rtol * |other|`` for all elements."""
        ...

    def amax(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the maximum over `dim`; all elements that equal it share its gradient."""
        ...

    def amin(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the minimum over `dim`; all elements that equal it share its gradient."""
        ...

    def aminmax(
        self,
        *,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        out: builtins.tuple[TensorT, TensorT] | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> Any:
        """Return the smallest and the largest elements over `dim`, as (min, max)."""
        ...

    def angle(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle of each number in radians, from -pi to pi."""
        ...

    def any(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return whether any element over `dim` is non-zero."""
        ...

    def arccos(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle in radians whose cosine is x, element by element."""
        ...

    def arccos_(self) -> TensorT:
        """Apply `acos` to the tensor in place; return the tensor."""
        ...

    def arccosh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the non-negative number whose hyperbolic cosine is x (NaN where x < 1), element by element."""
        ...

    def arccosh_(self) -> TensorT:
        """Apply `acosh` to the tensor in place; return the tensor."""
        ...

    def arcsin(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle in radians whose sine is x, element by element."""
        ...

    def arcsin_(self) -> TensorT:
        """Apply `asin` to the tensor in place; return the tensor."""
        ...

    def arcsinh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose hyperbolic sine is x, element by element."""
        ...

    def arcsinh_(self) -> TensorT:
        """Apply `asinh` to the tensor in place; return the tensor."""
        ...

    def arctan(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle in radians whose tangent is x, element by element."""
        ...

    def arctan2(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the angle of the point (`other`, `input`) in the plane, in radians, element by element; shapes broadcast."""
        ...

    def arctan2_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `atan2` to the tensor in place; return the tensor."""
        ...

    def arctan_(self) -> TensorT:
        """Apply `atan` to the tensor in place; return the tensor."""
        ...

    def arctanh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose hyperbolic tangent is x (NaN where abs(x) > 1), element by element."""
        ...

    def arctanh_(self) -> TensorT:
        """Apply `atanh` to the tensor in place; return the tensor."""
        ...

    def argmax(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the index of the largest element, the first one if several are equal."""
        ...

    def argmin(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the index of the smallest element, the first one if several are equal."""
        ...

    def argsort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        *,
        stable: builtins.bool = False,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the indices that sort `input` along `dim`, with a stable sort."""
        ...

    def argwhere(self) -> TensorT:
        """Return the positions of the non-zero elements, one in each row; see `nonzero`."""
        ...

    def as_strided(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> TensorT:
        """Return a view of the memory of `input` with the given sizes and strides."""
        ...

    def as_strided_scatter(
        self,
        src: TensorT,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> TensorT:
        """Return a copy of `input` in which `src` replaces an `as_strided` view."""
        ...

    def as_subclass(self, cls: Any) -> Any:
        """Return a tensor of a subclass with the same memory and gradient history."""
        ...

    def asin(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle in radians whose sine is x, element by element."""
        ...

    def asin_(self) -> TensorT:
        """Apply `asin` to the tensor in place; return the tensor."""
        ...

    def asinh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose hyperbolic sine is x, element by element."""
        ...

    def asinh_(self) -> TensorT:
        """Apply `asinh` to the tensor in place; return the tensor."""
        ...

    def atan(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle in radians whose tangent is x, element by element."""
        ...

    def atan2(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the angle of the point (`other`, `input`) in the plane, in radians, element by element; shapes broadcast."""
        ...

    def atan2_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `atan2` to the tensor in place; return the tensor."""
        ...

    def atan_(self) -> TensorT:
        """Apply `atan` to the tensor in place; return the tensor."""
        ...

    def atanh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose hyperbolic tangent is x (NaN where abs(x) > 1), element by element."""
        ...

    def atanh_(self) -> TensorT:
        """Apply `atanh` to the tensor in place; return the tensor."""
        ...

    def backward(
        self,
        gradient: TensorT | None = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Any = None,
    ) -> None:
        """Add d(self)/d(leaf) to the `grad` of every leaf that requires a gradient."""
        ...

    def baddbmm(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return beta * input + alpha * (batch1 @ batch2), matrix by matrix."""
        ...

    def baddbmm_(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *more: Any,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Apply `baddbmm` to the tensor in place; return the tensor."""
        ...

    def bernoulli(
        self,
        p: builtins.float | None = None,
        *,
        generator: Generator | None = None,
        out: TensorT | None = None,
    ) -> TensorT:
        """Draw 1s and 0s of the dtype of `input`, which holds the probabilities of 1."""
        ...

    def bernoulli_(
        self, p: Any = 0.5, *, generator: Generator | None = None
    ) -> TensorT:
        """Set every element to 1 with probability `p`, and to 0 otherwise."""
        ...

    def bfloat16(self) -> TensorT:
        """Return the tensor converted to bfloat16."""
        ...

    def bincount(
        self, weights: TensorT | None = None, minlength: builtins.int = 0
    ) -> TensorT:
        """Return how often each integer from 0 on occurs, or the sum of its weights."""
        ...

    def bitwise_and(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the bits that are set in both x and y, element by element; shapes broadcast."""
        ...

    def bitwise_and_(self, other: Any) -> TensorT:
        """Apply `bitwise_and` to the tensor in place; return the tensor."""
        ...

    def bitwise_left_shift(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x * 2^y for integers, element by element; shapes broadcast."""
        ...

    def bitwise_left_shift_(self, other: Any) -> TensorT:
        """Apply `bitwise_left_shift` to the tensor in place; return the tensor."""
        ...

    def bitwise_not(self, *, out: TensorT | None = None) -> TensorT:
        """Return x with each bit inverted (for booleans: the opposite of x), element by element."""
        ...

    def bitwise_not_(self) -> TensorT:
        """Apply `bitwise_not` to the tensor in place; return the tensor."""
        ...

    def bitwise_or(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the bits that are set in x or in y, element by element; shapes broadcast."""
        ...

    def bitwise_or_(self, other: Any) -> TensorT:
        """Apply `bitwise_or` to the tensor in place; return the tensor."""
        ...

    def bitwise_right_shift(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return floor(x / 2^y) for integers, element by element; shapes broadcast."""
        ...

    def bitwise_right_shift_(self, other: Any) -> TensorT:
        """Apply `bitwise_right_shift` to the tensor in place; return the tensor."""
        ...

    def bitwise_xor(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the bits that are set in exactly one of x and y, element by element; shapes broadcast."""
        ...

    def bitwise_xor_(self, other: Any) -> TensorT:
        """Apply `bitwise_xor` to the tensor in place; return the tensor."""
        ...

    def bmm(self, mat2: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the products of two batches of matrices."""
        ...

    def bool(self) -> TensorT:
        """Return the tensor converted to booleans."""
        ...

    def broadcast_to(self, size: Sequence[builtins.int]) -> TensorT:
        """Return `input` repeated to the shape `size`, without copying; see `expand`."""
        ...

    def byte(self) -> TensorT:
        """Return the tensor converted to uint8."""
        ...

    def cauchy_(
        self,
        median: builtins.float = 0.0,
        sigma: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> TensorT:
        """Set every element to a draw from a Cauchy distribution."""
        ...

    def ccol_indices(self) -> Any:
        """Raise an error, because the tensor is dense."""
        ...

    def cdouble(self) -> TensorT:
        """Return the tensor converted to complex128."""
        ...

    def ceil(self, *, out: TensorT | None = None) -> TensorT:
        """Return x rounded up to an integer, element by element."""
        ...

    def ceil_(self) -> TensorT:
        """Apply `ceil` to the tensor in place; return the tensor."""
        ...

    def cfloat(self) -> TensorT:
        """Return the tensor converted to complex64."""
        ...

    def char(self) -> TensorT:
        """Return the tensor converted to int8."""
        ...

    def cholesky(
        self, upper: builtins.bool = False, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the lower triangular L with input = L L^T; see `linalg.cholesky`."""
        ...

    def cholesky_inverse(
        self, upper: builtins.bool = False, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the inverse of L L^T."""
        ...

    def cholesky_solve(
        self, L: TensorT, upper: builtins.bool = False, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the solution X of L L^T X = B."""
        ...

    def chunk(
        self, chunks: builtins.int, dim: builtins.int = 0, *, axis: Any = None
    ) -> tuple[TensorT, ...]:
        """Return at most `chunks` views along `dim`, of equal size except for the last."""
        ...

    def clamp(
        self,
        min: TensorT | builtins.float | None = None,
        max: TensorT | builtins.float | None = None,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return min(max(input, min), max), element by element; NaN remains NaN."""
        ...

    def clamp_(
        self,
        min: TensorT | builtins.float | None = None,
        max: TensorT | builtins.float | None = None,
    ) -> TensorT:
        """Apply `clamp` to the tensor in place; return the tensor."""
        ...

    def clamp_max(
        self, max: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return min(input, max), element by element."""
        ...

    def clamp_max_(self, max: TensorT | builtins.float) -> TensorT:
        """Apply `clamp_max` to the tensor in place; return the tensor."""
        ...

    def clamp_min(
        self, min: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return max(input, min), element by element."""
        ...

    def clamp_min_(self, min: TensorT | builtins.float) -> TensorT:
        """Apply `clamp_min` to the tensor in place; return the tensor."""
        ...

    def clip(
        self,
        min: TensorT | builtins.float | None = None,
        max: TensorT | builtins.float | None = None,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return min(max(input, min), max), element by element; NaN remains NaN."""
        ...

    def clip_(
        self,
        min: TensorT | builtins.float | None = None,
        max: TensorT | builtins.float | None = None,
    ) -> TensorT:
        """Apply `clamp` to the tensor in place; return the tensor."""
        ...

    def clone(self, *, memory_format: Any = preserve_format) -> TensorT:
        """Return a copy of `input`; gradients flow back from the copy to `input`."""
        ...

    def coalesce(self) -> Any:
        """Raise an error, because the tensor is dense."""
        ...

    def col_indices(self) -> Any:
        """Raise an error, because the tensor is dense."""
        ...

    def conj(self) -> TensorT:
        """Return the conjugate of each complex number, or `input` itself if it is real."""
        ...

    def conj_physical(self, *, out: TensorT | None = None) -> TensorT:
        """Return the conjugate of each complex number, or `input` itself if it is real."""
        ...

    def conj_physical_(self) -> TensorT:
        """Replace each complex number by its conjugate; return the tensor."""
        ...

    def contiguous(self, memory_format: Any = contiguous_format) -> TensorT:
        """Return the tensor if it is stored in `memory_format`, otherwise a copy that is."""
        ...

    def copy_(self, src: Any, non_blocking: builtins.bool = False) -> TensorT:
        """Copy `src`, broadcast and converted, into this tensor; return the tensor."""
        ...

    def copysign(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the absolute value of x with the sign of y, element by element."""
        ...

    def copysign_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `copysign` to the tensor in place; return the tensor."""
        ...

    def corrcoef(self) -> TensorT:
        """Return Pearson's correlation coefficients of variables, between -1 and 1."""
        ...

    def cos(self, *, out: TensorT | None = None) -> TensorT:
        """Return the cosine of x, an angle in radians, element by element."""
        ...

    def cos_(self) -> TensorT:
        """Apply `cos` to the tensor in place; return the tensor."""
        ...

    def cosh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the hyperbolic cosine of x, element by element."""
        ...

    def cosh_(self) -> TensorT:
        """Apply `cosh` to the tensor in place; return the tensor."""
        ...

    def count_nonzero(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return the number of non-zero elements over `dim`, as int64."""
        ...

    def cov(
        self,
        *,
        correction: builtins.int = 1,
        fweights: TensorT | None = None,
        aweights: TensorT | None = None,
    ) -> TensorT:
        """Return the covariance matrix of variables; each row holds one variable."""
        ...

    def cpu(self, memory_format: Any = None) -> TensorT:
        """Return the tensor on the CPU: itself, or a copy if it is on another device."""
        ...

    def cross(
        self,
        other: TensorT,
        dim: builtins.int | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the cross products of 3-vectors along `dim`."""
        ...

    def crow_indices(self) -> Any:
        """Raise an error, because the tensor is dense."""
        ...

    def cuda(
        self,
        device: builtins.int | builtins.str | Device | None = None,
        non_blocking: builtins.bool = False,
    ) -> TensorT:
        """Return the tensor on the device "cuda": itself, or a copy."""
        ...

    def cummax(
        self, dim: builtins.int | None = None, *, out: Any = None, axis: Any = None
    ) -> Any:
        """Return the cumulative maxima along `dim`, as (values, indices)."""
        ...

    def cummin(
        self, dim: builtins.int | None = None, *, out: Any = None, axis: Any = None
    ) -> Any:
        """Return the cumulative minima along `dim`, as (values, indices)."""
        ...

    def cumprod(
        self,
        dim: builtins.int | None = None,
        *,
        dtype: DType | None = None,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the cumulative products y_i = x_1 * ... * x_i along `dim`."""
        ...

    def cumprod_(
        self,
        dim: builtins.int | None = None,
        *,
        dtype: DType | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Apply `cumprod` to the tensor in place; return the tensor."""
        ...

    def cumsum(
        self,
        dim: builtins.int | None = None,
        *,
        dtype: DType | None = None,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the cumulative sums y_i = x_1 + ... + x_i along `dim`."""
        ...

    def cumsum_(
        self,
        dim: builtins.int | None = None,
        *,
        dtype: DType | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Apply `cumsum` to the tensor in place; return the tensor."""
        ...

    def deg2rad(self, *, out: TensorT | None = None) -> TensorT:
        """Convert angles from degrees to radians: input * pi / 180."""
        ...

    def deg2rad_(self) -> TensorT:
        """Apply `deg2rad` to the tensor in place; return the tensor."""
        ...

    def dense_dim(self) -> builtins.int:
        """Return the number of dense dimensions: all."""
        ...

    def det(self, *, out: TensorT | None = None) -> TensorT:
        """Return the determinant of each matrix of `A`, of shape [..., n, n]."""
        ...

    def detach_(self) -> TensorT:
        """Detach the tensor from its gradient history, in place; return the tensor."""
        ...

    def diag(
        self, diagonal: builtins.int = 0, *, out: TensorT | None = None
    ) -> TensorT:
        """Return a matrix with a vector on its diagonal, or the diagonal of a matrix."""
        ...

    def diag_embed(
        self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1
    ) -> TensorT:
        """Return a tensor with the last dimension of `input` on a diagonal and 0 elsewhere."""
        ...

    def diagflat(self, offset: builtins.int = 0) -> TensorT:
        """Return a matrix with the elements of `input` on a diagonal, and 0 elsewhere."""
        ...

    def diagonal(
        self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> TensorT:
        """Return a view of the diagonals of matrices; they form the last dimension."""
        ...

    def diagonal_scatter(
        self,
        src: TensorT,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
    ) -> TensorT:
        """Return a copy of `input` in which `src` replaces a diagonal."""
        ...

    def diff(
        self,
        n: builtins.int = 1,
        dim: builtins.int = -1,
        prepend: TensorT | None = None,
        append: TensorT | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the differences x_{i+1} - x_i along `dim`, taken `n` times."""
        ...

    def digamma(self, *, out: TensorT | None = None) -> TensorT:
        """Return the derivative of log(Gamma(x)), which is NaN at -1, -2, ..., element by element."""
        ...

    def digamma_(self) -> TensorT:
        """Apply `digamma` to the tensor in place; return the tensor."""
        ...

    def dist(self, other: TensorT, p: builtins.float = 2) -> TensorT:
        """Return the `p`-norm of the difference of two tensors."""
        ...

    def div(
        self,
        other: TensorT | builtins.float,
        *,
        rounding_mode: builtins.str | None = None,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input / other, optionally rounded to an integer."""
        ...

    def div_(self, other: Any, *, rounding_mode: builtins.str | None = None) -> TensorT:
        """Divide the tensor by `other` in place; return the tensor."""
        ...

    def divide(
        self,
        other: TensorT | builtins.float,
        *,
        rounding_mode: builtins.str | None = None,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input / other, optionally rounded to an integer."""
        ...

    def divide_(
        self, other: Any, *, rounding_mode: builtins.str | None = None
    ) -> TensorT:
        """Divide the tensor by `other` in place; return the tensor."""
        ...

    def dot(self, tensor: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the dot product of two vectors, the sum of x_i y_i."""
        ...

    def double(self) -> TensorT:
        """Return the tensor converted to float64."""
        ...

    def dsplit(
        self, indices_or_sections: builtins.int | Sequence[builtins.int]
    ) -> tuple[TensorT, ...]:
        """Split `input` along its third dimension; see `tensor_split`."""
        ...

    def eq(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x == y, element by element; shapes broadcast."""
        ...

    def eq_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `eq` to the tensor in place; return the tensor."""
        ...

    def equal(self, other: TensorT) -> builtins.bool:
        """Return whether two tensors have the same shape and elements."""
        ...

    def erf(self, *, out: TensorT | None = None) -> TensorT:
        """Return the error function of x, element by element."""
        ...

    def erf_(self) -> TensorT:
        """Apply `erf` to the tensor in place; return the tensor."""
        ...

    def erfc(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1 - erf(x), also accurate where the result is close to 0, element by element."""
        ...

    def erfc_(self) -> TensorT:
        """Apply `erfc` to the tensor in place; return the tensor."""
        ...

    def erfinv(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose error function is x (infinite at -1 and 1, NaN beyond), element by element."""
        ...

    def erfinv_(self) -> TensorT:
        """Apply `erfinv` to the tensor in place; return the tensor."""
        ...

    def exp(self, *, out: TensorT | None = None) -> TensorT:
        """Return e^x, element by element."""
        ...

    def exp2(self, *, out: TensorT | None = None) -> TensorT:
        """Return 2^x, element by element."""
        ...

    def exp2_(self) -> TensorT:
        """Apply `exp2` to the tensor in place; return the tensor."""
        ...

    def exp_(self) -> TensorT:
        """Apply `exp` to the tensor in place; return the tensor."""
        ...

    def expand(self, *sizes: Any, size: Any = None) -> TensorT:
        """Return a view that repeats the tensor to the given sizes; -1 keeps a size."""
        ...

    def expand_as(self, other: TensorT) -> TensorT:
        """Return `input` repeated to the shape of `other`, without copying."""
        ...

    def expm1(self, *, out: TensorT | None = None) -> TensorT:
        """Return e^x - 1, accurate near x = 0, element by element."""
        ...

    def expm1_(self) -> TensorT:
        """Apply `expm1` to the tensor in place; return the tensor."""
        ...

    def exponential_(
        self, lambd: builtins.float = 1.0, *, generator: Generator | None = None
    ) -> TensorT:
        """Set every element to a draw with the density lambd * exp(-lambd * x)."""
        ...

    def fill_(self, value: Any) -> TensorT:
        """Set every element to `value`, in place; return the tensor."""
        ...

    def fill_diagonal_(self, fill_value: Any, wrap: builtins.bool = False) -> TensorT:
        """Write a number into the diagonal, in place; return the tensor."""
        ...

    def fix(self, *, out: TensorT | None = None) -> TensorT:
        """Return x rounded towards 0 to an integer, element by element."""
        ...

    def fix_(self) -> TensorT:
        """Apply `trunc` to the tensor in place; return the tensor."""
        ...

    def flatten(
        self, start_dim: builtins.int = 0, end_dim: builtins.int = -1
    ) -> TensorT:
        """Return `input` with the dimensions `start_dim` to `end_dim` merged into one."""
        ...

    def flip(self, *axes: Any, dims: Any = None) -> TensorT:
        """Return a copy in which the order along some dimensions is reversed."""
        ...

    def fliplr(self) -> TensorT:
        """Return `input` with the order along the second dimension reversed."""
        ...

    def flipud(self) -> TensorT:
        """Return `input` with the order along the first dimension reversed."""
        ...

    def float(self) -> TensorT:
        """Return the tensor converted to float32."""
        ...

    def float_power(
        self, exponent: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x to the power y, computed in float64, element by element."""
        ...

    def float_power_(self, exponent: Any) -> TensorT:
        """Apply `float_power` to the float64 tensor in place; return the tensor."""
        ...

    def floor(self, *, out: TensorT | None = None) -> TensorT:
        """Return x rounded down to an integer, element by element."""
        ...

    def floor_(self) -> TensorT:
        """Apply `floor` to the tensor in place; return the tensor."""
        ...

    def floor_divide(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return floor(x / y), element by element; shapes broadcast."""
        ...

    def floor_divide_(self, other: Any) -> TensorT:
        """Apply `floor_divide` to the tensor in place; return the tensor."""
        ...

    def fmax(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the larger of x and y (if one of them is NaN, the other one), element by element; shapes broadcast."""
        ...

    def fmin(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the smaller of x and y (if one of them is NaN, the other one), element by element; shapes broadcast."""
        ...

    def fmod(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x - y * trunc(x / y), which has the sign of x, element by element; shapes broadcast."""
        ...

    def fmod_(self, other: Any) -> TensorT:
        """Apply `fmod` to the tensor in place; return the tensor."""
        ...

    def frac(self, *, out: TensorT | None = None) -> TensorT:
        """Return x - trunc(x), element by element."""
        ...

    def frac_(self) -> TensorT:
        """Apply `frac` to the tensor in place; return the tensor."""
        ...

    def frexp(
        self, *, out: builtins.tuple[TensorT, TensorT] | None = None
    ) -> tuple[TensorT, ...]:
        """Return (mantissa, exponent) with input = mantissa * 2^exponent, exactly."""
        ...

    def gather(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        *,
        sparse_grad: builtins.bool = False,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return elements of `input` selected by `index` along `dim`."""
        ...

    def gcd(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the greatest common divisor, which is never negative."""
        ...

    def gcd_(self, other: TensorT) -> TensorT:
        """Apply `gcd` to the tensor in place; return the tensor."""
        ...

    def ge(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x >= y, element by element; shapes broadcast."""
        ...

    def ge_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `ge` to the tensor in place; return the tensor."""
        ...

    def geometric_(
        self, p: builtins.float, *, generator: Generator | None = None
    ) -> TensorT:
        """Set every element to a draw from a geometric distribution."""
        ...

    def ger(self, vec2: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the outer product of two vectors, the matrix of all x_i y_j."""
        ...

    def get_device(self) -> builtins.int:
        """Return the number of the device; it is -1 for the CPU."""
        ...

    @property
    def grad_fn(self) -> Any:
        """The graph node that produced this tensor; None for a leaf."""
        ...

    def greater(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x > y, element by element; shapes broadcast."""
        ...

    def greater_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `gt` to the tensor in place; return the tensor."""
        ...

    def greater_equal(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x >= y, element by element; shapes broadcast."""
        ...

    def greater_equal_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `ge` to the tensor in place; return the tensor."""
        ...

    def gt(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x > y, element by element; shapes broadcast."""
        ...

    def gt_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `gt` to the tensor in place; return the tensor."""
        ...

    def half(self) -> TensorT:
        """Return the tensor converted to float16."""
        ...

    def hardshrink(self, lambd: builtins.float = 0.5) -> TensorT:
        """Return `input` where abs(input) is above `lambd`, and 0 elsewhere."""
        ...

    def heaviside(self, values: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return 0 where x is negative, 1 where it is positive, and `values` where it is 0."""
        ...

    def heaviside_(self, values: TensorT) -> TensorT:
        """Apply `heaviside` to the tensor in place; return the tensor."""
        ...

    def histc(
        self,
        bins: builtins.int = 100,
        min: builtins.float = 0,
        max: builtins.float = 0,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return how many elements fall into each of `bins` equal parts of [min, max]."""
        ...

    def histogram(
        self,
        bins: builtins.int | TensorT,
        *,
        range: Sequence[builtins.float] | None = None,
        weight: TensorT | None = None,
        density: builtins.bool = False,
        out: builtins.tuple[TensorT, TensorT] | None = None,
    ) -> Any:
        """Return how many elements each bin holds, and the edges of the bins."""
        ...

    def hsplit(
        self, indices_or_sections: builtins.int | Sequence[builtins.int]
    ) -> tuple[TensorT, ...]:
        """Split `input` along its second or only dimension; see `tensor_split`."""
        ...

    def hypot(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return sqrt(x^2 + y^2), computed without overflow of the squares."""
        ...

    def hypot_(self, other: TensorT) -> TensorT:
        """Apply `hypot` to the tensor in place; return the tensor."""
        ...

    def i0(self, *, out: TensorT | None = None) -> TensorT:
        """Return the modified Bessel function of the first kind of order 0, element by element."""
        ...

    def i0_(self) -> TensorT:
        """Apply `i0` to the tensor in place; return the tensor."""
        ...

    def igamma(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the regularised lower incomplete Gamma function P(a, x)."""
        ...

    def igamma_(self, other: TensorT) -> TensorT:
        """Apply `igamma` to the tensor in place; return the tensor."""
        ...

    def igammac(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return 1 - P(a, x), where P is `igamma`; small results are accurate, too."""
        ...

    def igammac_(self, other: TensorT) -> TensorT:
        """Apply `igammac` to the tensor in place; return the tensor."""
        ...

    @property
    def imag(self) -> TensorT:
        """A view of the imaginary parts of a complex tensor."""
        ...

    def index_add(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        source: TensorT | None = None,
        *,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return `input` with alpha * source[i] added at index[i] along `dim`."""
        ...

    def index_add_(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        source: TensorT | None = None,
        *,
        alpha: builtins.float = 1,
        axis: Any = None,
    ) -> TensorT:
        """Add alpha * source at `index` along `dim`, in place; return the tensor."""
        ...

    def index_copy(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        source: TensorT | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return `input` with source[i] written at index[i] along `dim`."""
        ...

    def index_copy_(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        source: TensorT | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Write `source` at `index` along `dim`, in place; return the tensor."""
        ...

    def index_fill(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        value: Any = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return `input` with the number `value` at the positions `index` along `dim`."""
        ...

    def index_fill_(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        value: Any = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Write a number at `index` along `dim`, in place; return the tensor."""
        ...

    def index_put(
        self,
        indices: Sequence[TensorT | None],
        values: TensorT,
        accumulate: builtins.bool = False,
    ) -> TensorT:
        """Return a copy of `input` with `values` at ``input[indices]``."""
        ...

    def index_put_(
        self,
        indices: Sequence[TensorT | None],
        values: TensorT,
        accumulate: builtins.bool = False,
    ) -> TensorT:
        """Write `values` at ``self[indices]`` or, with `accumulate`, add them, in place."""
        ...

    def index_reduce(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        source: TensorT | None = None,
        reduce: builtins.str | None = None,
        *,
        include_self: builtins.bool = True,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Combine `input`, at the positions `index`, with slices of `source`."""
        ...

    def index_reduce_(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        source: TensorT | None = None,
        reduce: builtins.str | None = None,
        *,
        include_self: builtins.bool = True,
        axis: Any = None,
    ) -> TensorT:
        """Combine this tensor in place, at `index`, with slices of `source`; return it."""
        ...

    def index_select(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the slices of `input` along `dim` that the vector `index` selects."""
        ...

    def indices(self) -> Any:
        """Raise an error, because the tensor is dense."""
        ...

    def inner(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the sums of products over the last dimension of both tensors."""
        ...

    def int(self) -> TensorT:
        """Return the tensor converted to int32."""
        ...

    def inverse(self, *, out: TensorT | None = None) -> TensorT:
        """Return the inverse of each matrix; see `linalg.inv`."""
        ...

    def is_coalesced(self) -> Any:
        """Raise an error, because the tensor is dense."""
        ...

    def is_complex(self) -> builtins.bool:
        """Return whether the elements are complex numbers."""
        ...

    def is_conj(self) -> builtins.bool:
        """Return False, because no tensor is a conjugate view."""
        ...

    @property
    def is_cpu(self) -> builtins.bool:
        """Whether the tensor is on the CPU."""
        ...

    @property
    def is_cuda(self) -> builtins.bool:
        """Whether the tensor is on the device "cuda"."""
        ...

    def is_inference(self) -> builtins.bool:
        """Return False: tensors made under `inference_mode` are ordinary tensors."""
        ...

    @property
    def is_meta(self) -> builtins.bool:
        """Whether the tensor is on the device "meta", which stores no elements."""
        ...

    is_mkldnn: builtins.bool

    is_mps: builtins.bool

    def is_neg(self) -> builtins.bool:
        """Return False, because no tensor is a negated view."""
        ...

    is_nested: builtins.bool

    def is_nonzero(self) -> builtins.bool:
        """Return whether the only element is not 0."""
        ...

    def is_pinned(self) -> builtins.bool:
        """Return whether the memory is pinned, which makes copies to a GPU faster."""
        ...

    is_quantized: builtins.bool

    def is_same_size(self, other: TensorT) -> builtins.bool:
        """Return whether two tensors have the same shape."""
        ...

    def is_set_to(self, tensor: TensorT) -> builtins.bool:
        """Return whether two tensors have the same memory, offset, sizes and strides."""
        ...

    def is_shared(self) -> builtins.bool:
        """Return False: only data loaders share memory between processes."""
        ...

    def is_signed(self) -> builtins.bool:
        """Return whether the dtype can hold negative values."""
        ...

    is_sparse: builtins.bool

    is_sparse_csr: builtins.bool

    is_xpu: builtins.bool

    def isclose(
        self,
        other: TensorT,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> TensorT:
        """Return whether abs(input - other) <= atol + rtol * abs(other), for each element."""
        ...

    def isfinite(self) -> TensorT:
        """Return whether x is neither infinite nor NaN, element by element."""
        ...

    def isinf(self) -> TensorT:
        """Return whether x is infinite, element by element."""
        ...

    def isnan(self) -> TensorT:
        """Return whether x is NaN, element by element."""
        ...

    def isneginf(self, *, out: TensorT | None = None) -> TensorT:
        """Return whether x is -infinity, element by element."""
        ...

    def isposinf(self, *, out: TensorT | None = None) -> TensorT:
        """Return whether x is infinity, element by element."""
        ...

    def isreal(self) -> TensorT:
        """Return whether each element is real: its imaginary part is 0."""
        ...

    def istft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: TensorT | None = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        length: builtins.int | None = None,
        return_complex: builtins.bool = False,
    ) -> TensorT:
        """Return the signal whose short-time Fourier transform is given; see `stft`."""
        ...

    def kron(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the Kronecker product: each element of `input` times all of `other`."""
        ...

    def kthvalue(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> Any:
        """Return the `k`-th smallest element along `dim`, as (values, indices)."""
        ...

    layout: Layout

    def lcm(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the least common multiple; it is 0 where an operand is 0."""
        ...

    def lcm_(self, other: TensorT) -> TensorT:
        """Apply `lcm` to the tensor in place; return the tensor."""
        ...

    def ldexp(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return input * 2^other."""
        ...

    def ldexp_(self, other: TensorT) -> TensorT:
        """Apply `ldexp` to the tensor in place; return the tensor."""
        ...

    def le(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x <= y, element by element; shapes broadcast."""
        ...

    def le_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `le` to the tensor in place; return the tensor."""
        ...

    def lerp(
        self,
        end: TensorT,
        weight: TensorT | builtins.float,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input + weight * (end - input), the linear interpolation."""
        ...

    def lerp_(self, end: TensorT, weight: TensorT | builtins.float) -> TensorT:
        """Apply `lerp` to the tensor in place; return the tensor."""
        ...

    def less(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x < y, element by element; shapes broadcast."""
        ...

    def less_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `lt` to the tensor in place; return the tensor."""
        ...

    def less_equal(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x <= y, element by element; shapes broadcast."""
        ...

    def less_equal_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `le` to the tensor in place; return the tensor."""
        ...

    def lgamma(self, *, out: TensorT | None = None) -> TensorT:
        """Return log(abs(Gamma(x))), which is infinite at 0, -1, -2, ..., element by element."""
        ...

    def lgamma_(self) -> TensorT:
        """Apply `lgamma` to the tensor in place; return the tensor."""
        ...

    def log(self, *, out: TensorT | None = None) -> TensorT:
        """Return the natural logarithm of x, element by element."""
        ...

    def log10(self, *, out: TensorT | None = None) -> TensorT:
        """Return the logarithm of x to base 10, element by element."""
        ...

    def log10_(self) -> TensorT:
        """Apply `log10` to the tensor in place; return the tensor."""
        ...

    def log1p(self, *, out: TensorT | None = None) -> TensorT:
        """Return log(1 + x), accurate near x = 0, element by element."""
        ...

    def log1p_(self) -> TensorT:
        """Apply `log1p` to the tensor in place; return the tensor."""
        ...

    def log2(self, *, out: TensorT | None = None) -> TensorT:
        """Return the logarithm of x to base 2, element by element."""
        ...

    def log2_(self) -> TensorT:
        """Apply `log2` to the tensor in place; return the tensor."""
        ...

    def log_(self) -> TensorT:
        """Apply `log` to the tensor in place; return the tensor."""
        ...

    def log_normal_(
        self,
        mean: builtins.float = 1.0,
        std: builtins.float = 2.0,
        *,
        generator: Generator | None = None,
    ) -> TensorT:
        """Set every element to exp(n), with n drawn from a normal distribution."""
        ...

    def log_softmax(
        self,
        dim: builtins.int | None = None,
        dtype: DType | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return x_i - log(sum_j exp(x_j)) along `dim`."""
        ...

    def logaddexp(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return log(e^x + e^y), computed without overflow."""
        ...

    def logaddexp2(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return log2(2^x + 2^y), computed without overflow."""
        ...

    def logcumsumexp(
        self,
        dim: builtins.int | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return log(exp(x_1) + ... + exp(x_i)) along `dim`, computed without overflow."""
        ...

    def logdet(self) -> TensorT:
        """Return the logarithm of the determinant of each matrix."""
        ...

    def logical_and(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return whether both operands are non-zero, element by element."""
        ...

    def logical_and_(self, other: TensorT) -> TensorT:
        """Apply `logical_and` to the tensor in place; return the tensor."""
        ...

    def logical_not(self, *, out: TensorT | None = None) -> TensorT:
        """Return whether x is zero, element by element."""
        ...

    def logical_not_(self) -> TensorT:
        """Apply `logical_not` to the tensor in place; return the tensor."""
        ...

    def logical_or(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return whether at least one operand is non-zero, element by element."""
        ...

    def logical_or_(self, other: TensorT) -> TensorT:
        """Apply `logical_or` to the tensor in place; return the tensor."""
        ...

    def logical_xor(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return whether exactly one operand is non-zero, element by element."""
        ...

    def logical_xor_(self, other: TensorT) -> TensorT:
        """Apply `logical_xor` to the tensor in place; return the tensor."""
        ...

    def logit(
        self, eps: builtins.float | None = None, *, out: TensorT | None = None
    ) -> TensorT:
        """Return log(x / (1 - x)), the inverse of sigmoid, element by element."""
        ...

    def logit_(self, eps: builtins.float | None = None) -> TensorT:
        """Apply `logit` to the tensor in place; return the tensor."""
        ...

    def logsumexp(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return log(sum(exp(input))) over `dim`, computed without overflow."""
        ...

    def long(self) -> TensorT:
        """Return the tensor converted to int64."""
        ...

    def lt(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x < y, element by element; shapes broadcast."""
        ...

    def lt_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `lt` to the tensor in place; return the tensor."""
        ...

    def lu(
        self,
        pivot: builtins.bool = True,
        get_infos: builtins.bool = False,
        out: builtins.tuple[TensorT, ...] | None = None,
    ) -> Any:
        """Return LU factors in one matrix and their pivots, as `linalg.lu_factor` does."""
        ...

    def lu_solve(
        self, LU_data: TensorT, LU_pivots: TensorT, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the solution X of A X = b; the older form of `linalg.lu_solve`."""
        ...

    @property
    def mH(self) -> TensorT:
        """The conjugates of the transposed matrices; a view if they are real."""
        ...

    @property
    def mT(self) -> TensorT:
        """A view with the last two dimensions exchanged: the matrix transposes."""
        ...

    def masked_fill(self, mask: TensorT, value: Any) -> TensorT:
        """Return `input` with the number `value` at the elements where `mask` is True."""
        ...

    def masked_fill_(self, mask: TensorT, value: Any) -> TensorT:
        """Write a number where `mask` is True, in place; return the tensor."""
        ...

    def masked_scatter(self, mask: TensorT, source: TensorT) -> TensorT:
        """Return `input` with the elements of `source`, in order, where `mask` is True."""
        ...

    def masked_scatter_(self, mask: TensorT, source: TensorT) -> TensorT:
        """Apply `masked_scatter` to the tensor in place; return the tensor."""
        ...

    def masked_select(self, mask: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the elements at which `mask` is True, as a 1-d tensor."""
        ...

    def matmul(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the matrix product; leading dimensions are broadcast as batches."""
        ...

    def matrix_exp(self) -> TensorT:
        """Return the matrix exponential I + A + A^2 / 2! + A^3 / 3! + ..."""
        ...

    def matrix_power(self, n: builtins.int, *, out: TensorT | None = None) -> TensorT:
        """Return the `n`-th power of each matrix; it uses the inverse if `n` is negative."""
        ...

    def max(
        self,
        dim: builtins.int | TensorT | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | builtins.tuple[TensorT, TensorT] | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> Any:
        """Return the largest element or, with `dim`, the named tuple (values, indices)."""
        ...

    def maximum(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the larger of x and y, element by element; shapes broadcast."""
        ...

    def mean(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the mean over `dim` (all dimensions by default)."""
        ...

    def median(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | builtins.tuple[TensorT, TensorT] | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> Any:
        """Return the median; with `dim`, the named tuple (values, indices)."""
        ...

    def min(
        self,
        dim: builtins.int | TensorT | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | builtins.tuple[TensorT, TensorT] | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> Any:
        """Return the smallest element or, with `dim`, the named tuple (values, indices)."""
        ...

    def minimum(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the smaller of x and y, element by element; shapes broadcast."""
        ...

    def mm(self, mat2: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the product of two matrices."""
        ...

    def mode(
        self,
        dim: builtins.int = -1,
        keepdim: builtins.bool = False,
        *,
        out: Any = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> Any:
        """Return the most frequent elements along `dim`, as (values, indices)."""
        ...

    def moveaxis(
        self,
        source: builtins.int | Sequence[builtins.int],
        destination: builtins.int | Sequence[builtins.int],
    ) -> TensorT:
        """Return a view of `input` with some dimensions moved; the others keep their order."""
        ...

    def movedim(
        self,
        source: builtins.int | Sequence[builtins.int],
        destination: builtins.int | Sequence[builtins.int],
    ) -> TensorT:
        """Return a view of `input` with some dimensions moved; the others keep their order."""
        ...

    def msort(self, *, out: TensorT | None = None) -> TensorT:
        """Return `input` sorted along its first dimension."""
        ...

    def mul(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x * y, element by element; shapes broadcast."""
        ...

    def mul_(self, other: Any) -> TensorT:
        """Apply `mul` to the tensor in place; return the tensor."""
        ...

    def multinomial(
        self,
        num_samples: builtins.int,
        replacement: builtins.bool = False,
        *,
        generator: Generator | None = None,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return indices drawn with probabilities proportional to `input`."""
        ...

    def multiply(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x * y, element by element; shapes broadcast."""
        ...

    def multiply_(self, other: Any) -> TensorT:
        """Apply `mul` to the tensor in place; return the tensor."""
        ...

    def mv(self, vec: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the product of a matrix and a vector."""
        ...

    def mvlgamma(self, p: builtins.int, *, out: TensorT | None = None) -> TensorT:
        """Return the logarithm of the multivariate Gamma function, element by element."""
        ...

    def mvlgamma_(self, p: builtins.int) -> TensorT:
        """Apply `mvlgamma` to the tensor in place; return the tensor."""
        ...

    def nan_to_num(
        self,
        nan: builtins.float | None = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return `input` with NaN, infinity and -infinity replaced by numbers."""
        ...

    def nan_to_num_(
        self,
        nan: builtins.float | None = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> TensorT:
        """Apply `nan_to_num` to the tensor in place; return the tensor."""
        ...

    def nanmean(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the mean over `dim` of the elements that are not NaN."""
        ...

    def nanmedian(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        out: TensorT | builtins.tuple[TensorT, TensorT] | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> Any:
        """Return the median of the elements that are not NaN; see `median`."""
        ...

    def nanquantile(
        self,
        q: Any,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: builtins.str = "linear",
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the `q`-quantiles of the elements that are not NaN; see `quantile`."""
        ...

    def nansum(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the sum over `dim` with NaN counted as 0."""
        ...

    def narrow(
        self,
        dim: builtins.int | None = None,
        start: builtins.int | TensorT | None = None,
        length: builtins.int | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return a view of `length` slices along `dim`, from index `start` on."""
        ...

    def narrow_copy(
        self,
        dim: builtins.int | None = None,
        start: builtins.int | TensorT | None = None,
        length: builtins.int | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return a copy of the result of `narrow`."""
        ...

    def ndimension(self) -> builtins.int:
        """Return the number of dimensions."""
        ...

    def ne(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x != y, element by element; shapes broadcast."""
        ...

    def ne_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `ne` to the tensor in place; return the tensor."""
        ...

    def neg(self, *, out: TensorT | None = None) -> TensorT:
        """Return -x, element by element."""
        ...

    def neg_(self) -> TensorT:
        """Apply `neg` to the tensor in place; return the tensor."""
        ...

    def negative(self, *, out: TensorT | None = None) -> TensorT:
        """Return -x, element by element."""
        ...

    def negative_(self) -> TensorT:
        """Apply `neg` to the tensor in place; return the tensor."""
        ...

    def nelement(self) -> builtins.int:
        """Return the number of elements."""
        ...

    def new(self, *data: Any, device: builtins.str | Device | None = None) -> TensorT:
        """Return a tensor of this dtype, with the given sizes or a copy of given data."""
        ...

    def new_empty(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: builtins.str | Device | None = None,
        requires_grad: builtins.bool | None = False,
        layout: Any = None,
        pin_memory: builtins.bool | None = False,
    ) -> TensorT:
        """Return a tensor with the dtype of this tensor, whose elements are undefined."""
        ...

    def new_empty_strided(
        self,
        size: Any,
        stride: Any,
        dtype: DType | None = None,
        device: builtins.str | Device | None = None,
        requires_grad: builtins.bool = False,
    ) -> TensorT:
        """Return a tensor of this dtype with given strides and undefined elements."""
        ...

    def new_full(
        self,
        size: Any,
        fill_value: Any,
        *,
        dtype: DType | None = None,
        device: builtins.str | Device | None = None,
        requires_grad: builtins.bool | None = False,
        layout: Any = None,
        pin_memory: builtins.bool | None = False,
    ) -> TensorT:
        """Return a tensor with the dtype of this tensor, filled with one number."""
        ...

    def new_ones(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: builtins.str | Device | None = None,
        requires_grad: builtins.bool | None = False,
        layout: Any = None,
        pin_memory: builtins.bool | None = False,
    ) -> TensorT:
        """Return a tensor of ones with the dtype of this tensor."""
        ...

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: DType | None = None,
        device: builtins.str | Device | None = None,
        requires_grad: builtins.bool | None = False,
    ) -> TensorT:
        """Return a copy of numbers, lists or an array, with the dtype of this tensor."""
        ...

    def new_zeros(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: builtins.str | Device | None = None,
        requires_grad: builtins.bool | None = False,
        layout: Any = None,
        pin_memory: builtins.bool | None = False,
    ) -> TensorT:
        """Return a tensor of zeros with the dtype of this tensor."""
        ...

    def nextafter(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the floating-point number that follows x in the direction of y."""
        ...

    def nextafter_(self, other: TensorT) -> TensorT:
        """Apply `nextafter` to the tensor in place; return the tensor."""
        ...

    def nonzero(
        self, *, as_tuple: builtins.bool = False, out: TensorT | None = None
    ) -> TensorT | builtins.tuple[TensorT, ...]:
        """Return the positions of the non-zero elements, in row-major order."""
        ...

    def norm(
        self,
        p: builtins.float | builtins.str | None = "fro",
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        dtype: DType | None = None,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return (sum abs(x_i)^p)^(1 / p) over `dim`; "fro" means p = 2."""
        ...

    def normal_(
        self, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None
    ) -> TensorT:
        """Set every element to a number drawn from a normal distribution."""
        ...

    def not_equal(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x != y, element by element; shapes broadcast."""
        ...

    def not_equal_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `ne` to the tensor in place; return the tensor."""
        ...

    def outer(self, vec2: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the outer product of two vectors, the matrix of all x_i y_j."""
        ...

    def permute(self, *sizes: Any, dims: Any = None) -> TensorT:
        """Return a view with the dimensions in another order."""
        ...

    def pin_memory(self) -> TensorT:
        """Return a copy in pinned memory, or the tensor if there is only the CPU."""
        ...

    def pinverse(self, rcond: builtins.float = 1e-15) -> TensorT:
        """Return the pseudoinverse of each matrix; see `linalg.pinv`."""
        ...

    def polygamma(self, n: builtins.int) -> TensorT:
        """Return derivative `n` of digamma(x)."""
        ...

    def polygamma_(self, n: builtins.int) -> TensorT:
        """Apply `polygamma` to the tensor in place; return the tensor."""
        ...

    def positive(self) -> TensorT:
        """Return `input` itself; boolean tensors raise an error."""
        ...

    def pow(
        self, exponent: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x to the power y, element by element; shapes are broadcast."""
        ...

    def pow_(self, exponent: TensorT | builtins.float) -> TensorT:
        """Apply `pow` to the tensor in place; return the tensor."""
        ...

    def prelu(self, weight: TensorT) -> TensorT:
        """Return `input` where it is above 0, and weight * input elsewhere."""
        ...

    def prod(
        self,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the product over `dim` (all dimensions by default)."""
        ...

    def put(
        self, index: TensorT, source: TensorT, accumulate: builtins.bool = False
    ) -> TensorT:
        """Return a copy of `input` with `source` at positions of the flattened tensor."""
        ...

    def put_(
        self, index: TensorT, source: TensorT, accumulate: builtins.bool = False
    ) -> TensorT:
        """Write or add `source` at positions of the flattened tensor, in place; return it."""
        ...

    def qr(
        self,
        some: builtins.bool = True,
        *,
        out: builtins.tuple[TensorT, TensorT] | None = None,
    ) -> Any:
        """Return Q and R with input = Q R; see `linalg.qr`."""
        ...

    def quantile(
        self,
        q: Any,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: builtins.str = "linear",
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the `q`-quantiles of the elements along `dim`."""
        ...

    def rad2deg(self, *, out: TensorT | None = None) -> TensorT:
        """Convert angles from radians to degrees: input * 180 / pi."""
        ...

    def rad2deg_(self) -> TensorT:
        """Apply `rad2deg` to the tensor in place; return the tensor."""
        ...

    def random_(
        self,
        low: builtins.int | None = None,
        high: Any = Ellipsis,
        *,
        generator: Generator | None = None,
    ) -> TensorT:
        """Set every element to an integer drawn from `low` to ``high - 1``."""
        ...

    def ravel(self) -> TensorT:
        """Return `input` flattened to one dimension."""
        ...

    @property
    def real(self) -> TensorT:
        """A view of the real parts; the tensor itself if it is real."""
        ...

    def reciprocal(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1 / x, element by element."""
        ...

    def reciprocal_(self) -> TensorT:
        """Apply `reciprocal` to the tensor in place; return the tensor."""
        ...

    def relu(self, *, out: TensorT | None = None) -> TensorT:
        """Return max(x, 0), element by element."""
        ...

    def relu_(self) -> TensorT:
        """Apply `relu` to the tensor in place; return the tensor."""
        ...

    def remainder(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x - y * floor(x / y), which has the sign of y, element by element; shapes broadcast."""
        ...

    def remainder_(self, other: Any) -> TensorT:
        """Apply `remainder` to the tensor in place; return the tensor."""
        ...

    def renorm(
        self,
        p: builtins.float,
        dim: builtins.int | None = None,
        maxnorm: builtins.float | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return `input` with each slice along `dim` scaled down to norm `maxnorm`."""
        ...

    def renorm_(
        self,
        p: builtins.float,
        dim: builtins.int | None = None,
        maxnorm: builtins.float | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Apply `renorm` to the tensor in place; return the tensor."""
        ...

    def repeat(self, *sizes: Any, repeats: Any = None) -> TensorT:
        """Return `input` repeated `repeats[i]` times along each dimension i."""
        ...

    def repeat_interleave(
        self,
        repeats: builtins.int | TensorT | None = None,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return each element, or each slice along `dim`, repeated directly after itself."""
        ...

    def reshape(self, *sizes: Any, shape: Any = None) -> TensorT:
        """Return the elements of the tensor in another shape; one size may be -1."""
        ...

    def reshape_as(self, other: TensorT) -> TensorT:
        """Return `input` in the shape of `other`."""
        ...

    def resize_(self, *sizes: Any, memory_format: Any = None) -> TensorT:
        """Change the shape of this tensor in place; return the tensor."""
        ...

    def resize_as_(
        self, the_template: TensorT, *, memory_format: Any = None
    ) -> TensorT:
        """Give this tensor the shape of another one, in place; return the tensor."""
        ...

    def resolve_conj(self) -> TensorT:
        """Return `input` itself, because conjugates are always computed at once."""
        ...

    def resolve_neg(self) -> TensorT:
        """Return `input` itself, because no tensor is a negated view."""
        ...

    def roll(
        self,
        shifts: builtins.int | Sequence[builtins.int] | None,
        dims: builtins.int | Sequence[builtins.int] | None = None,
    ) -> TensorT:
        """Return `input` with its elements moved along dimensions, in a circle."""
        ...

    def rot90(
        self, k: builtins.int = 1, dims: Sequence[builtins.int] = (0, 1)
    ) -> TensorT:
        """Return `input` rotated `k` times by 90 degrees, from dims[0] towards dims[1]."""
        ...

    def round(
        self, *, decimals: builtins.int = 0, out: TensorT | None = None
    ) -> TensorT:
        """Return `input` rounded to `decimals` digits; halves are rounded to even digits."""
        ...

    def round_(self, *, decimals: builtins.int = 0) -> TensorT:
        """Apply `round` to the tensor in place; return the tensor."""
        ...

    def row_indices(self) -> Any:
        """Raise an error, because the tensor is dense."""
        ...

    def rsqrt(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1 / sqrt(x), element by element."""
        ...

    def rsqrt_(self) -> TensorT:
        """Apply `rsqrt` to the tensor in place; return the tensor."""
        ...

    def scatter(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        src: Any = None,
        *,
        value: Any = None,
        reduce: builtins.str | None = None,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return `input` with `src` written at the positions `index` along `dim`."""
        ...

    def scatter_(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        src: Any = None,
        *,
        value: Any = None,
        reduce: builtins.str | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Write `src` or `value` at `index` along `dim`, in place; return the tensor."""
        ...

    def scatter_add(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        src: TensorT | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return `input` with `src` added at the positions `index` along `dim`."""
        ...

    def scatter_add_(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        src: TensorT | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Add `src` at `index` along `dim`, in place; return the tensor."""
        ...

    def scatter_reduce(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        src: TensorT | None = None,
        reduce: builtins.str | None = None,
        *,
        include_self: builtins.bool = True,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Combine `input`, at the positions `index`, with elements of `src`."""
        ...

    def scatter_reduce_(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        src: TensorT | None = None,
        reduce: builtins.str | None = None,
        *,
        include_self: builtins.bool = True,
        axis: Any = None,
    ) -> TensorT:
        """Combine this tensor in place, at `index`, with elements of `src`; return it."""
        ...

    def select(
        self,
        dim: builtins.int | None = None,
        index: builtins.int | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return a view of slice `index` along `dim`, without that dimension."""
        ...

    def select_scatter(
        self,
        src: TensorT,
        dim: builtins.int | None = None,
        index: builtins.int | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return a copy of `input` in which `src` replaces slice `index` along `dim`."""
        ...

    def set_(
        self,
        source: Any = None,
        storage_offset: builtins.int = 0,
        size: Any = None,
        stride: Any = None,
    ) -> TensorT:
        """Make this tensor use the memory of `source`; return the tensor."""
        ...

    def sgn(self, *, out: TensorT | None = None) -> TensorT:
        """Return z / abs(z) of complex numbers, and 0 for 0; the sign of real numbers."""
        ...

    def sgn_(self) -> TensorT:
        """Apply `sgn` to the tensor in place; return the tensor."""
        ...

    def share_memory_(self) -> TensorT:
        """Return the tensor itself; this method has no effect."""
        ...

    def short(self) -> TensorT:
        """Return the tensor converted to int16."""
        ...

    def sigmoid(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1 / (1 + e^-x), element by element."""
        ...

    def sigmoid_(self) -> TensorT:
        """Apply `sigmoid` to the tensor in place; return the tensor."""
        ...

    def sign(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1 where x is positive, 0 where it is 0, -1 where it is negative, element by element."""
        ...

    def sign_(self) -> TensorT:
        """Apply `sign` to the tensor in place; return the tensor."""
        ...

    def signbit(self, *, out: TensorT | None = None) -> TensorT:
        """Return whether the sign bit is set: x is negative, or it is -0.0."""
        ...

    def sin(self, *, out: TensorT | None = None) -> TensorT:
        """Return the sine of x, an angle in radians, element by element."""
        ...

    def sin_(self) -> TensorT:
        """Apply `sin` to the tensor in place; return the tensor."""
        ...

    def sinc(self, *, out: TensorT | None = None) -> TensorT:
        """Return sin(pi x) / (pi x), which is 1 where x is 0, element by element."""
        ...

    def sinc_(self) -> TensorT:
        """Apply `sinc` to the tensor in place; return the tensor."""
        ...

    def sinh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the hyperbolic sine of x, element by element."""
        ...

    def sinh_(self) -> TensorT:
        """Apply `sinh` to the tensor in place; return the tensor."""
        ...

    def slice_scatter(
        self,
        src: TensorT,
        dim: builtins.int = 0,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return a copy of `input` where `src` replaces slices ``start:end:step``."""
        ...

    def slogdet(self, *, out: builtins.tuple[TensorT, TensorT] | None = None) -> Any:
        """Return the sign of the determinant and the logarithm of its absolute value."""
        ...

    def smm(self, mat2: TensorT) -> TensorT:
        """Return the product of a sparse matrix and another matrix."""
        ...

    def softmax(
        self,
        dim: builtins.int | None = None,
        dtype: DType | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return exp(x_i) / sum_j exp(x_j) along `dim`."""
        ...

    def sort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        *,
        stable: builtins.bool | None = False,
        out: builtins.tuple[TensorT, TensorT] | None = None,
        axis: Any = None,
    ) -> Any:
        """Return the sorted elements along `dim` and their indices, with a stable sort."""
        ...

    def sparse_dim(self) -> builtins.int:
        """Return the number of sparse dimensions: 0."""
        ...

    def sparse_mask(self, mask: TensorT) -> TensorT:
        """Return the elements at the places of a sparse tensor."""
        ...

    def split(
        self, split_size: builtins.int | Sequence[builtins.int], dim: builtins.int = 0
    ) -> builtins.tuple[TensorT, ...]:
        """Split the tensor along `dim` into views of one size, or of the given sizes."""
        ...

    def split_with_sizes(
        self,
        split_sizes: Sequence[builtins.int],
        dim: builtins.int = 0,
        *,
        axis: Any = None,
    ) -> tuple[TensorT, ...]:
        """Return views of the given sizes along `dim`; the sum must be the size of `dim`."""
        ...

    def sqrt(self, *, out: TensorT | None = None) -> TensorT:
        """Return the square root of x, element by element."""
        ...

    def sqrt_(self) -> TensorT:
        """Apply `sqrt` to the tensor in place; return the tensor."""
        ...

    def square(self, *, out: TensorT | None = None) -> TensorT:
        """Return x * x, element by element."""
        ...

    def square_(self) -> TensorT:
        """Apply `square` to the tensor in place; return the tensor."""
        ...

    def squeeze(self, dim: Any = Ellipsis, *, axis: Any = None) -> TensorT:
        """Return `input` without its dimensions of size 1, or only without those in `dim`."""
        ...

    def squeeze_(self, dim: Any = Ellipsis, *, axis: Any = None) -> TensorT:
        """Remove dimensions of size 1, in place; return the tensor."""
        ...

    def std(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the standard deviation over `dim`, the square root of `var`."""
        ...

    def stft(
        self,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: TensorT | None = None,
        center: builtins.bool = True,
        pad_mode: builtins.str = "reflect",
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        return_complex: builtins.bool | None = None,
        align_to_window: builtins.bool | None = None,
    ) -> TensorT:
        """Return the short-time Fourier transform: the spectra of overlapping frames."""
        ...

    def storage(self) -> Any:
        """Return the memory that this tensor shares with its views, as elements."""
        ...

    def storage_offset(self) -> builtins.int:
        """Return the index of the first element in the tensor's storage."""
        ...

    def sub(
        self,
        other: TensorT | builtins.float,
        tensor: TensorT | None = None,
        *,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input - alpha * other."""
        ...

    def sub_(
        self, other: Any, tensor: TensorT | None = None, *, alpha: Any = 1
    ) -> TensorT:
        """Subtract alpha * other from the tensor in place; return the tensor."""
        ...

    def subtract(
        self,
        other: TensorT | builtins.float,
        tensor: TensorT | None = None,
        *,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input - alpha * other."""
        ...

    def subtract_(
        self, other: Any, tensor: TensorT | None = None, *, alpha: Any = 1
    ) -> TensorT:
        """Subtract alpha * other from the tensor in place; return the tensor."""
        ...

    def sum(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the sum over `dim` (all dimensions by default)."""
        ...

    def sum_to_size(self, *size: Any) -> TensorT:
        """Return `input` summed over the dimensions along which `size` is broadcast."""
        ...

    def svd(
        self,
        some: builtins.bool = True,
        compute_uv: builtins.bool = True,
        *,
        out: builtins.tuple[TensorT, TensorT, TensorT] | None = None,
    ) -> Any:
        """Return U, S and V with input = U diag(S) V^T (`linalg.svd` returns V^T, not V)."""
        ...

    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> TensorT:
        """Return a view of `input` with two dimensions exchanged, as `transpose` does."""
        ...

    def swapaxes_(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Exchange two dimensions, in place; return the tensor."""
        ...

    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Return a view of `input` with two dimensions exchanged."""
        ...

    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Exchange two dimensions, in place; return the tensor."""
        ...

    def t(self) -> TensorT:
        """Return the transpose of a matrix; vectors stay as they are."""
        ...

    def t_(self) -> TensorT:
        """Transpose a matrix, in place; return the tensor."""
        ...

    def take(self, index: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return elements of the flattened `input`, in the shape of `index`."""
        ...

    def take_along_dim(
        self,
        indices: TensorT,
        dim: builtins.int | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the elements that `indices` selects along `dim`."""
        ...

    def tan(self, *, out: TensorT | None = None) -> TensorT:
        """Return the tangent of x, an angle in radians, element by element."""
        ...

    def tan_(self) -> TensorT:
        """Apply `tan` to the tensor in place; return the tensor."""
        ...

    def tanh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the hyperbolic tangent of x, element by element."""
        ...

    def tanh_(self) -> TensorT:
        """Apply `tanh` to the tensor in place; return the tensor."""
        ...

    def tensor_split(
        self,
        indices_or_sections: builtins.int | Sequence[builtins.int] | TensorT,
        dim: builtins.int = 0,
        *,
        axis: Any = None,
    ) -> tuple[TensorT, ...]:
        """Return `input` split along `dim` into n views, or at given indices."""
        ...

    def tile(self, *sizes: Any, dims: Any = None) -> TensorT:
        """Return the tensor repeated ``sizes[i]`` times along each dimension i."""
        ...

    def to(
        self,
        *args: Any,
        dtype: DType | None = None,
        copy: builtins.bool = False,
        device: builtins.str | Device | None = None,
        non_blocking: builtins.bool = False,
        memory_format: Any = None,
    ) -> TensorT:
        """Return `input` with another dtype, on another device, or in another layout."""
        ...

    def to_dense(self) -> TensorT:
        """Return the tensor itself, because it is dense."""
        ...

    def to_padded_tensor(self, padding: builtins.float, output_size: Any = None) -> Any:
        """Raise an error, because the tensor is not nested."""
        ...

    def to_sparse(
        self,
        sparse_dim: builtins.int | None = None,
        *,
        layout: Any = None,
        blocksize: Any = None,
        dense_dim: builtins.int | None = None,
    ) -> TensorT:
        """Return the elements that are not zero as a sparse tensor."""
        ...

    def to_sparse_coo(self) -> TensorT:
        """Return the elements that are not zero as a sparse COO tensor."""
        ...

    def to_sparse_csc(self, dense_dim: builtins.int | None = None) -> TensorT:
        """Return the elements that are not zero as a sparse CSC matrix."""
        ...

    def to_sparse_csr(self, dense_dim: builtins.int | None = None) -> TensorT:
        """Return the elements that are not zero as a sparse CSR matrix."""
        ...

    def topk(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
        *,
        out: builtins.tuple[TensorT, TensorT] | None = None,
        axis: Any = None,
    ) -> Any:
        """Return the `k` largest or smallest elements along `dim`, as (values, indices)."""
        ...

    def trace(self) -> TensorT:
        """Return the sum of the diagonal of a matrix."""
        ...

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Return a view of `input` with two dimensions exchanged."""
        ...

    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Exchange two dimensions, in place; return the tensor."""
        ...

    def triangular_solve(
        self,
        A: TensorT,
        upper: builtins.bool = True,
        transpose: builtins.bool = False,
        unitriangular: builtins.bool = False,
        *,
        out: builtins.tuple[TensorT, TensorT] | None = None,
    ) -> Any:
        """Return the solution X of A X = b for triangular matrices, and a copy of A."""
        ...

    def tril(
        self, diagonal: builtins.int = 0, *, out: TensorT | None = None
    ) -> TensorT:
        """Return `input` with zeros above a diagonal of its last two dimensions."""
        ...

    def tril_(self, diagonal: builtins.int = 0) -> TensorT:
        """Apply `tril` to the tensor in place; return the tensor."""
        ...

    def triu(
        self, diagonal: builtins.int = 0, *, out: TensorT | None = None
    ) -> TensorT:
        """Return `input` with zeros below a diagonal of its last two dimensions."""
        ...

    def triu_(self, diagonal: builtins.int = 0) -> TensorT:
        """Apply `triu` to the tensor in place; return the tensor."""
        ...

    def true_divide(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x / y, element by element; shapes broadcast."""
        ...

    def true_divide_(
        self, other: Any, *, rounding_mode: builtins.str | None = None
    ) -> TensorT:
        """Divide the tensor by `other` in place; return the tensor."""
        ...

    def trunc(self, *, out: TensorT | None = None) -> TensorT:
        """Return x rounded towards 0 to an integer, element by element."""
        ...

    def trunc_(self) -> TensorT:
        """Apply `trunc` to the tensor in place; return the tensor."""
        ...

    def type(self, dtype: Any = None, non_blocking: builtins.bool = False) -> Any:
        """Convert the tensor to another dtype, or return the name of its type."""
        ...

    def type_as(self, other: TensorT) -> TensorT:
        """Return `input` converted to the dtype of `other`."""
        ...

    def unbind(self, dim: builtins.int = 0, *, axis: Any = None) -> tuple[TensorT, ...]:
        """Return a view of each slice along `dim`, without that dimension."""
        ...

    def unflatten(
        self,
        dim: builtins.int | None = None,
        sizes: Sequence[builtins.int] | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return a view of `input` in which `dim` is split into dimensions of given sizes."""
        ...

    def unfold(
        self, dimension: builtins.int, size: builtins.int, step: builtins.int
    ) -> TensorT:
        """Return a view of the windows along a dimension, as a new last dimension."""
        ...

    def uniform_(
        self, low: Any = 0.0, high: Any = 1.0, *, generator: Any = None
    ) -> TensorT:
        """Set every element to a number drawn evenly from [low, high)."""
        ...

    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> TensorT | builtins.tuple[TensorT, ...]:
        """Return the distinct elements, in ascending order."""
        ...

    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> TensorT | builtins.tuple[TensorT, ...]:
        """Return `input` without the elements that equal the element before them."""
        ...

    def unsafe_chunk(
        self, chunks: builtins.int, dim: builtins.int = 0
    ) -> tuple[TensorT, ...]:
        """Return the same views as `chunk`; they may be written into."""
        ...

    def unsafe_split(
        self, split_size: builtins.int, dim: builtins.int = 0
    ) -> tuple[TensorT, ...]:
        """Return the same views as `split`; they may be written into."""
        ...

    def unsafe_split_with_sizes(
        self, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[TensorT, ...]:
        """Return the same views as `split_with_sizes`; they may be written into."""
        ...

    def unsqueeze(
        self, dim: builtins.int | None = None, *, axis: Any = None
    ) -> TensorT:
        """Return `input` with a dimension of size 1 inserted before `dim`."""
        ...

    def unsqueeze_(
        self, dim: builtins.int | None = None, *, axis: Any = None
    ) -> TensorT:
        """Insert a dimension of size 1, in place; return the tensor."""
        ...

    def untyped_storage(self) -> Any:
        """Return the memory that this tensor shares with its views, as bytes."""
        ...

    def values(self) -> Any:
        """Raise an error, because the tensor is dense."""
        ...

    def var(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
        out: TensorT | None = None,
        axis: Any = None,
        keepdims: Any = None,
    ) -> TensorT:
        """Return the variance over `dim`, sum((x - mean)^2) / (n - correction)."""
        ...

    def vdot(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the dot product of two vectors, the sum of x_i y_i."""
        ...

    def view(self, *sizes: Any, size: Any = None, dtype: Any = None) -> TensorT:
        """Return a view in another shape or dtype; raise an error if this needs a copy."""
        ...

    def view_as(self, other: TensorT) -> TensorT:
        """Return a view of `input` in the shape of `other`."""
        ...

    def vsplit(
        self, indices_or_sections: builtins.int | Sequence[builtins.int]
    ) -> tuple[TensorT, ...]:
        """Split `input` along its first dimension; see `tensor_split`."""
        ...

    def where(self, condition: TensorT, other: TensorT | builtins.float) -> TensorT:
        """Return this tensor where `condition` is True, and `other` elsewhere."""
        ...

    def xlogy(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x log(y), which is 0 where x is 0 and y is not NaN."""
        ...

    def xlogy_(self, other: TensorT | builtins.float) -> TensorT:
        """Apply `xlogy` to the tensor in place; return the tensor."""
        ...

    def zero_(self) -> TensorT:
        """Set every element to 0, in place; return the tensor."""
        ...

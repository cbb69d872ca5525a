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
        """The transpose of a matrix, its numbers being real: a view."""
        ...

    @property
    def T(self) -> TensorT:
        """The dimensions in reverse order: a view."""
        ...

    def __abs__(self) -> TensorT:
        """Return the absolute value, element by element."""
        ...

    def __add__(self, other: Any) -> TensorT:
        """Return x + y, element by element; shapes broadcast."""
        ...

    def __and__(self, other: Any) -> TensorT:
        """Return the bits set in both, element by element; shapes broadcast."""
        ...

    def __array__(
        self, dtype: Any = None, copy: builtins.bool | None = None
    ) -> Any: ...

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
        """Add alpha * other."""
        ...

    def __iand__(self, other: Any) -> TensorT:
        """Write `bitwise_and` of x into x; return x."""
        ...

    def __ifloordiv__(self, other: Any) -> TensorT:
        """Write `floor_divide` of x into x; return x."""
        ...

    def __ilshift__(self, other: Any) -> TensorT:
        """Write `bitwise_left_shift` of x into x; return x."""
        ...

    def __imod__(self, other: Any) -> TensorT:
        """Write `remainder` of x into x; return x."""
        ...

    def __imul__(self, other: Any) -> TensorT:
        """Write `mul` of x into x; return x."""
        ...

    def __invert__(self) -> TensorT:
        """Return the other bits, element by element."""
        ...

    def __ior__(self, other: Any) -> TensorT:
        """Write `bitwise_or` of x into x; return x."""
        ...

    def __ipow__(self, other: Any) -> TensorT:
        """Write `pow` of x into x; return x."""
        ...

    def __irshift__(self, other: Any) -> TensorT:
        """Write `bitwise_right_shift` of x into x; return x."""
        ...

    def __isub__(self, other: Any) -> TensorT:
        """Subtract alpha * other."""
        ...

    def __itruediv__(self, other: Any) -> TensorT:
        """Divide by `other`."""
        ...

    def __ixor__(self, other: Any) -> TensorT:
        """Write `bitwise_xor` of x into x; return x."""
        ...

    def __le__(self, other: Any) -> TensorT:
        """Return whether x <= y, element by element; shapes broadcast."""
        ...

    def __lshift__(self, other: Any) -> TensorT:
        """Return x * 2^y of integers, element by element; shapes broadcast."""
        ...

    def __lt__(self, other: Any) -> TensorT:
        """Return whether x < y, element by element; shapes broadcast."""
        ...

    def __matmul__(self, other: Any) -> TensorT:
        """Return the matrix product; leading dimensions are batches and broadcast."""
        ...

    def __mod__(self, other: Any) -> TensorT:
        """Return x - y floor(x / y), which has the sign of y, element by element; shapes broadcast."""
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
        """Return the bits set in either, element by element; shapes broadcast."""
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
        """Return floor(x / 2^y) of integers, element by element; shapes broadcast."""
        ...

    def __rsub__(self, other: Any) -> TensorT: ...

    def __rtruediv__(self, other: Any) -> TensorT: ...

    def __rxor__(self, other: Any) -> TensorT: ...

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write `value` into the part of `x` that an index names."""
        ...

    def __sub__(self, other: Any) -> TensorT:
        """Return x - y, element by element; shapes broadcast."""
        ...

    def __truediv__(self, other: Any) -> TensorT:
        """Return x / y, element by element; shapes broadcast."""
        ...

    def __xor__(self, other: Any) -> TensorT:
        """Return the bits set in one, element by element; shapes broadcast."""
        ...

    def _array_of(self, data: builtins.tuple[Any, ...], dtype: DType | None) -> Any:
        """Return the array of ``Tensor(*data)``: of data, or of undefined values."""
        ...

    def _make_subclass(self, data: TensorT, require_grad: builtins.bool = False) -> Any:
        """Return a leaf of a class on the memory of `data`."""
        ...

    def abs(self, *, out: TensorT | None = None) -> TensorT:
        """Return the absolute value, element by element."""
        ...

    def abs_(self) -> TensorT:
        """Write `abs` of x into x; return x."""
        ...

    def absolute(self, *, out: TensorT | None = None) -> TensorT:
        """Return the absolute value, element by element."""
        ...

    def absolute_(self) -> TensorT:
        """Write `abs` of x into x; return x."""
        ...

    def acos(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle whose cosine is x, element by element."""
        ...

    def acos_(self) -> TensorT:
        """Write `acos` of x into x; return x."""
        ...

    def acosh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number of 0 or more whose hyperbolic cosine is x; NaN below 1, element by element."""
        ...

    def acosh_(self) -> TensorT:
        """Write `acosh` of x into x; return x."""
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
        """Add alpha * other."""
        ...

    def addbmm(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return beta * input + alpha * the sum of all batch1[i] @ batch2[i]."""
        ...

    def addbmm_(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Write `addbmm` of x into x; return x."""
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
        """Write `addcdiv` of x into x; return x."""
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
        """Write `addcmul` of x into x; return x."""
        ...

    def addmm(
        self,
        mat1: TensorT,
        mat2: TensorT,
        *,
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
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Write `addmm` of x into x; return x."""
        ...

    def addmv(
        self,
        mat: TensorT,
        vec: TensorT,
        *,
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
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Write `addmv` of x into x; return x."""
        ...

    def addr(
        self,
        vec1: TensorT,
        vec2: TensorT,
        *,
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
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Write `addr` of x into x; return x."""
        ...

    def adjoint(self) -> TensorT:
        """Return the last two dimensions exchanged, the numbers being real: a view."""
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
        """Return whether `|input - other| <= atol + rtol * |other|` everywhere."""
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
        """Return the largest elements over `dim`; equal ones share the gradient."""
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
        """Return the smallest elements over `dim`; equal ones share the gradient."""
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
        """Return pi for negative elements, NaN for NaN, and 0 for the others."""
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
        """Return the angle whose cosine is x, element by element."""
        ...

    def arccos_(self) -> TensorT:
        """Write `acos` of x into x; return x."""
        ...

    def arccosh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number of 0 or more whose hyperbolic cosine is x; NaN below 1, element by element."""
        ...

    def arccosh_(self) -> TensorT:
        """Write `acosh` of x into x; return x."""
        ...

    def arcsin(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle whose sine is x, element by element."""
        ...

    def arcsin_(self) -> TensorT:
        """Write `asin` of x into x; return x."""
        ...

    def arcsinh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose hyperbolic sine is x, element by element."""
        ...

    def arcsinh_(self) -> TensorT:
        """Write `asinh` of x into x; return x."""
        ...

    def arctan(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle whose tangent is x, element by element."""
        ...

    def arctan2(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the angle of the point (y, x) = (`other`, `input`), element by element; shapes broadcast."""
        ...

    def arctan2_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `atan2` of x into x; return x."""
        ...

    def arctan_(self) -> TensorT:
        """Write `atan` of x into x; return x."""
        ...

    def arctanh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose hyperbolic tangent is x; NaN beyond -1 and 1, element by element."""
        ...

    def arctanh_(self) -> TensorT:
        """Write `atanh` of x into x; return x."""
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
        """Return the index of the (first) largest element, of all or along `dim`."""
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
        """Return the index of the (first) smallest element, of all or along `dim`."""
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
        """Return the indices that sort `input` along `dim`; always stable."""
        ...

    def argwhere(self) -> TensorT:
        """Return the positions of non-zero elements, [n, ndim]; see `nonzero`."""
        ...

    def as_strided(
        self,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> TensorT:
        """Return a view of the memory of `input` with these sizes and strides."""
        ...

    def as_strided_scatter(
        self,
        src: TensorT,
        size: Sequence[builtins.int],
        stride: Sequence[builtins.int],
        storage_offset: builtins.int | None = None,
    ) -> TensorT:
        """Return a copy of `input` in which `as_strided` sees `src`."""
        ...

    def as_subclass(self, cls: Any) -> Any:
        """Return a tensor of a class on the same memory, with the same history."""
        ...

    def asin(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle whose sine is x, element by element."""
        ...

    def asin_(self) -> TensorT:
        """Write `asin` of x into x; return x."""
        ...

    def asinh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose hyperbolic sine is x, element by element."""
        ...

    def asinh_(self) -> TensorT:
        """Write `asinh` of x into x; return x."""
        ...

    def atan(self, *, out: TensorT | None = None) -> TensorT:
        """Return the angle whose tangent is x, element by element."""
        ...

    def atan2(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the angle of the point (y, x) = (`other`, `input`), element by element; shapes broadcast."""
        ...

    def atan2_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `atan2` of x into x; return x."""
        ...

    def atan_(self) -> TensorT:
        """Write `atan` of x into x; return x."""
        ...

    def atanh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose hyperbolic tangent is x; NaN beyond -1 and 1, element by element."""
        ...

    def atanh_(self) -> TensorT:
        """Write `atanh` of x into x; return x."""
        ...

    def backward(
        self,
        gradient: TensorT | None = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Any = None,
    ) -> None:
        """Add d(self)/d(leaf) to the `grad` of every leaf that requires one."""
        ...

    def baddbmm(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *,
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
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Write `baddbmm` of x into x; return x."""
        ...

    def bernoulli(
        self,
        p: builtins.float | None = None,
        *,
        generator: Generator | None = None,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return 1 with the probability that `input` holds, else 0, in its dtype."""
        ...

    def bernoulli_(
        self, p: Any = 0.5, *, generator: Generator | None = None
    ) -> TensorT:
        """Draw 1 with probability `p`, else 0."""
        ...

    def bfloat16(self) -> TensorT:
        """Return x as bfloat16."""
        ...

    def bincount(
        self, weights: TensorT | None = None, minlength: builtins.int = 0
    ) -> TensorT:
        """Return how often each integer from 0 on occurs, or the sum of its weights."""
        ...

    def bitwise_and(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the bits set in both, element by element; shapes broadcast."""
        ...

    def bitwise_and_(self, other: Any) -> TensorT:
        """Write `bitwise_and` of x into x; return x."""
        ...

    def bitwise_left_shift(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x * 2^y of integers, element by element; shapes broadcast."""
        ...

    def bitwise_left_shift_(self, other: Any) -> TensorT:
        """Write `bitwise_left_shift` of x into x; return x."""
        ...

    def bitwise_not(self, *, out: TensorT | None = None) -> TensorT:
        """Return the other bits, element by element."""
        ...

    def bitwise_not_(self) -> TensorT:
        """Write `bitwise_not` of x into x; return x."""
        ...

    def bitwise_or(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the bits set in either, element by element; shapes broadcast."""
        ...

    def bitwise_or_(self, other: Any) -> TensorT:
        """Write `bitwise_or` of x into x; return x."""
        ...

    def bitwise_right_shift(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return floor(x / 2^y) of integers, element by element; shapes broadcast."""
        ...

    def bitwise_right_shift_(self, other: Any) -> TensorT:
        """Write `bitwise_right_shift` of x into x; return x."""
        ...

    def bitwise_xor(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the bits set in one, element by element; shapes broadcast."""
        ...

    def bitwise_xor_(self, other: Any) -> TensorT:
        """Write `bitwise_xor` of x into x; return x."""
        ...

    def bmm(self, mat2: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the products of two batches of matrices, [B, M, K] and [B, K, N]."""
        ...

    def bool(self) -> TensorT:
        """Return x as booleans."""
        ...

    def broadcast_to(self, size: Sequence[builtins.int]) -> TensorT:
        """Return `input` repeated to `size` without a copy, as `expand`."""
        ...

    def byte(self) -> TensorT:
        """Return x as uint8."""
        ...

    def cauchy_(
        self,
        median: builtins.float = 0.0,
        sigma: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> TensorT:
        """Draw from the distribution of Cauchy around `median`, of half width `sigma`."""
        ...

    def ceil(self, *, out: TensorT | None = None) -> TensorT:
        """Return x rounded (ceil), element by element."""
        ...

    def ceil_(self) -> TensorT:
        """Write `ceil` of x into x; return x."""
        ...

    def char(self) -> TensorT:
        """Return x as int8."""
        ...

    def cholesky(
        self, upper: builtins.bool = False, *, out: TensorT | None = None
    ) -> TensorT:
        """Return L of A = L L^T; see `linalg.cholesky`."""
        ...

    def cholesky_inverse(
        self, upper: builtins.bool = False, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the inverse of L L^T."""
        ...

    def cholesky_solve(
        self, L: TensorT, upper: builtins.bool = False, *, out: TensorT | None = None
    ) -> TensorT:
        """Return X with L L^T X = B."""
        ...

    def chunk(
        self, chunks: builtins.int, dim: builtins.int = 0, *, axis: Any = None
    ) -> tuple[TensorT, ...]:
        """Return at most `chunks` views along `dim`, of one size but for the last."""
        ...

    def clamp(
        self,
        min: TensorT | builtins.float | None = None,
        max: TensorT | builtins.float | None = None,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return min(max(input, min), max), element by element; NaN stays NaN."""
        ...

    def clamp_(
        self,
        min: TensorT | builtins.float | None = None,
        max: TensorT | builtins.float | None = None,
    ) -> TensorT:
        """Write `clamp` of x into x; return x."""
        ...

    def clamp_max(
        self, max: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return min(input, max), element by element."""
        ...

    def clamp_max_(self, max: TensorT | builtins.float) -> TensorT:
        """Write `clamp_max` of x into x; return x."""
        ...

    def clamp_min(
        self, min: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return max(input, min), element by element."""
        ...

    def clamp_min_(self, min: TensorT | builtins.float) -> TensorT:
        """Write `clamp_min` of x into x; return x."""
        ...

    def clip(
        self,
        min: TensorT | builtins.float | None = None,
        max: TensorT | builtins.float | None = None,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return min(max(input, min), max), element by element; NaN stays NaN."""
        ...

    def clip_(
        self,
        min: TensorT | builtins.float | None = None,
        max: TensorT | builtins.float | None = None,
    ) -> TensorT:
        """Write `clamp` of x into x; return x."""
        ...

    def clone(self, *, memory_format: Any = preserve_format) -> TensorT:
        """Return a copy with the same history, in the same layout if none is named."""
        ...

    def conj(self) -> TensorT:
        """Return `input` itself: its numbers are real."""
        ...

    def conj_physical(self, *, out: TensorT | None = None) -> TensorT:
        """Return `input` itself: its numbers are real."""
        ...

    def conj_physical_(self) -> TensorT:
        """Return the tensor itself: its numbers are real."""
        ...

    def contiguous(self, memory_format: Any = contiguous_format) -> TensorT:
        """Return x itself where its memory has this format, else a copy in it."""
        ...

    def copy_(self, src: Any, non_blocking: builtins.bool = False) -> TensorT:
        """Copy the values of `src`, broadcast and converted, into x; return x."""
        ...

    def copysign(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the size of x with the sign of y."""
        ...

    def copysign_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `copysign` of x into x; return x."""
        ...

    def corrcoef(self) -> TensorT:
        """Return Pearson's correlations of variables, from -1 to 1."""
        ...

    def cos(self, *, out: TensorT | None = None) -> TensorT:
        """Return the cosine, element by element."""
        ...

    def cos_(self) -> TensorT:
        """Write `cos` of x into x; return x."""
        ...

    def cosh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the hyperbolic cosine, element by element."""
        ...

    def cosh_(self) -> TensorT:
        """Write `cosh` of x into x; return x."""
        ...

    def count_nonzero(
        self,
        dim: builtins.int | Sequence[builtins.int] | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return how many elements over `dim` are not zero, as int64."""
        ...

    def cov(
        self,
        *,
        correction: builtins.int = 1,
        fweights: TensorT | None = None,
        aweights: TensorT | None = None,
    ) -> TensorT:
        """Return the covariance matrix of the rows: variables with their observations."""
        ...

    def cpu(self, memory_format: Any = None) -> TensorT:
        """Return x on the CPU: itself, or a copy of an array on a device."""
        ...

    def cross(
        self,
        other: TensorT,
        dim: builtins.int | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the vector products of 3-vectors along `dim`."""
        ...

    def cuda(
        self,
        device: builtins.int | builtins.str | Device | None = None,
        non_blocking: builtins.bool = False,
    ) -> TensorT:
        """Return x on the device "cuda": itself, or a copy."""
        ...

    def cummax(
        self, dim: builtins.int | None = None, *, out: Any = None, axis: Any = None
    ) -> Any:
        """Return the (values, indices) of the largest up to each place along `dim`."""
        ...

    def cummin(
        self, dim: builtins.int | None = None, *, out: Any = None, axis: Any = None
    ) -> Any:
        """Return the (values, indices) of the smallest up to each place along `dim`."""
        ...

    def cumprod(
        self,
        dim: builtins.int | None = None,
        *,
        dtype: DType | None = None,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return y_i = x_1 * ... * x_i along `dim`; of integers in int64."""
        ...

    def cumprod_(
        self,
        dim: builtins.int | None = None,
        *,
        dtype: DType | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Write `cumprod` of x into x; return x."""
        ...

    def cumsum(
        self,
        dim: builtins.int | None = None,
        *,
        dtype: DType | None = None,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return y_i = x_1 + ... + x_i along `dim`; of integers in int64."""
        ...

    def cumsum_(
        self,
        dim: builtins.int | None = None,
        *,
        dtype: DType | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Write `cumsum` of x into x; return x."""
        ...

    def deg2rad(self, *, out: TensorT | None = None) -> TensorT:
        """Return angles given in degrees in radians."""
        ...

    def deg2rad_(self) -> TensorT:
        """Write `deg2rad` of x into x; return x."""
        ...

    def det(self, *, out: TensorT | None = None) -> TensorT:
        """Return the determinant of each matrix of `A` [..., n, n]."""
        ...

    def detach_(self) -> TensorT:
        """Cut the history off."""
        ...

    def diag(
        self, diagonal: builtins.int = 0, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the matrix with a vector on its diagonal, or a matrix's diagonal."""
        ...

    def diag_embed(
        self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1
    ) -> TensorT:
        """Return zeros with the last dimension of `input` on the diagonal of two others."""
        ...

    def diagflat(self, offset: builtins.int = 0) -> TensorT:
        """Return a matrix with the elements of `input` on a diagonal, and 0 elsewhere."""
        ...

    def diagonal(
        self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> TensorT:
        """Return the diagonal of two dimensions as the last dimension: a view."""
        ...

    def diagonal_scatter(
        self,
        src: TensorT,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
    ) -> TensorT:
        """Return a copy of `input` whose diagonal is `src`."""
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
        """Return x_{i+1} - x_i along `dim`, `n` times."""
        ...

    def digamma(self, *, out: TensorT | None = None) -> TensorT:
        """Return the derivative of log(Gamma(x)), NaN at -1, -2, ..., element by element."""
        ...

    def digamma_(self) -> TensorT:
        """Write `digamma` of x into x; return x."""
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
        """Return input / other; "floor" or "trunc" rounds down or towards zero."""
        ...

    def div_(self, other: Any, *, rounding_mode: builtins.str | None = None) -> TensorT:
        """Divide by `other`."""
        ...

    def divide(
        self,
        other: TensorT | builtins.float,
        *,
        rounding_mode: builtins.str | None = None,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input / other; "floor" or "trunc" rounds down or towards zero."""
        ...

    def divide_(
        self, other: Any, *, rounding_mode: builtins.str | None = None
    ) -> TensorT:
        """Divide by `other`."""
        ...

    def dot(self, tensor: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the sum of x_i y_i of two vectors."""
        ...

    def double(self) -> TensorT:
        """Return x as float64."""
        ...

    def dsplit(
        self, indices_or_sections: builtins.int | Sequence[builtins.int]
    ) -> tuple[TensorT, ...]:
        """Return views along the third dimension; see `tensor_split`."""
        ...

    def eq(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x == y, element by element; shapes broadcast."""
        ...

    def eq_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `eq` of x into x; return x."""
        ...

    def equal(self, other: TensorT) -> builtins.bool:
        """Return whether two tensors have the same shape and elements."""
        ...

    def erf(self, *, out: TensorT | None = None) -> TensorT:
        """Return the error function, element by element."""
        ...

    def erf_(self) -> TensorT:
        """Write `erf` of x into x; return x."""
        ...

    def erfc(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1 - erf(x), precise in the tail, element by element."""
        ...

    def erfc_(self) -> TensorT:
        """Write `erfc` of x into x; return x."""
        ...

    def erfinv(self, *, out: TensorT | None = None) -> TensorT:
        """Return the number whose erf is x: infinite at -1 and 1, NaN beyond, element by element."""
        ...

    def erfinv_(self) -> TensorT:
        """Write `erfinv` of x into x; return x."""
        ...

    def exp(self, *, out: TensorT | None = None) -> TensorT:
        """Return e^x, element by element."""
        ...

    def exp2(self, *, out: TensorT | None = None) -> TensorT:
        """Return 2^x, element by element."""
        ...

    def exp2_(self) -> TensorT:
        """Write `exp2` of x into x; return x."""
        ...

    def exp_(self) -> TensorT:
        """Write `exp` of x into x; return x."""
        ...

    def expand(self, *sizes: Any, size: Any = None) -> TensorT:
        """Return a view repeated to sizes; -1 keeps one."""
        ...

    def expand_as(self, other: TensorT) -> TensorT:
        """Return `input` repeated to the shape of `other`, without a copy."""
        ...

    def expm1(self, *, out: TensorT | None = None) -> TensorT:
        """Return e^x - 1, precise near 0, element by element."""
        ...

    def expm1_(self) -> TensorT:
        """Write `expm1` of x into x; return x."""
        ...

    def exponential_(
        self, lambd: builtins.float = 1.0, *, generator: Generator | None = None
    ) -> TensorT:
        """Draw from the distribution of density lambd * exp(-lambd * x)."""
        ...

    def fill_(self, value: Any) -> TensorT:
        """Set every element to `value`."""
        ...

    def fill_diagonal_(self, fill_value: Any, wrap: builtins.bool = False) -> TensorT:
        """Write a number into the diagonal; with `wrap` again below it, where n + 1 end."""
        ...

    def fix(self, *, out: TensorT | None = None) -> TensorT:
        """Return x rounded (trunc), element by element."""
        ...

    def fix_(self) -> TensorT:
        """Write `trunc` of x into x; return x."""
        ...

    def flatten(
        self, start_dim: builtins.int = 0, end_dim: builtins.int = -1
    ) -> TensorT:
        """Return `input` with the dimensions start_dim to end_dim merged."""
        ...

    def flip(self, *axes: Any, dims: Any = None) -> TensorT:
        """Return a copy, the order along some dimensions reversed."""
        ...

    def fliplr(self) -> TensorT:
        """Return `input` with the order along the second dimension reversed."""
        ...

    def flipud(self) -> TensorT:
        """Return `input` with the order along the first dimension reversed."""
        ...

    def float(self) -> TensorT:
        """Return x as float32."""
        ...

    def float_power(
        self, exponent: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x to the power y, in float64."""
        ...

    def float_power_(self, exponent: Any) -> TensorT:
        """Write `float_power` of x, which is of float64, into x; return x."""
        ...

    def floor(self, *, out: TensorT | None = None) -> TensorT:
        """Return x rounded (floor), element by element."""
        ...

    def floor_(self) -> TensorT:
        """Write `floor` of x into x; return x."""
        ...

    def floor_divide(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return floor(x / y), element by element; shapes broadcast."""
        ...

    def floor_divide_(self, other: Any) -> TensorT:
        """Write `floor_divide` of x into x; return x."""
        ...

    def fmax(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the larger of x and y; of a number and NaN, the number, element by element; shapes broadcast."""
        ...

    def fmin(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the smaller of x and y; of a number and NaN, the number, element by element; shapes broadcast."""
        ...

    def fmod(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x - y trunc(x / y), which has the sign of x, element by element; shapes broadcast."""
        ...

    def fmod_(self, other: Any) -> TensorT:
        """Write `fmod` of x into x; return x."""
        ...

    def frac(self, *, out: TensorT | None = None) -> TensorT:
        """Return x - trunc(x), element by element."""
        ...

    def frac_(self) -> TensorT:
        """Write `frac` of x into x; return x."""
        ...

    def frexp(
        self, *, out: builtins.tuple[TensorT, TensorT] | None = None
    ) -> tuple[TensorT, ...]:
        """Return (mantissa, exponent): input = mantissa * 2^exponent, exactly."""
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
        """Return the elements of `input` that `index` names along `dim`."""
        ...

    def gcd(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the greatest common divisor, 0 or more."""
        ...

    def gcd_(self, other: TensorT) -> TensorT:
        """Write `gcd` of x into x; return x."""
        ...

    def ge(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x >= y, element by element; shapes broadcast."""
        ...

    def ge_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `ge` of x into x; return x."""
        ...

    def geometric_(
        self, p: builtins.float, *, generator: Generator | None = None
    ) -> TensorT:
        """Draw how many attempts it takes to succeed, each with probability `p`."""
        ...

    def ger(self, vec2: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return x_i y_j of two vectors, as a matrix."""
        ...

    def get_device(self) -> builtins.int:
        """Return the number of the device; -1 is the CPU."""
        ...

    @property
    def grad_fn(self) -> Any:
        """The node that made this tensor; None on leaves."""
        ...

    def greater(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x > y, element by element; shapes broadcast."""
        ...

    def greater_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `gt` of x into x; return x."""
        ...

    def greater_equal(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x >= y, element by element; shapes broadcast."""
        ...

    def greater_equal_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `ge` of x into x; return x."""
        ...

    def gt(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x > y, element by element; shapes broadcast."""
        ...

    def gt_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `gt` of x into x; return x."""
        ...

    def half(self) -> TensorT:
        """Return x as float16."""
        ...

    def hardshrink(self, lambd: builtins.float = 0.5) -> TensorT:
        """Return input where abs(input) is above `lambd`, else 0."""
        ...

    def heaviside(self, values: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return 0 where x is negative, 1 where it is positive, `values` where it is 0."""
        ...

    def heaviside_(self, values: TensorT) -> TensorT:
        """Write `heaviside` of x into x; return x."""
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
        """Return views along the second dimension, or the only one; see `tensor_split`."""
        ...

    def hypot(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return sqrt(x^2 + y^2), without overflow on the way."""
        ...

    def hypot_(self, other: TensorT) -> TensorT:
        """Write `hypot` of x into x; return x."""
        ...

    def i0(self, *, out: TensorT | None = None) -> TensorT:
        """Return the modified Bessel function of the first kind of order 0, element by element."""
        ...

    def i0_(self) -> TensorT:
        """Write `i0` of x into x; return x."""
        ...

    def igamma(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the regularised lower incomplete Gamma function P(a, x)."""
        ...

    def igamma_(self, other: TensorT) -> TensorT:
        """Write `igamma` of x into x; return x."""
        ...

    def igammac(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return 1 - P(a, x), with P of `igamma`, precise where it is small."""
        ...

    def igammac_(self, other: TensorT) -> TensorT:
        """Write `igammac` of x into x; return x."""
        ...

    @property
    def imag(self) -> Any:
        """Raise: a real number has no imaginary part to write into."""
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
        """Add alpha * source at `index` along `dim`, in place; return x."""
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
        """Write `source` at `index` along `dim`, in place; return x."""
        ...

    def index_fill(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        value: Any = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return `input` with the number `value` at `index` along `dim`."""
        ...

    def index_fill_(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        value: Any = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Write the number `value` at `index` along `dim`, in place; return x."""
        ...

    def index_put(
        self,
        indices: Sequence[TensorT | None],
        values: TensorT,
        accumulate: builtins.bool = False,
    ) -> TensorT:
        """Return `input` with ``input[indices] = values``, or added with `accumulate`."""
        ...

    def index_put_(
        self,
        indices: Sequence[TensorT | None],
        values: TensorT,
        accumulate: builtins.bool = False,
    ) -> TensorT:
        """Write ``x[indices] = values``, or add with `accumulate`, in place; return x."""
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
        """Return `input` with all slices of `source` for one place reduced to one there."""
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
        """Reduce all slices of `source` for one place to one there, in place; return x."""
        ...

    def index_select(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the slices of `input` along `dim` that the 1-d `index` names."""
        ...

    def inner(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the sums of products over the last dimension of both."""
        ...

    def int(self) -> TensorT:
        """Return x as int32."""
        ...

    def inverse(self, *, out: TensorT | None = None) -> TensorT:
        """Return the inverse of each matrix; see `linalg.inv`."""
        ...

    def is_complex(self) -> builtins.bool:
        """Return False: there are no complex dtypes."""
        ...

    def is_conj(self) -> builtins.bool:
        """Return False: nothing waits to be conjugated."""
        ...

    @property
    def is_cpu(self) -> builtins.bool:
        """Whether the array is on the CPU."""
        ...

    @property
    def is_cuda(self) -> builtins.bool:
        """Whether the array is on the device "cuda"."""
        ...

    def is_inference(self) -> builtins.bool:
        """Return False: tensors made under `inference_mode` are like all others."""
        ...

    @property
    def is_meta(self) -> builtins.bool:
        """Whether the tensor has no elements: it is on the device "meta"."""
        ...

    is_mkldnn: builtins.bool

    is_mps: builtins.bool

    def is_neg(self) -> builtins.bool:
        """Return False: nothing waits to be negated."""
        ...

    is_nested: builtins.bool

    def is_nonzero(self) -> builtins.bool:
        """Return whether the one element is not 0."""
        ...

    def is_pinned(self) -> builtins.bool:
        """Return whether x is in memory that a device copies fastest: `pin_memory`."""
        ...

    is_quantized: builtins.bool

    def is_same_size(self, other: TensorT) -> builtins.bool:
        """Return whether two tensors have one shape."""
        ...

    def is_set_to(self, tensor: TensorT) -> builtins.bool:
        """Return whether two tensors are the same elements of one memory."""
        ...

    def is_shared(self) -> builtins.bool:
        """Return False: processes share memory through data loaders alone."""
        ...

    def is_signed(self) -> builtins.bool:
        """Return whether the dtype has negative values."""
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
        """Return whether abs(input - other) <= atol + rtol abs(other), for each element."""
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
        """Return True for each element."""
        ...

    def kron(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the Kronecker product: each element of x times all of y."""
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
        """Return the (values, indices) of the `k`-th smallest along `dim`, from 1 on."""
        ...

    layout: Layout

    def lcm(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the least common multiple, 0 or more; 0 where one of both is 0."""
        ...

    def lcm_(self, other: TensorT) -> TensorT:
        """Write `lcm` of x into x; return x."""
        ...

    def ldexp(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return input * 2^other."""
        ...

    def ldexp_(self, other: TensorT) -> TensorT:
        """Write `ldexp` of x into x; return x."""
        ...

    def le(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x <= y, element by element; shapes broadcast."""
        ...

    def le_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `le` of x into x; return x."""
        ...

    def lerp(
        self,
        end: TensorT,
        weight: TensorT | builtins.float,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return input + weight * (end - input): on the way from `input` to `end`."""
        ...

    def lerp_(self, end: TensorT, weight: TensorT | builtins.float) -> TensorT:
        """Write `lerp` of x into x; return x."""
        ...

    def less(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x < y, element by element; shapes broadcast."""
        ...

    def less_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `lt` of x into x; return x."""
        ...

    def less_equal(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x <= y, element by element; shapes broadcast."""
        ...

    def less_equal_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `le` of x into x; return x."""
        ...

    def lgamma(self, *, out: TensorT | None = None) -> TensorT:
        """Return log(abs(Gamma(x))), infinite at 0, -1, -2, ..., element by element."""
        ...

    def lgamma_(self) -> TensorT:
        """Write `lgamma` of x into x; return x."""
        ...

    def log(self, *, out: TensorT | None = None) -> TensorT:
        """Return the natural logarithm, element by element."""
        ...

    def log10(self, *, out: TensorT | None = None) -> TensorT:
        """Return the logarithm to base 10, element by element."""
        ...

    def log10_(self) -> TensorT:
        """Write `log10` of x into x; return x."""
        ...

    def log1p(self, *, out: TensorT | None = None) -> TensorT:
        """Return log(1 + x), precise near 0, element by element."""
        ...

    def log1p_(self) -> TensorT:
        """Write `log1p` of x into x; return x."""
        ...

    def log2(self, *, out: TensorT | None = None) -> TensorT:
        """Return the logarithm to base 2, element by element."""
        ...

    def log2_(self) -> TensorT:
        """Write `log2` of x into x; return x."""
        ...

    def log_(self) -> TensorT:
        """Write `log` of x into x; return x."""
        ...

    def log_normal_(
        self,
        mean: builtins.float = 1.0,
        std: builtins.float = 2.0,
        *,
        generator: Generator | None = None,
    ) -> TensorT:
        """Draw numbers whose logarithms are normal, of `mean` and `std`."""
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
        """Return log(e^x + e^y), the larger one taken out."""
        ...

    def logaddexp2(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return log2(2^x + 2^y), the larger one taken out."""
        ...

    def logcumsumexp(
        self,
        dim: builtins.int | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return log(exp(x_1) + ... + exp(x_i)) along `dim`, the larger one taken out."""
        ...

    def logdet(self) -> TensorT:
        """Return log(det) of each matrix: NaN where the determinant is negative."""
        ...

    def logical_and(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return whether both are non-zero, element by element."""
        ...

    def logical_and_(self, other: TensorT) -> TensorT:
        """Write `logical_and` of x into x; return x."""
        ...

    def logical_not(self, *, out: TensorT | None = None) -> TensorT:
        """Return whether x is zero, element by element."""
        ...

    def logical_not_(self) -> TensorT:
        """Write `logical_not` of x into x; return x."""
        ...

    def logical_or(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return whether either is non-zero, element by element."""
        ...

    def logical_or_(self, other: TensorT) -> TensorT:
        """Write `logical_or` of x into x; return x."""
        ...

    def logical_xor(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return whether exactly one is non-zero, element by element."""
        ...

    def logical_xor_(self, other: TensorT) -> TensorT:
        """Write `logical_xor` of x into x; return x."""
        ...

    def logit(
        self, eps: builtins.float | None = None, *, out: TensorT | None = None
    ) -> TensorT:
        """Return log(x / (1 - x)), the inverse of sigmoid; x is limited to [eps, 1 - eps]."""
        ...

    def logit_(self, eps: builtins.float | None = None) -> TensorT:
        """Write `logit` of x into x; return x."""
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
        """Return log(sum(exp(input))) over `dim`, shifted by the maximum."""
        ...

    def long(self) -> TensorT:
        """Return x as int64."""
        ...

    def lt(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x < y, element by element; shapes broadcast."""
        ...

    def lt_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `lt` of x into x; return x."""
        ...

    def lu(
        self,
        pivot: builtins.bool = True,
        get_infos: builtins.bool = False,
        out: builtins.tuple[TensorT, ...] | None = None,
    ) -> Any:
        """Return LU factors in one matrix, and pivots; with `get_infos` codes as well."""
        ...

    def lu_solve(
        self, LU_data: TensorT, LU_pivots: TensorT, *, out: TensorT | None = None
    ) -> TensorT:
        """Return the X with A X = b; the older form of `linalg.lu_solve`."""
        ...

    @property
    def mH(self) -> TensorT:
        """The last two dimensions exchanged, the numbers being real: a view."""
        ...

    @property
    def mT(self) -> TensorT:
        """The last two dimensions exchanged: a view."""
        ...

    def masked_fill(self, mask: TensorT, value: Any) -> TensorT:
        """Return `input` with the number `value` where `mask` holds; shapes broadcast."""
        ...

    def masked_fill_(self, mask: TensorT, value: Any) -> TensorT:
        """Write a number where `mask` holds."""
        ...

    def masked_scatter(self, mask: TensorT, source: TensorT) -> TensorT:
        """Return `input` with the elements of `source`, in order, where `mask` holds."""
        ...

    def masked_scatter_(self, mask: TensorT, source: TensorT) -> TensorT:
        """Write `masked_scatter` of x into x; return x."""
        ...

    def masked_select(self, mask: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the elements at which `mask` holds, as a 1-d tensor."""
        ...

    def matmul(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the matrix product; leading dimensions are batches and broadcast."""
        ...

    def matrix_exp(self) -> TensorT:
        """Return I + A + A^2 / 2! + A^3 / 3! + ... of each matrix of `A` [..., n, n]."""
        ...

    def matrix_power(self, n: builtins.int, *, out: TensorT | None = None) -> TensorT:
        """Return A @ A @ ... of `n` factors; of the inverse where `n` is negative."""
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
        """Return the largest element; with `dim`, (values, indices) along it."""
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
        """Return the median, the lower of two; with `dim`, (values, indices) along it."""
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
        """Return the smallest element; with `dim`, (values, indices) along it."""
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
        """Return the (values, indices) of the most frequent elements along `dim`."""
        ...

    def moveaxis(
        self,
        source: builtins.int | Sequence[builtins.int],
        destination: builtins.int | Sequence[builtins.int],
    ) -> TensorT:
        """Return `input` with dimensions moved, the others in their order: a view."""
        ...

    def movedim(
        self,
        source: builtins.int | Sequence[builtins.int],
        destination: builtins.int | Sequence[builtins.int],
    ) -> TensorT:
        """Return `input` with dimensions moved, the others in their order: a view."""
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
        """Write `mul` of x into x; return x."""
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
        """Write `mul` of x into x; return x."""
        ...

    def mv(self, vec: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the product of a matrix and a vector."""
        ...

    def mvlgamma(self, p: builtins.int, *, out: TensorT | None = None) -> TensorT:
        """Return the logarithm of the multivariate Gamma function, element by element."""
        ...

    def mvlgamma_(self, p: builtins.int) -> TensorT:
        """Write `mvlgamma` of x into x; return x."""
        ...

    def nan_to_num(
        self,
        nan: builtins.float | None = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
        *,
        out: TensorT | None = None,
    ) -> TensorT:
        """Return x with NaN, infinity and -infinity replaced."""
        ...

    def nan_to_num_(
        self,
        nan: builtins.float | None = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> TensorT:
        """Write `nan_to_num` of x into x; return x."""
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
        """Return the mean over `dim` without NaN."""
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
        """Return the median without NaN; with `dim`, (values, indices) along it."""
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
        """Return the `quantile` without NaN."""
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
        """Return `length` slices along `dim` from number `start` on: a view."""
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
        """Write `ne` of x into x; return x."""
        ...

    def neg(self, *, out: TensorT | None = None) -> TensorT:
        """Return -x, element by element."""
        ...

    def neg_(self) -> TensorT:
        """Write `neg` of x into x; return x."""
        ...

    def negative(self, *, out: TensorT | None = None) -> TensorT:
        """Return -x, element by element."""
        ...

    def negative_(self) -> TensorT:
        """Write `neg` of x into x; return x."""
        ...

    def nelement(self) -> builtins.int:
        """Return the number of elements."""
        ...

    def new(self, *data: Any, device: builtins.str | Device | None = None) -> TensorT:
        """Return a tensor of the dtype of x: of sizes, or a copy of data."""
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
        """Return a tensor of the dtype of x, its values undefined."""
        ...

    def new_empty_strided(
        self,
        size: Any,
        stride: Any,
        dtype: DType | None = None,
        device: builtins.str | Device | None = None,
        requires_grad: builtins.bool = False,
    ) -> TensorT:
        """Return a tensor of undefined elements with given steps, of x's dtype."""
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
        """Return a tensor of the dtype of x, filled with one number."""
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
        """Return ones of the dtype of x."""
        ...

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: DType | None = None,
        device: builtins.str | Device | None = None,
        requires_grad: builtins.bool | None = False,
    ) -> TensorT:
        """Return a copy of numbers, lists or an array, of the dtype of x."""
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
        """Return zeros of the dtype of x."""
        ...

    def nextafter(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the floating-point number next to x, towards y; x where both are equal."""
        ...

    def nextafter_(self, other: TensorT) -> TensorT:
        """Write `nextafter` of x into x; return x."""
        ...

    def nonzero(
        self, *, as_tuple: builtins.bool = False, out: TensorT | None = None
    ) -> TensorT | builtins.tuple[TensorT, ...]:
        """Return the positions of non-zero elements, [n, ndim], in row-major order."""
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
        """Return (sum abs(x_i)^p)^(1 / p) over `dim`; "fro" is 2."""
        ...

    def normal_(
        self, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None
    ) -> TensorT:
        """Draw every element from a normal distribution."""
        ...

    def not_equal(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return whether x != y, element by element; shapes broadcast."""
        ...

    def not_equal_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `ne` of x into x; return x."""
        ...

    def outer(self, vec2: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return x_i y_j of two vectors, as a matrix."""
        ...

    def permute(self, *sizes: Any, dims: Any = None) -> TensorT:
        """Return a view with the dimensions in another order."""
        ...

    def pin_memory(self) -> TensorT:
        """Return a copy of x from which a device copies fastest; without one, x itself."""
        ...

    def pinverse(self, rcond: builtins.float = 1e-15) -> TensorT:
        """Return the pseudoinverse of each matrix; see `linalg.pinv`."""
        ...

    def polygamma(self, n: builtins.int) -> TensorT:
        """Return derivative `n` of digamma(x)."""
        ...

    def polygamma_(self, n: builtins.int) -> TensorT:
        """Write `polygamma` of x into x; return x."""
        ...

    def positive(self) -> TensorT:
        """Return `input` itself; of booleans, an error."""
        ...

    def pow(
        self, exponent: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x to the power y, element by element; shapes broadcast."""
        ...

    def pow_(self, exponent: TensorT | builtins.float) -> TensorT:
        """Write `pow` of x into x; return x."""
        ...

    def prelu(self, weight: TensorT) -> TensorT:
        """Return input where it is above 0, else weight * input."""
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
        """Return `input` with `source` at, or added to, places of it flattened."""
        ...

    def put_(
        self, index: TensorT, source: TensorT, accumulate: builtins.bool = False
    ) -> TensorT:
        """Write, or add, `source` at places of x flattened, in place; return x."""
        ...

    def qr(
        self,
        some: builtins.bool = True,
        *,
        out: builtins.tuple[TensorT, TensorT] | None = None,
    ) -> Any:
        """Return Q and R of A = Q R; see `linalg.qr`."""
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
        """Return the value below which a share `q` of the elements along `dim` is."""
        ...

    def rad2deg(self, *, out: TensorT | None = None) -> TensorT:
        """Return angles given in radians in degrees."""
        ...

    def rad2deg_(self) -> TensorT:
        """Write `rad2deg` of x into x; return x."""
        ...

    def random_(
        self,
        low: builtins.int | None = None,
        high: Any = Ellipsis,
        *,
        generator: Generator | None = None,
    ) -> TensorT:
        """Draw integers from `low` to ``high - 1``; ``random_(high)`` from 0 on."""
        ...

    def ravel(self) -> TensorT:
        """Return `input` with one dimension."""
        ...

    @property
    def real(self) -> TensorT:
        """The tensor itself: its numbers are real."""
        ...

    def reciprocal(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1 / x, element by element."""
        ...

    def reciprocal_(self) -> TensorT:
        """Write `reciprocal` of x into x; return x."""
        ...

    def relu(self, *, out: TensorT | None = None) -> TensorT:
        """Return max(x, 0), element by element."""
        ...

    def relu_(self) -> TensorT:
        """Write `relu` of x into x; return x."""
        ...

    def remainder(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x - y floor(x / y), which has the sign of y, element by element; shapes broadcast."""
        ...

    def remainder_(self, other: Any) -> TensorT:
        """Write `remainder` of x into x; return x."""
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
        """Return `input` with every slice along `dim` scaled down to the norm `maxnorm`."""
        ...

    def renorm_(
        self,
        p: builtins.float,
        dim: builtins.int | None = None,
        maxnorm: builtins.float | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Write `renorm` of x into x; return x."""
        ...

    def repeat(self, *sizes: Any, repeats: Any = None) -> TensorT:
        """Return copies of `input` side by side: repeats[i] along dimension i."""
        ...

    def repeat_interleave(
        self,
        repeats: builtins.int | TensorT | None = None,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return each element repeated, one after the other."""
        ...

    def reshape(self, *sizes: Any, shape: Any = None) -> TensorT:
        """Return x in another shape; one size may be -1."""
        ...

    def reshape_as(self, other: TensorT) -> TensorT:
        """Return `input` in the shape of `other`."""
        ...

    def resize_(self, *sizes: Any, memory_format: Any = None) -> TensorT:
        """Give x a size, in place; return x."""
        ...

    def resize_as_(
        self, the_template: TensorT, *, memory_format: Any = None
    ) -> TensorT:
        """Give x the size of another tensor, in place; return x."""
        ...

    def resolve_conj(self) -> TensorT:
        """Return `input` itself: nothing waits to be conjugated."""
        ...

    def resolve_neg(self) -> TensorT:
        """Return `input` itself: nothing waits to be negated."""
        ...

    def roll(
        self,
        shifts: builtins.int | Sequence[builtins.int] | None,
        dims: builtins.int | Sequence[builtins.int] | None = None,
    ) -> TensorT:
        """Return `input` rotated along dimensions."""
        ...

    def rot90(
        self, k: builtins.int = 1, dims: Sequence[builtins.int] = (0, 1)
    ) -> TensorT:
        """Return `input` turned `k` times by 90 degrees, from dims[0] towards dims[1]."""
        ...

    def round(
        self, *, decimals: builtins.int = 0, out: TensorT | None = None
    ) -> TensorT:
        """Return `input` rounded to the nearest, ties to even, at a number of digits."""
        ...

    def round_(self, *, decimals: builtins.int = 0) -> TensorT:
        """Write `round` of x into x; return x."""
        ...

    def rsqrt(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1 / sqrt(x), element by element."""
        ...

    def rsqrt_(self) -> TensorT:
        """Write `rsqrt` of x into x; return x."""
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
        """Return `input` with `src` written where `index` says along `dim`."""
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
        """Write `src`, or the number `value`, where `index` says, in place; return x."""
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
        """Return `input` with `src` added where `index` says along `dim`."""
        ...

    def scatter_add_(
        self,
        dim: builtins.int | None = None,
        index: TensorT | None = None,
        src: TensorT | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Add `src` where `index` says along `dim`, in place; return x."""
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
        """Return `input` with all of `src` for one place reduced to one value there."""
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
        """Reduce all of `src` for one place to one value there, in place; return x."""
        ...

    def select(
        self,
        dim: builtins.int | None = None,
        index: builtins.int | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return the slice number `index` along `dim`, without that dimension: a view."""
        ...

    def select_scatter(
        self,
        src: TensorT,
        dim: builtins.int | None = None,
        index: builtins.int | None = None,
        *,
        axis: Any = None,
    ) -> TensorT:
        """Return a copy of `input` whose slice number `index` along `dim` is `src`."""
        ...

    def set_(
        self,
        source: Any = None,
        storage_offset: builtins.int = 0,
        size: Any = None,
        stride: Any = None,
    ) -> TensorT:
        """Let x be the elements of other memory from now on; return x."""
        ...

    def sgn(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1, 0 or -1 as x is positive, 0 or negative, element by element."""
        ...

    def sgn_(self) -> TensorT:
        """Write `sign` of x into x; return x."""
        ...

    def share_memory_(self) -> TensorT:
        """Return x itself."""
        ...

    def short(self) -> TensorT:
        """Return x as int16."""
        ...

    def sigmoid(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1 / (1 + e^-x), element by element."""
        ...

    def sigmoid_(self) -> TensorT:
        """Write `sigmoid` of x into x; return x."""
        ...

    def sign(self, *, out: TensorT | None = None) -> TensorT:
        """Return 1, 0 or -1 as x is positive, 0 or negative, element by element."""
        ...

    def sign_(self) -> TensorT:
        """Write `sign` of x into x; return x."""
        ...

    def signbit(self, *, out: TensorT | None = None) -> TensorT:
        """Return whether x is negative; -0.0 is, too."""
        ...

    def sin(self, *, out: TensorT | None = None) -> TensorT:
        """Return the sine, element by element."""
        ...

    def sin_(self) -> TensorT:
        """Write `sin` of x into x; return x."""
        ...

    def sinc(self, *, out: TensorT | None = None) -> TensorT:
        """Return sin(pi x) / (pi x), which is 1 at 0, element by element."""
        ...

    def sinc_(self) -> TensorT:
        """Write `sinc` of x into x; return x."""
        ...

    def sinh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the hyperbolic sine, element by element."""
        ...

    def sinh_(self) -> TensorT:
        """Write `sinh` of x into x; return x."""
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
        """Return a copy of `input` whose slices ``start:end:step`` along `dim` are `src`."""
        ...

    def slogdet(self, *, out: builtins.tuple[TensorT, TensorT] | None = None) -> Any:
        """Return the sign of the determinant and the log of its size: 0 and -inf at 0."""
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
        stable: builtins.bool = False,
        out: builtins.tuple[TensorT, TensorT] | None = None,
        axis: Any = None,
    ) -> Any:
        """Return (values, indices) in rising order along `dim`; always stable."""
        ...

    def split(
        self, split_size: builtins.int | Sequence[builtins.int], dim: builtins.int = 0
    ) -> builtins.tuple[TensorT, ...]:
        """Return views along `dim`, of one size or of each size."""
        ...

    def split_with_sizes(
        self,
        split_sizes: Sequence[builtins.int],
        dim: builtins.int = 0,
        *,
        axis: Any = None,
    ) -> tuple[TensorT, ...]:
        """Return views of the given sizes along `dim`, which must add up."""
        ...

    def sqrt(self, *, out: TensorT | None = None) -> TensorT:
        """Return the square root, element by element."""
        ...

    def sqrt_(self) -> TensorT:
        """Write `sqrt` of x into x; return x."""
        ...

    def square(self, *, out: TensorT | None = None) -> TensorT:
        """Return x * x, element by element."""
        ...

    def square_(self) -> TensorT:
        """Write `square` of x into x; return x."""
        ...

    def squeeze(self, dim: Any = Ellipsis, *, axis: Any = None) -> TensorT:
        """Return `input` without its dimensions of size 1, or without those in `dim`."""
        ...

    def squeeze_(self, dim: Any = Ellipsis, *, axis: Any = None) -> TensorT:
        """Take dimensions of size 1 away, in place; return x."""
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
        """Return the square root of `var`, also where that overflows or vanishes."""
        ...

    def storage(self) -> Any:
        """Return the elements that this tensor and its views share."""
        ...

    def storage_offset(self) -> builtins.int:
        """Return the number of elements of the base before the first one."""
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
        """Subtract alpha * other."""
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
        """Subtract alpha * other."""
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
        """Return `input` summed over the dimensions in which `size` broadcasts to it."""
        ...

    def svd(
        self,
        some: builtins.bool = True,
        compute_uv: builtins.bool = True,
        *,
        out: builtins.tuple[TensorT, TensorT, TensorT] | None = None,
    ) -> Any:
        """Return U, S and V of A = U diag(S) V^T; `linalg.svd` returns V^T."""
        ...

    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> TensorT:
        """Return `input` with two dimensions exchanged: a view, as `transpose` gives it."""
        ...

    def swapaxes_(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Exchange two dimensions, in place; return x."""
        ...

    def swapdims(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Return `input` with two dimensions exchanged: a view."""
        ...

    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Exchange two dimensions, in place; return x."""
        ...

    def t(self) -> TensorT:
        """Return the transpose of a matrix; vectors stay as they are."""
        ...

    def t_(self) -> TensorT:
        """Transpose a matrix, in place; return x."""
        ...

    def take(self, index: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the elements at places of the flattened `input`, shaped as `index`."""
        ...

    def take_along_dim(
        self,
        indices: TensorT,
        dim: builtins.int | None = None,
        *,
        out: TensorT | None = None,
        axis: Any = None,
    ) -> TensorT:
        """Return the elements that `indices` names along `dim`; other sizes broadcast."""
        ...

    def tan(self, *, out: TensorT | None = None) -> TensorT:
        """Return the tangent, element by element."""
        ...

    def tan_(self) -> TensorT:
        """Write `tan` of x into x; return x."""
        ...

    def tanh(self, *, out: TensorT | None = None) -> TensorT:
        """Return the hyperbolic tangent, element by element."""
        ...

    def tanh_(self) -> TensorT:
        """Write `tanh` of x into x; return x."""
        ...

    def tensor_split(
        self,
        indices_or_sections: builtins.int | Sequence[builtins.int] | TensorT,
        dim: builtins.int = 0,
        *,
        axis: Any = None,
    ) -> tuple[TensorT, ...]:
        """Return that many views along `dim`, or views cut before each index."""
        ...

    def tile(self, *sizes: Any, dims: Any = None) -> TensorT:
        """Return copies side by side, as often as `sizes` say."""
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
        """Return the tensor itself: every tensor is dense."""
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
        """Return the (values, indices) of the `k` largest or smallest, in order."""
        ...

    def trace(self) -> TensorT:
        """Return the sum of the diagonal of a matrix."""
        ...

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Return `input` with two dimensions exchanged: a view."""
        ...

    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Exchange two dimensions, in place; return x."""
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
        """Return the X with A X = b of triangles, and a copy of A."""
        ...

    def tril(
        self, diagonal: builtins.int = 0, *, out: TensorT | None = None
    ) -> TensorT:
        """Return `input` with zeros above a diagonal of its last two dimensions."""
        ...

    def tril_(self, diagonal: builtins.int = 0) -> TensorT:
        """Write `tril` of x into x; return x."""
        ...

    def triu(
        self, diagonal: builtins.int = 0, *, out: TensorT | None = None
    ) -> TensorT:
        """Return `input` with zeros below a diagonal of its last two dimensions."""
        ...

    def triu_(self, diagonal: builtins.int = 0) -> TensorT:
        """Write `triu` of x into x; return x."""
        ...

    def true_divide(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x / y, element by element; shapes broadcast."""
        ...

    def true_divide_(
        self, other: Any, *, rounding_mode: builtins.str | None = None
    ) -> TensorT:
        """Divide by `other`."""
        ...

    def trunc(self, *, out: TensorT | None = None) -> TensorT:
        """Return x rounded (trunc), element by element."""
        ...

    def trunc_(self) -> TensorT:
        """Write `trunc` of x into x; return x."""
        ...

    def type(self, dtype: Any = None, non_blocking: builtins.bool = False) -> Any:
        """Return x in another dtype; without an argument, the name of its dtype."""
        ...

    def type_as(self, other: TensorT) -> TensorT:
        """Return `input` with the dtype of `other`."""
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
        """Return `input` with one dimension in several of `sizes`; one may be -1: a view."""
        ...

    def unfold(
        self, dimension: builtins.int, size: builtins.int, step: builtins.int
    ) -> TensorT:
        """Return the windows of one dimension, their elements in a new last one: a view."""
        ...

    def uniform_(
        self, low: Any = 0.0, high: Any = 1.0, *, generator: Any = None
    ) -> TensorT:
        """Draw every element evenly from [low, high)."""
        ...

    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> TensorT | builtins.tuple[TensorT, ...]:
        """Return the distinct elements, in rising order."""
        ...

    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> TensorT | builtins.tuple[TensorT, ...]:
        """Return the elements without those that repeat the one before."""
        ...

    def unsqueeze(
        self, dim: builtins.int | None = None, *, axis: Any = None
    ) -> TensorT:
        """Return `input` with a dimension of size 1 inserted before `dim`."""
        ...

    def unsqueeze_(
        self, dim: builtins.int | None = None, *, axis: Any = None
    ) -> TensorT:
        """Insert a dimension of size 1, in place; return x."""
        ...

    def untyped_storage(self) -> Any:
        """Return the memory that this tensor and its views share."""
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
        """Return sum((x - mean)^2) / (n - correction) over `dim`; correction is 1."""
        ...

    def vdot(self, other: TensorT, *, out: TensorT | None = None) -> TensorT:
        """Return the sum of x_i y_i of two vectors; the numbers are real."""
        ...

    def view(self, *sizes: Any, size: Any = None, dtype: Any = None) -> TensorT:
        """Return a view in another shape, or of another dtype; an error if that copies."""
        ...

    def view_as(self, other: TensorT) -> TensorT:
        """Return `input` in the shape of `other`, sharing its memory."""
        ...

    def vsplit(
        self, indices_or_sections: builtins.int | Sequence[builtins.int]
    ) -> tuple[TensorT, ...]:
        """Return views along the first of two dimensions or more; see `tensor_split`."""
        ...

    def where(self, condition: TensorT, other: TensorT | builtins.float) -> TensorT:
        """Return x where `condition` holds, else `other`."""
        ...

    def xlogy(
        self, other: TensorT | builtins.float, *, out: TensorT | None = None
    ) -> TensorT:
        """Return x log(y), which is 0 where x is 0 (and NaN where y is)."""
        ...

    def xlogy_(self, other: TensorT | builtins.float) -> TensorT:
        """Write `xlogy` of x into x; return x."""
        ...

    def zero_(self) -> TensorT:
        """Set every element to 0."""
        ...

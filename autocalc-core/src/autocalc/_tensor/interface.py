# SPDX-License-Identifier: MIT
"""The types of the methods that `_methods` attaches to `Tensor`.

Made by ``make interface``: not to be edited.  Only type checkers and editors read it.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, Generic, TypeAlias, TypeVar

from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc._tensor.generator import Generator
from autocalc._tensor.memory_format import contiguous_format

TensorT = TypeVar("TensorT")
Ints: TypeAlias = int | Sequence[int]


class TensorInterface(Generic[TensorT]):
    """Methods, their signatures and what they return; `TensorT` is `Tensor`."""

    __slots__ = ()
    __hash__ = object.__hash__

    def arctanh(self) -> TensorT:
        """Return the number whose hyperbolic tangent is x; NaN beyond -1 and 1."""
        ...

    def arctanh_(self) -> TensorT:
        """Take `atanh` of every element, in place; return x."""
        ...

    def arccosh(self) -> TensorT:
        """Return the number of 0 or more whose hyperbolic cosine is x; NaN below 1."""
        ...

    def arccosh_(self) -> TensorT:
        """Take `acosh` of every element, in place; return x."""
        ...

    def arcsinh(self) -> TensorT:
        """Return the number whose hyperbolic sine is x, element by element."""
        ...

    def arcsinh_(self) -> TensorT:
        """Take `asinh` of every element, in place; return x."""
        ...

    def absolute(self) -> TensorT:
        """Return the absolute value, element by element."""
        ...

    def absolute_(self) -> TensorT:
        """Take `abs` of every element, in place; return x."""
        ...

    def arccos(self) -> TensorT:
        """Return the angle whose cosine is x, element by element."""
        ...

    def arccos_(self) -> TensorT:
        """Take `acos` of every element, in place; return x."""
        ...

    def arcsin(self) -> TensorT:
        """Return the angle whose sine is x, element by element."""
        ...

    def arcsin_(self) -> TensorT:
        """Take `asin` of every element, in place; return x."""
        ...

    def arctan(self) -> TensorT:
        """Return the angle whose tangent is x, element by element."""
        ...

    def arctan2(self, other: Any) -> TensorT:
        """Return the angle of the point (other, x), element by element."""
        ...

    def arctan2_(self, other: Any) -> TensorT:
        """Take `atan2` of x and `other`, in place; return x."""
        ...

    def arctan_(self) -> TensorT:
        """Take `atan` of every element, in place; return x."""
        ...

    def clip(self, min: Any = None, max: Any = None) -> TensorT:
        """Return x limited to min and max."""
        ...

    def clip_(self, min: Any = None, max: Any = None) -> TensorT:
        """Limit to min and max, in place; return x."""
        ...

    def divide(self, other: Any, *, rounding_mode: str | None = None) -> TensorT:
        """Return x / other, element by element."""
        ...

    def divide_(self, other: Any, *, rounding_mode: Any = None) -> TensorT:
        """Divide by `other`, in place; return x."""
        ...

    def fix(self) -> TensorT:
        """Return x rounded to zero."""
        ...

    def fix_(self) -> TensorT:
        """Take `trunc` of every element, in place; return x."""
        ...

    def ger(self, vec2: TensorT) -> TensorT:
        """Return x_i y_j, as a matrix."""
        ...

    def greater(self, other: Any) -> TensorT:
        """Return x > other, element by element."""
        ...

    def greater_(self, other: Any) -> TensorT:
        """Take `gt` of x and `other`, in place; return x."""
        ...

    def greater_equal(self, other: Any) -> TensorT:
        """Return x >= other, element by element."""
        ...

    def greater_equal_(self, other: Any) -> TensorT:
        """Take `ge` of x and `other`, in place; return x."""
        ...

    def less(self, other: Any) -> TensorT:
        """Return x < other, element by element."""
        ...

    def less_(self, other: Any) -> TensorT:
        """Take `lt` of x and `other`, in place; return x."""
        ...

    def less_equal(self, other: Any) -> TensorT:
        """Return x <= other, element by element."""
        ...

    def less_equal_(self, other: Any) -> TensorT:
        """Take `le` of x and `other`, in place; return x."""
        ...

    def multiply(self, other: Any) -> TensorT:
        """Return x * other, element by element."""
        ...

    def multiply_(self, other: Any) -> TensorT:
        """Multiply by `other`, in place; return x."""
        ...

    def negative(self) -> TensorT:
        """Return -x, element by element."""
        ...

    def negative_(self) -> TensorT:
        """Take `neg` of every element, in place; return x."""
        ...

    def not_equal(self, other: Any) -> TensorT:
        """Return x != other, element by element."""
        ...

    def not_equal_(self, other: Any) -> TensorT:
        """Take `ne` of x and `other`, in place; return x."""
        ...

    def sgn(self) -> TensorT:
        """Return 1, 0 or -1, element by element."""
        ...

    def sgn_(self) -> TensorT:
        """Take `sign` of every element, in place; return x."""
        ...

    def subtract(self, other: Any, *, alpha: Any = 1) -> TensorT:
        """Return x - other, element by element."""
        ...

    def subtract_(self, other: Any, *, alpha: Any = 1) -> TensorT:
        """Subtract `other`, in place; return x."""
        ...

    def true_divide_(self, other: Any, *, rounding_mode: Any = None) -> TensorT:
        """Divide by `other`, in place; return x."""
        ...

    def __add__(self, other: Any) -> TensorT: ...

    def __radd__(self, other: Any) -> TensorT: ...

    def __sub__(self, other: Any) -> TensorT: ...

    def __rsub__(self, other: Any) -> TensorT: ...

    def __mul__(self, other: Any) -> TensorT: ...

    def __rmul__(self, other: Any) -> TensorT: ...

    def __truediv__(self, other: Any) -> TensorT: ...

    def __rtruediv__(self, other: Any) -> TensorT: ...

    def __rdiv__(self, other: Any) -> TensorT: ...

    def __pow__(self, other: Any) -> TensorT: ...

    def __rpow__(self, other: Any) -> TensorT: ...

    def __floordiv__(self, other: Any) -> TensorT: ...

    def __rfloordiv__(self, other: Any) -> TensorT: ...

    def __mod__(self, other: Any) -> TensorT: ...

    def __rmod__(self, other: Any) -> TensorT: ...

    def __and__(self, other: Any) -> TensorT: ...

    def __rand__(self, other: Any) -> TensorT: ...

    def __or__(self, other: Any) -> TensorT: ...

    def __ror__(self, other: Any) -> TensorT: ...

    def __xor__(self, other: Any) -> TensorT: ...

    def __rxor__(self, other: Any) -> TensorT: ...

    def __lshift__(self, other: Any) -> TensorT: ...

    def __rlshift__(self, other: Any) -> TensorT: ...

    def __rshift__(self, other: Any) -> TensorT: ...

    def __rrshift__(self, other: Any) -> TensorT: ...

    def __invert__(self) -> TensorT: ...

    def __rmatmul__(self, other: Any) -> TensorT: ...

    def __neg__(self) -> TensorT: ...

    def __pos__(self) -> TensorT: ...

    def __abs__(self) -> TensorT: ...

    def __matmul__(self, other: Any) -> TensorT: ...

    def __eq__(self, other: object) -> TensorT:  # type: ignore[override]  # element by element
        ...

    def __ne__(self, other: object) -> TensorT:  # type: ignore[override]  # element by element
        ...

    def __lt__(self, other: Any) -> TensorT: ...

    def __le__(self, other: Any) -> TensorT: ...

    def __gt__(self, other: Any) -> TensorT: ...

    def __ge__(self, other: Any) -> TensorT: ...

    def __getitem__(self, index: Any) -> TensorT: ...

    def __setitem__(self, index: Any, value: Any) -> None: ...

    def __iadd__(self, other: Any) -> TensorT: ...

    def __isub__(self, other: Any) -> TensorT: ...

    def __imul__(self, other: Any) -> TensorT: ...

    def __itruediv__(self, other: Any) -> TensorT: ...

    def __ipow__(self, other: Any) -> TensorT: ...

    def __ifloordiv__(self, other: Any) -> TensorT: ...

    def __imod__(self, other: Any) -> TensorT: ...

    def __iand__(self, other: Any) -> TensorT: ...

    def __ior__(self, other: Any) -> TensorT: ...

    def __ixor__(self, other: Any) -> TensorT: ...

    def __reversed__(self) -> TensorT: ...

    def select(self, dim: builtins.int, index: builtins.int) -> TensorT:
        """Return slice number `index` along `dim`: a view."""
        ...

    def narrow(
        self, dim: builtins.int, start: builtins.int | TensorT, length: builtins.int
    ) -> TensorT:
        """Return `length` slices along `dim` from `start` on: a view."""
        ...

    def split(self, split_size: Ints, dim: builtins.int = 0) -> tuple[TensorT, ...]:
        """Return views of one size, or of each size, along `dim`."""
        ...

    def split_with_sizes(
        self, split_sizes: Sequence[builtins.int], dim: builtins.int = 0
    ) -> tuple[TensorT, ...]:
        """Return views of the given sizes along `dim`."""
        ...

    def tensor_split(
        self, indices_or_sections: Ints, dim: builtins.int = 0
    ) -> tuple[TensorT, ...]:
        """Return that many views along `dim`, or views cut before each index."""
        ...

    def hsplit(self, indices_or_sections: Ints) -> tuple[TensorT, ...]:
        """Return views along the second dimension, or the only one."""
        ...

    def vsplit(self, indices_or_sections: Ints) -> tuple[TensorT, ...]:
        """Return views along the first dimension."""
        ...

    def dsplit(self, indices_or_sections: Ints) -> tuple[TensorT, ...]:
        """Return views along the third dimension."""
        ...

    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[TensorT, ...]:
        """Return at most `chunks` views along `dim`."""
        ...

    def unbind(self, dim: builtins.int = 0) -> tuple[TensorT, ...]:
        """Return a view of each slice along `dim`."""
        ...

    def diagonal(
        self, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> TensorT:
        """Return the diagonal of two dimensions as the last one: a view."""
        ...

    def diag(self, diagonal: builtins.int = 0) -> TensorT:
        """Return the matrix of a diagonal, or the diagonal of a matrix."""
        ...

    def diag_embed(
        self, offset: builtins.int = 0, dim1: builtins.int = -2, dim2: builtins.int = -1
    ) -> TensorT:
        """Return zeros with the last dimension of x on a diagonal."""
        ...

    def trace(self) -> TensorT:
        """Return the sum of the diagonal of a matrix."""
        ...

    def tril(self, diagonal: builtins.int = 0) -> TensorT:
        """Return x with zeros above a diagonal."""
        ...

    def triu(self, diagonal: builtins.int = 0) -> TensorT:
        """Return x with zeros below a diagonal."""
        ...

    def tril_(self, diagonal: builtins.int = 0) -> TensorT:
        """Write zeros above a diagonal, in place; return x."""
        ...

    def triu_(self, diagonal: builtins.int = 0) -> TensorT:
        """Write zeros below a diagonal, in place; return x."""
        ...

    def movedim(self, source: Ints, destination: Ints) -> TensorT:
        """Return x with dimensions moved: a view."""
        ...

    def moveaxis(self, source: Ints, destination: Ints) -> TensorT:
        """Return x with dimensions moved: a view."""
        ...

    def swapaxes(self, axis0: builtins.int, axis1: builtins.int) -> TensorT:
        """Return x with two dimensions exchanged: a view."""
        ...

    def swapdims(self, axis0: builtins.int, axis1: builtins.int) -> TensorT:
        """Return x with two dimensions exchanged: a view."""
        ...

    def broadcast_to(self, size: Sequence[builtins.int]) -> TensorT:
        """Return x repeated to `size`, without a copy."""
        ...

    def expand_as(self, other: TensorT) -> TensorT:
        """Return x repeated to the shape of `other`, without a copy."""
        ...

    def view_as(self, other: TensorT) -> TensorT:
        """Return x in the shape of `other`, sharing its memory."""
        ...

    def reshape_as(self, other: TensorT) -> TensorT:
        """Return x in the shape of `other`."""
        ...

    def ravel(self) -> TensorT:
        """Return x with one dimension."""
        ...

    def unflatten(self, dim: builtins.int, sizes: Sequence[builtins.int]) -> TensorT:
        """Return x with one dimension in several."""
        ...

    def sum_to_size(self, *size: Any) -> TensorT:
        """Return x summed over the dimensions in which `size` broadcasts to it."""
        ...

    def repeat(self, *repeats: Any) -> TensorT:
        """Return copies of x side by side."""
        ...

    def tile(self, *sizes: Any, dims: Any = None) -> TensorT:
        """Return copies of x side by side; missing repeats are 1."""
        ...

    def repeat_interleave(
        self,
        repeats: builtins.int | TensorT | None = None,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> TensorT:
        """Return each element repeated, one behind the other."""
        ...

    def roll(self, shifts: Any, dims: Any = None) -> TensorT:
        """Return x shifted along dimensions, round the end."""
        ...

    def flip(self, *axes: Any, dims: Any = None) -> TensorT:
        """Return x with the order along dimensions reversed."""
        ...

    def fliplr(self) -> TensorT:
        """Return x with the order along the second dimension reversed."""
        ...

    def flipud(self) -> TensorT:
        """Return x with the order along the first dimension reversed."""
        ...

    def _array_of(self, data: tuple[Any, ...], dtype: DType | None) -> Any:
        """Return the array of ``Tensor(*data)``: of data, or of undefined values."""
        ...

    def __array__(
        self, dtype: Any = None, copy: builtins.bool | None = None
    ) -> Any: ...

    def new_zeros(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: builtins.bool = False,
    ) -> TensorT:
        """Return zeros of the dtype of x."""
        ...

    def new_ones(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: builtins.bool = False,
    ) -> TensorT:
        """Return ones of the dtype of x."""
        ...

    def new_empty(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: builtins.bool = False,
    ) -> TensorT:
        """Return a tensor of the dtype of x, its values undefined."""
        ...

    def new_full(
        self,
        size: Any,
        fill_value: Any,
        *,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: builtins.bool = False,
    ) -> TensorT:
        """Return a tensor of the dtype of x, filled with one number."""
        ...

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: builtins.bool = False,
    ) -> TensorT:
        """Return a copy of numbers, lists or an array, of the dtype of x."""
        ...

    def bernoulli(
        self, p: builtins.float | None = None, *, generator: Generator | None = None
    ) -> TensorT:
        """Return 1 with the probability that x holds, else 0."""
        ...

    def bernoulli_(
        self, p: Any = 0.5, *, generator: Generator | None = None
    ) -> TensorT:
        """Draw 1 with probability `p`, else 0, in place; return x."""
        ...

    def random_(
        self,
        low: builtins.int = 0,
        high: builtins.int | None = None,
        *,
        generator: Generator | None = None,
    ) -> TensorT:
        """Draw integers from low to high - 1, in place; return x."""
        ...

    def exponential_(
        self, lambd: builtins.float = 1.0, *, generator: Generator | None = None
    ) -> TensorT:
        """Draw from an exponential distribution, in place; return x."""
        ...

    def multinomial(
        self,
        num_samples: builtins.int,
        replacement: builtins.bool = False,
        *,
        generator: Generator | None = None,
    ) -> TensorT:
        """Return indices drawn with probabilities in proportion to x."""
        ...

    def exp(self) -> TensorT:
        """Return e^x, element by element."""
        ...

    def log(self) -> TensorT:
        """Return the natural logarithm, element by element."""
        ...

    def sqrt(self) -> TensorT:
        """Return the square root, element by element."""
        ...

    def rsqrt(self) -> TensorT:
        """Return 1 / sqrt(x), element by element."""
        ...

    def sin(self) -> TensorT:
        """Return the sine, element by element."""
        ...

    def cos(self) -> TensorT:
        """Return the cosine, element by element."""
        ...

    def tanh(self) -> TensorT:
        """Return the hyperbolic tangent, element by element."""
        ...

    def sigmoid(self) -> TensorT:
        """Return 1 / (1 + e^-x), element by element."""
        ...

    def relu(self) -> TensorT:
        """Return max(x, 0), element by element."""
        ...

    def erf(self) -> TensorT:
        """Return the error function, element by element."""
        ...

    def abs(self) -> TensorT:
        """Return the absolute value, element by element."""
        ...

    def neg(self) -> TensorT:
        """Return -x, element by element."""
        ...

    def add(self, other: Any, *, alpha: Any = 1) -> TensorT:
        """Return x + other, element by element."""
        ...

    def sub(self, other: Any, *, alpha: Any = 1) -> TensorT:
        """Return x - other, element by element."""
        ...

    def mul(self, other: Any) -> TensorT:
        """Return x * other, element by element."""
        ...

    def div(self, other: Any, *, rounding_mode: str | None = None) -> TensorT:
        """Return x / other, element by element."""
        ...

    def pow(self, exponent: Any) -> TensorT:
        """Return x to the power `exponent`, element by element."""
        ...

    def maximum(self, other: Any) -> TensorT:
        """Return the larger of x and other, element by element."""
        ...

    def minimum(self, other: Any) -> TensorT:
        """Return the smaller of x and other, element by element."""
        ...

    def eq(self, other: Any) -> TensorT:
        """Return x == other, element by element."""
        ...

    def ne(self, other: Any) -> TensorT:
        """Return x != other, element by element."""
        ...

    def lt(self, other: Any) -> TensorT:
        """Return x < other, element by element."""
        ...

    def le(self, other: Any) -> TensorT:
        """Return x <= other, element by element."""
        ...

    def gt(self, other: Any) -> TensorT:
        """Return x > other, element by element."""
        ...

    def ge(self, other: Any) -> TensorT:
        """Return x >= other, element by element."""
        ...

    def floor(self) -> TensorT:
        """Return x rounded down."""
        ...

    def ceil(self) -> TensorT:
        """Return x rounded up."""
        ...

    def round(self, *, decimals: builtins.int = 0) -> TensorT:
        """Return x rounded to the nearest, ties to even."""
        ...

    def trunc(self) -> TensorT:
        """Return x rounded to zero."""
        ...

    def clamp(self, min: Any = None, max: Any = None) -> TensorT:
        """Return x limited to min and max."""
        ...

    def where(self, condition: TensorT, other: Any) -> TensorT:
        """Return x where `condition` holds, else `other`."""
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

    def prod(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
    ) -> TensorT:
        """Return the product over `dim`."""
        ...

    def cumsum(self, dim: builtins.int, *, dtype: DType | None = None) -> TensorT:
        """Return the running sums along `dim`."""
        ...

    def cumprod(self, dim: builtins.int, *, dtype: DType | None = None) -> TensorT:
        """Return the running products along `dim`."""
        ...

    def aminmax(
        self, *, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> Any:
        """Return the smallest and the largest elements."""
        ...

    def count_nonzero(self, dim: Any = None) -> TensorT:
        """Return how many elements are not zero."""
        ...

    def nansum(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
    ) -> TensorT:
        """Return the sum over `dim`, NaN counted as 0."""
        ...

    def nanmean(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
    ) -> TensorT:
        """Return the mean over `dim` of what is not NaN."""
        ...

    def argsort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        *,
        stable: builtins.bool = False,
    ) -> TensorT:
        """Return the indices that sort along `dim`."""
        ...

    def sort(
        self,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        *,
        stable: builtins.bool = False,
    ) -> Any:
        """Return (values, indices) in order along `dim`."""
        ...

    def msort(self) -> TensorT:
        """Return x sorted along its first dimension."""
        ...

    def topk(
        self,
        k: builtins.int,
        dim: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> Any:
        """Return the (values, indices) of the k largest."""
        ...

    def median(
        self, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> Any:
        """Return the median; with `dim`, (values, indices)."""
        ...

    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:
        """Return the positions of what is not zero."""
        ...

    def masked_select(self, mask: TensorT) -> TensorT:
        """Return the elements at which `mask` holds."""
        ...

    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """Return the distinct elements, in order."""
        ...

    def exp2(self) -> TensorT:
        """Return 2^x, element by element."""
        ...

    def expm1(self) -> TensorT:
        """Return e^x - 1, element by element."""
        ...

    def log2(self) -> TensorT:
        """Return the logarithm to base 2, element by element."""
        ...

    def log10(self) -> TensorT:
        """Return the logarithm to base 10, element by element."""
        ...

    def log1p(self) -> TensorT:
        """Return log(1 + x), element by element."""
        ...

    def tan(self) -> TensorT:
        """Return the tangent, element by element."""
        ...

    def asin(self) -> TensorT:
        """Return the angle whose sine is x, element by element."""
        ...

    def acos(self) -> TensorT:
        """Return the angle whose cosine is x, element by element."""
        ...

    def atan(self) -> TensorT:
        """Return the angle whose tangent is x, element by element."""
        ...

    def sinh(self) -> TensorT:
        """Return the hyperbolic sine, element by element."""
        ...

    def cosh(self) -> TensorT:
        """Return the hyperbolic cosine, element by element."""
        ...

    def erfc(self) -> TensorT:
        """Return 1 - erf(x), element by element."""
        ...

    def sign(self) -> TensorT:
        """Return 1, 0 or -1, element by element."""
        ...

    def square(self) -> TensorT:
        """Return x * x, element by element."""
        ...

    def reciprocal(self) -> TensorT:
        """Return 1 / x, element by element."""
        ...

    def frac(self) -> TensorT:
        """Return x - trunc(x), element by element."""
        ...

    def isnan(self) -> TensorT:
        """Return whether x is NaN, element by element."""
        ...

    def isinf(self) -> TensorT:
        """Return whether x is infinite, element by element."""
        ...

    def isfinite(self) -> TensorT:
        """Return whether x is finite, element by element."""
        ...

    def logical_not(self) -> TensorT:
        """Return whether x is zero, element by element."""
        ...

    def bitwise_not(self) -> TensorT:
        """Return the other bits, element by element."""
        ...

    def positive(self) -> TensorT:
        """Return x itself, element by element."""
        ...

    def atan2(self, other: Any) -> TensorT:
        """Return the angle of the point (other, x), element by element."""
        ...

    def floor_divide(self, other: Any) -> TensorT:
        """Return floor(x / other), element by element."""
        ...

    def remainder(self, other: Any) -> TensorT:
        """Return x less whole multiples of other; the sign is that of other."""
        ...

    def fmod(self, other: Any) -> TensorT:
        """Return x less whole multiples of other; the sign is that of x."""
        ...

    def true_divide(self, other: Any) -> TensorT:
        """Return x / other, element by element."""
        ...

    def logical_and(self, other: Any) -> TensorT:
        """Return whether both are non-zero, element by element."""
        ...

    def logical_or(self, other: Any) -> TensorT:
        """Return whether either is non-zero, element by element."""
        ...

    def logical_xor(self, other: Any) -> TensorT:
        """Return whether one is non-zero, element by element."""
        ...

    def bitwise_and(self, other: Any) -> TensorT:
        """Return the bits set in both, element by element."""
        ...

    def bitwise_or(self, other: Any) -> TensorT:
        """Return the bits set in either, element by element."""
        ...

    def bitwise_xor(self, other: Any) -> TensorT:
        """Return the bits set in one, element by element."""
        ...

    def bitwise_left_shift(self, other: Any) -> TensorT:
        """Return x * 2^other, element by element."""
        ...

    def bitwise_right_shift(self, other: Any) -> TensorT:
        """Return floor(x / 2^other), element by element."""
        ...

    def lerp(self, end: TensorT, weight: Any) -> TensorT:
        """Return x + weight * (end - x)."""
        ...

    def addcmul(
        self, tensor1: TensorT, tensor2: TensorT, *, value: builtins.float = 1
    ) -> TensorT:
        """Return x + value * tensor1 * tensor2."""
        ...

    def addcdiv(
        self, tensor1: TensorT, tensor2: TensorT, *, value: builtins.float = 1
    ) -> TensorT:
        """Return x + value * tensor1 / tensor2."""
        ...

    def clamp_min(self, min: Any) -> TensorT:
        """Return max(x, min)."""
        ...

    def clamp_max(self, max: Any) -> TensorT:
        """Return min(x, max)."""
        ...

    def nan_to_num(
        self,
        nan: builtins.float | None = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> TensorT:
        """Return x with NaN and infinities replaced."""
        ...

    def isclose(
        self,
        other: TensorT,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> TensorT:
        """Return whether x and other agree, element by element."""
        ...

    def allclose(
        self,
        other: TensorT,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool:
        """Return whether x and other agree everywhere."""
        ...

    def equal(self, other: TensorT) -> builtins.bool:
        """Return whether shapes and elements are the same."""
        ...

    def abs_(self) -> TensorT:
        """Take `abs` of every element, in place; return x."""
        ...

    def neg_(self) -> TensorT:
        """Take `neg` of every element, in place; return x."""
        ...

    def exp_(self) -> TensorT:
        """Take `exp` of every element, in place; return x."""
        ...

    def exp2_(self) -> TensorT:
        """Take `exp2` of every element, in place; return x."""
        ...

    def expm1_(self) -> TensorT:
        """Take `expm1` of every element, in place; return x."""
        ...

    def log_(self) -> TensorT:
        """Take `log` of every element, in place; return x."""
        ...

    def log2_(self) -> TensorT:
        """Take `log2` of every element, in place; return x."""
        ...

    def log10_(self) -> TensorT:
        """Take `log10` of every element, in place; return x."""
        ...

    def log1p_(self) -> TensorT:
        """Take `log1p` of every element, in place; return x."""
        ...

    def sqrt_(self) -> TensorT:
        """Take `sqrt` of every element, in place; return x."""
        ...

    def rsqrt_(self) -> TensorT:
        """Take `rsqrt` of every element, in place; return x."""
        ...

    def sin_(self) -> TensorT:
        """Take `sin` of every element, in place; return x."""
        ...

    def cos_(self) -> TensorT:
        """Take `cos` of every element, in place; return x."""
        ...

    def tan_(self) -> TensorT:
        """Take `tan` of every element, in place; return x."""
        ...

    def asin_(self) -> TensorT:
        """Take `asin` of every element, in place; return x."""
        ...

    def acos_(self) -> TensorT:
        """Take `acos` of every element, in place; return x."""
        ...

    def atan_(self) -> TensorT:
        """Take `atan` of every element, in place; return x."""
        ...

    def sinh_(self) -> TensorT:
        """Take `sinh` of every element, in place; return x."""
        ...

    def cosh_(self) -> TensorT:
        """Take `cosh` of every element, in place; return x."""
        ...

    def tanh_(self) -> TensorT:
        """Take `tanh` of every element, in place; return x."""
        ...

    def sigmoid_(self) -> TensorT:
        """Take `sigmoid` of every element, in place; return x."""
        ...

    def relu_(self) -> TensorT:
        """Take `relu` of every element, in place; return x."""
        ...

    def erf_(self) -> TensorT:
        """Take `erf` of every element, in place; return x."""
        ...

    def erfc_(self) -> TensorT:
        """Take `erfc` of every element, in place; return x."""
        ...

    def sign_(self) -> TensorT:
        """Take `sign` of every element, in place; return x."""
        ...

    def square_(self) -> TensorT:
        """Take `square` of every element, in place; return x."""
        ...

    def reciprocal_(self) -> TensorT:
        """Take `reciprocal` of every element, in place; return x."""
        ...

    def frac_(self) -> TensorT:
        """Take `frac` of every element, in place; return x."""
        ...

    def floor_(self) -> TensorT:
        """Take `floor` of every element, in place; return x."""
        ...

    def ceil_(self) -> TensorT:
        """Take `ceil` of every element, in place; return x."""
        ...

    def round_(self, *, decimals: builtins.int = 0) -> TensorT:
        """Take `round` of every element, in place; return x."""
        ...

    def trunc_(self) -> TensorT:
        """Take `trunc` of every element, in place; return x."""
        ...

    def logical_not_(self) -> TensorT:
        """Take `logical_not` of every element, in place; return x."""
        ...

    def bitwise_not_(self) -> TensorT:
        """Take `bitwise_not` of every element, in place; return x."""
        ...

    def pow_(self, exponent: Any) -> TensorT:
        """Raise x to the power `exponent`, in place; return x."""
        ...

    def floor_divide_(self, other: Any) -> TensorT:
        """Take `floor_divide` of x and `other`, in place; return x."""
        ...

    def remainder_(self, other: Any) -> TensorT:
        """Take `remainder` of x and `other`, in place; return x."""
        ...

    def fmod_(self, other: Any) -> TensorT:
        """Take `fmod` of x and `other`, in place; return x."""
        ...

    def atan2_(self, other: Any) -> TensorT:
        """Take `atan2` of x and `other`, in place; return x."""
        ...

    def eq_(self, other: Any) -> TensorT:
        """Take `eq` of x and `other`, in place; return x."""
        ...

    def ne_(self, other: Any) -> TensorT:
        """Take `ne` of x and `other`, in place; return x."""
        ...

    def lt_(self, other: Any) -> TensorT:
        """Take `lt` of x and `other`, in place; return x."""
        ...

    def le_(self, other: Any) -> TensorT:
        """Take `le` of x and `other`, in place; return x."""
        ...

    def gt_(self, other: Any) -> TensorT:
        """Take `gt` of x and `other`, in place; return x."""
        ...

    def ge_(self, other: Any) -> TensorT:
        """Take `ge` of x and `other`, in place; return x."""
        ...

    def logical_and_(self, other: Any) -> TensorT:
        """Take `logical_and` of x and `other`, in place; return x."""
        ...

    def logical_or_(self, other: Any) -> TensorT:
        """Take `logical_or` of x and `other`, in place; return x."""
        ...

    def logical_xor_(self, other: Any) -> TensorT:
        """Take `logical_xor` of x and `other`, in place; return x."""
        ...

    def bitwise_and_(self, other: Any) -> TensorT:
        """Take `bitwise_and` of x and `other`, in place; return x."""
        ...

    def bitwise_or_(self, other: Any) -> TensorT:
        """Take `bitwise_or` of x and `other`, in place; return x."""
        ...

    def bitwise_xor_(self, other: Any) -> TensorT:
        """Take `bitwise_xor` of x and `other`, in place; return x."""
        ...

    def lerp_(self, end: TensorT, weight: Any) -> TensorT:
        """Go part of the way to `end`, in place; return x."""
        ...

    def addcmul_(
        self, tensor1: TensorT, tensor2: TensorT, *, value: builtins.float = 1
    ) -> TensorT:
        """Add value * tensor1 * tensor2, in place; return x."""
        ...

    def addcdiv_(
        self, tensor1: TensorT, tensor2: TensorT, *, value: builtins.float = 1
    ) -> TensorT:
        """Add value * tensor1 / tensor2, in place; return x."""
        ...

    def clamp_min_(self, min: Any) -> TensorT:
        """Raise every element to `min` at least, in place; return x."""
        ...

    def clamp_max_(self, max: Any) -> TensorT:
        """Lower every element to `max` at most, in place; return x."""
        ...

    def nan_to_num_(
        self,
        nan: builtins.float | None = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> TensorT:
        """Replace NaN and infinities, in place; return x."""
        ...

    def norm(
        self,
        p: Any = "fro",
        dim: Any = None,
        keepdim: builtins.bool = False,
        dtype: Any = None,
    ) -> TensorT:
        """Return (sum abs(x_i)^p)^(1 / p) over `dim`."""
        ...

    def det(self) -> TensorT:
        """Return the determinant of each matrix."""
        ...

    def slogdet(self) -> tuple[TensorT, TensorT]:
        """Return the sign of each determinant and the log of its size."""
        ...

    def logdet(self) -> TensorT:
        """Return log(det) of each matrix: NaN where it is negative."""
        ...

    def inverse(self) -> TensorT:
        """Return the inverse of each matrix."""
        ...

    def matrix_power(self, n: builtins.int) -> TensorT:
        """Return the product of `n` times the same matrix."""
        ...

    def dot(self, tensor: TensorT) -> TensorT:
        """Return the sum of x_i y_i."""
        ...

    def mv(self, vec: TensorT) -> TensorT:
        """Return the product of a matrix and a vector."""
        ...

    def outer(self, vec2: TensorT) -> TensorT:
        """Return x_i y_j, as a matrix."""
        ...

    def inner(self, other: TensorT) -> TensorT:
        """Return the sums of products over the last dimension."""
        ...

    def addmm(
        self,
        mat1: TensorT,
        mat2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Return beta * x + alpha * mat1 @ mat2."""
        ...

    def addmm_(
        self,
        mat1: TensorT,
        mat2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Become beta * x + alpha * mat1 @ mat2; return x."""
        ...

    def addmv(
        self,
        mat: TensorT,
        vec: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Return beta * x + alpha * mat @ vec."""
        ...

    def addmv_(
        self,
        mat: TensorT,
        vec: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Become beta * x + alpha * mat @ vec; return x."""
        ...

    def addr(
        self,
        vec1: TensorT,
        vec2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Return beta * x + alpha * outer(vec1, vec2)."""
        ...

    def addr_(
        self,
        vec1: TensorT,
        vec2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Become beta * x + alpha * outer(vec1, vec2); return x."""
        ...

    def baddbmm(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Return beta * x + alpha * batch1 @ batch2."""
        ...

    def baddbmm_(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Become beta * x + alpha * batch1 @ batch2; return x."""
        ...

    def addbmm(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Return beta * x + alpha * the sum of batch1[i] @ batch2[i]."""
        ...

    def addbmm_(
        self,
        batch1: TensorT,
        batch2: TensorT,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Become beta * x + alpha * the sum of batch1[i] @ batch2[i]; return x."""
        ...

    is_cpu: builtins.bool

    is_cuda: builtins.bool

    is_mps: builtins.bool

    is_xpu: builtins.bool

    is_meta: builtins.bool

    is_sparse: builtins.bool

    is_quantized: builtins.bool

    is_nested: builtins.bool

    def ndimension(self) -> builtins.int:
        """Return the number of dimensions."""
        ...

    def nelement(self) -> builtins.int:
        """Return the number of elements."""
        ...

    def is_signed(self) -> builtins.bool:
        """Return whether the dtype has negative values."""
        ...

    def is_complex(self) -> builtins.bool:
        """Return False: there are no complex dtypes."""
        ...

    def is_nonzero(self) -> builtins.bool:
        """Return whether the one element is not 0."""
        ...

    def is_pinned(self) -> builtins.bool:
        """Return False: memory is pinned for copies to devices."""
        ...

    def is_shared(self) -> builtins.bool:
        """Return False: processes share memory through data loaders alone."""
        ...

    def is_inference(self) -> builtins.bool:
        """Return False: tensors made under `inference_mode` are like all others."""
        ...

    def is_same_size(self, other: TensorT) -> builtins.bool:
        """Return whether the shapes are equal."""
        ...

    def get_device(self) -> builtins.int:
        """Return -1, the number of the CPU."""
        ...

    def storage_offset(self) -> builtins.int:
        """Return how many elements of the base lie before the first one."""
        ...

    def pin_memory(self) -> TensorT:
        """Return x itself: no device copies from it."""
        ...

    def share_memory_(self) -> TensorT:
        """Return x itself."""
        ...

    def cuda(
        self,
        device: builtins.int | str | Device | None = None,
        non_blocking: builtins.bool = False,
    ) -> TensorT:
        """Raise: there is no CUDA device."""
        ...

    def type(self, dtype: Any = None, non_blocking: builtins.bool = False) -> Any:
        """Return x in another dtype, or, without one, the name of its own."""
        ...

    def byte(self) -> TensorT:
        """Return x as uint8."""
        ...

    def char(self) -> TensorT:
        """Return x as int8."""
        ...

    def short(self) -> TensorT:
        """Return x as int16."""
        ...

    @property
    def H(self) -> TensorT:
        """The transpose of a matrix, its numbers being real: a view."""
        ...

    @property
    def mH(self) -> TensorT:
        """The last two dimensions exchanged, the numbers being real: a view."""
        ...

    def sum(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
    ) -> TensorT:
        """Return the sum over `dim`."""
        ...

    def mean(
        self,
        dim: Any = None,
        keepdim: builtins.bool = False,
        *,
        dtype: DType | None = None,
    ) -> TensorT:
        """Return the mean over `dim`."""
        ...

    def var(
        self,
        dim: Any = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> TensorT:
        """Return the variance over `dim`."""
        ...

    def std(
        self,
        dim: Any = None,
        unbiased: builtins.bool | None = None,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> TensorT:
        """Return the standard deviation over `dim`."""
        ...

    def max(self, dim: Any = None, keepdim: builtins.bool = False) -> Any:
        """Return the largest element; with `dim`, (values, indices)."""
        ...

    def min(self, dim: Any = None, keepdim: builtins.bool = False) -> Any:
        """Return the smallest element; with `dim`, (values, indices)."""
        ...

    def amax(self, dim: Any = None, keepdim: builtins.bool = False) -> TensorT:
        """Return the largest elements over `dim`."""
        ...

    def amin(self, dim: Any = None, keepdim: builtins.bool = False) -> TensorT:
        """Return the smallest elements over `dim`."""
        ...

    def argmax(
        self, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> TensorT:
        """Return the index of the largest element."""
        ...

    def argmin(
        self, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> TensorT:
        """Return the index of the smallest element."""
        ...

    def all(self, dim: Any = None, keepdim: builtins.bool = False) -> TensorT:
        """Return whether all elements are true."""
        ...

    def any(self, dim: Any = None, keepdim: builtins.bool = False) -> TensorT:
        """Return whether any element is true."""
        ...

    def logsumexp(self, dim: Any, keepdim: builtins.bool = False) -> TensorT:
        """Return log(sum(exp(x))) over `dim`."""
        ...

    def softmax(self, dim: builtins.int, dtype: DType | None = None) -> TensorT:
        """Return exp(x_i) / sum(exp(x)) along `dim`."""
        ...

    def log_softmax(self, dim: builtins.int, dtype: DType | None = None) -> TensorT:
        """Return log(softmax(x)) along `dim`."""
        ...

    def matmul(self, other: TensorT) -> TensorT:
        """Return the matrix product."""
        ...

    def mm(self, mat2: TensorT) -> TensorT:
        """Return the product of two matrices."""
        ...

    def bmm(self, mat2: TensorT) -> TensorT:
        """Return the products of two batches of matrices."""
        ...

    def gather(
        self, dim: builtins.int, index: TensorT, *, sparse_grad: builtins.bool = False
    ) -> TensorT:
        """Return the elements that `index` names along `dim`."""
        ...

    def index_select(self, dim: builtins.int, index: TensorT) -> TensorT:
        """Return the slices that `index` names along `dim`."""
        ...

    def take_along_dim(
        self, indices: TensorT, dim: builtins.int | None = None
    ) -> TensorT:
        """Return the elements that `indices` names along `dim`, broadcast."""
        ...

    def index_put(
        self, indices: Sequence[Any], values: TensorT, accumulate: builtins.bool = False
    ) -> TensorT:
        """Return x with `values` written at, or added to, index tensors."""
        ...

    def index_put_(
        self, indices: Sequence[Any], values: TensorT, accumulate: builtins.bool = False
    ) -> TensorT:
        """Write `values` at index tensors, or add them, in place; return x."""
        ...

    def index_add(
        self,
        dim: builtins.int,
        index: TensorT,
        source: TensorT,
        *,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Return x with alpha * source added at `index` along `dim`."""
        ...

    def index_add_(
        self,
        dim: builtins.int,
        index: TensorT,
        source: TensorT,
        *,
        alpha: builtins.float = 1,
    ) -> TensorT:
        """Add alpha * source at `index` along `dim`, in place; return x."""
        ...

    def index_copy(self, dim: builtins.int, index: TensorT, source: TensorT) -> TensorT:
        """Return x with `source` written at `index` along `dim`."""
        ...

    def index_copy_(
        self, dim: builtins.int, index: TensorT, source: TensorT
    ) -> TensorT:
        """Write `source` at `index` along `dim`, in place; return x."""
        ...

    def index_fill(self, dim: builtins.int, index: TensorT, value: Any) -> TensorT:
        """Return x with a number at `index` along `dim`."""
        ...

    def index_fill_(self, dim: builtins.int, index: TensorT, value: Any) -> TensorT:
        """Write a number at `index` along `dim`, in place; return x."""
        ...

    def masked_fill(self, mask: TensorT, value: Any) -> TensorT:
        """Return x with a number where `mask` holds."""
        ...

    def masked_fill_(self, mask: TensorT, value: Any) -> TensorT:
        """Write a number where `mask` holds, in place; return x."""
        ...

    def masked_scatter(self, mask: TensorT, source: TensorT) -> TensorT:
        """Return x with the elements of `source`, in order, where `mask` holds."""
        ...

    def masked_scatter_(self, mask: TensorT, source: TensorT) -> TensorT:
        """Write the elements of `source` where `mask` holds, in place; return x."""
        ...

    def scatter(
        self,
        dim: builtins.int,
        index: TensorT,
        src: Any = None,
        *,
        value: Any = None,
        reduce: str | None = None,
    ) -> TensorT:
        """Return x with `src` written where `index` says along `dim`."""
        ...

    def scatter_(
        self,
        dim: builtins.int,
        index: TensorT,
        src: Any = None,
        *,
        value: Any = None,
        reduce: str | None = None,
    ) -> TensorT:
        """Write `src` where `index` says along `dim`, in place; return x."""
        ...

    def scatter_add(self, dim: builtins.int, index: TensorT, src: TensorT) -> TensorT:
        """Return x with `src` added where `index` says along `dim`."""
        ...

    def scatter_add_(self, dim: builtins.int, index: TensorT, src: TensorT) -> TensorT:
        """Add `src` where `index` says along `dim`, in place; return x."""
        ...

    def squeeze_(self, dim: Any = None) -> TensorT:
        """Take dimensions of size 1 away, in place; return x."""
        ...

    def unsqueeze_(self, dim: builtins.int) -> TensorT:
        """Insert a dimension of size 1, in place; return x."""
        ...

    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Exchange two dimensions, in place; return x."""
        ...

    def swapaxes_(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Exchange two dimensions, in place; return x."""
        ...

    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Exchange two dimensions, in place; return x."""
        ...

    def t_(self) -> TensorT:
        """Transpose a matrix, in place; return x."""
        ...

    def flatten(
        self, start_dim: builtins.int = 0, end_dim: builtins.int = -1
    ) -> TensorT:
        """Return x with dimensions merged."""
        ...

    def squeeze(self, dim: Any = None) -> TensorT:
        """Return x without dimensions of size 1."""
        ...

    def unsqueeze(self, dim: builtins.int) -> TensorT:
        """Return x with a dimension of size 1 inserted."""
        ...

    def transpose(self, dim0: builtins.int, dim1: builtins.int) -> TensorT:
        """Return x with two dimensions exchanged: a view."""
        ...

    def t(self) -> TensorT:
        """Return the transpose of a matrix."""
        ...

    def clone(self, *, memory_format: Any = None) -> TensorT:
        """Return a copy with the same history, in the same layout if none is named."""
        ...

    def reshape(self, *sizes: Any) -> TensorT:
        """Return x in another shape; one size may be -1."""
        ...

    def view(self, *sizes: Any) -> TensorT:
        """Return x in another shape, sharing its memory."""
        ...

    def permute(self, *sizes: Any) -> TensorT:
        """Return x with its dimensions in another order: a view."""
        ...

    def expand(self, *sizes: Any) -> TensorT:
        """Return x repeated to a larger shape, without a copy."""
        ...

    @property
    def T(self) -> TensorT:
        """The dimensions in reverse order: a view."""
        ...

    @property
    def mT(self) -> TensorT:
        """The last two dimensions exchanged: a view."""
        ...

    def contiguous(self, memory_format: Any = contiguous_format) -> TensorT:
        """Return x itself if its elements lie in this order, row-major, else a copy."""
        ...

    def to(
        self,
        *args: Any,
        dtype: DType | None = None,
        copy: builtins.bool = False,
        device: str | Device | None = None,
        non_blocking: builtins.bool = False,
        memory_format: Any = None,
    ) -> TensorT:
        """Return x with another dtype or on another device, itself if nothing changes."""
        ...

    def cpu(self, memory_format: Any = None) -> TensorT:
        """Return x itself: it lives on the CPU."""
        ...

    def type_as(self, other: TensorT) -> TensorT:
        """Return x with the dtype of `other`."""
        ...

    def float(self) -> TensorT:
        """Return x as float32."""
        ...

    def double(self) -> TensorT:
        """Return x as float64."""
        ...

    def int(self) -> TensorT:
        """Return x as int32."""
        ...

    def long(self) -> TensorT:
        """Return x as int64."""
        ...

    def bool(self) -> TensorT:
        """Return x as booleans."""
        ...

    def asinh(self) -> TensorT:
        """Return the number whose hyperbolic sine is x, element by element."""
        ...

    def asinh_(self) -> TensorT:
        """Take `asinh` of every element, in place; return x."""
        ...

    def acosh(self) -> TensorT:
        """Return the number of 0 or more whose hyperbolic cosine is x; NaN below 1."""
        ...

    def acosh_(self) -> TensorT:
        """Take `acosh` of every element, in place; return x."""
        ...

    def atanh(self) -> TensorT:
        """Return the number whose hyperbolic tangent is x; NaN beyond -1 and 1."""
        ...

    def atanh_(self) -> TensorT:
        """Take `atanh` of every element, in place; return x."""
        ...

    def logit(self, eps: builtins.float | None = None) -> TensorT:
        """Return what `ac.logit` makes of x."""
        ...

    def logit_(self, eps: builtins.float | None = None) -> TensorT:
        """Take `logit` of every element, in place; return x."""
        ...

    def xlogy(self, other: Any) -> TensorT:
        """Return x log(y), which is 0 where x is 0 (and NaN where y is)."""
        ...

    def xlogy_(self, other: Any) -> TensorT:
        """Take `xlogy` of every element, in place; return x."""
        ...

    def logaddexp(self, other: TensorT) -> TensorT:
        """Return log(e^x + e^y), the larger one taken out."""
        ...

    def logaddexp2(self, other: TensorT) -> TensorT:
        """Return log2(2^x + 2^y), the larger one taken out."""
        ...

    def hypot(self, other: TensorT) -> TensorT:
        """Return sqrt(x^2 + y^2), without overflow on the way."""
        ...

    def hypot_(self, other: TensorT) -> TensorT:
        """Take `hypot` of every element, in place; return x."""
        ...

    def fmax(self, other: TensorT) -> TensorT:
        """Return the larger of x and y; of a number and NaN, the number."""
        ...

    def fmin(self, other: TensorT) -> TensorT:
        """Return the smaller of x and y; of a number and NaN, the number."""
        ...

    def float_power(self, exponent: Any) -> TensorT:
        """Return x to the power y, in float64."""
        ...

    def float_power_(self, exponent: Any) -> TensorT:
        """Take `float_power` of every element, in place; return x."""
        ...

    def signbit(self) -> TensorT:
        """Return whether x is negative; -0.0 is, too."""
        ...

    def copysign(self, other: Any) -> TensorT:
        """Return the size of x with the sign of y."""
        ...

    def copysign_(self, other: Any) -> TensorT:
        """Take `copysign` of every element, in place; return x."""
        ...

    def heaviside(self, values: TensorT) -> TensorT:
        """Return what `ac.heaviside` makes of x."""
        ...

    def heaviside_(self, values: TensorT) -> TensorT:
        """Take `heaviside` of every element, in place; return x."""
        ...

    def isposinf(self) -> TensorT:
        """Return whether x is infinity, element by element."""
        ...

    def isneginf(self) -> TensorT:
        """Return whether x is -infinity, element by element."""
        ...

    def deg2rad(self) -> TensorT:
        """Return angles given in degrees in radians."""
        ...

    def deg2rad_(self) -> TensorT:
        """Take `deg2rad` of every element, in place; return x."""
        ...

    def rad2deg(self) -> TensorT:
        """Return angles given in radians in degrees."""
        ...

    def rad2deg_(self) -> TensorT:
        """Take `rad2deg` of every element, in place; return x."""
        ...

    def sinc(self) -> TensorT:
        """Return sin(pi x) / (pi x), which is 1 at 0."""
        ...

    def sinc_(self) -> TensorT:
        """Take `sinc` of every element, in place; return x."""
        ...

    def kthvalue(
        self, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False
    ) -> tuple[TensorT, TensorT]:
        """Return what `ac.kthvalue` makes of x."""
        ...

    def quantile(
        self,
        q: Any,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
    ) -> TensorT:
        """Return what a share `q` of the elements along `dim` lies below."""
        ...

    def nanquantile(
        self,
        q: Any,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: str = "linear",
    ) -> TensorT:
        """Return the `quantile` of what is not NaN."""
        ...

    def cummax(self, dim: builtins.int) -> tuple[TensorT, TensorT]:
        """Return the (values, indices) of the largest up to each place along `dim`."""
        ...

    def cummin(self, dim: builtins.int) -> tuple[TensorT, TensorT]:
        """Return the (values, indices) of the smallest up to each place along `dim`."""
        ...

    def logcumsumexp(self, dim: builtins.int) -> TensorT:
        """Return what `ac.logcumsumexp` makes of x."""
        ...

    def diff(
        self,
        n: builtins.int = 1,
        dim: builtins.int = -1,
        prepend: TensorT | None = None,
        append: TensorT | None = None,
    ) -> TensorT:
        """Return x_{i+1} - x_i along `dim`, `n` times."""
        ...

    def dist(self, other: TensorT, p: builtins.float = 2) -> TensorT:
        """Return the `p`-norm of the difference of two tensors."""
        ...

    def argwhere(self) -> TensorT:
        """Return the positions of what is not zero, [n, ndim]: `nonzero`."""
        ...

    def bincount(
        self, weights: TensorT | None = None, minlength: builtins.int = 0
    ) -> TensorT:
        """Return how often each integer from 0 on occurs, or the sum of its weights."""
        ...

    def histc(
        self, bins: builtins.int = 100, min: builtins.float = 0, max: builtins.float = 0
    ) -> TensorT:
        """Return what `ac.histc` makes of x."""
        ...

    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> TensorT | tuple[TensorT, ...]:
        """Return the elements without those that repeat the one before."""
        ...

    def vdot(self, other: TensorT) -> TensorT:
        """Return the sum of x_i y_i of two vectors; the numbers are real."""
        ...

    def cross(self, other: TensorT, dim: builtins.int | None = None) -> TensorT:
        """Return the vector products of 3-vectors along `dim`."""
        ...

    def kron(self, other: TensorT) -> TensorT:
        """Return the Kronecker product: each element of x times all of y."""
        ...

    def diagflat(self, offset: builtins.int = 0) -> TensorT:
        """Return what `ac.diagflat` makes of x."""
        ...

    def rot90(self, k: builtins.int = 1, dims: Any = (0, 1)) -> TensorT:
        """Return what `ac.rot90` makes of x."""
        ...

    def take(self, index: TensorT) -> TensorT:
        """Return the elements at places of the flattened `input`, shaped as `index`."""
        ...

    def put(
        self, index: TensorT, source: TensorT, accumulate: builtins.bool = False
    ) -> TensorT:
        """Return `input` with `source` at, or added to, places of it flattened."""
        ...

    def put_(
        self, index: TensorT, source: TensorT, accumulate: builtins.bool = False
    ) -> TensorT:
        """Take `put` of every element, in place; return x."""
        ...

    def add_(self, other: Any, *, alpha: Any = 1) -> TensorT:
        """Add `other`, in place; return x."""
        ...

    def sub_(self, other: Any, *, alpha: Any = 1) -> TensorT:
        """Subtract `other`, in place; return x."""
        ...

    def mul_(self, other: Any) -> TensorT:
        """Multiply by `other`, in place; return x."""
        ...

    def div_(self, other: Any, *, rounding_mode: Any = None) -> TensorT:
        """Divide by `other`, in place; return x."""
        ...

    def copy_(self, src: Any, non_blocking: Any = False) -> TensorT:
        """Take over the values of `src`, in place; return x."""
        ...

    def fill_(self, value: Any) -> TensorT:
        """Set every element to `value`, in place; return x."""
        ...

    def zero_(self) -> TensorT:
        """Set every element to 0, in place; return x."""
        ...

    def clamp_(self, min: Any = None, max: Any = None) -> TensorT:
        """Limit to min and max, in place; return x."""
        ...

    def uniform_(
        self, low: Any = 0.0, high: Any = 1.0, *, generator: Any = None
    ) -> TensorT:
        """Draw every element evenly from [low, high), in place; return x."""
        ...

    def normal_(
        self, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None
    ) -> TensorT:
        """Draw every element from a normal distribution, in place; return x."""
        ...

    def detach_(self) -> TensorT:
        """Cut the history off, in place; return x."""
        ...

# SPDX-License-Identifier: MIT
"""The types of the methods that `_methods` attaches to `Tensor`.

Made by ``make interface``: not to be edited.  Only type checkers and editors read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc._tensor.generator import Generator
from autocalc._tensor.memory_format import contiguous_format

T = TypeVar("T")


class TensorInterface(Generic[T]):
    """Methods, their signatures and what they return; `T` is `Tensor`."""

    __slots__ = ()

    def arctanh(self) -> T:
        """Return the number whose hyperbolic tangent is x; NaN beyond -1 and 1."""

    def arctanh_(self) -> T:
        """Take `atanh` of every element, in place; return x."""

    def arccosh(self) -> T:
        """Return the number of 0 or more whose hyperbolic cosine is x; NaN below 1."""

    def arccosh_(self) -> T:
        """Take `acosh` of every element, in place; return x."""

    def arcsinh(self) -> T:
        """Return the number whose hyperbolic sine is x, element by element."""

    def arcsinh_(self) -> T:
        """Take `asinh` of every element, in place; return x."""

    def absolute(self) -> T:
        """Return the absolute value, element by element."""

    def absolute_(self) -> T:
        """Take `abs` of every element, in place; return x."""

    def arccos(self) -> T:
        """Return the angle whose cosine is x, element by element."""

    def arccos_(self) -> T:
        """Take `acos` of every element, in place; return x."""

    def arcsin(self) -> T:
        """Return the angle whose sine is x, element by element."""

    def arcsin_(self) -> T:
        """Take `asin` of every element, in place; return x."""

    def arctan(self) -> T:
        """Return the angle whose tangent is x, element by element."""

    def arctan2(self, other: Any) -> T:
        """Return the angle of the point (other, x), element by element."""

    def arctan2_(self, other: Any) -> T:
        """Take `atan2` of x and `other`, in place; return x."""

    def arctan_(self) -> T:
        """Take `atan` of every element, in place; return x."""

    def clip(self, min: Any = None, max: Any = None) -> T:
        """Return x limited to min and max."""

    def clip_(self, min: Any = None, max: Any = None) -> T:
        """Limit to min and max, in place; return x."""

    def divide(self, other: Any, *, rounding_mode: str | None = None) -> T:
        """Return x / other, element by element."""

    def divide_(self, other: Any, *, rounding_mode: Any = None) -> T:
        """Divide by `other`, in place; return x."""

    def fix(self) -> T:
        """Return x rounded to zero."""

    def fix_(self) -> T:
        """Take `trunc` of every element, in place; return x."""

    def ger(self, vec2: T) -> T:
        """Return x_i y_j, as a matrix."""

    def greater(self, other: Any) -> T:
        """Return x > other, element by element."""

    def greater_(self, other: Any) -> T:
        """Take `gt` of x and `other`, in place; return x."""

    def greater_equal(self, other: Any) -> T:
        """Return x >= other, element by element."""

    def greater_equal_(self, other: Any) -> T:
        """Take `ge` of x and `other`, in place; return x."""

    def less(self, other: Any) -> T:
        """Return x < other, element by element."""

    def less_(self, other: Any) -> T:
        """Take `lt` of x and `other`, in place; return x."""

    def less_equal(self, other: Any) -> T:
        """Return x <= other, element by element."""

    def less_equal_(self, other: Any) -> T:
        """Take `le` of x and `other`, in place; return x."""

    def multiply(self, other: Any) -> T:
        """Return x * other, element by element."""

    def multiply_(self, other: Any) -> T:
        """Multiply by `other`, in place; return x."""

    def negative(self) -> T:
        """Return -x, element by element."""

    def negative_(self) -> T:
        """Take `neg` of every element, in place; return x."""

    def not_equal(self, other: Any) -> T:
        """Return x != other, element by element."""

    def not_equal_(self, other: Any) -> T:
        """Take `ne` of x and `other`, in place; return x."""

    def sgn(self) -> T:
        """Return 1, 0 or -1, element by element."""

    def sgn_(self) -> T:
        """Take `sign` of every element, in place; return x."""

    def subtract(self, other: Any, *, alpha: Any = 1) -> T:
        """Return x - other, element by element."""

    def subtract_(self, other: Any, *, alpha: Any = 1) -> T:
        """Subtract `other`, in place; return x."""

    def true_divide_(self, other: Any, *, rounding_mode: Any = None) -> T:
        """Divide by `other`, in place; return x."""

    is_cpu: bool

    is_cuda: bool

    is_mps: bool

    is_xpu: bool

    is_meta: bool

    is_sparse: bool

    is_quantized: bool

    is_nested: bool

    def ndimension(self) -> int:
        """Return the number of dimensions."""

    def nelement(self) -> int:
        """Return the number of elements."""

    def is_signed(self) -> bool:
        """Return whether the dtype has negative values."""

    def is_complex(self) -> bool:
        """Return False: there are no complex dtypes."""

    def is_nonzero(self) -> bool:
        """Return whether the one element is not 0."""

    def is_pinned(self) -> bool:
        """Return False: memory is pinned for copies to devices."""

    def is_shared(self) -> bool:
        """Return False: processes share memory through data loaders alone."""

    def is_inference(self) -> bool:
        """Return False: tensors made under `inference_mode` are like all others."""

    def is_same_size(self, other: T) -> bool:
        """Return whether the shapes are equal."""

    def get_device(self) -> int:
        """Return -1, the number of the CPU."""

    def storage_offset(self) -> int:
        """Return how many elements of the base lie before the first one."""

    def pin_memory(self) -> T:
        """Return x itself: no device copies from it."""

    def share_memory_(self) -> T:
        """Return x itself."""

    def cuda(
        self, device: int | str | Device | None = None, non_blocking: bool = False
    ) -> T:
        """Raise: there is no CUDA device."""

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Return x in another dtype, or, without one, the name of its own."""

    def byte(self) -> T:
        """Return x as uint8."""

    def char(self) -> T:
        """Return x as int8."""

    def short(self) -> T:
        """Return x as int16."""

    @property
    def H(self) -> T:
        """The transpose of a matrix, its numbers being real: a view."""

    @property
    def mH(self) -> T:
        """The last two dimensions exchanged, the numbers being real: a view."""

    def __add__(self, other: Any) -> T: ...

    def __radd__(self, other: Any) -> T: ...

    def __sub__(self, other: Any) -> T: ...

    def __rsub__(self, other: Any) -> T: ...

    def __mul__(self, other: Any) -> T: ...

    def __rmul__(self, other: Any) -> T: ...

    def __truediv__(self, other: Any) -> T: ...

    def __rtruediv__(self, other: Any) -> T: ...

    def __rdiv__(self, other: Any) -> T: ...

    def __pow__(self, other: Any) -> T: ...

    def __rpow__(self, other: Any) -> T: ...

    def __floordiv__(self, other: Any) -> T: ...

    def __rfloordiv__(self, other: Any) -> T: ...

    def __mod__(self, other: Any) -> T: ...

    def __rmod__(self, other: Any) -> T: ...

    def __and__(self, other: Any) -> T: ...

    def __rand__(self, other: Any) -> T: ...

    def __or__(self, other: Any) -> T: ...

    def __ror__(self, other: Any) -> T: ...

    def __xor__(self, other: Any) -> T: ...

    def __rxor__(self, other: Any) -> T: ...

    def __lshift__(self, other: Any) -> T: ...

    def __rlshift__(self, other: Any) -> T: ...

    def __rshift__(self, other: Any) -> T: ...

    def __rrshift__(self, other: Any) -> T: ...

    def __invert__(self) -> T: ...

    def __rmatmul__(self, other: Any) -> T: ...

    def __neg__(self) -> T: ...

    def __pos__(self) -> T: ...

    def __abs__(self) -> T: ...

    def __matmul__(self, other: Any) -> T: ...

    def __eq__(self, other: object) -> T:  # type: ignore[override]  # element by element
        ...

    def __ne__(self, other: object) -> T:  # type: ignore[override]  # element by element
        ...

    def __lt__(self, other: Any) -> T: ...

    def __le__(self, other: Any) -> T: ...

    def __gt__(self, other: Any) -> T: ...

    def __ge__(self, other: Any) -> T: ...

    def __getitem__(self, index: Any) -> T: ...

    def __setitem__(self, index: Any, value: Any) -> None: ...

    def __iadd__(self, other: Any) -> T: ...

    def __isub__(self, other: Any) -> T: ...

    def __imul__(self, other: Any) -> T: ...

    def __itruediv__(self, other: Any) -> T: ...

    def __ipow__(self, other: Any) -> T: ...

    def __ifloordiv__(self, other: Any) -> T: ...

    def __imod__(self, other: Any) -> T: ...

    def __iand__(self, other: Any) -> T: ...

    def __ior__(self, other: Any) -> T: ...

    def __ixor__(self, other: Any) -> T: ...

    def __reversed__(self) -> T: ...

    def select(self, dim: int, index: int) -> T:
        """Return slice number `index` along `dim`: a view."""

    def narrow(self, dim: int, start: int | T, length: int) -> T:
        """Return `length` slices along `dim` from `start` on: a view."""

    def split(self, split_size: Ints, dim: int = 0) -> tuple[T, ...]:
        """Return views of one size, or of each size, along `dim`."""

    def split_with_sizes(
        self, split_sizes: Sequence[int], dim: int = 0
    ) -> tuple[T, ...]:
        """Return views of the given sizes along `dim`."""

    def tensor_split(self, indices_or_sections: Ints, dim: int = 0) -> tuple[T, ...]:
        """Return that many views along `dim`, or views cut before each index."""

    def hsplit(self, indices_or_sections: Ints) -> tuple[T, ...]:
        """Return views along the second dimension, or the only one."""

    def vsplit(self, indices_or_sections: Ints) -> tuple[T, ...]:
        """Return views along the first dimension."""

    def dsplit(self, indices_or_sections: Ints) -> tuple[T, ...]:
        """Return views along the third dimension."""

    def chunk(self, chunks: int, dim: int = 0) -> tuple[T, ...]:
        """Return at most `chunks` views along `dim`."""

    def unbind(self, dim: int = 0) -> tuple[T, ...]:
        """Return a view of each slice along `dim`."""

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> T:
        """Return the diagonal of two dimensions as the last one: a view."""

    def diag(self, diagonal: int = 0) -> T:
        """Return the matrix of a diagonal, or the diagonal of a matrix."""

    def diag_embed(self, offset: int = 0, dim1: int = -2, dim2: int = -1) -> T:
        """Return zeros with the last dimension of x on a diagonal."""

    def trace(self) -> T:
        """Return the sum of the diagonal of a matrix."""

    def tril(self, diagonal: int = 0) -> T:
        """Return x with zeros above a diagonal."""

    def triu(self, diagonal: int = 0) -> T:
        """Return x with zeros below a diagonal."""

    def tril_(self, diagonal: int = 0) -> T:
        """Write zeros above a diagonal, in place; return x."""

    def triu_(self, diagonal: int = 0) -> T:
        """Write zeros below a diagonal, in place; return x."""

    def movedim(self, source: Ints, destination: Ints) -> T:
        """Return x with dimensions moved: a view."""

    def moveaxis(self, source: Ints, destination: Ints) -> T:
        """Return x with dimensions moved: a view."""

    def swapaxes(self, axis0: int, axis1: int) -> T:
        """Return x with two dimensions exchanged: a view."""

    def swapdims(self, axis0: int, axis1: int) -> T:
        """Return x with two dimensions exchanged: a view."""

    def broadcast_to(self, size: Sequence[int]) -> T:
        """Return x repeated to `size`, without a copy."""

    def expand_as(self, other: T) -> T:
        """Return x repeated to the shape of `other`, without a copy."""

    def view_as(self, other: T) -> T:
        """Return x in the shape of `other`, sharing its memory."""

    def reshape_as(self, other: T) -> T:
        """Return x in the shape of `other`."""

    def ravel(self) -> T:
        """Return x with one dimension."""

    def unflatten(self, dim: int, sizes: Sequence[int]) -> T:
        """Return x with one dimension in several."""

    def sum_to_size(self, *size: Any) -> T:
        """Return x summed over the dimensions in which `size` broadcasts to it."""

    def repeat(self, *repeats: Any) -> T:
        """Return copies of x side by side."""

    def tile(self, *sizes: Any, dims: Any = None) -> T:
        """Return copies of x side by side; missing repeats are 1."""

    def repeat_interleave(
        self,
        repeats: int | T | None = None,
        dim: int | None = None,
        *,
        output_size: int | None = None,
    ) -> T:
        """Return each element repeated, one behind the other."""

    def roll(self, shifts: Any, dims: Any = None) -> T:
        """Return x shifted along dimensions, round the end."""

    def flip(self, *axes: Any, dims: Any = None) -> T:
        """Return x with the order along dimensions reversed."""

    def fliplr(self) -> T:
        """Return x with the order along the second dimension reversed."""

    def flipud(self) -> T:
        """Return x with the order along the first dimension reversed."""

    def _array_of(self, data: tuple[Any, ...], dtype: DType | None) -> Any:
        """Return the array of ``Tensor(*data)``: of data, or of undefined values."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any: ...

    def new_zeros(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool = False,
    ) -> T:
        """Return zeros of the dtype of x."""

    def new_ones(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool = False,
    ) -> T:
        """Return ones of the dtype of x."""

    def new_empty(
        self,
        *sizes: Any,
        size: Any = None,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool = False,
    ) -> T:
        """Return a tensor of the dtype of x, its values undefined."""

    def new_full(
        self,
        size: Any,
        fill_value: Any,
        *,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool = False,
    ) -> T:
        """Return a tensor of the dtype of x, filled with one number."""

    def new_tensor(
        self,
        data: Any,
        *,
        dtype: DType | None = None,
        device: str | Device | None = None,
        requires_grad: bool = False,
    ) -> T:
        """Return a copy of numbers, lists or an array, of the dtype of x."""

    def bernoulli(
        self, p: float | None = None, *, generator: Generator | None = None
    ) -> T:
        """Return 1 with the probability that x holds, else 0."""

    def bernoulli_(self, p: Any = 0.5, *, generator: Generator | None = None) -> T:
        """Draw 1 with probability `p`, else 0, in place; return x."""

    def random_(
        self,
        low: int = 0,
        high: int | None = None,
        *,
        generator: Generator | None = None,
    ) -> T:
        """Draw integers from low to high - 1, in place; return x."""

    def exponential_(
        self, lambd: float = 1.0, *, generator: Generator | None = None
    ) -> T:
        """Draw from an exponential distribution, in place; return x."""

    def multinomial(
        self,
        num_samples: int,
        replacement: bool = False,
        *,
        generator: Generator | None = None,
    ) -> T:
        """Return indices drawn with probabilities in proportion to x."""

    def exp(self) -> T:
        """Return e^x, element by element."""

    def log(self) -> T:
        """Return the natural logarithm, element by element."""

    def sqrt(self) -> T:
        """Return the square root, element by element."""

    def rsqrt(self) -> T:
        """Return 1 / sqrt(x), element by element."""

    def sin(self) -> T:
        """Return the sine, element by element."""

    def cos(self) -> T:
        """Return the cosine, element by element."""

    def tanh(self) -> T:
        """Return the hyperbolic tangent, element by element."""

    def sigmoid(self) -> T:
        """Return 1 / (1 + e^-x), element by element."""

    def relu(self) -> T:
        """Return max(x, 0), element by element."""

    def erf(self) -> T:
        """Return the error function, element by element."""

    def abs(self) -> T:
        """Return the absolute value, element by element."""

    def neg(self) -> T:
        """Return -x, element by element."""

    def add(self, other: Any, *, alpha: Any = 1) -> T:
        """Return x + other, element by element."""

    def sub(self, other: Any, *, alpha: Any = 1) -> T:
        """Return x - other, element by element."""

    def mul(self, other: Any) -> T:
        """Return x * other, element by element."""

    def div(self, other: Any, *, rounding_mode: str | None = None) -> T:
        """Return x / other, element by element."""

    def pow(self, exponent: Any) -> T:
        """Return x to the power `exponent`, element by element."""

    def maximum(self, other: Any) -> T:
        """Return the larger of x and other, element by element."""

    def minimum(self, other: Any) -> T:
        """Return the smaller of x and other, element by element."""

    def eq(self, other: Any) -> T:
        """Return x == other, element by element."""

    def ne(self, other: Any) -> T:
        """Return x != other, element by element."""

    def lt(self, other: Any) -> T:
        """Return x < other, element by element."""

    def le(self, other: Any) -> T:
        """Return x <= other, element by element."""

    def gt(self, other: Any) -> T:
        """Return x > other, element by element."""

    def ge(self, other: Any) -> T:
        """Return x >= other, element by element."""

    def floor(self) -> T:
        """Return x rounded down."""

    def ceil(self) -> T:
        """Return x rounded up."""

    def round(self, *, decimals: int = 0) -> T:
        """Return x rounded to the nearest, ties to even."""

    def trunc(self) -> T:
        """Return x rounded to zero."""

    def clamp(self, min: Any = None, max: Any = None) -> T:
        """Return x limited to min and max."""

    def where(self, condition: T, other: Any) -> T:
        """Return x where `condition` holds, else `other`."""

    def backward(
        self,
        gradient: T | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Add d(self)/d(leaf) to the `grad` of every leaf that requires one."""

    def asinh(self) -> T:
        """Return the number whose hyperbolic sine is x, element by element."""

    def asinh_(self) -> T:
        """Take `asinh` of every element, in place; return x."""

    def acosh(self) -> T:
        """Return the number of 0 or more whose hyperbolic cosine is x; NaN below 1."""

    def acosh_(self) -> T:
        """Take `acosh` of every element, in place; return x."""

    def atanh(self) -> T:
        """Return the number whose hyperbolic tangent is x; NaN beyond -1 and 1."""

    def atanh_(self) -> T:
        """Take `atanh` of every element, in place; return x."""

    def logit(self, eps: float | None = None) -> T:
        """Return what `ac.logit` makes of x."""

    def logit_(self, eps: float | None = None) -> T:
        """Take `logit` of every element, in place; return x."""

    def xlogy(self, other: Any) -> T:
        """Return x log(y), which is 0 where x is 0 (and NaN where y is)."""

    def xlogy_(self, other: Any) -> T:
        """Take `xlogy` of every element, in place; return x."""

    def logaddexp(self, other: T) -> T:
        """Return log(e^x + e^y), the larger one taken out."""

    def logaddexp2(self, other: T) -> T:
        """Return log2(2^x + 2^y), the larger one taken out."""

    def hypot(self, other: T) -> T:
        """Return sqrt(x^2 + y^2), without overflow on the way."""

    def hypot_(self, other: T) -> T:
        """Take `hypot` of every element, in place; return x."""

    def fmax(self, other: T) -> T:
        """Return the larger of x and y; of a number and NaN, the number."""

    def fmin(self, other: T) -> T:
        """Return the smaller of x and y; of a number and NaN, the number."""

    def float_power(self, exponent: Any) -> T:
        """Return x to the power y, in float64."""

    def float_power_(self, exponent: Any) -> T:
        """Take `float_power` of every element, in place; return x."""

    def signbit(self) -> T:
        """Return whether x is negative; -0.0 is, too."""

    def copysign(self, other: Any) -> T:
        """Return the size of x with the sign of y."""

    def copysign_(self, other: Any) -> T:
        """Take `copysign` of every element, in place; return x."""

    def heaviside(self, values: T) -> T:
        """Return what `ac.heaviside` makes of x."""

    def heaviside_(self, values: T) -> T:
        """Take `heaviside` of every element, in place; return x."""

    def isposinf(self) -> T:
        """Return whether x is infinity, element by element."""

    def isneginf(self) -> T:
        """Return whether x is -infinity, element by element."""

    def deg2rad(self) -> T:
        """Return angles given in degrees in radians."""

    def deg2rad_(self) -> T:
        """Take `deg2rad` of every element, in place; return x."""

    def rad2deg(self) -> T:
        """Return angles given in radians in degrees."""

    def rad2deg_(self) -> T:
        """Take `rad2deg` of every element, in place; return x."""

    def sinc(self) -> T:
        """Return sin(pi x) / (pi x), which is 1 at 0."""

    def sinc_(self) -> T:
        """Take `sinc` of every element, in place; return x."""

    def kthvalue(self, k: int, dim: int = -1, keepdim: bool = False) -> tuple[T, T]:
        """Return what `ac.kthvalue` makes of x."""

    def quantile(
        self,
        q: Any,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> T:
        """Return what a share `q` of the elements along `dim` lies below."""

    def nanquantile(
        self,
        q: Any,
        dim: int | None = None,
        keepdim: bool = False,
        *,
        interpolation: str = "linear",
    ) -> T:
        """Return the `quantile` of what is not NaN."""

    def cummax(self, dim: int) -> tuple[T, T]:
        """Return the (values, indices) of the largest up to each place along `dim`."""

    def cummin(self, dim: int) -> tuple[T, T]:
        """Return the (values, indices) of the smallest up to each place along `dim`."""

    def logcumsumexp(self, dim: int) -> T:
        """Return what `ac.logcumsumexp` makes of x."""

    def diff(
        self,
        n: int = 1,
        dim: int = -1,
        prepend: T | None = None,
        append: T | None = None,
    ) -> T:
        """Return x_{i+1} - x_i along `dim`, `n` times."""

    def dist(self, other: T, p: float = 2) -> T:
        """Return the `p`-norm of the difference of two tensors."""

    def argwhere(self) -> T:
        """Return the positions of what is not zero, [n, ndim]: `nonzero`."""

    def bincount(self, weights: T | None = None, minlength: int = 0) -> T:
        """Return how often each integer from 0 on occurs, or the sum of its weights."""

    def histc(self, bins: int = 100, min: float = 0, max: float = 0) -> T:
        """Return what `ac.histc` makes of x."""

    def unique_consecutive(
        self,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> T | tuple[T, ...]:
        """Return the elements without those that repeat the one before."""

    def vdot(self, other: T) -> T:
        """Return the sum of x_i y_i of two vectors; the numbers are real."""

    def cross(self, other: T, dim: int | None = None) -> T:
        """Return the vector products of 3-vectors along `dim`."""

    def kron(self, other: T) -> T:
        """Return the Kronecker product: each element of x times all of y."""

    def diagflat(self, offset: int = 0) -> T:
        """Return what `ac.diagflat` makes of x."""

    def rot90(self, k: int = 1, dims: Any = (0, 1)) -> T:
        """Return what `ac.rot90` makes of x."""

    def take(self, index: T) -> T:
        """Return the elements at places of the flattened `input`, shaped as `index`."""

    def put(self, index: T, source: T, accumulate: bool = False) -> T:
        """Return `input` with `source` at, or added to, places of it flattened."""

    def put_(self, index: T, source: T, accumulate: bool = False) -> T:
        """Take `put` of every element, in place; return x."""

    def prod(
        self, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
    ) -> T:
        """Return the product over `dim`."""

    def cumsum(self, dim: int, *, dtype: DType | None = None) -> T:
        """Return the running sums along `dim`."""

    def cumprod(self, dim: int, *, dtype: DType | None = None) -> T:
        """Return the running products along `dim`."""

    def aminmax(self, *, dim: int | None = None, keepdim: bool = False) -> Any:
        """Return the smallest and the largest elements."""

    def count_nonzero(self, dim: Any = None) -> T:
        """Return how many elements are not zero."""

    def nansum(
        self, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
    ) -> T:
        """Return the sum over `dim`, NaN counted as 0."""

    def nanmean(
        self, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
    ) -> T:
        """Return the mean over `dim` of what is not NaN."""

    def argsort(
        self, dim: int = -1, descending: bool = False, *, stable: bool = False
    ) -> T:
        """Return the indices that sort along `dim`."""

    def sort(
        self, dim: int = -1, descending: bool = False, *, stable: bool = False
    ) -> Any:
        """Return (values, indices) in order along `dim`."""

    def msort(self) -> T:
        """Return x sorted along its first dimension."""

    def topk(
        self, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
    ) -> Any:
        """Return the (values, indices) of the k largest."""

    def median(self, dim: int | None = None, keepdim: bool = False) -> Any:
        """Return the median; with `dim`, (values, indices)."""

    def nonzero(self, *, as_tuple: bool = False) -> Any:
        """Return the positions of what is not zero."""

    def masked_select(self, mask: T) -> T:
        """Return the elements at which `mask` holds."""

    def unique(
        self,
        sorted: bool = True,
        return_inverse: bool = False,
        return_counts: bool = False,
        dim: int | None = None,
    ) -> Any:
        """Return the distinct elements, in order."""

    def gather(self, dim: int, index: T, *, sparse_grad: bool = False) -> T:
        """Return the elements that `index` names along `dim`."""

    def index_select(self, dim: int, index: T) -> T:
        """Return the slices that `index` names along `dim`."""

    def take_along_dim(self, indices: T, dim: int | None = None) -> T:
        """Return the elements that `indices` names along `dim`, broadcast."""

    def index_put(
        self, indices: Sequence[Any], values: T, accumulate: bool = False
    ) -> T:
        """Return x with `values` written at, or added to, index tensors."""

    def index_put_(
        self, indices: Sequence[Any], values: T, accumulate: bool = False
    ) -> T:
        """Write `values` at index tensors, or add them, in place; return x."""

    def index_add(self, dim: int, index: T, source: T, *, alpha: float = 1) -> T:
        """Return x with alpha * source added at `index` along `dim`."""

    def index_add_(self, dim: int, index: T, source: T, *, alpha: float = 1) -> T:
        """Add alpha * source at `index` along `dim`, in place; return x."""

    def index_copy(self, dim: int, index: T, source: T) -> T:
        """Return x with `source` written at `index` along `dim`."""

    def index_copy_(self, dim: int, index: T, source: T) -> T:
        """Write `source` at `index` along `dim`, in place; return x."""

    def index_fill(self, dim: int, index: T, value: Any) -> T:
        """Return x with a number at `index` along `dim`."""

    def index_fill_(self, dim: int, index: T, value: Any) -> T:
        """Write a number at `index` along `dim`, in place; return x."""

    def masked_fill(self, mask: T, value: Any) -> T:
        """Return x with a number where `mask` holds."""

    def masked_fill_(self, mask: T, value: Any) -> T:
        """Write a number where `mask` holds, in place; return x."""

    def masked_scatter(self, mask: T, source: T) -> T:
        """Return x with the elements of `source`, in order, where `mask` holds."""

    def masked_scatter_(self, mask: T, source: T) -> T:
        """Write the elements of `source` where `mask` holds, in place; return x."""

    def scatter(
        self,
        dim: int,
        index: T,
        src: Any = None,
        *,
        value: Any = None,
        reduce: str | None = None,
    ) -> T:
        """Return x with `src` written where `index` says along `dim`."""

    def scatter_(
        self,
        dim: int,
        index: T,
        src: Any = None,
        *,
        value: Any = None,
        reduce: str | None = None,
    ) -> T:
        """Write `src` where `index` says along `dim`, in place; return x."""

    def scatter_add(self, dim: int, index: T, src: T) -> T:
        """Return x with `src` added where `index` says along `dim`."""

    def scatter_add_(self, dim: int, index: T, src: T) -> T:
        """Add `src` where `index` says along `dim`, in place; return x."""

    def exp2(self) -> T:
        """Return 2^x, element by element."""

    def expm1(self) -> T:
        """Return e^x - 1, element by element."""

    def log2(self) -> T:
        """Return the logarithm to base 2, element by element."""

    def log10(self) -> T:
        """Return the logarithm to base 10, element by element."""

    def log1p(self) -> T:
        """Return log(1 + x), element by element."""

    def tan(self) -> T:
        """Return the tangent, element by element."""

    def asin(self) -> T:
        """Return the angle whose sine is x, element by element."""

    def acos(self) -> T:
        """Return the angle whose cosine is x, element by element."""

    def atan(self) -> T:
        """Return the angle whose tangent is x, element by element."""

    def sinh(self) -> T:
        """Return the hyperbolic sine, element by element."""

    def cosh(self) -> T:
        """Return the hyperbolic cosine, element by element."""

    def erfc(self) -> T:
        """Return 1 - erf(x), element by element."""

    def sign(self) -> T:
        """Return 1, 0 or -1, element by element."""

    def square(self) -> T:
        """Return x * x, element by element."""

    def reciprocal(self) -> T:
        """Return 1 / x, element by element."""

    def frac(self) -> T:
        """Return x - trunc(x), element by element."""

    def isnan(self) -> T:
        """Return whether x is NaN, element by element."""

    def isinf(self) -> T:
        """Return whether x is infinite, element by element."""

    def isfinite(self) -> T:
        """Return whether x is finite, element by element."""

    def logical_not(self) -> T:
        """Return whether x is zero, element by element."""

    def bitwise_not(self) -> T:
        """Return the other bits, element by element."""

    def positive(self) -> T:
        """Return x itself, element by element."""

    def atan2(self, other: Any) -> T:
        """Return the angle of the point (other, x), element by element."""

    def floor_divide(self, other: Any) -> T:
        """Return floor(x / other), element by element."""

    def remainder(self, other: Any) -> T:
        """Return x less whole multiples of other; the sign is that of other."""

    def fmod(self, other: Any) -> T:
        """Return x less whole multiples of other; the sign is that of x."""

    def true_divide(self, other: Any) -> T:
        """Return x / other, element by element."""

    def logical_and(self, other: Any) -> T:
        """Return whether both are non-zero, element by element."""

    def logical_or(self, other: Any) -> T:
        """Return whether either is non-zero, element by element."""

    def logical_xor(self, other: Any) -> T:
        """Return whether one is non-zero, element by element."""

    def bitwise_and(self, other: Any) -> T:
        """Return the bits set in both, element by element."""

    def bitwise_or(self, other: Any) -> T:
        """Return the bits set in either, element by element."""

    def bitwise_xor(self, other: Any) -> T:
        """Return the bits set in one, element by element."""

    def bitwise_left_shift(self, other: Any) -> T:
        """Return x * 2^other, element by element."""

    def bitwise_right_shift(self, other: Any) -> T:
        """Return floor(x / 2^other), element by element."""

    def lerp(self, end: T, weight: Any) -> T:
        """Return x + weight * (end - x)."""

    def addcmul(self, tensor1: T, tensor2: T, *, value: float = 1) -> T:
        """Return x + value * tensor1 * tensor2."""

    def addcdiv(self, tensor1: T, tensor2: T, *, value: float = 1) -> T:
        """Return x + value * tensor1 / tensor2."""

    def clamp_min(self, min: Any) -> T:
        """Return max(x, min)."""

    def clamp_max(self, max: Any) -> T:
        """Return min(x, max)."""

    def nan_to_num(
        self,
        nan: float | None = 0.0,
        posinf: float | None = None,
        neginf: float | None = None,
    ) -> T:
        """Return x with NaN and infinities replaced."""

    def isclose(
        self,
        other: T,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> T:
        """Return whether x and other agree, element by element."""

    def allclose(
        self,
        other: T,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> bool:
        """Return whether x and other agree everywhere."""

    def equal(self, other: T) -> bool:
        """Return whether shapes and elements are the same."""

    def abs_(self) -> T:
        """Take `abs` of every element, in place; return x."""

    def neg_(self) -> T:
        """Take `neg` of every element, in place; return x."""

    def exp_(self) -> T:
        """Take `exp` of every element, in place; return x."""

    def exp2_(self) -> T:
        """Take `exp2` of every element, in place; return x."""

    def expm1_(self) -> T:
        """Take `expm1` of every element, in place; return x."""

    def log_(self) -> T:
        """Take `log` of every element, in place; return x."""

    def log2_(self) -> T:
        """Take `log2` of every element, in place; return x."""

    def log10_(self) -> T:
        """Take `log10` of every element, in place; return x."""

    def log1p_(self) -> T:
        """Take `log1p` of every element, in place; return x."""

    def sqrt_(self) -> T:
        """Take `sqrt` of every element, in place; return x."""

    def rsqrt_(self) -> T:
        """Take `rsqrt` of every element, in place; return x."""

    def sin_(self) -> T:
        """Take `sin` of every element, in place; return x."""

    def cos_(self) -> T:
        """Take `cos` of every element, in place; return x."""

    def tan_(self) -> T:
        """Take `tan` of every element, in place; return x."""

    def asin_(self) -> T:
        """Take `asin` of every element, in place; return x."""

    def acos_(self) -> T:
        """Take `acos` of every element, in place; return x."""

    def atan_(self) -> T:
        """Take `atan` of every element, in place; return x."""

    def sinh_(self) -> T:
        """Take `sinh` of every element, in place; return x."""

    def cosh_(self) -> T:
        """Take `cosh` of every element, in place; return x."""

    def tanh_(self) -> T:
        """Take `tanh` of every element, in place; return x."""

    def sigmoid_(self) -> T:
        """Take `sigmoid` of every element, in place; return x."""

    def relu_(self) -> T:
        """Take `relu` of every element, in place; return x."""

    def erf_(self) -> T:
        """Take `erf` of every element, in place; return x."""

    def erfc_(self) -> T:
        """Take `erfc` of every element, in place; return x."""

    def sign_(self) -> T:
        """Take `sign` of every element, in place; return x."""

    def square_(self) -> T:
        """Take `square` of every element, in place; return x."""

    def reciprocal_(self) -> T:
        """Take `reciprocal` of every element, in place; return x."""

    def frac_(self) -> T:
        """Take `frac` of every element, in place; return x."""

    def floor_(self) -> T:
        """Take `floor` of every element, in place; return x."""

    def ceil_(self) -> T:
        """Take `ceil` of every element, in place; return x."""

    def round_(self, *, decimals: int = 0) -> T:
        """Take `round` of every element, in place; return x."""

    def trunc_(self) -> T:
        """Take `trunc` of every element, in place; return x."""

    def logical_not_(self) -> T:
        """Take `logical_not` of every element, in place; return x."""

    def bitwise_not_(self) -> T:
        """Take `bitwise_not` of every element, in place; return x."""

    def pow_(self, exponent: Any) -> T:
        """Raise x to the power `exponent`, in place; return x."""

    def floor_divide_(self, other: Any) -> T:
        """Take `floor_divide` of x and `other`, in place; return x."""

    def remainder_(self, other: Any) -> T:
        """Take `remainder` of x and `other`, in place; return x."""

    def fmod_(self, other: Any) -> T:
        """Take `fmod` of x and `other`, in place; return x."""

    def atan2_(self, other: Any) -> T:
        """Take `atan2` of x and `other`, in place; return x."""

    def eq_(self, other: Any) -> T:
        """Take `eq` of x and `other`, in place; return x."""

    def ne_(self, other: Any) -> T:
        """Take `ne` of x and `other`, in place; return x."""

    def lt_(self, other: Any) -> T:
        """Take `lt` of x and `other`, in place; return x."""

    def le_(self, other: Any) -> T:
        """Take `le` of x and `other`, in place; return x."""

    def gt_(self, other: Any) -> T:
        """Take `gt` of x and `other`, in place; return x."""

    def ge_(self, other: Any) -> T:
        """Take `ge` of x and `other`, in place; return x."""

    def logical_and_(self, other: Any) -> T:
        """Take `logical_and` of x and `other`, in place; return x."""

    def logical_or_(self, other: Any) -> T:
        """Take `logical_or` of x and `other`, in place; return x."""

    def logical_xor_(self, other: Any) -> T:
        """Take `logical_xor` of x and `other`, in place; return x."""

    def bitwise_and_(self, other: Any) -> T:
        """Take `bitwise_and` of x and `other`, in place; return x."""

    def bitwise_or_(self, other: Any) -> T:
        """Take `bitwise_or` of x and `other`, in place; return x."""

    def bitwise_xor_(self, other: Any) -> T:
        """Take `bitwise_xor` of x and `other`, in place; return x."""

    def lerp_(self, end: T, weight: Any) -> T:
        """Go part of the way to `end`, in place; return x."""

    def addcmul_(self, tensor1: T, tensor2: T, *, value: float = 1) -> T:
        """Add value * tensor1 * tensor2, in place; return x."""

    def addcdiv_(self, tensor1: T, tensor2: T, *, value: float = 1) -> T:
        """Add value * tensor1 / tensor2, in place; return x."""

    def clamp_min_(self, min: Any) -> T:
        """Raise every element to `min` at least, in place; return x."""

    def clamp_max_(self, max: Any) -> T:
        """Lower every element to `max` at most, in place; return x."""

    def nan_to_num_(
        self,
        nan: float | None = 0.0,
        posinf: float | None = None,
        neginf: float | None = None,
    ) -> T:
        """Replace NaN and infinities, in place; return x."""

    def norm(
        self, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
    ) -> T:
        """Return (sum abs(x_i)^p)^(1 / p) over `dim`."""

    def det(self) -> T:
        """Return the determinant of each matrix."""

    def slogdet(self) -> tuple[T, T]:
        """Return the sign of each determinant and the log of its size."""

    def logdet(self) -> T:
        """Return log(det) of each matrix: NaN where it is negative."""

    def inverse(self) -> T:
        """Return the inverse of each matrix."""

    def matrix_power(self, n: int) -> T:
        """Return the product of `n` times the same matrix."""

    def dot(self, tensor: T) -> T:
        """Return the sum of x_i y_i."""

    def mv(self, vec: T) -> T:
        """Return the product of a matrix and a vector."""

    def outer(self, vec2: T) -> T:
        """Return x_i y_j, as a matrix."""

    def inner(self, other: T) -> T:
        """Return the sums of products over the last dimension."""

    def addmm(self, mat1: T, mat2: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Return beta * x + alpha * mat1 @ mat2."""

    def addmm_(self, mat1: T, mat2: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Become beta * x + alpha * mat1 @ mat2; return x."""

    def addmv(self, mat: T, vec: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Return beta * x + alpha * mat @ vec."""

    def addmv_(self, mat: T, vec: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Become beta * x + alpha * mat @ vec; return x."""

    def addr(self, vec1: T, vec2: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Return beta * x + alpha * outer(vec1, vec2)."""

    def addr_(self, vec1: T, vec2: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Become beta * x + alpha * outer(vec1, vec2); return x."""

    def baddbmm(self, batch1: T, batch2: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Return beta * x + alpha * batch1 @ batch2."""

    def baddbmm_(self, batch1: T, batch2: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Become beta * x + alpha * batch1 @ batch2; return x."""

    def addbmm(self, batch1: T, batch2: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Return beta * x + alpha * the sum of batch1[i] @ batch2[i]."""

    def addbmm_(self, batch1: T, batch2: T, *, beta: float = 1, alpha: float = 1) -> T:
        """Become beta * x + alpha * the sum of batch1[i] @ batch2[i]; return x."""

    def sum(
        self, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
    ) -> T:
        """Return the sum over `dim`."""

    def mean(
        self, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None
    ) -> T:
        """Return the mean over `dim`."""

    def var(
        self,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> T:
        """Return the variance over `dim`."""

    def std(
        self,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> T:
        """Return the standard deviation over `dim`."""

    def max(self, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the largest element; with `dim`, (values, indices)."""

    def min(self, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the smallest element; with `dim`, (values, indices)."""

    def amax(self, dim: Any = None, keepdim: bool = False) -> T:
        """Return the largest elements over `dim`."""

    def amin(self, dim: Any = None, keepdim: bool = False) -> T:
        """Return the smallest elements over `dim`."""

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> T:
        """Return the index of the largest element."""

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> T:
        """Return the index of the smallest element."""

    def all(self, dim: Any = None, keepdim: bool = False) -> T:
        """Return whether all elements are true."""

    def any(self, dim: Any = None, keepdim: bool = False) -> T:
        """Return whether any element is true."""

    def logsumexp(self, dim: Any, keepdim: bool = False) -> T:
        """Return log(sum(exp(x))) over `dim`."""

    def softmax(self, dim: int, dtype: DType | None = None) -> T:
        """Return exp(x_i) / sum(exp(x)) along `dim`."""

    def log_softmax(self, dim: int, dtype: DType | None = None) -> T:
        """Return log(softmax(x)) along `dim`."""

    def matmul(self, other: T) -> T:
        """Return the matrix product."""

    def mm(self, mat2: T) -> T:
        """Return the product of two matrices."""

    def bmm(self, mat2: T) -> T:
        """Return the products of two batches of matrices."""

    def squeeze_(self, dim: Any = None) -> T:
        """Take dimensions of size 1 away, in place; return x."""

    def unsqueeze_(self, dim: int) -> T:
        """Insert a dimension of size 1, in place; return x."""

    def transpose_(self, dim0: int, dim1: int) -> T:
        """Exchange two dimensions, in place; return x."""

    def swapaxes_(self, dim0: int, dim1: int) -> T:
        """Exchange two dimensions, in place; return x."""

    def swapdims_(self, dim0: int, dim1: int) -> T:
        """Exchange two dimensions, in place; return x."""

    def t_(self) -> T:
        """Transpose a matrix, in place; return x."""

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> T:
        """Return x with dimensions merged."""

    def squeeze(self, dim: Any = None) -> T:
        """Return x without dimensions of size 1."""

    def unsqueeze(self, dim: int) -> T:
        """Return x with a dimension of size 1 inserted."""

    def transpose(self, dim0: int, dim1: int) -> T:
        """Return x with two dimensions exchanged: a view."""

    def t(self) -> T:
        """Return the transpose of a matrix."""

    def clone(self, *, memory_format: Any = None) -> T:
        """Return a copy with the same history, in the same layout if none is named."""

    def reshape(self, *sizes: Any) -> T:
        """Return x in another shape; one size may be -1."""

    def view(self, *sizes: Any) -> T:
        """Return x in another shape, sharing its memory."""

    def permute(self, *sizes: Any) -> T:
        """Return x with its dimensions in another order: a view."""

    def expand(self, *sizes: Any) -> T:
        """Return x repeated to a larger shape, without a copy."""

    @property
    def T(self) -> T:
        """The dimensions in reverse order: a view."""

    @property
    def mT(self) -> T:
        """The last two dimensions exchanged: a view."""

    def contiguous(self, memory_format: Any = contiguous_format) -> T:
        """Return x itself if its elements lie in this order, row-major, else a copy."""

    def to(
        self,
        *args: Any,
        dtype: DType | None = None,
        copy: bool = False,
        device: str | Device | None = None,
        non_blocking: bool = False,
        memory_format: Any = None,
    ) -> T:
        """Return x with another dtype or on another device, itself if nothing changes."""

    def cpu(self, memory_format: Any = None) -> T:
        """Return x itself: it lives on the CPU."""

    def type_as(self, other: T) -> T:
        """Return x with the dtype of `other`."""

    def float(self) -> T:
        """Return x as float32."""

    def double(self) -> T:
        """Return x as float64."""

    def int(self) -> T:
        """Return x as int32."""

    def long(self) -> T:
        """Return x as int64."""

    def bool(self) -> T:
        """Return x as booleans."""

    def add_(self, other: Any, *, alpha: Any = 1) -> T:
        """Add `other`, in place; return x."""

    def sub_(self, other: Any, *, alpha: Any = 1) -> T:
        """Subtract `other`, in place; return x."""

    def mul_(self, other: Any) -> T:
        """Multiply by `other`, in place; return x."""

    def div_(self, other: Any, *, rounding_mode: Any = None) -> T:
        """Divide by `other`, in place; return x."""

    def copy_(self, src: Any, non_blocking: Any = False) -> T:
        """Take over the values of `src`, in place; return x."""

    def fill_(self, value: Any) -> T:
        """Set every element to `value`, in place; return x."""

    def zero_(self) -> T:
        """Set every element to 0, in place; return x."""

    def clamp_(self, min: Any = None, max: Any = None) -> T:
        """Limit to min and max, in place; return x."""

    def uniform_(self, low: Any = 0.0, high: Any = 1.0, *, generator: Any = None) -> T:
        """Draw every element evenly from [low, high), in place; return x."""

    def normal_(self, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> T:
        """Draw every element from a normal distribution, in place; return x."""

    def detach_(self) -> T:
        """Cut the history off, in place; return x."""

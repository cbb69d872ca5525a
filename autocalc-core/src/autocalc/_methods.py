# SPDX-License-Identifier: MIT
"""The operators as methods of `Tensor`: each a line that calls its function.

`ops` and `functional` are set when the package is put together, since they are made of
tensors themselves.  The arithmetic of ``a * b`` is bound without the extra call: it
would cost as much as the bookkeeping of a small operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autocalc import _dtypes as dtypes
    from autocalc import _functional as functional
    from autocalc import _inplace as inplace
    from autocalc._dtypes import DType
    from autocalc._ops import elementwise as ops
    from autocalc._tensor import Tensor


def _sizes(sizes: tuple[Any, ...]) -> Sequence[int]:
    """Return sizes given one by one or as one sequence."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        return sizes[0]
    return sizes


def _is_operand(other: object) -> bool:
    """Return whether `other` can be compared; no tensor equals a stranger."""
    return isinstance(other, (int, float, list)) or hasattr(other, "__array__")


class TensorMethods:
    """The methods that compute."""

    __slots__ = ()

    # ---- arithmetic ------------------------------------------------------------

    def __add__(self: Tensor, other: Any) -> Tensor:
        return ops.add(self, other)

    __radd__ = __add__

    def __sub__(self: Tensor, other: Any) -> Tensor:
        return ops.sub(self, other)

    def __rsub__(self: Tensor, other: Any) -> Tensor:
        return ops.sub(other, self)

    def __mul__(self: Tensor, other: Any) -> Tensor:
        return ops.mul(self, other)

    __rmul__ = __mul__

    def __truediv__(self: Tensor, other: Any) -> Tensor:
        return ops.div(self, other)

    def __rtruediv__(self: Tensor, other: Any) -> Tensor:
        return ops.div(other, self)

    def __pow__(self: Tensor, other: Any) -> Tensor:
        return ops.pow(self, other)

    def __rpow__(self: Tensor, other: Any) -> Tensor:
        return ops.pow(other, self)

    def __neg__(self: Tensor) -> Tensor:
        return ops.neg(self)

    def __pos__(self: Tensor) -> Tensor:
        return self

    def __abs__(self: Tensor) -> Tensor:
        return ops.abs(self)

    def __matmul__(self: Tensor, other: Any) -> Tensor:
        return functional.matmul(self, other)

    def __eq__(self: Tensor, other: object) -> Tensor:  # type: ignore[override]  # element by element
        return ops.eq(self, other) if _is_operand(other) else NotImplemented

    def __ne__(self: Tensor, other: object) -> Tensor:  # type: ignore[override]  # element by element
        return ops.ne(self, other) if _is_operand(other) else NotImplemented

    __hash__ = object.__hash__

    def __lt__(self: Tensor, other: Any) -> Tensor:
        return ops.lt(self, other)

    def __le__(self: Tensor, other: Any) -> Tensor:
        return ops.le(self, other)

    def __gt__(self: Tensor, other: Any) -> Tensor:
        return ops.gt(self, other)

    def __ge__(self: Tensor, other: Any) -> Tensor:
        return ops.ge(self, other)

    def __getitem__(self: Tensor, index: Any) -> Tensor:
        return functional.getitem(self, index)

    def __setitem__(self: Tensor, index: Any, value: Any) -> None:
        inplace.setitem(self, index, value)

    # ---- elementwise ------------------------------------------------------------

    def exp(self: Tensor) -> Tensor:
        """Return e^x, element by element."""
        return ops.exp(self)

    def log(self: Tensor) -> Tensor:
        """Return the natural logarithm, element by element."""
        return ops.log(self)

    def sqrt(self: Tensor) -> Tensor:
        """Return the square root, element by element."""
        return ops.sqrt(self)

    def sin(self: Tensor) -> Tensor:
        """Return the sine, element by element."""
        return ops.sin(self)

    def cos(self: Tensor) -> Tensor:
        """Return the cosine, element by element."""
        return ops.cos(self)

    def tanh(self: Tensor) -> Tensor:
        """Return the hyperbolic tangent, element by element."""
        return ops.tanh(self)

    def sigmoid(self: Tensor) -> Tensor:
        """Return 1 / (1 + e^-x), element by element."""
        return ops.sigmoid(self)

    def relu(self: Tensor) -> Tensor:
        """Return max(x, 0), element by element."""
        return ops.relu(self)

    def erf(self: Tensor) -> Tensor:
        """Return the error function, element by element."""
        return ops.erf(self)

    def abs(self: Tensor) -> Tensor:
        """Return the absolute value, element by element."""
        return ops.abs(self)

    def neg(self: Tensor) -> Tensor:
        """Return -x, element by element."""
        return ops.neg(self)

    def add(self: Tensor, other: Any) -> Tensor:
        """Return x + other, element by element."""
        return ops.add(self, other)

    def sub(self: Tensor, other: Any) -> Tensor:
        """Return x - other, element by element."""
        return ops.sub(self, other)

    def mul(self: Tensor, other: Any) -> Tensor:
        """Return x * other, element by element."""
        return ops.mul(self, other)

    def div(self: Tensor, other: Any) -> Tensor:
        """Return x / other, element by element."""
        return ops.div(self, other)

    def pow(self: Tensor, other: Any) -> Tensor:
        """Return x to the power other, element by element."""
        return ops.pow(self, other)

    def maximum(self: Tensor, other: Any) -> Tensor:
        """Return the larger of x and other, element by element."""
        return ops.maximum(self, other)

    def minimum(self: Tensor, other: Any) -> Tensor:
        """Return the smaller of x and other, element by element."""
        return ops.minimum(self, other)

    def eq(self: Tensor, other: Any) -> Tensor:
        """Return x == other, element by element."""
        return ops.eq(self, other)

    def ne(self: Tensor, other: Any) -> Tensor:
        """Return x != other, element by element."""
        return ops.ne(self, other)

    def lt(self: Tensor, other: Any) -> Tensor:
        """Return x < other, element by element."""
        return ops.lt(self, other)

    def le(self: Tensor, other: Any) -> Tensor:
        """Return x <= other, element by element."""
        return ops.le(self, other)

    def gt(self: Tensor, other: Any) -> Tensor:
        """Return x > other, element by element."""
        return ops.gt(self, other)

    def ge(self: Tensor, other: Any) -> Tensor:
        """Return x >= other, element by element."""
        return ops.ge(self, other)

    def floor(self: Tensor) -> Tensor:
        """Return x rounded down."""
        return functional.floor(self)

    def ceil(self: Tensor) -> Tensor:
        """Return x rounded up."""
        return functional.ceil(self)

    def round(self: Tensor) -> Tensor:
        """Return x rounded to the nearest, ties to even."""
        return functional.round(self)

    def trunc(self: Tensor) -> Tensor:
        """Return x rounded to zero."""
        return functional.trunc(self)

    def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
        """Return x limited to min and max."""
        return functional.clamp(self, min, max)

    def where(self: Tensor, condition: Tensor, other: Any) -> Tensor:
        """Return x where `condition` holds, else `other`."""
        return functional.where(condition, self, other)

    # ---- reductions ------------------------------------------------------------

    def sum(
        self: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Tensor:
        """Return the sum over `dim`."""
        return functional.sum(self, dim, keepdim, dtype=dtype)

    def mean(
        self: Tensor,
        dim: Any = None,
        keepdim: bool = False,
        *,
        dtype: DType | None = None,
    ) -> Tensor:
        """Return the mean over `dim`."""
        return functional.mean(self, dim, keepdim, dtype=dtype)

    def var(
        self: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Tensor:
        """Return the variance over `dim`."""
        return functional.var(self, dim, unbiased, keepdim, correction=correction)

    def std(
        self: Tensor,
        dim: Any = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
        *,
        correction: float | None = None,
    ) -> Tensor:
        """Return the standard deviation over `dim`."""
        return functional.std(self, dim, unbiased, keepdim, correction=correction)

    def max(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the largest element; with `dim`, (values, indices)."""
        return functional.max(self, dim, keepdim)

    def min(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the smallest element; with `dim`, (values, indices)."""
        return functional.min(self, dim, keepdim)

    def amax(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return the largest elements over `dim`."""
        return functional.amax(self, dim, keepdim)

    def amin(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return the smallest elements over `dim`."""
        return functional.amin(self, dim, keepdim)

    def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the largest element."""
        return functional.argmax(self, dim, keepdim)

    def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the smallest element."""
        return functional.argmin(self, dim, keepdim)

    def all(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return whether all elements are true."""
        return functional.all(self, dim, keepdim)

    def any(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return whether any element is true."""
        return functional.any(self, dim, keepdim)

    def logsumexp(self: Tensor, dim: Any, keepdim: bool = False) -> Tensor:
        """Return log(sum(exp(x))) over `dim`."""
        return functional.logsumexp(self, dim, keepdim)

    def softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
        """Return exp(x_i) / sum(exp(x)) along `dim`."""
        return functional.softmax(self, dim, dtype)

    def log_softmax(self: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
        """Return log(softmax(x)) along `dim`."""
        return functional.log_softmax(self, dim, dtype)

    # ---- matrix products -------------------------------------------------------

    def matmul(self: Tensor, other: Tensor) -> Tensor:
        """Return the matrix product."""
        return functional.matmul(self, other)

    def mm(self: Tensor, mat2: Tensor) -> Tensor:
        """Return the product of two matrices."""
        return functional.mm(self, mat2)

    def bmm(self: Tensor, mat2: Tensor) -> Tensor:
        """Return the products of two batches of matrices."""
        return functional.bmm(self, mat2)

    # ---- shapes ----------------------------------------------------------------

    def flatten(self: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """Return x with dimensions merged."""
        return functional.flatten(self, start_dim, end_dim)

    def squeeze(self: Tensor, dim: Any = None) -> Tensor:
        """Return x without dimensions of size 1."""
        return functional.squeeze(self, dim)

    def unsqueeze(self: Tensor, dim: int) -> Tensor:
        """Return x with a dimension of size 1 inserted."""
        return functional.unsqueeze(self, dim)

    def transpose(self: Tensor, dim0: int, dim1: int) -> Tensor:
        """Return x with two dimensions exchanged: a view."""
        return functional.transpose(self, dim0, dim1)

    def t(self: Tensor) -> Tensor:
        """Return the transpose of a matrix."""
        return functional.t(self)

    def clone(self: Tensor) -> Tensor:
        """Return a copy with the same history."""
        return functional.clone(self)

    def gather(self: Tensor, dim: int, index: Tensor) -> Tensor:
        """Return the elements that `index` names along `dim`."""
        return functional.gather(self, dim, index)

    def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
        """Return the slices that `index` names along `dim`."""
        return functional.index_select(self, dim, index)

    def reshape(self: Tensor, *sizes: Any) -> Tensor:
        """Return x in another shape; one size may be -1."""
        return functional.reshape(self, _sizes(sizes))

    def view(self: Tensor, *sizes: Any) -> Tensor:
        """Return x in another shape, sharing its memory."""
        return functional.view(self, _sizes(sizes))

    def permute(self: Tensor, *sizes: Any) -> Tensor:
        """Return x with its dimensions in another order: a view."""
        return functional.permute(self, _sizes(sizes))

    def expand(self: Tensor, *sizes: Any) -> Tensor:
        """Return x repeated to a larger shape, without a copy."""
        return functional.expand(self, _sizes(sizes))

    @property
    def T(self: Tensor) -> Tensor:
        """The dimensions in reverse order: a view."""
        return functional.permute(self, tuple(reversed(range(self.ndim))))

    @property
    def mT(self: Tensor) -> Tensor:
        """The last two dimensions exchanged: a view."""
        return functional.transpose(self, -2, -1)

    def contiguous(self: Tensor) -> Tensor:
        """Return x itself if its elements lie in row-major order, else a copy."""
        return self if self.is_contiguous() else functional.clone(self)

    # ---- conversions -------------------------------------------------------------

    def to(
        self: Tensor, *args: Any, dtype: DType | None = None, copy: bool = False
    ) -> Tensor:
        """Return x with another dtype or on another device, itself if nothing changes.

        Takes a dtype, a device, both, or a tensor whose dtype to take.
        """
        return functional.to(self, *args, dtype=dtype, copy=copy)

    def cpu(self: Tensor) -> Tensor:
        """Return x itself: it lives on the CPU."""
        return self

    def type_as(self: Tensor, other: Tensor) -> Tensor:
        """Return x with the dtype of `other`."""
        return self.to(other.dtype)

    def float(self: Tensor) -> Tensor:
        """Return x as float32."""
        return self.to(dtypes.float32)

    def double(self: Tensor) -> Tensor:
        """Return x as float64."""
        return self.to(dtypes.float64)

    def int(self: Tensor) -> Tensor:
        """Return x as int32."""
        return self.to(dtypes.int32)

    def long(self: Tensor) -> Tensor:
        """Return x as int64."""
        return self.to(dtypes.int64)

    def bool(self: Tensor) -> Tensor:
        """Return x as booleans."""
        return self.to(dtypes.bool_)

    # ---- in place ------------------------------------------------------------------

    def add_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        """Add `other`, in place; return x."""
        return inplace.add_(self, other, alpha)

    def sub_(self: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        """Subtract `other`, in place; return x."""
        return inplace.sub_(self, other, alpha)

    def mul_(self: Tensor, other: Any) -> Tensor:
        """Multiply by `other`, in place; return x."""
        return inplace.mul_(self, other)

    def div_(self: Tensor, other: Any) -> Tensor:
        """Divide by `other`, in place; return x."""
        return inplace.div_(self, other)

    def copy_(self: Tensor, src: Any, non_blocking: Any = False) -> Tensor:
        """Take over the values of `src`, in place; return x."""
        return inplace.copy_(self, src)

    def fill_(self: Tensor, value: Any) -> Tensor:
        """Set every element to `value`, in place; return x."""
        return inplace.fill_(self, value)

    def zero_(self: Tensor) -> Tensor:
        """Set every element to 0, in place; return x."""
        return inplace.zero_(self)

    def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
        """Limit to min and max, in place; return x."""
        return inplace.clamp_(self, min, max)

    def uniform_(
        self: Tensor, low: Any = 0.0, high: Any = 1.0, *, generator: Any = None
    ) -> Tensor:
        """Draw every element evenly from [low, high), in place; return x."""
        return inplace.uniform_(self, low, high, generator)

    def normal_(
        self: Tensor, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None
    ) -> Tensor:
        """Draw every element from a normal distribution, in place; return x."""
        return inplace.normal_(self, mean, std, generator)

    def detach_(self: Tensor) -> Tensor:
        """Cut the history off, in place; return x."""
        return inplace.detach_(self)

    def __iadd__(self: Tensor, other: Any) -> Tensor:
        return self.add_(other)

    def __isub__(self: Tensor, other: Any) -> Tensor:
        return self.sub_(other)

    def __imul__(self: Tensor, other: Any) -> Tensor:
        return self.mul_(other)

    def __itruediv__(self: Tensor, other: Any) -> Tensor:
        return self.div_(other)


def bind() -> None:
    """Name the modules that the methods call, once they exist.

    Then let ``a * b`` call its operator at once.
    """
    from autocalc import _dtypes, _functional, _inplace
    from autocalc._ops import elementwise

    globals().update(
        dtypes=_dtypes, functional=_functional, inplace=_inplace, ops=elementwise
    )
    for name in ("add", "sub", "mul", "pow", "truediv", "neg"):
        operator = getattr(elementwise, "div" if name == "truediv" else name)
        setattr(TensorMethods, f"__{name}__", operator)

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
    from autocalc import _creation as creation
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


class TensorMethods:
    """The methods that compute."""

    __slots__ = ()

    if TYPE_CHECKING:  # a Tensor in fact
        _self: Tensor

    # ---- arithmetic ------------------------------------------------------------

    def __add__(self, other: Any) -> Tensor:
        return ops.add(self, other)  # type: ignore[no-any-return]  # a Tensor

    __radd__ = __add__

    def __sub__(self, other: Any) -> Tensor:
        return ops.sub(self, other)  # type: ignore[no-any-return]  # a Tensor

    def __rsub__(self, other: Any) -> Tensor:
        return ops.sub(other, self)  # type: ignore[no-any-return]  # a Tensor

    def __mul__(self, other: Any) -> Tensor:
        return ops.mul(self, other)  # type: ignore[no-any-return]  # a Tensor

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tensor:
        return ops.div(self, other)  # type: ignore[no-any-return]  # a Tensor

    def __rtruediv__(self, other: Any) -> Tensor:
        return ops.div(other, self)  # type: ignore[no-any-return]  # a Tensor

    def __pow__(self, other: Any) -> Tensor:
        return ops.pow(self, other)  # type: ignore[no-any-return]  # a Tensor

    def __rpow__(self, other: Any) -> Tensor:
        return ops.pow(other, self)  # type: ignore[no-any-return]  # a Tensor

    def __neg__(self) -> Tensor:
        return ops.neg(self)  # type: ignore[no-any-return]  # a Tensor

    def __pos__(self) -> Tensor:
        return self  # type: ignore[return-value]  # a Tensor in fact

    def __abs__(self) -> Tensor:
        return ops.abs(self)  # type: ignore[no-any-return]  # a Tensor

    def __matmul__(self, other: Any) -> Tensor:
        return functional.matmul(self, other)  # type: ignore[arg-type]  # a Tensor

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]  # element by element
        return ops.eq(self, other)  # type: ignore[no-any-return]  # a Tensor

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]  # element by element
        return ops.ne(self, other)  # type: ignore[no-any-return]  # a Tensor

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> Tensor:
        return ops.lt(self, other)  # type: ignore[no-any-return]  # a Tensor

    def __le__(self, other: Any) -> Tensor:
        return ops.le(self, other)  # type: ignore[no-any-return]  # a Tensor

    def __gt__(self, other: Any) -> Tensor:
        return ops.gt(self, other)  # type: ignore[no-any-return]  # a Tensor

    def __ge__(self, other: Any) -> Tensor:
        return ops.ge(self, other)  # type: ignore[no-any-return]  # a Tensor

    def __getitem__(self, index: Any) -> Tensor:
        return functional.getitem(self, index)  # type: ignore[arg-type]  # a Tensor

    def __setitem__(self, index: Any, value: Any) -> None:
        inplace.setitem(self, index, value)  # type: ignore[arg-type]  # a Tensor

    # ---- elementwise ------------------------------------------------------------

    def exp(self) -> Tensor:
        """Return e^x, element by element."""
        return ops.exp(self)  # type: ignore[no-any-return]  # a Tensor

    def log(self) -> Tensor:
        """Return the natural logarithm, element by element."""
        return ops.log(self)  # type: ignore[no-any-return]  # a Tensor

    def sqrt(self) -> Tensor:
        """Return the square root, element by element."""
        return ops.sqrt(self)  # type: ignore[no-any-return]  # a Tensor

    def sin(self) -> Tensor:
        """Return the sine, element by element."""
        return ops.sin(self)  # type: ignore[no-any-return]  # a Tensor

    def cos(self) -> Tensor:
        """Return the cosine, element by element."""
        return ops.cos(self)  # type: ignore[no-any-return]  # a Tensor

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent, element by element."""
        return ops.tanh(self)  # type: ignore[no-any-return]  # a Tensor

    def sigmoid(self) -> Tensor:
        """Return 1 / (1 + e^-x), element by element."""
        return ops.sigmoid(self)  # type: ignore[no-any-return]  # a Tensor

    def relu(self) -> Tensor:
        """Return max(x, 0), element by element."""
        return ops.relu(self)  # type: ignore[no-any-return]  # a Tensor

    def erf(self) -> Tensor:
        """Return the error function, element by element."""
        return ops.erf(self)  # type: ignore[no-any-return]  # a Tensor

    def abs(self) -> Tensor:
        """Return the absolute value, element by element."""
        return ops.abs(self)  # type: ignore[no-any-return]  # a Tensor

    def neg(self) -> Tensor:
        """Return -x, element by element."""
        return ops.neg(self)  # type: ignore[no-any-return]  # a Tensor

    def add(self, other: Any) -> Tensor:
        """Return x + other, element by element."""
        return ops.add(self, other)  # type: ignore[no-any-return]  # a Tensor

    def sub(self, other: Any) -> Tensor:
        """Return x - other, element by element."""
        return ops.sub(self, other)  # type: ignore[no-any-return]  # a Tensor

    def mul(self, other: Any) -> Tensor:
        """Return x * other, element by element."""
        return ops.mul(self, other)  # type: ignore[no-any-return]  # a Tensor

    def div(self, other: Any) -> Tensor:
        """Return x / other, element by element."""
        return ops.div(self, other)  # type: ignore[no-any-return]  # a Tensor

    def pow(self, other: Any) -> Tensor:
        """Return x to the power other, element by element."""
        return ops.pow(self, other)  # type: ignore[no-any-return]  # a Tensor

    def maximum(self, other: Any) -> Tensor:
        """Return the larger of x and other, element by element."""
        return ops.maximum(self, other)  # type: ignore[no-any-return]  # a Tensor

    def minimum(self, other: Any) -> Tensor:
        """Return the smaller of x and other, element by element."""
        return ops.minimum(self, other)  # type: ignore[no-any-return]  # a Tensor

    def eq(self, other: Any) -> Tensor:
        """Return x == other, element by element."""
        return ops.eq(self, other)  # type: ignore[no-any-return]  # a Tensor

    def ne(self, other: Any) -> Tensor:
        """Return x != other, element by element."""
        return ops.ne(self, other)  # type: ignore[no-any-return]  # a Tensor

    def lt(self, other: Any) -> Tensor:
        """Return x < other, element by element."""
        return ops.lt(self, other)  # type: ignore[no-any-return]  # a Tensor

    def le(self, other: Any) -> Tensor:
        """Return x <= other, element by element."""
        return ops.le(self, other)  # type: ignore[no-any-return]  # a Tensor

    def gt(self, other: Any) -> Tensor:
        """Return x > other, element by element."""
        return ops.gt(self, other)  # type: ignore[no-any-return]  # a Tensor

    def ge(self, other: Any) -> Tensor:
        """Return x >= other, element by element."""
        return ops.ge(self, other)  # type: ignore[no-any-return]  # a Tensor

    def floor(self) -> Tensor:
        """Return x rounded down."""
        return functional.floor(self)  # type: ignore[arg-type]  # a Tensor

    def ceil(self) -> Tensor:
        """Return x rounded up."""
        return functional.ceil(self)  # type: ignore[arg-type]  # a Tensor

    def round(self) -> Tensor:
        """Return x rounded to the nearest, ties to even."""
        return functional.round(self)  # type: ignore[arg-type]  # a Tensor

    def trunc(self) -> Tensor:
        """Return x rounded to zero."""
        return functional.trunc(self)  # type: ignore[arg-type]  # a Tensor

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        """Return x limited to min and max."""
        return functional.clamp(self, min, max)  # type: ignore[arg-type]  # a Tensor

    def where(self, condition: Tensor, other: Any) -> Tensor:
        """Return x where `condition` holds, else `other`."""
        return functional.where(condition, self, other)  # type: ignore[arg-type]  # a Tensor

    # ---- reductions ------------------------------------------------------------

    def sum(self, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
        """Return the sum over `dim`."""
        return functional.sum(self, dim, keepdim, dtype=dtype)  # type: ignore[arg-type]  # a Tensor

    def mean(self, dim: Any = None, keepdim: bool = False, *, dtype: DType | None = None) -> Tensor:
        """Return the mean over `dim`."""
        return functional.mean(self, dim, keepdim, dtype=dtype)  # type: ignore[arg-type]  # a Tensor

    def var(self, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: float | None = None) -> Tensor:
        """Return the variance over `dim`."""
        return functional.var(self, dim, unbiased, keepdim, correction=correction)  # type: ignore[arg-type]  # a Tensor

    def std(self, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: float | None = None) -> Tensor:
        """Return the standard deviation over `dim`."""
        return functional.std(self, dim, unbiased, keepdim, correction=correction)  # type: ignore[arg-type]  # a Tensor

    def max(self, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the largest element; with `dim`, (values, indices)."""
        return functional.max(self, dim, keepdim)  # type: ignore[arg-type]  # a Tensor

    def min(self, dim: Any = None, keepdim: bool = False) -> Any:
        """Return the smallest element; with `dim`, (values, indices)."""
        return functional.min(self, dim, keepdim)  # type: ignore[arg-type]  # a Tensor

    def amax(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return the largest elements over `dim`."""
        return functional.amax(self, dim, keepdim)  # type: ignore[arg-type]  # a Tensor

    def amin(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return the smallest elements over `dim`."""
        return functional.amin(self, dim, keepdim)  # type: ignore[arg-type]  # a Tensor

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the largest element."""
        return functional.argmax(self, dim, keepdim)  # type: ignore[arg-type]  # a Tensor

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """Return the index of the smallest element."""
        return functional.argmin(self, dim, keepdim)  # type: ignore[arg-type]  # a Tensor

    def all(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return whether all elements are true."""
        return functional.all(self, dim, keepdim)  # type: ignore[arg-type]  # a Tensor

    def any(self, dim: Any = None, keepdim: bool = False) -> Tensor:
        """Return whether any element is true."""
        return functional.any(self, dim, keepdim)  # type: ignore[arg-type]  # a Tensor

    def logsumexp(self, dim: Any, keepdim: bool = False) -> Tensor:
        """Return log(sum(exp(x))) over `dim`."""
        return functional.logsumexp(self, dim, keepdim)  # type: ignore[arg-type]  # a Tensor

    def softmax(self, dim: int, dtype: DType | None = None) -> Tensor:
        """Return exp(x_i) / sum(exp(x)) along `dim`."""
        return functional.softmax(self, dim, dtype)  # type: ignore[arg-type]  # a Tensor

    def log_softmax(self, dim: int, dtype: DType | None = None) -> Tensor:
        """Return log(softmax(x)) along `dim`."""
        return functional.log_softmax(self, dim, dtype)  # type: ignore[arg-type]  # a Tensor

    # ---- matrix products -------------------------------------------------------

    def matmul(self, other: Tensor) -> Tensor:
        """Return the matrix product."""
        return functional.matmul(self, other)  # type: ignore[arg-type]  # a Tensor

    def mm(self, mat2: Tensor) -> Tensor:
        """Return the product of two matrices."""
        return functional.mm(self, mat2)  # type: ignore[arg-type]  # a Tensor

    def bmm(self, mat2: Tensor) -> Tensor:
        """Return the products of two batches of matrices."""
        return functional.bmm(self, mat2)  # type: ignore[arg-type]  # a Tensor

    # ---- shapes ----------------------------------------------------------------

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """Return x with dimensions merged."""
        return functional.flatten(self, start_dim, end_dim)  # type: ignore[arg-type]  # a Tensor

    def squeeze(self, dim: Any = None) -> Tensor:
        """Return x without dimensions of size 1."""
        return functional.squeeze(self, dim)  # type: ignore[arg-type]  # a Tensor

    def unsqueeze(self, dim: int) -> Tensor:
        """Return x with a dimension of size 1 inserted."""
        return functional.unsqueeze(self, dim)  # type: ignore[arg-type]  # a Tensor

    def transpose(self, dim0: int, dim1: int) -> Tensor:
        """Return x with two dimensions exchanged: a view."""
        return functional.transpose(self, dim0, dim1)  # type: ignore[arg-type]  # a Tensor

    def t(self) -> Tensor:
        """Return the transpose of a matrix."""
        return functional.t(self)  # type: ignore[arg-type]  # a Tensor

    def clone(self) -> Tensor:
        """Return a copy with the same history."""
        return functional.clone(self)  # type: ignore[arg-type]  # a Tensor

    def gather(self, dim: int, index: Tensor) -> Tensor:
        """Return the elements that `index` names along `dim`."""
        return functional.gather(self, dim, index)  # type: ignore[arg-type]  # a Tensor

    def index_select(self, dim: int, index: Tensor) -> Tensor:
        """Return the slices that `index` names along `dim`."""
        return functional.index_select(self, dim, index)  # type: ignore[arg-type]  # a Tensor

    def reshape(self, *sizes: Any) -> Tensor:
        """Return x in another shape; one size may be -1."""
        return functional.reshape(self, _sizes(sizes))  # type: ignore[arg-type]  # a Tensor

    def view(self, *sizes: Any) -> Tensor:
        """Return x in another shape, sharing its memory."""
        return functional.view(self, _sizes(sizes))  # type: ignore[arg-type]  # a Tensor

    def permute(self, *sizes: Any) -> Tensor:
        """Return x with its dimensions in another order: a view."""
        return functional.permute(self, _sizes(sizes))  # type: ignore[arg-type]  # a Tensor

    def expand(self, *sizes: Any) -> Tensor:
        """Return x repeated to a larger shape, without a copy."""
        return functional.expand(self, _sizes(sizes))  # type: ignore[arg-type]  # a Tensor

    @property
    def T(self) -> Tensor:  # noqa: N802  PyTorch's name
        """The dimensions in reverse order: a view."""
        x: Any = self
        return functional.permute(x, tuple(reversed(range(x.ndim))))

    @property
    def mT(self) -> Tensor:  # noqa: N802  PyTorch's name
        """The last two dimensions exchanged: a view."""
        return functional.transpose(self, -2, -1)  # type: ignore[arg-type]  # a Tensor

    def contiguous(self) -> Tensor:
        """Return x itself if its elements lie in row-major order, else a copy."""
        x: Any = self
        return x if x.is_contiguous() else functional.clone(x)

    # ---- conversions -------------------------------------------------------------

    def to(self, *args: Any, dtype: DType | None = None, copy: bool = False) -> Tensor:
        """Return x with another dtype or on another device, itself if nothing changes.

        Takes a dtype, a device, both, or a tensor whose dtype to take.
        """
        return functional.to(self, *args, dtype=dtype, copy=copy)  # type: ignore[arg-type]  # a Tensor

    def cpu(self) -> Tensor:
        """Return x itself: it lives on the CPU."""
        return self  # type: ignore[return-value]  # a Tensor

    def type_as(self, other: Tensor) -> Tensor:
        """Return x with the dtype of `other`."""
        return self.to(other.dtype)

    def float(self) -> Tensor:
        """Return x as float32."""
        return self.to(dtypes.float32)

    def double(self) -> Tensor:
        """Return x as float64."""
        return self.to(dtypes.float64)

    def int(self) -> Tensor:
        """Return x as int32."""
        return self.to(dtypes.int32)

    def long(self) -> Tensor:
        """Return x as int64."""
        return self.to(dtypes.int64)

    def bool(self) -> Tensor:
        """Return x as booleans."""
        return self.to(dtypes.bool_)

    # ---- in place ------------------------------------------------------------------

    def add_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """Add `other`, in place; return x."""
        return inplace.add_(self, other, alpha)  # type: ignore[arg-type]  # a Tensor

    def sub_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        """Subtract `other`, in place; return x."""
        return inplace.sub_(self, other, alpha)  # type: ignore[arg-type]  # a Tensor

    def mul_(self, other: Any) -> Tensor:
        """Multiply by `other`, in place; return x."""
        return inplace.mul_(self, other)  # type: ignore[arg-type]  # a Tensor

    def div_(self, other: Any) -> Tensor:
        """Divide by `other`, in place; return x."""
        return inplace.div_(self, other)  # type: ignore[arg-type]  # a Tensor

    def copy_(self, src: Any, non_blocking: Any = False) -> Tensor:
        """Take over the values of `src`, in place; return x."""
        return inplace.copy_(self, src)  # type: ignore[arg-type]  # a Tensor

    def fill_(self, value: Any) -> Tensor:
        """Set every element to `value`, in place; return x."""
        return inplace.fill_(self, value)  # type: ignore[arg-type]  # a Tensor

    def zero_(self) -> Tensor:
        """Set every element to 0, in place; return x."""
        return inplace.zero_(self)  # type: ignore[arg-type]  # a Tensor

    def clamp_(self, min: Any = None, max: Any = None) -> Tensor:
        """Limit to min and max, in place; return x."""
        return inplace.clamp_(self, min, max)  # type: ignore[arg-type]  # a Tensor

    def uniform_(self, low: Any = 0.0, high: Any = 1.0, *, generator: Any = None) -> Tensor:
        """Draw every element evenly from [low, high), in place; return x."""
        return inplace.uniform_(self, low, high, generator)  # type: ignore[arg-type]  # a Tensor

    def normal_(self, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None) -> Tensor:
        """Draw every element from a normal distribution, in place; return x."""
        return inplace.normal_(self, mean, std, generator)  # type: ignore[arg-type]  # a Tensor

    def detach_(self) -> Tensor:
        """Cut the history off, in place; return x."""
        return inplace.detach_(self)  # type: ignore[arg-type]  # a Tensor

    def __iadd__(self, other: Any) -> Tensor:
        return self.add_(other)

    def __isub__(self, other: Any) -> Tensor:
        return self.sub_(other)

    def __imul__(self, other: Any) -> Tensor:
        return self.mul_(other)

    def __itruediv__(self, other: Any) -> Tensor:
        return self.div_(other)


def bind_arithmetic() -> None:
    """Let ``a * b`` call its operator at once."""
    for name in ("add", "sub", "mul", "pow"):
        setattr(TensorMethods, f"__{name}__", getattr(ops, name))
    TensorMethods.__truediv__ = ops.div  # type: ignore[method-assign]  # see above
    TensorMethods.__neg__ = ops.neg  # type: ignore[method-assign]  # see above

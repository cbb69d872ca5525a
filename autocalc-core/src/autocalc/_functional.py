# SPDX-License-Identifier: MIT
"""The operators as users spell them: PyTorch's names and arguments.

Each function normalises its arguments (negative dimensions, numbers, defaults), says
what is wrong with them, and calls an operator of `_ops`.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, Union

from autocalc import _dtypes as dtypes
from autocalc._device import Device
from autocalc._dtypes import DType
from autocalc._ops import elementwise, linalg, loss, reduce
from autocalc._ops import shape as shapes
from autocalc._ops._coerce import Number, as_operand, cast, coerce, to_float
from autocalc._ops._op import not_a_tensor
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, DimensionError, DTypeError, ShapeError

Dims: TypeAlias = Union[int, Sequence[int], None]
Operand: TypeAlias = Union[Tensor, int, float, bool]


def axes_of(where: str, x: Tensor, dim: Dims) -> tuple[int, ...]:
    """Return the dimensions meant by `dim`, sorted; None means all."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return tuple(range(x.ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    axes = sorted(axis_of(where, d, x.ndim) for d in dims)
    if len(set(axes)) < len(axes):
        message = f"{where}: `dim`={dim} names a dimension twice."
        raise DimensionError(message)
    return tuple(axes)


def axis_of(where: str, dim: int, ndim: int) -> int:
    """Return `dim` counted from the left; 0 and -1 are allowed for 0-d tensors."""
    limit = builtins.max(ndim, 1)
    if not -limit <= dim < limit:
        message = (
            f"{where}: `dim`={dim} is out of range for {ndim} dimensions; it must lie "
            f"in {-limit} to {limit - 1}."
        )
        raise DimensionError(message)
    return dim % limit


def _tensor(where: str, x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        raise not_a_tensor(where, x)
    return x


# ---- elementwise ------------------------------------------------------------------------


def add(input: Operand, other: Operand, *, alpha: float = 1) -> Tensor:
    """Return input + alpha * other."""
    if alpha != 1:
        other = elementwise.mul(other, alpha)
    return elementwise.add(input, other)  # type: ignore[no-any-return]  # a Tensor


def sub(input: Operand, other: Operand, *, alpha: float = 1) -> Tensor:
    """Return input - alpha * other."""
    if alpha != 1:
        other = elementwise.mul(other, alpha)
    return elementwise.sub(input, other)  # type: ignore[no-any-return]  # a Tensor


def where(condition: Tensor, input: Operand, other: Operand) -> Tensor:
    """Return `input` where `condition` holds, else `other`.

    Shapes broadcast; the dtypes of `input` and `other` are promoted.
    """
    if _tensor("where", condition).dtype is not dtypes.bool_:
        message = (
            f"where: `condition` has dtype {condition.dtype.name}; it must be bool, as "
            f"comparisons give it."
        )
        raise DTypeError(message)
    return elementwise.choose(condition, *coerce("where", input, other))  # type: ignore[no-any-return]  # a Tensor


def clamp(
    input: Tensor, min: Operand | None = None, max: Operand | None = None
) -> Tensor:
    """Return min(max(input, min), max), element by element; NaN stays NaN."""
    if min is None and max is None:
        message = "clamp: give `min` or `max`, or both."
        raise ArgumentError(message)
    given = [x for x in (input, min, max) if x is not None]
    operands = iter(coerce("clamp", *given))
    x = next(operands)
    low = None if min is None else next(operands)
    high = None if max is None else next(operands)
    return elementwise.clip(x, low, high)  # type: ignore[no-any-return]  # a Tensor


def round_mode(mode: str) -> Any:
    """Make floor, ceil, trunc or round; integers pass unchanged."""

    def call(input: Tensor) -> Tensor:
        if not _tensor(mode, input).is_floating_point():
            return clone(input)
        return elementwise.rounding(input, mode)  # type: ignore[no-any-return]  # a Tensor

    call.__doc__ = f"Return `input` rounded ({mode}), element by element."
    return call


floor = round_mode("floor")
ceil = round_mode("ceil")
trunc = round_mode("trunc")
round = round_mode("even")  # noqa: A001  PyTorch's name


# ---- reductions --------------------------------------------------------------------------


def sum(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """Return the sum over `dim` (all dimensions by default)."""
    x = _tensor("sum", input)
    x = x if dtype is None else cast(x, dtype)
    return reduce.sum(x, axes_of("sum", x, dim), bool(keepdim))  # type: ignore[no-any-return]  # a Tensor


def mean(
    input: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """Return the mean over `dim` (all dimensions by default)."""
    x = _tensor("mean", input)
    x = x if dtype is None else cast(x, dtype)
    if not x.is_floating_point():
        message = (
            f"mean: takes float32 or float64, not {x.dtype.name}; pass "
            f"dtype=ac.float32 or call .float() first."
        )
        raise DTypeError(message)
    return reduce.mean(x, axes_of("mean", x, dim), bool(keepdim))  # type: ignore[no-any-return]  # a Tensor


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return sum((x - mean)^2) / (n - correction) over `dim`; correction is 1."""
    if correction is None:
        correction = 1.0 if unbiased is None or unbiased else 0.0
    x = _tensor("var", input)
    return reduce.var(x, axes_of("var", x, dim), bool(keepdim), float(correction))  # type: ignore[no-any-return]  # a Tensor


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Tensor:
    """Return the square root of `var`."""
    value = var(input, dim, unbiased, keepdim, correction=correction)
    return elementwise.sqrt(value)  # type: ignore[no-any-return]  # a Tensor


class Extremum(NamedTuple):
    """The values of `max` or `min` along a dimension, and where they were found."""

    values: Tensor
    indices: Tensor


def max(
    input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False
) -> Tensor | Extremum:
    """Return the largest element; with `dim`, (values, indices) along it.

    With a second tensor in the place of `dim`, the elementwise `maximum`.
    """
    if isinstance(dim, Tensor):
        return elementwise.maximum(input, dim)  # type: ignore[no-any-return]  # a Tensor
    if dim is None:
        return amax(input)
    return _extremum("max", input, dim, keepdim)


def min(
    input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False
) -> Tensor | Extremum:
    """Return the smallest element; with `dim`, (values, indices) along it.

    With a second tensor in the place of `dim`, the elementwise `minimum`.
    """
    if isinstance(dim, Tensor):
        return elementwise.minimum(input, dim)  # type: ignore[no-any-return]  # a Tensor
    if dim is None:
        return amin(input)
    return _extremum("min", input, dim, keepdim)


def _extremum(where: str, input: Tensor, dim: int, keepdim: bool) -> Extremum:
    """Find the indices, then gather: the gradient goes to the element found."""
    axis = axis_of(where, dim, input.ndim)
    find = argmax if where == "max" else argmin
    indices = find(input, axis, keepdim=True)
    if input.ndim == 0:
        return Extremum(clone(input), indices)
    values = shapes.gather(input, indices, axis)
    if not keepdim:
        values, indices = squeeze(values, axis), squeeze(indices, axis)
    return Extremum(values, indices)


def amax(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the largest elements over `dim`; equal ones share the gradient."""
    x = _nonempty("amax", input)
    return reduce.max(x, axes_of("amax", x, dim), bool(keepdim))  # type: ignore[no-any-return]  # a Tensor


def amin(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    """Return the smallest elements over `dim`; equal ones share the gradient."""
    x = _nonempty("amin", input)
    return reduce.min(x, axes_of("amin", x, dim), bool(keepdim))  # type: ignore[no-any-return]  # a Tensor


def _nonempty(where: str, x: Tensor) -> Tensor:
    if _tensor(where, x).numel() == 0:
        message = (
            f"{where}: a tensor of shape {x.shape} has no elements, so no extremum."
        )
        raise ShapeError(message)
    return x


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the (first) largest element, of all or along `dim`."""
    x = _nonempty("argmax", input)
    if dim is None:
        flat = reduce.argmax(shapes.reshape(x, (-1,)), 0, False)
        return shapes.reshape(flat, (1,) * x.ndim) if keepdim else flat  # type: ignore[no-any-return]  # a Tensor
    if x.ndim == 0:
        return argmax(x, None)
    return reduce.argmax(x, axis_of("argmax", dim, x.ndim), bool(keepdim))  # type: ignore[no-any-return]  # a Tensor


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the (first) smallest element, of all or along `dim`."""
    x = _nonempty("argmin", input)
    if x.dtype is dtypes.bool_:
        x = cast(x, dtypes.uint8)
    if not x.dtype.is_signed:
        x = cast(x, dtypes.int16)
    return argmax(elementwise.neg(x.detach()), dim, keepdim)


def logsumexp(input: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """Return log(sum(exp(input))) over `dim`, shifted by the maximum."""
    x = _tensor("logsumexp", input)
    x = x if x.is_floating_point() else to_float(x)
    return reduce.logsumexp(x, axes_of("logsumexp", x, dim), bool(keepdim))  # type: ignore[no-any-return]  # a Tensor


def softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Return exp(x_i) / sum_j exp(x_j) along `dim`."""
    x = _tensor("softmax", input)
    x = x if dtype is None else cast(x, dtype)
    return reduce.softmax(x, axis_of("softmax", dim, x.ndim))  # type: ignore[no-any-return]  # a Tensor


def log_softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Return x_i - log(sum_j exp(x_j)) along `dim`."""
    x = _tensor("log_softmax", input)
    x = x if dtype is None else cast(x, dtype)
    return reduce.log_softmax(x, axis_of("log_softmax", dim, x.ndim))  # type: ignore[no-any-return]  # a Tensor


# ---- matrix products ----------------------------------------------------------------------


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Return the matrix product; leading dimensions are batches and broadcast.

    A 1-d operand counts as a row (left) or a column (right), which then disappears.

    Raises
    ------
    ShapeError
        If the inner dimensions differ or an operand is 0-d.
    """
    a, b = coerce("matmul", _tensor("matmul", input), _tensor("matmul", other))
    if a.ndim == 0 or b.ndim == 0:
        message = (
            f"matmul: shapes {a.shape} and {b.shape}: both operands need at least one "
            f"dimension; use * for scalars."
        )
        raise ShapeError(message)
    inner_b = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner_b:
        message = (
            f"matmul: shapes {a.shape} and {b.shape} do not fit: `input`.shape[-1] is "
            f"{a.shape[-1]}, `other`.shape[{-2 if b.ndim > 1 else 0}] is {inner_b}; "
            f"they must be equal."
        )
        raise ShapeError(message)
    row, column = a.ndim == 1, b.ndim == 1
    a = shapes.reshape(a, (1, *a.shape)) if row else a
    b = shapes.reshape(b, (*b.shape, 1)) if column else b
    out = linalg.gemm(a, b, None, 1.0, 0.0, "none")
    out = squeeze(out, -1) if column else out
    return squeeze(out, -1 if column else -2) if row else out


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the product of two matrices."""
    if input.ndim != 2 or mat2.ndim != 2:
        message = (
            f"mm: shapes {input.shape} and {mat2.shape}: both operands must be "
            f"matrices; use matmul for batches."
        )
        raise ShapeError(message)
    return matmul(input, mat2)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Return the products of two batches of matrices, [B, M, K] and [B, K, N]."""
    if input.ndim != 3 or mat2.ndim != 3 or input.shape[0] != mat2.shape[0]:
        message = (
            f"bmm: shapes {input.shape} and {mat2.shape}: both operands must be "
            f"[B, M, K] and [B, K, N] with one B; use matmul to broadcast."
        )
        raise ShapeError(message)
    return matmul(input, mat2)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return x W^T + b for x [..., in], W [out, in], b [out]."""
    operands = [t for t in (input, weight, bias) if t is not None]
    if builtins.any(t._array.dtype is not operands[0]._array.dtype for t in operands):
        given = ", ".join(t.dtype.name for t in operands)
        message = f"linear: the operands have dtypes {given}; they must be the same."
        raise DTypeError(message)
    if input.ndim == 0 or weight.ndim != 2 or input.shape[-1] != weight.shape[1]:
        message = (
            f"linear: `input` has shape {input.shape}, `weight` {weight.shape}; the "
            f"last dimension of `input` must equal `weight`.shape[1]."
        )
        raise ShapeError(message)
    if bias is not None and bias.shape != weight.shape[:1]:
        message = (
            f"linear: `bias` has shape {bias.shape}; it must be ({weight.shape[0]},), "
            f"one for each row of `weight`."
        )
        raise ShapeError(message)
    return linalg.linear(input, weight, bias, "none")  # type: ignore[no-any-return]  # a Tensor


# ---- shapes -----------------------------------------------------------------------------------


def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `input` in another shape; one size may be -1."""
    return shapes.reshape(input, full_shape("reshape", input, shape))


def full_shape(where: str, x: Tensor, shape: Sequence[int]) -> tuple[int, ...]:
    """Return `shape` with -1 replaced, checked against the number of elements."""
    sizes = tuple(int(n) for n in shape)
    known = 1
    for n in sizes:
        known *= n if n != -1 else 1
    holes = sizes.count(-1)
    numel = x.numel()
    fits = numel == known if holes == 0 else known > 0 and numel % known == 0
    if holes > 1 or min_of(sizes) < -1 or not fits:
        message = (
            f"{where}: a tensor of shape {x.shape} with {numel} elements cannot have "
            f"the shape {sizes}; the sizes must multiply to {numel}, one may be -1."
        )
        raise ShapeError(message)
    return tuple(numel // known if n == -1 else n for n in sizes)


def min_of(sizes: Sequence[int]) -> int:
    """Return the smallest size, 0 for none."""
    return builtins.min(sizes, default=0)


def view(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `input` in another shape, sharing its memory.

    Raises
    ------
    ShapeError
        If no strides give that shape without a copy.
    """
    sizes = full_shape("view", input, shape)
    if shapes.reshaped_view(input._array, sizes) is None:
        message = (
            f"view: a tensor of shape {input.shape} with strides {input.stride()} "
            f"cannot be seen as {sizes} without a copy; use reshape()."
        )
        raise ShapeError(message)
    return shapes.reshape_view(input, sizes)  # type: ignore[no-any-return]  # a Tensor


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Return `input` with the dimensions start_dim to end_dim merged."""
    start = axis_of("flatten", start_dim, input.ndim)
    end = axis_of("flatten", end_dim, input.ndim)
    if start > end:
        message = (
            f"flatten: start_dim={start_dim} lies behind end_dim={end_dim} in a tensor "
            f"of {input.ndim} dimensions."
        )
        raise DimensionError(message)
    sizes = input.shape
    merged = 1
    for n in sizes[start : end + 1]:
        merged *= n
    return shapes.reshape(input, (*sizes[:start], merged, *sizes[end + 1 :]))


def squeeze(input: Tensor, dim: Dims = None) -> Tensor:
    """Return `input` without its dimensions of size 1, or without those in `dim`."""
    axes = axes_of("squeeze", input, dim)
    sizes = tuple(n for i, n in enumerate(input.shape) if n != 1 or i not in axes)
    return shapes.reshape(input, sizes)


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """Return `input` with a dimension of size 1 inserted before `dim`."""
    axis = axis_of("unsqueeze", dim, input.ndim + 1)
    sizes = input.shape
    return shapes.reshape(input, (*sizes[:axis], 1, *sizes[axis:]))


def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return `input` with its dimensions in the order `dims`: a view."""
    axes = tuple(axis_of("permute", d, input.ndim) for d in dims)
    if sorted(axes) != list(range(input.ndim)):
        message = (
            f"permute: `dims`={tuple(dims)} is no order of the {input.ndim} dimensions "
            f"of shape {input.shape}; name each once."
        )
        raise DimensionError(message)
    return shapes.permute(input, axes)  # type: ignore[no-any-return]  # a Tensor


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Return `input` with two dimensions exchanged: a view."""
    if input.ndim == 0:
        axis_of("transpose", dim0, 0), axis_of("transpose", dim1, 0)
        return input
    axes = list(range(input.ndim))
    i = axis_of("transpose", dim0, input.ndim)
    j = axis_of("transpose", dim1, input.ndim)
    axes[i], axes[j] = axes[j], axes[i]
    return shapes.permute(input, tuple(axes))  # type: ignore[no-any-return]  # a Tensor


def t(input: Tensor) -> Tensor:
    """Return the transpose of a matrix; vectors stay as they are."""
    if input.ndim > 2:
        message = f"t: takes matrices, not shape {input.shape}; use transpose()."
        raise ShapeError(message)
    return transpose(input, 0, 1) if input.ndim == 2 else input


def expand(input: Tensor, shape: Sequence[int]) -> Tensor:
    """Return `input` repeated to `shape` without a copy; -1 keeps a size."""
    lead = len(shape) - input.ndim
    sizes = tuple(
        input.shape[i - lead] if n == -1 and i >= lead else int(n)
        for i, n in enumerate(shape)
    )
    fits = lead >= 0 and builtins.all(
        old in (1, new) for old, new in zip(input.shape, sizes[lead:], strict=True)
    )
    if not fits or min_of(sizes) < 0:
        message = (
            f"expand: a tensor of shape {input.shape} cannot be expanded to "
            f"{tuple(shape)}: only dimensions of size 1 grow, new ones stand in front."
        )
        raise ShapeError(message)
    return shapes.expand(input, sizes)  # type: ignore[no-any-return]  # a Tensor


def clone(input: Tensor) -> Tensor:
    """Return a copy with the same history."""
    return shapes.clone(_tensor("clone", input))  # type: ignore[no-any-return]  # a Tensor


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors along an existing dimension; all other sizes must be equal."""
    parts = coerce("cat", *tensors) if tensors else ()
    if not parts:
        message = "cat: needs at least one tensor."
        raise ArgumentError(message)
    axis = axis_of("cat", dim, parts[0].ndim)
    for i, part in enumerate(parts):
        same = part.ndim == parts[0].ndim and builtins.all(
            m == n or j == axis
            for j, (m, n) in enumerate(zip(part.shape, parts[0].shape, strict=True))
        )
        if not same or part.ndim == 0:
            message = (
                f"cat: `tensors[{i}]` has shape {part.shape}, `tensors[0]` "
                f"{parts[0].shape}; all sizes but that of dimension {axis} must agree."
            )
            raise ShapeError(message)
    return shapes.cat(parts, axis)


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new dimension."""
    if not tensors:
        message = "stack: needs at least one tensor."
        raise ArgumentError(message)
    for i, part in enumerate(tensors):
        if part.shape != tensors[0].shape:
            message = (
                f"stack: `tensors[{i}]` has shape {part.shape}, `tensors[0]` "
                f"{tensors[0].shape}; all must be equal."
            )
            raise ShapeError(message)
    axis = axis_of("stack", dim, tensors[0].ndim + 1)
    return cat([unsqueeze(part, axis) for part in tensors], axis)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements of `input` that `index` names along `dim`."""
    axis = axis_of("gather", dim, input.ndim)
    return shapes.gather(input, cast(index, dtypes.int64), axis)  # type: ignore[no-any-return]  # a Tensor


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the slices of `input` along `dim` that the 1-d `index` names."""
    axis = axis_of("index_select", dim, input.ndim)
    return shapes.index_select(input, cast(index, dtypes.int64), axis)  # type: ignore[no-any-return]  # a Tensor


def getitem(input: Tensor, index: Any) -> Tensor:
    """Return ``input[index]``: integers, slices, None, Ellipsis, or one index tensor.

    Basic indexing gives a view.  An integer tensor (or list) selects along the first
    dimension.
    """
    if isinstance(index, list):
        from autocalc._creation import tensor

        index = tensor(index)
    if isinstance(index, Tensor):
        return _select(input, index)
    return shapes.slice(input, basic_index(input, index))  # type: ignore[no-any-return]  # a Tensor


def _select(input: Tensor, index: Tensor) -> Tensor:
    """Select along the first dimension by an integer tensor of any shape."""
    if index.dtype in (dtypes.bool_, dtypes.uint8) or index.is_floating_point():
        message = (
            f"index: a tensor of {index.dtype.name} cannot be an index yet; use integer "
            f"positions, or where() for a mask."
        )
        raise DTypeError(message)
    if index.ndim == 0:
        return getitem(input, int(index))
    flat = shapes.reshape(index, (-1,))
    rows = index_select(input, 0, flat)
    return shapes.reshape(rows, (*index.shape, *input.shape[1:]))


def basic_index(x: Tensor, index: Any) -> tuple[Any, ...]:
    """Return a checked tuple of integers, slices, None and Ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    result: list[Any] = []
    for part in parts:
        if part is None or part is Ellipsis:
            result.append(part)
        elif isinstance(part, slice):
            result.append(_checked_slice(part))
        elif isinstance(part, bool) or not hasattr(part, "__index__"):
            message = (
                f"index: {part!r} is a {type(part).__name__}; use integers, slices, "
                f"None, Ellipsis, or one integer tensor."
            )
            raise DTypeError(message)
        else:
            result.append(part.__index__())
    _check_range(x, result)
    return (*result, ...) if Ellipsis not in result else tuple(result)


def _checked_slice(part: Any) -> Any:
    step = 1 if part.step is None else part.step.__index__()
    if step < 1:
        message = f"index: a slice has step {step}; steps must be 1 or more."
        raise ArgumentError(message)
    ends = (None if e is None else e.__index__() for e in (part.start, part.stop))
    return slice(*ends, step)


def _check_range(x: Tensor, index: list[Any]) -> None:
    used = [part for part in index if part is not None and part is not Ellipsis]
    if len(used) > x.ndim or index.count(Ellipsis) > 1:
        message = (
            f"index: {len(used)} indices for a tensor of shape {x.shape}, which has "
            f"{x.ndim} dimensions."
        )
        raise DimensionError(message)
    axis = 0
    for part in index:
        if part is Ellipsis:
            axis = x.ndim - (len(used) - axis)
        elif part is not None:
            size = x.shape[axis]
            if not isinstance(part, slice) and not -size <= part < size:
                message = (
                    f"index: {part} is out of range for dimension {axis} of size "
                    f"{size} in shape {x.shape}."
                )
                raise DimensionError(message)
            axis += 1


def numbers_only(where: str, value: Any) -> Any:
    """Return `value` if it is a plain number."""
    if not isinstance(value, Number):
        message = f"{where}: needs a number, not {type(value).__name__}."
        raise DTypeError(message)
    return value


# ---- losses --------------------------------------------------------------------------------


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    r"""Return the cross-entropy of logits and class labels.

    loss_i = -log(softmax(input_i)[target_i]), averaged over the rows.

    Parameters
    ----------
    input
        Logits [N, C], [C], or [N, C, d1, ...].
    target
        Labels 0 to C - 1, int64, [N], [], or [N, d1, ...].
    weight
        A factor for each class, [C].
    ignore_index
        Rows with this label count for nothing.
    reduction
        ``"mean"`` (weighted), ``"sum"`` or ``"none"``.
    label_smoothing
        The share of the target that is spread over all classes.

    Raises
    ------
    KernelDataError
        If a label is outside 0 to C - 1.
    """
    logits, labels = _rows(input, target)
    if reduction not in ("none", "mean", "sum"):
        message = (
            f"cross_entropy: `reduction`={reduction!r}; use 'mean', 'sum' or 'none'."
        )
        raise ArgumentError(message)
    if not 0.0 <= label_smoothing <= 1.0:
        message = (
            f"cross_entropy: `label_smoothing`={label_smoothing}; it must lie in 0 to 1."
        )
        raise ArgumentError(message)
    out = loss.cross_entropy(
        logits, labels, weight, reduction, int(ignore_index), float(label_smoothing)
    )
    return shapes.reshape(out, target.shape) if reduction == "none" else out  # type: ignore[no-any-return]  # a Tensor


def _rows(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Bring logits to [N, C] and labels to [N]."""
    class_dim = 0 if input.ndim == 1 else 1
    expected = input.shape[:class_dim] + input.shape[class_dim + 1 :]
    if input.ndim == 0 or target.shape != expected:
        message = (
            f"cross_entropy: `input` has shape {input.shape}, `target` {target.shape}; "
            f"for logits [N, C, ...] the labels must be [N, ...]."
        )
        raise ShapeError(message)
    if target.is_floating_point() or target.dtype is dtypes.bool_:
        message = (
            f"cross_entropy: `target` has dtype {target.dtype.name}; labels must be "
            f"integers."
        )
        raise DTypeError(message)
    if input.ndim == 1:
        input = shapes.reshape(input, (1, *input.shape))
    elif input.ndim > 2:
        order = (0, *range(2, input.ndim), 1)
        input = shapes.permute(input, order)
        input = shapes.reshape(input, (-1, input.shape[-1]))
    return input, shapes.reshape(cast(target, dtypes.int64), (-1,))


# ---- conversions and truth ------------------------------------------------------------------


def to(
    input: Tensor, *args: Any, dtype: DType | None = None, copy: bool = False
) -> Tensor:
    """Return `input` with another dtype or on another device."""
    for arg in args:
        if isinstance(arg, Tensor):
            dtype = arg.dtype
        elif isinstance(arg, DType):
            dtype = arg
        elif isinstance(arg, (str, Device)):
            Device(arg)
        elif not isinstance(arg, bool) and arg is not None:
            dtype = dtypes.as_dtype(arg)
    result = input if dtype is None else cast(input, dtype)
    return clone(result) if copy and result is input else result


def all(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:  # noqa: A001  PyTorch's name
    """Return whether all elements over `dim` are non-zero."""
    zeros = cast(elementwise.eq(input, 0), dtypes.int64)
    return elementwise.eq(sum(zeros, dim, keepdim), 0)  # type: ignore[no-any-return]  # a Tensor


def any(input: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:  # noqa: A001  PyTorch's name
    """Return whether any element over `dim` is non-zero."""
    ones = cast(elementwise.ne(input, 0), dtypes.int64)
    return elementwise.ne(sum(ones, dim, keepdim), 0)  # type: ignore[no-any-return]  # a Tensor


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and elements."""
    if input.shape != other.shape:
        return False
    return bool(all(elementwise.eq(input, other)))


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> bool:
    """Return whether |input - other| <= atol + rtol |other| everywhere."""
    difference = elementwise.abs(elementwise.sub(input, other))
    bound = elementwise.add(elementwise.mul(elementwise.abs(other), rtol), atol)
    close = elementwise.eq(input, other)
    close = cast(close, dtypes.int64) + cast(difference <= bound, dtypes.int64)
    if equal_nan:
        both = cast(elementwise.ne(input, input), dtypes.int64)
        close = close + both * cast(elementwise.ne(other, other), dtypes.int64)
    return bool(all(close))

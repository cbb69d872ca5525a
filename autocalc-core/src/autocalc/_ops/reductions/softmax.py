# SPDX-License-Identifier: MIT
"""softmax, log_softmax and logsumexp."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from autocalc._dispatch.engine.eager import along
from autocalc._ops._operator.arguments import NeededDims, axes_of, axis_of, check_tensor
from autocalc._ops._operator.coerce import check_and_cast, to_float
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import Operator, nary
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.kinds import KINDS, elsewhere
from autocalc._ops._operator.method import method
from autocalc._ops._operator.numpy_names import dim_or_axis
from autocalc._ops._operator.out import apply_out
from autocalc._ops.complex_numbers import parts
from autocalc._ops.elementwise import arithmetic, comparison, exponential
from autocalc._ops.reductions import extrema, reduction
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.dtypes import DType
from autocalc._tensor.limits import finfo

softmax_op = nary("softmax", saves="out")


@softmax_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.softmax_backward(g, n.saved[0], *n.attributes)


@method("softmax")
@along(softmax_op, most=2, in_tuple=False, needs_dim=True)
def softmax(
    input: Tensor,
    dim: int | None = None,
    dtype: DType | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return exp(x_i) / sum_j exp(x_j) along `dim`.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension over which the results sum to 1; without it, dimension 0 or 1 is
        used, with a warning.
    dtype
        The dtype to which `input` is converted first.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.softmax(ac.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    if axis is not None:
        dim = dim_or_axis("softmax", dim, axis)
    if KINDS and (own := elsewhere("softmax", input)) is not None:
        return own(input, dim, dtype=dtype)  # type: ignore[no-any-return]  # a tensor
    x = check_and_cast("softmax", input, dtype)
    axis = axis_of("softmax", _class_dim("softmax", dim, x), x.ndim)
    return apply_out(
        "softmax", softmax_op(x, axis) if x.ndim else _of_0d(softmax_op, x), out
    )


log_softmax_op = nary("log_softmax", saves="out")


@log_softmax_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.log_softmax_backward(g, n.saved[0], *n.attributes)


@method("log_softmax")
@along(log_softmax_op, most=2, in_tuple=False, needs_dim=True)
def log_softmax(
    input: Tensor,
    dim: int | None = None,
    dtype: DType | None = None,
    *,
    out: Tensor | None = None,
    axis: Any = None,
) -> Tensor:
    """Return x_i - log(sum_j exp(x_j)) along `dim`.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension of the classes; without it, dimension 0 or 1 is used, with a
        warning.
    dtype
        The dtype to which `input` is converted first.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis
        NumPy's name for `dim`; use only one of the two names.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.log_softmax(ac.tensor([0.0, 0.0]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    if axis is not None:
        dim = dim_or_axis("log_softmax", dim, axis)
    if KINDS and (own := elsewhere("log_softmax", input)) is not None:
        return own(input, dim, dtype=dtype)  # type: ignore[no-any-return]  # a tensor
    x = check_and_cast("log_softmax", input, dtype)
    axis = axis_of("log_softmax", _class_dim("log_softmax", dim, x), x.ndim)
    return apply_out(
        "log_softmax",
        log_softmax_op(x, axis) if x.ndim else _of_0d(log_softmax_op, x),
        out,
    )


@rounded_once
def softmin(
    input: Tensor, dim: int | None = None, *, dtype: DType | None = None
) -> Tensor:
    """Return softmax(-input) along `dim`.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimension of the classes; without it, dimension 0 or 1 is used, with a
        warning.
    dtype
        The dtype to which `input` is converted first.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.softmin(ac.tensor([1.0, 1.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    x = check_and_cast("softmin", input, dtype)
    return softmax(arithmetic.neg(x), _class_dim("softmin", dim, x))


def _class_dim(where: str, dim: int | None, x: Tensor) -> int:
    """Return `dim`; if it is missing, guess like PyTorch, with a warning."""
    if dim is not None:
        return dim
    guess = 0 if x.ndim in (0, 1, 3) else 1
    message = (
        f"{where}: `dim` is missing for an input of shape {x.shape}; dimension {guess} "
        "is used, as in PyTorch. Give the dimension of the classes, which is often "
        "dim=-1."
    )
    warnings.warn(message, UserWarning, stacklevel=3)
    return guess


logsumexp_op = nary("logsumexp", saves="out a")


@cache
def _least(dtype: Any) -> float:
    """Return the lowest finite number of a NumPy dtype."""
    return finfo(dtypes.of(dtype)).min


@logsumexp_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    y, a = n.saved
    axes, keepdim = n.attributes
    shape = n.shapes[0]
    y = k.maximum(
        y, k.constant(_least(k.dtype(y)), y)
    )  # at minus infinity the slopes are 0
    y = reduction.spread(k, y, shape, axes, keepdim)
    e = k.exp(k.sub(a, y))
    # This is 1, apart from the rounding errors of large sums.
    total = k.sum(e, axes, True)
    none = k.compare(total, k.constant(0, total), "eq")
    weights = k.div(e, k.where(none, k.constant(1, total), total))
    return k.mul(reduction.spread(k, g, shape, axes, keepdim), weights)


_logsumexp_op = nary("logsumexp", saves="out a", main=False)


@_logsumexp_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """As in PyTorch, the slopes of infinite sums are NaN; those of `logsumexp_op` 0."""
    y, a = n.saved
    axes, keepdim = n.attributes
    shape = n.shapes[0]
    e = k.exp(k.sub(a, reduction.spread(k, y, shape, axes, keepdim)))
    total = k.sum(e, axes, True)
    known = k.compare(total, total, "eq")
    weights = k.div(e, k.where(known, total, k.constant(1, total)))
    return k.mul(reduction.spread(k, g, shape, axes, keepdim), weights)


@method("logsumexp")
@along(_logsumexp_op, needs_dim=True)
@declared
def logsumexp(
    input: Tensor,
    dim: NeededDims = None,
    keepdim: bool = False,
    *,
    out: Tensor | None = None,
    axis: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Return log(sum(exp(input))) over `dim`, computed without overflow.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    dim
        The dimensions that are reduced, one or several.
    keepdim
        True to keep the reduced dimensions, with size 1.
    out
        A tensor to write the result into; the result is converted to its dtype.
    axis, keepdims
        NumPy's names for `dim` and `keepdim`; use only one name for each.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.logsumexp(ac.tensor([0.0, 0.0]), dim=0)
    tensor(0.6931)
    """
    x = check_tensor("logsumexp", input)
    x = x if x.is_floating_point() else to_float(x)
    if x.is_complex():
        return _logsumexp_of_complex(x, dim, bool(keepdim))
    return _logsumexp_op(x, axes_of("logsumexp", x, dim), bool(keepdim))


def _logsumexp_of_complex(x: Tensor, dim: Any, keepdim: bool) -> Tensor:
    """Return the logarithm, with the largest real part taken out of the sum."""
    axes = axes_of("logsumexp", x, dim)
    if x.numel():
        most = extrema.amax(parts.real(x.detach()), axes, True)
        most = comparison.choose(comparison.isfinite(most), most, 0.0)
        shifted = arithmetic.sub_op(x, most)
    else:
        most, shifted = reduction.sum(parts.real(x.detach()), axes, True), x
    total = reduction.sum(exponential.exp(shifted), axes, True)
    found = arithmetic.add_op(exponential.log(total), most)
    return found if keepdim else reduction.sum(found, axes)


def _of_0d(operator: Operator, x: Tensor) -> Tensor:
    """Run an operator that needs a dimension on a 0-d tensor."""
    return view.detach_from_base(
        view.reshape_op(operator(view.reshape_op(x, (1,)), 0), ())
    )

# SPDX-License-Identifier: MIT
"""Normalisation over the last dimensions: layer_norm and rms_norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc._dispatch.selection.upcast import FLOAT32, HALVES
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.cast import astype
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.factories import nary
from autocalc._ops._operator.kinds import elsewhere
from autocalc._ops._operator.traced import traced
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers, number
from autocalc._tensor.dtypes import float32
from autocalc.errors import DTypeError, ShapeError

layer_norm_op = nary("layer_norm", saves="mean rstd x weight")
layer_norm_op.op.rounds_once = lambda n: not isinstance(n.saved[2], Tensor)
layer_norm_op.op.wide_inputs = lambda n: wide_parameters(n.saved[3], (1, 2))


@layer_norm_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    mean, rstd, x, weight = n.saved
    if k.records:
        axes = (len(n.shapes[0]) - 1,)
        mean = k.mean(x, axes, False)
        variance, _ = k.var(x, axes, False, 0.0)
        rstd = k.rsqrt(k.add(variance, k.constant(n.attributes[0], x)))
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    return k.layer_norm_backward(g, x, mean, rstd, weight, want=want)


Sizes = int | Sequence[int]


@traced(light=True)
def layer_norm(
    input: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    r"""Return (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions.

    The variance is computed with the divisor n, the number of elements.  Ba, Kiros,
    Hinton: Layer normalization (2016).

    Parameters
    ----------
    input
        The tensor x of shape (..., \*normalized_shape), of float32 or float64.
    normalized_shape
        The sizes of the last dimensions, over which the mean and the variance are
        computed.
    weight, bias
        The scale and the shift, tensors of shape `normalized_shape`; None leaves them
        out.
    eps
        The constant that is added to the variance, so that it is not 0.

    Raises
    ------
    ShapeError
        If the shape of `input` does not end with `normalized_shape`, or `weight` or
        `bias` has another shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[0.0, 2.0], [3.0, 5.0]])
    >>> ac.nn.functional.layer_norm(x, (2,), eps=0.0)
    tensor([[-1.,  1.],
            [-1.,  1.]])
    """
    try:
        sizes = _last_sizes("layer_norm", input, normalized_shape)
    except DTypeError:
        if (own := elsewhere("layer_norm", input)) is None:
            raise
        return own(input, normalized_shape, weight, bias, eps)  # type: ignore[no-any-return]
    if weight is not None:
        _check_parameter("layer_norm", "weight", weight, sizes)
    if bias is not None:
        _check_parameter("layer_norm", "bias", bias, sizes)
    if eps.__class__ is not float:
        eps = number("layer_norm", "eps", eps)
    if weight is None and has_wide_parameters(input, bias):
        wide = layer_norm(astype(input, float32), sizes, weight, bias, eps)
        return astype(wide, input.dtype)
    if len(sizes) == 1:
        return layer_norm_op(input, weight, bias, eps)
    x, weight, bias = _merged(sizes, input, weight, bias)
    return _unmerged(layer_norm_op(x, weight, bias, eps), input)


def wide_parameters(weight: Any, places: tuple[int, ...]) -> tuple[int, ...]:
    """Return the positions of the parameters if they are float32: `Op.wide_inputs`."""
    if weight is None:
        return ()
    array = weight._array if isinstance(weight, Tensor) else weight
    return places if array.dtype == FLOAT32 else ()


def has_wide_parameters(x: Tensor, *parameters: Tensor | None) -> bool:
    """Return whether an input of half precision has float32 parameters.

    If so, their gradients are float32, too.
    """
    if x._array.dtype not in HALVES:
        return False
    given = [p for p in parameters if p is not None]
    return bool(given) and all(p._array.dtype is FLOAT32 for p in given)


rms_norm_op = nary("rms_norm", saves="rstd x weight:x")
rms_norm_op.op.rounds_once = lambda n: not isinstance(n.saved[1], Tensor)


@rms_norm_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    rstd, x, weight = n.saved
    if k.records:
        square = k.mean(k.mul(x, x), (len(n.shapes[0]) - 1,), True)
        rstd = k.rsqrt(k.add(square, k.constant(n.attributes[0], x)))
    want = n.needs(0) | n.needs(1) << 1
    return k.rms_norm_backward(g, x, rstd, weight, want=want)


@traced(light=True)
def rms_norm(
    input: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    r"""Return x / sqrt(mean(x^2) + eps) * weight over the last dimensions.

    Zhang, Sennrich: Root mean square layer normalization (NeurIPS 2019).

    Parameters
    ----------
    input
        The tensor x of shape (..., \*normalized_shape), of float32 or float64.
    normalized_shape
        The sizes of the last dimensions, over which the mean is computed.
    weight
        The scale, a tensor of shape `normalized_shape`; None leaves it out.
    eps
        A small number that is added to the mean square; by default the machine epsilon
        of the dtype.

    Raises
    ------
    ShapeError
        If the shape of `input` does not end with `normalized_shape`, or `weight` has
        another shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.rms_norm(ac.tensor([1.0, 7.0]), (2,), eps=0.0)
    tensor([0.2000, 1.4000])
    """
    sizes = _last_sizes("rms_norm", input, normalized_shape)
    if weight is not None:
        _check_parameter("rms_norm", "weight", weight, sizes)
        weight = cast(weight, input.dtype)
    if eps is None:
        eps = 2.0**-23 if input._array.dtype.itemsize == 4 else 2.0**-52
    elif eps.__class__ is not float:
        eps = number("rms_norm", "eps", eps)
    if len(sizes) == 1:
        return rms_norm_op(input, weight, eps)
    x, weight = _merged(sizes, input, weight)
    return _unmerged(rms_norm_op(x, weight, eps), input)


def _last_sizes(where: str, input: Any, normalized_shape: Any) -> tuple[int, ...]:
    """Return the sizes to normalise over; raise unless `input` ends with them."""
    sizes: tuple[int, ...] = normalized_shape
    # A tuple of one integer, as nn.LayerNorm passes it, needs no conversion (0.3 us).
    if not (sizes.__class__ is tuple and len(sizes) == 1 and sizes[0].__class__ is int):
        sizes = integers(where, "normalized_shape", sizes)
    if not isinstance(input, Tensor):
        check_tensor(where, input)
    shape = input._array.shape
    if not sizes or shape[-len(sizes) :] != sizes:
        raise ShapeError(
            f"{where}: `input` has shape {shape}, but `normalized_shape` is {sizes}; "
            "the shape of `input` must end with it, and it must not be empty."
        )
    return sizes


def _check_parameter(
    where: str, name: str, parameter: Any, sizes: tuple[int, ...]
) -> None:
    if isinstance(parameter, Tensor) and parameter._array.shape == sizes:
        return
    check_tensor(where, parameter)
    raise ShapeError(
        f"{where}: `{name}` has shape {parameter.shape}; it must have the shape "
        f"`normalized_shape`, {sizes}."
    )


def _merged(sizes: tuple[int, ...], input: Tensor, *parameters: Tensor | None) -> Any:
    """Return the operands with the last dimensions merged to one."""
    n = math.prod(sizes)
    rows = view.reshape_op(input, (*input.shape[: -len(sizes)], n))
    return rows, *[None if p is None else view.reshape_op(p, (n,)) for p in parameters]


def _unmerged(out: Tensor, input: Tensor) -> Tensor:
    """Return a result in the shape of `input`."""
    return view.detach_from_base(view.reshape_op(out, input.shape))

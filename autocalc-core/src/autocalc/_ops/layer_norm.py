# SPDX-License-Identifier: MIT
"""Normalisation over the last dimensions: layer_norm and rms_norm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from autocalc._ops import view
from autocalc._ops._arguments import check_tensor
from autocalc._ops._op import nary
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers, number
from autocalc.errors import ShapeError

layer_norm_op = nary("layer_norm", saves="mean rstd x weight:x")


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


def layer_norm(
    input: Tensor,
    normalized_shape: Sizes,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    r"""Return (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions.

    The variance is that of the population: divided by n.  Ba, Kiros, Hinton: Layer
    normalization (2016).

    Parameters
    ----------
    input
        Of shape (..., \*normalized_shape), float32 or float64.
    normalized_shape
        The sizes of the last dimensions, over which mean and variance are taken.
    weight, bias
        Of shape `normalized_shape`.
    eps
        Keeps rows of equal values from a division by 0.

    Raises
    ------
    ShapeError
        If `input` does not end with `normalized_shape`, or a parameter has another
        shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[0.0, 2.0], [3.0, 5.0]])
    >>> ac.nn.functional.layer_norm(x, (2,), eps=0.0)
    tensor([[-1.,  1.],
            [-1.,  1.]])
    """
    if eps.__class__ is float and _fit(normalized_shape, input, weight, bias):
        return layer_norm_op(input, weight, bias, eps)
    sizes = _last_sizes("layer_norm", input, normalized_shape, weight, bias)

    def run(x: Tensor, *parameters: Tensor | None) -> Tensor:
        return layer_norm_op(x, *parameters, float(eps))

    return _over_last(run, sizes, input, weight, bias)


rms_norm_op = nary("rms_norm", saves="rstd x weight:x")


@rms_norm_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    rstd, x, weight = n.saved
    if k.records:
        square = k.mean(k.mul(x, x), (len(n.shapes[0]) - 1,), True)
        rstd = k.rsqrt(k.add(square, k.constant(n.attributes[0], x)))
    want = n.needs(0) | n.needs(1) << 1
    return k.rms_norm_backward(g, x, rstd, weight, want=want)


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
        Of shape (..., \*normalized_shape), float32 or float64.
    normalized_shape
        The sizes of the last dimensions, over which the mean is taken.
    weight
        Of shape `normalized_shape`.
    eps
        By default the spacing of the dtype's numbers at 1.

    Raises
    ------
    ShapeError
        If `input` does not end with `normalized_shape`, or `weight` has another shape.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.rms_norm(ac.tensor([1.0, 7.0]), (2,), eps=0.0)
    tensor([0.2, 1.4])
    """
    sizes = _last_sizes("rms_norm", input, normalized_shape, weight)
    if eps is None:
        eps = 2.0**-23 if input._array.dtype.itemsize == 4 else 2.0**-52
    gap = number("rms_norm", "eps", eps)

    def run(x: Tensor, *parameters: Tensor | None) -> Tensor:
        return rms_norm_op(x, *parameters, gap)

    return _over_last(run, sizes, input, weight)


def _fit(sizes: Any, input: Any, *parameters: Any) -> bool:
    """Return whether all is as it mostly is: one last dimension, and what has it.

    Of the rest, `_last_sizes` says what is wrong with it; it takes 8 us longer.
    """
    if not isinstance(sizes, tuple) or len(sizes) != 1:
        return False
    if not isinstance(input, Tensor):
        return False
    if input._array.shape[-1:] != sizes:
        return False
    for one in parameters:
        if one is not None and (
            not isinstance(one, Tensor) or one._array.shape != sizes
        ):
            return False
    return True


def _last_sizes(
    where: str, input: Tensor, normalized_shape: Sizes, *parameters: Tensor | None
) -> tuple[int, ...]:
    """Return the sizes to normalise over; raise unless all operands have them."""
    given = normalized_shape
    sizes = integers(where, "normalized_shape", given)
    shape = check_tensor(where, input).shape
    if not sizes or shape[-len(sizes) :] != sizes:
        message = (
            f"{where}: `input` has shape {shape}, `normalized_shape` is {sizes}; the "
            f"last dimensions of `input` must be these, at least one."
        )
        raise ShapeError(message)
    for name, parameter in zip(("weight", "bias"), parameters, strict=False):
        if parameter is not None and check_tensor(where, parameter).shape != sizes:
            message = (
                f"{where}: `{name}` has shape {parameter.shape}; it must be that of "
                f"`normalized_shape`, {sizes}."
            )
            raise ShapeError(message)
    return sizes


def _over_last(
    run: Callable[..., Tensor],
    sizes: tuple[int, ...],
    input: Tensor,
    *parameters: Tensor | None,
) -> Tensor:
    """Run a kernel over one last dimension, several being merged to one."""
    if len(sizes) == 1:
        return run(input, *parameters)
    n = math.prod(sizes)
    rows = view.reshape_op(input, (*input.shape[: -len(sizes)], n))
    flat = [None if p is None else view.reshape_op(p, (n,)) for p in parameters]
    return view.detach_from_base(view.reshape_op(run(rows, *flat), input.shape))

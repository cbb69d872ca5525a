# SPDX-License-Identifier: MIT
"""The gradients of convolutions as functions: one kernel, without a forward pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._kernels.conv._checks import check_conv
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.traced import traced
from autocalc._ops.convolutions import _spatial
from autocalc._ops.convolutions.conv import Sizes, check_weight, conv_dweight, conv_dx
from autocalc._ops.creation.constants import shape_of
from autocalc._tensor import Tensor
from autocalc.errors import ShapeError


@traced
def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of `conv1d` with respect to its input.

    Parameters
    ----------
    input_size
        The shape of the input, (N, C, L).
    weight, stride, padding, dilation, groups
        The arguments of `conv1d`.
    grad_output
        The gradient with respect to the result of `conv1d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> weight, g = ac.tensor([[[1.0, 2.0]]]), ac.ones(1, 1, 2)
    >>> ac.nn.grad.conv1d_input((1, 1, 3), weight, g)
    tensor([[[1., 3., 2.]]])
    """
    geometry = stride, padding, dilation, groups
    return _by_input("conv1d_input", 1, input_size, weight, grad_output, geometry)


@traced
def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of `conv1d` with respect to its weight.

    Parameters
    ----------
    weight_size
        The shape of the weight.
    input, stride, padding, dilation, groups
        The arguments of `conv1d`.
    grad_output
        The gradient with respect to the result of `conv1d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, g = ac.tensor([[[1.0, 2.0, 3.0]]]), ac.ones(1, 1, 2)
    >>> ac.nn.grad.conv1d_weight(x, (1, 1, 2), g)
    tensor([[[3., 5.]]])
    """
    geometry = stride, padding, dilation, groups
    return _by_weight("conv1d_weight", 1, input, weight_size, grad_output, geometry)


@traced
def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of `conv2d` with respect to its input.

    Parameters
    ----------
    input_size
        The shape of the input, (N, C, H, W).
    weight, stride, padding, dilation, groups
        The arguments of `conv2d`.
    grad_output
        The gradient with respect to the result of `conv2d`.

    Raises
    ------
    ShapeError
        If `grad_output` does not have the shape of the result of `conv2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> g = ac.ones(1, 1, 1, 1)
    >>> ac.nn.grad.conv2d_input((1, 1, 2, 2), ac.ones(1, 1, 2, 2), g).flatten()
    tensor([1., 1., 1., 1.])
    """
    geometry = stride, padding, dilation, groups
    return _by_input("conv2d_input", 2, input_size, weight, grad_output, geometry)


@traced
def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of `conv2d` with respect to its weight.

    Parameters
    ----------
    weight_size
        The shape of the weight.
    input, stride, padding, dilation, groups
        The arguments of `conv2d`.
    grad_output
        The gradient with respect to the result of `conv2d`.

    Raises
    ------
    ShapeError
        If `grad_output` does not have the shape of the result of `conv2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, g = ac.arange(4.0).reshape(1, 1, 2, 2), ac.ones(1, 1, 2, 2)
    >>> ac.nn.grad.conv2d_weight(x, (1, 1, 1, 1), g).item()
    6.0
    """
    geometry = stride, padding, dilation, groups
    return _by_weight("conv2d_weight", 2, input, weight_size, grad_output, geometry)


@traced
def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of `conv3d` with respect to its input.

    Parameters
    ----------
    input_size
        The shape of the input, (N, C, D, H, W).
    weight, stride, padding, dilation, groups
        The arguments of `conv3d`.
    grad_output
        The gradient with respect to the result of `conv3d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> weight, g = ac.full((1, 1, 1, 1, 1), 2.0), ac.ones(1, 1, 1, 1, 3)
    >>> ac.nn.grad.conv3d_input((1, 1, 1, 1, 3), weight, g).flatten()
    tensor([2., 2., 2.])
    """
    geometry = stride, padding, dilation, groups
    return _by_input("conv3d_input", 3, input_size, weight, grad_output, geometry)


@traced
def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Return the gradient of `conv3d` with respect to its weight.

    Parameters
    ----------
    weight_size
        The shape of the weight.
    input, stride, padding, dilation, groups
        The arguments of `conv3d`.
    grad_output
        The gradient with respect to the result of `conv3d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, g = ac.ones(1, 1, 1, 1, 3), ac.ones(1, 1, 1, 1, 3)
    >>> ac.nn.grad.conv3d_weight(x, (1, 1, 1, 1, 1), g).item()
    3.0
    """
    geometry = stride, padding, dilation, groups
    return _by_weight("conv3d_weight", 3, input, weight_size, grad_output, geometry)


def _by_input(
    where: str, dims: int, input_size: Any, weight: Any, g: Any, geometry: Any
) -> Tensor:
    w_shape = check_tensor(where, weight).shape
    shape = shape_of(where, (), input_size)
    attributes = _checked(where, dims, shape, w_shape, weight, g, geometry)
    return conv_dx(g, weight, None, shape[2:], *attributes)


def _by_weight(
    where: str, dims: int, input: Any, weight_size: Any, g: Any, geometry: Any
) -> Tensor:
    shape = check_tensor(where, input).shape
    w_shape = shape_of(where, (), weight_size)
    attributes = _checked(where, dims, shape, w_shape, input, g, geometry)
    return conv_dweight(g, input, w_shape[2:], *attributes)


def _checked(
    where: str,
    dims: int,
    shape: tuple[int, ...],
    w_shape: tuple[int, ...],
    known: Tensor,
    g: Any,
    geometry: Any,
) -> tuple[Any, ...]:
    """Return stride, padding, dilation and groups; raise if shapes do not fit."""
    check_weight(where, check_tensor(where, g), known, None)
    for name, given in (("input", shape), ("weight", w_shape)):
        if len(given) != dims + 2:
            raise ShapeError(
                f"{where}: the shape of the {name} is {tuple(given)}; it must have "
                f"{dims + 2} dimensions."
            )
    stride, padding, dilation, groups = geometry
    check_conv(where, shape, w_shape, None, groups, "input")
    stride = _spatial.sizes_of(where, "stride", stride, dims)
    padding = _spatial.sizes_of(where, "padding", padding, dims, 0)
    dilation = _spatial.sizes_of(where, "dilation", dilation, dims)
    sizes = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(
            shape[2:], w_shape[2:], stride, padding, dilation, strict=True
        )
    )
    needed = (shape[0], w_shape[0], *sizes)
    if g.shape != needed:
        raise ShapeError(
            f"{where}: `grad_output` has shape {g.shape}; it must have the shape of "
            f"the result of the convolution, {needed}."
        )
    return stride, padding, dilation, groups

# SPDX-License-Identifier: MIT
"""A layer fused with the batch norm after it, for one call or as a new layer.

With running statistics a norm is a linear function of each channel.  So it can be made
a part of the layer before it::

    norm(conv(x)) = conv(x; weight * s, bias * s + o)
    s = gamma / sqrt(var + eps),  o = beta - mean * s

Jacob and others: Quantization and training of neural networks (CVPR 2018), section 3.2.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import check_float
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag, number, short
from autocalc.errors import ArgumentError, ModuleError, ShapeError
from autocalc.nn._layers.convolutions.conv import ConvBase
from autocalc.nn._layers.linear import Linear
from autocalc.nn._layers.norms.batch_norm import _BatchNorm
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter

Parameters = tuple[Parameter, Parameter]


def conv_norm_relu(
    conv: Any, norm: Any, input: Tensor, residual: Tensor | None = None
) -> Tensor:
    """Return ``relu(norm(conv(input)) + residual)``.

    One kernel computes the convolution, and one computes everything after it.  The
    backward pass also uses one kernel for the part after the convolution; see
    `BatchNorm2d.relu`.

    Parameters
    ----------
    conv
        The convolution: a `Conv1d` or `Conv2d`.
    norm
        The batch norm after it: a `BatchNorm1d`, `BatchNorm2d` or `SyncBatchNorm`.
    input
        The input of the convolution.
    residual
        A tensor of the shape of the result, which is added before the ReLU: the
        shortcut of a residual block.  None adds nothing.

    Raises
    ------
    ModuleError
        If `conv` or `norm` is a module of another class.

    Examples
    --------
    >>> import autocalc as ac
    >>> conv, norm = ac.nn.Conv2d(3, 8, 3), ac.nn.BatchNorm2d(8)
    >>> ac.nn.utils.conv_norm_relu(conv, norm, ac.randn(2, 3, 6, 6)).shape
    autocalc.Size([2, 8, 4, 4])
    """
    where = "conv_norm_relu"
    if not isinstance(conv, Module) or not isinstance(norm, _BatchNorm):
        raise ModuleError(
            f"{where}: `conv` is {short(conv)} and `norm` is {short(norm)}; they must "
            "be a convolution and the batch norm that follows it."
        )
    return norm.relu(conv(check_tensor(where, input)), residual)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """Return a new convolution that computes ``bn(conv(x))``.

    `conv` and `bn` are not changed, and later changes of them do not affect the new
    convolution.  You do not need this function if you compile a model for inference;
    `compile` does the same.

    Parameters
    ----------
    conv
        The convolution, for example a `Conv2d`, in evaluation mode.
    bn
        The batch norm after it, in evaluation mode and with running statistics.
    transpose
        True if `conv` is a transposed convolution.  Then the second dimension of its
        weight counts the output channels.

    Raises
    ------
    ArgumentError
        If a module is in training mode or has a wrong class, if the norm has no running
        statistics, or if the norm's channels are not the output channels of the
        convolution.
    ShapeError
        If a transposed convolution has more than one group.

    Examples
    --------
    >>> import autocalc as ac
    >>> conv, norm = ac.nn.Conv2d(3, 8, 3).eval(), ac.nn.BatchNorm2d(8).eval()
    >>> one = ac.nn.utils.fuse_conv_bn_eval(conv, norm)
    >>> x = ac.randn(2, 3, 6, 6)
    >>> ac.allclose(one(x), norm(conv(x)), atol=1e-5)
    True
    """
    where = "fuse_conv_bn_eval"
    check_flag(where, "transpose", transpose)
    if not isinstance(conv, ConvBase) or conv._transposed is not transpose:
        kind = "a transposed convolution" if transpose else "a convolution"
        raise ArgumentError(
            f"{where}: got {type(conv).__name__} with `transpose`={transpose}; give "
            f"{kind} such as a {'ConvTranspose2d' if transpose else 'Conv2d'}, and the "
            "batch norm that follows it."
        )
    _check_pair(where, conv, bn, (conv.out_channels,))
    return _fused(conv, fuse_conv_bn_weights(*_tensors_of(conv, bn, transpose)))


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> Parameters:
    """Return the weight and the bias of a convolution fused with a batch norm.

    With s = bn_w / sqrt(bn_rv + bn_eps), the results are conv_w * s and (conv_b -
    bn_rm) * s + bn_b.

    Parameters
    ----------
    conv_w
        The weight of the convolution, of shape (out, in, ...), or (in, out, ...) with
        `transpose`.
    conv_b
        The bias of the convolution, of shape (out,).  None means 0.
    bn_rm, bn_rv
        The running mean and the running variance, each of shape (out,).
    bn_eps
        The constant that is added to the variance.
    bn_w, bn_b
        The weight and the bias of the norm, each of shape (out,).  None means 1 and 0.
    transpose
        True for a transposed convolution.

    Raises
    ------
    ShapeError
        If the shapes do not match.
    DTypeError
        If an argument is not a floating-point tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> weight, one = ac.ones(1, 1, 1), ac.ones(1)
    >>> w, b = ac.nn.utils.fuse_conv_bn_weights(weight, None, one, one, 0, 3 * one, one)
    >>> w.item(), b.item()
    (3.0, -2.0)
    """
    where = "fuse_conv_bn_weights"
    axis = 1 if check_flag(where, "transpose", transpose) else 0
    norm = bn_rm, bn_rv, bn_w, bn_b
    _check_shapes(where, "conv_w", conv_w, axis, 3, (conv_b, *norm), alone=False)
    return _parameters(where, conv_w, conv_b, axis, norm, bn_eps)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """Return a new linear layer that computes ``bn(linear(x))``.

    The two modules are not changed.

    Parameters
    ----------
    linear
        The `Linear` layer, in evaluation mode.
    bn
        The batch norm after it, in evaluation mode and with running statistics.  It has
        as many channels as the layer has outputs, or one.

    Raises
    ------
    ArgumentError
        If a module is in training mode or has a wrong class, if the norm has no running
        statistics, or if the norm has a wrong number of channels.

    Examples
    --------
    >>> import autocalc as ac
    >>> linear, norm = ac.nn.Linear(3, 8).eval(), ac.nn.BatchNorm1d(8).eval()
    >>> one = ac.nn.utils.fuse_linear_bn_eval(linear, norm)
    >>> x = ac.randn(2, 3)
    >>> ac.allclose(one(x), norm(linear(x)), atol=1e-5)
    True
    """
    where = "fuse_linear_bn_eval"
    if not isinstance(linear, Linear):
        message = f"{where}: got {type(linear).__name__}; give a Linear layer."
        raise ArgumentError(message)
    _check_pair(where, linear, bn, (linear.out_features, 1))
    return _fused(linear, fuse_linear_bn_weights(*_tensors_of(linear, bn)))


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> Parameters:
    """Return the weight and the bias of a linear layer fused with a batch norm.

    With s = bn_w / sqrt(bn_rv + bn_eps), the results are linear_w * s and (linear_b -
    bn_rm) * s + bn_b.

    Parameters
    ----------
    linear_w
        The weight of the layer, of shape (out, in).
    linear_b
        The bias of the layer, of shape (out,).  None means 0.
    bn_rm, bn_rv
        The running mean and the running variance, each of shape (out,) or (1,).
    bn_eps
        The constant that is added to the variance.
    bn_w, bn_b
        The weight and the bias of the norm, each of shape (out,) or (1,).  None means 1
        and 0.

    Raises
    ------
    ShapeError
        If the shapes do not match.
    DTypeError
        If an argument is not a floating-point tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> weight, one = ac.ones(1, 2), ac.ones(1)
    >>> fuse = ac.nn.utils.fuse_linear_bn_weights
    >>> w, b = fuse(weight, one, one, one, 0, 3 * one, one)
    >>> w.tolist(), b.item()
    ([[3.0, 3.0]], 1.0)
    """
    where = "fuse_linear_bn_weights"
    norm = bn_rm, bn_rv, bn_w, bn_b
    _check_shapes(where, "linear_w", linear_w, 0, 2, (linear_b,), alone=False)
    _check_shapes(where, "linear_w", linear_w, 0, 2, norm, alone=True)
    return _parameters(where, linear_w, linear_b, 0, norm, bn_eps)


def _check_pair(where: str, layer: Module, bn: Any, sizes: tuple[int, ...]) -> None:
    """Raise unless both are in evaluation mode and the norm fits, with statistics."""
    if not isinstance(bn, _BatchNorm):
        message = (
            f"{where}: got {type(bn).__name__}; give the batch norm that follows it."
        )
        raise ArgumentError(message)
    statistics = bn.running_mean is not None and bn.running_var is not None
    if layer.training or bn.training or not statistics or bn.num_features not in sizes:
        raise ArgumentError(
            f"{where}: got a {type(layer).__name__} of {sizes[0]} outputs with "
            f"training={layer.training}, and a norm of {bn.num_features} with "
            f"training={bn.training} and track_running_stats={bn.track_running_stats}. "
            "Both must be in evaluation mode and have equally many outputs, and the "
            "norm needs running statistics."
        )


def _check_shapes(
    where: str,
    name: str,
    weight: Tensor,
    axis: int,
    least: int,
    rows: tuple[Tensor | None, ...],
    *,
    alone: bool,
) -> None:
    """Raise unless the norm has one number for each output, or only one if `alone`."""
    check_float(where, weight)
    if weight.ndim < least:
        raise ShapeError(
            f"{where}: `{name}` has shape {weight.shape}; it needs {least} dimensions "
            f"or more."
        )
    outputs = weight.shape[axis]
    allowed = ((outputs,), (1,)) if alone else ((outputs,),)
    for row in rows:
        if row is None:
            continue
        check_float(where, row)
        if row.shape not in allowed:
            raise ShapeError(
                f"{where}: `{name}` of shape {weight.shape} has {outputs} outputs, but "
                f"a tensor has shape {row.shape}; it must be ({outputs},)."
            )


def _parameters(
    where: str,
    weight: Tensor,
    bias: Tensor | None,
    axis: int,
    norm: tuple[Tensor, Tensor, Tensor | None, Tensor | None],
    eps: float,
) -> Parameters:
    """Return the fused parameters, with the dtype and `requires_grad` of the layer."""
    mean, var, gamma, beta = norm
    for one in (mean, var):
        check_tensor(where, one)
    along = tuple(-1 if i == axis else 1 for i in range(weight.ndim))
    with no_grad():
        scale = (var + number(where, "bn_eps", eps)).rsqrt()
        scale = scale if gamma is None else scale * gamma
        w, b = weight * scale.reshape(along), -(mean * scale)
        b = b if beta is None else b + beta
        b = b if bias is None else b + bias * scale
        kind = weight.dtype if bias is None else bias.dtype
        w, b = w.to(weight.dtype), b.to(kind)
        if len(b) != weight.shape[axis]:  # no bias, and a norm of one number
            b = b.expand(weight.shape[axis]).clone()
    trainable = bias is not None and bias.requires_grad
    return Parameter(w, weight.requires_grad), Parameter(b, trainable)


def _tensors_of(layer: Any, bn: Any, *more: Any) -> tuple[Any, ...]:
    norm = bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    return (layer.weight, layer.bias, *norm, *more)


def _fused(layer: Any, parameters: Parameters) -> Any:
    """Return a copy of the layer with other parameters."""
    result = deepcopy(layer)
    result.weight, result.bias = parameters
    return result

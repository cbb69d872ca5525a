# SPDX-License-Identifier: MIT
"""A convolution and the batch norm behind it as one convolution.

With running statistics a norm is a line for each channel, and so is a part of the
convolution before it::

    norm(conv(x)) = conv(x; weight * s, bias * s + o)
    s = gamma / sqrt(var + eps),  o = beta - mean * s

Jacob and others: Quantization and training of neural networks (CVPR 2018), section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch._state import is_exporting
from autocalc._graph._grad_mode import is_grad_enabled
from autocalc._ops import activations, rectifiers
from autocalc._ops._arguments import check_tensor
from autocalc._ops.batch_norm_running import RELU, Activation, folded
from autocalc._tensor import Tensor
from autocalc._tensor.checks import short
from autocalc.errors import ModuleError
from autocalc.nn._activation import ReLU, SiLU
from autocalc.nn._activation_pieces import Hardswish, Hardtanh, LeakyReLU, ReLU6
from autocalc.nn._batch_norm import BatchNorm1d, BatchNorm2d, _BatchNorm
from autocalc.nn._conv import Conv1d, Conv2d
from autocalc.nn._module import Module

#: Layers that can be folded; a subclass may have a `forward` of its own.
BATCH_NORMS = frozenset({BatchNorm1d, BatchNorm2d})
CONVS = frozenset({Conv1d, Conv2d})

#: Activations that run in the same pass as a norm.
_ACTIVATIONS: dict[type, Callable[[Any], Activation]] = {
    ReLU: lambda module: RELU,
    ReLU6: lambda module: Activation("hardtanh", 0.0, 6.0),
    Hardtanh: lambda module: Activation(
        "hardtanh", float(module.min_val), float(module.max_val)
    ),
    LeakyReLU: lambda module: Activation("leaky_relu", float(module.negative_slope)),
    Hardswish: lambda module: Activation("hardswish"),
    SiLU: lambda module: Activation("silu"),
}


def activation_of(module: Any) -> Activation | None:
    """Return what a module is for a norm before it; None if it runs by itself."""
    if module._hooks is not None or type(module) not in _ACTIVATIONS:
        return None
    activation = _ACTIVATIONS[type(module)](module)
    sloped = activation.name == "leaky_relu" and activation.alpha < 0
    return None if sloped else activation


def applied(activation: Activation, x: Tensor) -> Tensor:
    """Return the activation of a result that nobody else has."""
    name, alpha, beta = activation
    if name == "relu":
        return x.relu_()
    if name == "hardtanh":
        return rectifiers.hardtanh_op(x, alpha, beta)
    if name == "leaky_relu":
        return rectifiers.leaky_relu_op(x, alpha)
    if name == "hardswish":
        return rectifiers.hardswish_op(x)
    return activations.silu_op(x)


def conv_norm_relu(
    conv: Any, norm: Any, input: Tensor, residual: Tensor | None = None
) -> Tensor:
    """Return ``relu(norm(conv(input)) + residual)`` in as few passes as there can be.

    In training, norm and ReLU are one kernel each way (`BatchNorm2d.relu`).  After
    `eval`, where no gradients are recorded, the norm is folded into the convolution's
    parameters, and the rest is done in place.

    Parameters
    ----------
    conv
        A `Conv1d` or `Conv2d`.
    norm
        The batch norm behind it: a `BatchNorm1d`, `BatchNorm2d` or `SyncBatchNorm`.
    input
        What the convolution takes.
    residual
        What is added before the maximum, of the result's shape: a shortcut.

    Raises
    ------
    ModuleError
        If they are no such modules.

    Examples
    --------
    >>> import autocalc as ac
    >>> conv, norm = ac.nn.Conv2d(3, 8, 3), ac.nn.BatchNorm2d(8)
    >>> ac.nn.utils.conv_norm_relu(conv, norm, ac.randn(2, 3, 6, 6)).shape
    autocalc.Size([2, 8, 4, 4])
    """
    where = "conv_norm_relu"
    if not isinstance(conv, Module) or not isinstance(norm, _BatchNorm):
        message = (
            f"{where}: `conv` is {short(conv)}, `norm` {short(norm)}; they must be a "
            f"convolution and the batch norm behind it."
        )
        raise ModuleError(message)
    check_tensor(where, input)
    return conv_norm_activation(conv, norm, RELU, input, residual)


def conv_norm_activation(
    conv: Any,
    norm: Any,
    activation: Activation,
    input: Tensor,
    residual: Tensor | None = None,
) -> Tensor:
    """Return activation(norm(conv(input)) + residual) in few passes."""
    if _folds(conv, norm, input):
        out = _convolved(conv, norm, input)
        if residual is None:
            return applied(activation, out)
        if (residual.shape, residual.dtype) == (out.shape, out.dtype):
            return applied(activation, out.add_(residual))
    return norm._activated(conv(input), activation, residual)  # type: ignore[no-any-return]  # a Tensor


def conv_norm(conv: Any, norm: Any, input: Tensor) -> Tensor:
    """Return ``norm(conv(input))`` in as few passes as there can be."""
    if _folds(conv, norm, input):
        return _convolved(conv, norm, input)
    return norm(conv(input))  # type: ignore[no-any-return]  # a Tensor


def _folds(conv: Any, norm: Any, input: Tensor) -> bool:
    """Tell whether a norm is worth folding: the same values in fewer passes.

    Folding takes a pass over the weight and saves two over the result, which is about
    as large as the input times out / in.
    """
    return (
        not is_grad_enabled()
        and not is_exporting()
        and type(conv) in CONVS
        and type(norm) in BATCH_NORMS
        and conv._hooks is None
        and norm._hooks is None
        and _by_running(norm)
        and conv.out_channels == norm.num_features
        and conv.weight.numel() <= input.numel()
    )


def _by_running(norm: Any) -> bool:
    return not norm.training and norm.running_mean is not None


def _convolved(conv: Any, norm: Any, input: Tensor) -> Tensor:
    out: Tensor = conv.convolved(input, *_folded(conv, norm))
    return out


def _folded(conv: Any, norm: Any) -> tuple[Tensor, Tensor]:
    """Return weight and bias of the convolution that does both."""
    statistics = norm.running_mean, norm.running_var
    scaled = statistics, norm.weight, norm.bias, norm.eps
    return folded("batch_norm", conv.weight, conv.bias, 0, *scaled)

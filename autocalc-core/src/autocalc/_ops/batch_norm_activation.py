# SPDX-License-Identifier: MIT
"""Batch norm, a shortcut and an activation as one operator."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.norm._activated import BY_INPUT
from autocalc._ops._arguments import check_tensor
from autocalc._ops._op import multi
from autocalc._ops.batch_norm import (
    batch_statistics,
    checked,
    move,
    values,
    with_statistics,
)
from autocalc._ops.batch_norm_running import RELU, Activation, by_running
from autocalc._tensor import Tensor
from autocalc._tensor.checks import FLAG, check_flag
from autocalc.errors import ShapeError

_KERNEL = "batch_norm_activation"
# As in `batch_norm_running`: by the result, or by what came before the activation.
activation_op = multi(_KERNEL, saves="out mean var x weight:x")
activation_by_input_op = multi(
    _KERNEL, saves="mean var x weight bias other", main=False
)


@activation_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, mean, var, x, weight = n.saved
    return _gradients(k, n, g, x, out, None, mean, var, weight, None)


@activation_by_input_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    mean, var, x, weight, bias, other = n.saved
    return _gradients(k, n, g, x, None, other, mean, var, weight, bias)


def _gradients(
    k: Any,
    n: Any,
    g: Any,
    x: Any,
    out: Any,
    other: Any,
    mean: Any,
    var: Any,
    *affine: Any,
) -> Any:
    g_out, *statistics = g
    assert statistics == [None, None], "statistics are detached: they have no gradient"
    if k.records:
        mean, var = batch_statistics(k, x, n.shapes[0])
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2 | n.needs(3) << 3
    return k.batch_norm_activation_backward(
        g_out, x, out, other, mean, var, *affine, *n.attributes, want=want
    )


def batch_norm_relu(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    residual: Tensor | None = None,
) -> Tensor:
    """Return max(batch_norm(input) + residual, 0), each way in one kernel.

    The same as ``relu(batch_norm(...) + residual)``, with less memory and fewer passes
    over it: what lies between is never stored, and the gradient passes where the result
    is not 0.  He, Zhang, Ren, Sun: Deep residual learning for image recognition (2015),
    figure 2.

    Parameters
    ----------
    input, running_mean, running_var, weight, bias, training, momentum, eps
        Those of `batch_norm`.
    residual
        What is added before the maximum, of the input's shape: a shortcut.

    Raises
    ------
    ShapeError
        If `residual` has another shape, or where `batch_norm` raises it.
    ArgumentError
        If running statistics are needed and not there.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[0.0, 1.0], [2.0, 5.0]])
    >>> shortcut = ac.tensor([[0.0, 3.0], [0.5, -3.0]])
    >>> ac.nn.functional.batch_norm_relu(
    ...     x, None, None, training=True, eps=0.0, residual=shortcut
    ... )
    tensor([[0.0000, 2.0000],
            [1.5000, 0.0000]])
    """
    if training.__class__ is not FLAG:
        training = check_flag("batch_norm_relu", "training", training)
    return batch_norm_activation(
        "batch_norm_relu", RELU, input, running_mean, running_var, weight, bias,
        training, momentum, eps, residual,
    )  # fmt: skip


def batch_norm_activation(
    where: str,
    activation: Activation,
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    residual: Tensor | None = None,
) -> Tensor:
    """Return activation(batch_norm(input) + residual), each way in one kernel."""
    statistics = running_mean, running_var
    eps, momentum = checked(where, input, statistics, weight, bias, eps, momentum)
    if residual is not None and check_tensor(where, residual).shape != input.shape:
        message = (
            f"{where}: `residual` has shape {residual.shape}; it must be that of the "
            f"input, {input.shape}."
        )
        raise ShapeError(message)
    if not training:
        return by_running(
            where, input, statistics, weight, bias, eps, activation, residual
        )
    n = values(where, input)
    op = activation_by_input_op if activation.name in BY_INPUT else activation_op
    tensors = input, weight, bias, residual
    out, mean, var = with_statistics(op, tensors, (eps, *activation))
    move(statistics, (mean, var), n, momentum)
    return out

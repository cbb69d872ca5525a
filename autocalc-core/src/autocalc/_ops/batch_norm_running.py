# SPDX-License-Identifier: MIT
"""Batch norm by running statistics: one kernel, with what follows it."""

from __future__ import annotations

from typing import Any, NamedTuple

from autocalc._kernels.norm._activated import BY_INPUT
from autocalc._kernels.norm._channels import channel_column, over
from autocalc._ops import arithmetic, exponential, view
from autocalc._ops._op import nary
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError

Statistics = tuple[Tensor | None, Tensor | None]


class Activation(NamedTuple):
    """What runs in the same pass as a norm: its name and numbers in the kernels.

    `alpha` and `beta` are the limits of hardtanh; `alpha` is the slope of leaky_relu,
    which must not be below 0: the sign of the result tells its gradient.
    """

    name: str
    alpha: float = 0.0
    beta: float = 0.0


NONE = Activation("none")
RELU = Activation("relu")

_KERNEL = "batch_norm_running"
# What passes of a gradient is told by the result, of some activations by what came
# before them, which is computed again: neither saves what the other one needs.
running_op = nary(_KERNEL, saves="out x:weight mean var weight:x")
running_by_input_op = nary(_KERNEL, saves="x mean var weight bias other", main=False)


@running_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, x, mean, var, weight = n.saved
    eps, *activation = n.attributes
    return _gradients(k, n, passed(k, g, out, *activation), x, mean, var, weight, eps)


@running_by_input_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    x, mean, var, weight, bias, other = n.saved
    eps, *activation = n.attributes
    z = k.batch_norm_running(x, mean, var, weight, bias, other, eps, *NONE)
    return _gradients(k, n, passed(k, g, z, *activation), x, mean, var, weight, eps)


def _gradients(
    k: Any, n: Any, g: Any, x: Any, mean: Any, var: Any, weight: Any, eps: float
) -> Any:
    """Return those of ``(x - mean) * weight / sqrt(var + eps) + bias + other``."""
    shape = n.shapes[0]
    axes, column = over(shape), channel_column(shape)
    dx = dweight = dbias = None
    rstd = k.pow(k.add(var, k.constant(eps, var)), k.constant(-0.5, var))
    if n.needs(0):
        scale = rstd if weight is None else k.mul(rstd, weight)
        dx = k.mul(g, k.reshape(scale, column))
    if n.needs(3):
        far = k.add(x, k.neg(k.reshape(mean, column)))
        dweight = k.mul(k.sum(k.mul(g, far), axes, False), rstd)
    if n.needs(4):
        dbias = k.sum(g, axes, False)
    return dx, None, None, dweight, dbias, g if n.needs(5) else None


def passed(
    k: Any, g: Any, told_by: Any, activation: str, alpha: float, beta: float
) -> Any:
    """Return what passes of `g` through an activation."""
    if activation == "relu":
        return k.relu_backward(g, told_by)
    if activation == "hardtanh":
        return k.hardtanh_backward(g, told_by, alpha, beta)
    if activation == "leaky_relu":
        return k.leaky_relu_backward(g, told_by, alpha)
    if activation == "hardswish":
        return k.hardswish_backward(g, told_by)
    return k.silu_backward(g, told_by) if activation == "silu" else g


def by_running(
    where: str,
    x: Tensor,
    statistics: Statistics,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    activation: Activation = NONE,
    other: Tensor | None = None,
) -> Tensor:
    """Return x normalised by running statistics, plus `other`, activated."""
    mean, var = checked_statistics(where, statistics)
    op = running_by_input_op if activation.name in BY_INPUT else running_op
    operands = (x, mean, var, weight, bias, other)
    out: Tensor = op(*operands, float(eps), *activation)
    return out


def checked_statistics(where: str, statistics: Statistics) -> tuple[Tensor, Tensor]:
    """Return running mean and variance without a history; raise if one is absent."""
    mean, var = statistics
    if mean is None or var is None:
        message = (
            f"{where}: `running_mean` and `running_var` are needed where the batch's "
            f"own statistics are not used."
        )
        raise ArgumentError(message)
    return mean.detach(), var.detach()


def scale_and_offset(
    where: str,
    statistics: Statistics,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor]:
    """Return weight / sqrt(var + eps), and bias - mean times that; (C,) each."""
    mean, var = checked_statistics(where, statistics)
    scale = exponential.rsqrt(arithmetic.add_op(var, float(eps)))
    scale = scale if weight is None else arithmetic.mul(scale, weight)
    offset = arithmetic.neg(arithmetic.mul(mean, scale))
    return scale, offset if bias is None else arithmetic.add_op(offset, bias)


def folded(
    where: str,
    weight: Tensor,
    bias: Tensor | None,
    axis: int,
    statistics: Statistics,
    gamma: Tensor | None,
    beta: Tensor | None,
    eps: float,
) -> tuple[Tensor, Tensor]:
    """Return weight and bias of the layer that computes itself and the norm behind it.

    `axis` is the dimension of the outputs in the layer's weight.
    """
    scale, offset = scale_and_offset(where, statistics, gamma, beta, eps)
    along = tuple(-1 if i == axis else 1 for i in range(weight.ndim))
    product = arithmetic.mul(weight, view.reshape(scale, along))
    if bias is not None:
        offset = arithmetic.add_op(offset, arithmetic.mul(bias, scale))
    return product, offset

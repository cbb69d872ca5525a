# SPDX-License-Identifier: MIT
"""Batch norm, alone or fused with a sum and an activation.

There are three kernels.  `batch_norm` uses the statistics of the batch.
`batch_norm_activation` adds the sum and the activation.  `batch_norm_running` uses
running statistics.  The activation is a `PostOp`, whose fields are the last attributes
of the latter two kernels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc._dispatch.selection.state import current
from autocalc._graph._grad_mode import no_grad
from autocalc._kernels.norm._activated import BY_INPUT, NONE, POST_OPS, RELU, PostOp
from autocalc._kernels.norm._channels import channel_column, count, over
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.cast import astype
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.coerce import cast
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.factories import multi, nary
from autocalc._ops._operator.traced import traced
from autocalc._ops.norms.layer_norm import has_wide_parameters, wide_parameters
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc._tensor.dtypes import float32
from autocalc.errors import ArgumentError, ShapeError

Statistics = tuple[Tensor | None, Tensor | None]

# The results are (out, mean, var); callers use the statistics to update running ones.
batch_norm_op = multi("batch_norm", saves="mean var x weight")
batch_norm_op.op.rounds_once = lambda n: not isinstance(n.saved[2], Tensor)
batch_norm_op.op.wide_inputs = lambda n: wide_parameters(n.saved[3], (1, 2))


@batch_norm_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, *statistics = g
    assert statistics == [None, None], "statistics are detached: they have no gradient"
    mean, var, x, weight = n.saved
    if k.records:
        mean, var = batch_statistics(k, x, n.shapes[0])
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    return k.batch_norm_backward(out, x, mean, var, weight, *n.attributes, want=want)


def batch_statistics(k: Any, x: Any, shape: Any) -> tuple[Any, Any]:
    axes = over(shape)
    if not count(shape):
        none = k.sum(x, axes, False)
        return none, k.add(none, k.constant(1, none))
    var, _ = k.var(x, axes, False, 0.0)
    return k.mean(x, axes, False), var


# The gradient of an activation is computed from its result, or for some activations
# from its input, which is recomputed.  Each operator saves only what its own rule
# needs.
activation_op = multi("batch_norm_activation", saves="out mean var x weight")
activation_op.op.rounds_once = lambda n: not isinstance(n.saved[3], Tensor)
activation_op.op.wide_inputs = lambda n: wide_parameters(n.saved[4], (1, 2))
activation_by_input_op = multi(
    "batch_norm_activation", saves="mean var x weight bias other", main=False
)
activation_by_input_op.op.rounds_once = lambda n: not isinstance(n.saved[2], Tensor)
activation_by_input_op.op.wide_inputs = lambda n: wide_parameters(n.saved[3], (1, 2))


@activation_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, mean, var, x, weight = n.saved
    return _by_batch(k, n, g, (x, out, None), (mean, var), (weight, None))


@activation_by_input_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    mean, var, x, weight, bias, other = n.saved
    return _by_batch(k, n, g, (x, None, other), (mean, var), (weight, bias))


def _by_batch(k: Any, n: Any, g: Any, arrays: Any, statistics: Any, affine: Any) -> Any:
    g_out, *detached = g
    assert detached == [None, None], "statistics are detached: they have no gradient"
    if k.records:
        statistics = batch_statistics(k, arrays[0], n.shapes[0])
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2 | n.needs(3) << 3
    return k.batch_norm_activation_backward(
        g_out, *arrays, *statistics, *affine, *n.attributes, want=want
    )


running_op = nary("batch_norm_running", saves="out x:weight mean var weight:x")
running_by_input_op = nary(
    "batch_norm_running", saves="x mean var weight bias other", main=False
)


@running_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    out, *arrays = n.saved
    return _by_running(k, n, g, out, *arrays)


@running_by_input_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    x, mean, var, weight, bias, other = n.saved
    eps = n.attributes[0]
    z = k.batch_norm_running(x, mean, var, weight, bias, other, eps, *NONE)
    return _by_running(k, n, g, z, x, mean, var, weight)


def _by_running(
    k: Any, n: Any, g: Any, by: Any, x: Any, mean: Any, var: Any, weight: Any
) -> Any:
    """Return gradients of f((x - mean) * weight / sqrt(var + eps) + bias + other).

    `by` is the array from which the gradient of f is computed.
    """
    eps, activation, *numbers = n.attributes
    if activation != "none":
        backward = getattr(k, f"{activation}_backward")
        g = backward(g, by, *numbers[: POST_OPS[activation]])
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


@traced
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Return (x - mean) / sqrt(var + eps) * weight + bias for each channel.

    The mean and the variance of each channel are computed over the batch and all
    positions. An empty batch gives an empty result and gradients of 0, and does not
    change the running statistics.  Ioffe, Szegedy: Batch normalization (ICML 2015).

    Parameters
    ----------
    input
        The input x, a tensor of float32 or float64 of shape (N, C, ...).
    running_mean, running_var
        The running statistics, tensors of shape (C,).  If `training` is False, they are
        used for the normalisation.  If `training` is True, the statistics are updated
        in place: ``running = (1 - momentum) * running + momentum * new``, where the new
        variance is computed with the divisor n - 1.
    weight, bias
        The scale and the shift of each channel, tensors of shape (C,); None leaves them
        out.
    training
        True to normalise with the mean and the variance of this batch.  The variance is
        computed with the divisor n, the number of values of a channel.
    momentum
        The weight of this batch in the running statistics, between 0 and 1.
    eps
        A small number that is added to the variance to avoid a division by 0.  It must
        be above 0 in training.

    Raises
    ------
    ShapeError
        If there are no channels, if another tensor does not have one number for each
        channel, or if each channel has only one value.
    ArgumentError
        If running statistics are needed and are None, or `eps` is too small.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[0.0, 1.0], [2.0, 5.0]])
    >>> ac.nn.functional.batch_norm(x, None, None, training=True, eps=1e-9)
    tensor([[-1., -1.],
            [ 1.,  1.]])
    """
    if check_tensor("batch_norm", input).shape == (0,):
        return view.clone_op(input)  # not in the example: PyTorch does not
    return _normed(
        "batch_norm", NONE, input, (running_mean, running_var), weight, bias,
        training, momentum, eps, None,
    )  # fmt: skip


@declared
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
    """Return max(batch_norm(input) + residual, 0), computed by one kernel.

    The result is the same as that of ``relu(batch_norm(...) + residual)``.  The kernel
    needs less memory, because it does not store intermediate results.  One kernel also
    computes the gradient, which is 0 where the result is 0.

    He, Zhang, Ren, Sun: Deep residual learning for image recognition (2015), figure 2.

    Parameters
    ----------
    input, running_mean, running_var, weight, bias, training, momentum, eps
        The arguments of `batch_norm`.
    residual
        A tensor with the shape of `input` that is added before the maximum is taken:
        the shortcut of a residual block.

    Raises
    ------
    ShapeError
        If `residual` does not have the shape of `input`, or if `batch_norm` would raise
        this error.
    ArgumentError
        If running statistics are needed, but are not given.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[0.0, 1.0], [2.0, 5.0]])
    >>> shortcut = ac.tensor([[0.0, 3.0], [0.5, -3.0]])
    >>> ac.nn.functional.batch_norm_relu(
    ...     x, None, None, training=True, eps=1e-9, residual=shortcut
    ... )
    tensor([[0.0000, 2.0000],
            [1.5000, 0.0000]])
    """
    return batch_norm_activation(
        RELU, input, running_mean, running_var, weight, bias, training, momentum, eps,
        residual,
    )  # fmt: skip


@traced
def batch_norm_activation(
    activation: PostOp,
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
    """Return activation(batch_norm(input) + residual), one kernel per direction."""
    return _normed(
        f"batch_norm_{activation[0]}", activation, input, (running_mean, running_var),
        weight, bias, training, momentum, eps, residual,
    )  # fmt: skip


def _normed(
    where: str,
    activation: PostOp,
    input: Tensor,
    statistics: Statistics,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    residual: Tensor | None,
) -> Tensor:
    check_channels(where, input, 2, statistics, weight, bias)
    eps, momentum = number(where, "eps", eps), number(where, "momentum", momentum)
    if eps <= 0 and (training or eps < 0):
        least = "above 0 in training" if training else "0 or more"
        raise ArgumentError(
            f"{where}: `eps` is {eps}; it must be {least}. The eps must be positive "
            "because the variance of a channel may be 0."
        )
    if residual is not None and check_tensor(where, residual).shape != input.shape:
        raise ShapeError(
            f"{where}: `residual` has shape {residual.shape}; it must have the shape "
            f"of `input`, {input.shape}."
        )
    affine = weight, bias
    if not training:
        return by_running(where, input, statistics, affine, eps, activation, residual)
    n = _values(where, input)
    if activation == NONE:
        made = with_statistics(batch_norm_op, (input, *affine), (eps,))
    else:
        by_input = activation[0] in BY_INPUT
        op = activation_by_input_op if by_input else activation_op
        tensors = input, *affine, residual
        made = with_statistics(op, tensors, (eps, *activation))
    out, *now = made
    move(statistics, now, n, momentum)
    return out


def by_running(
    where: str,
    x: Tensor,
    statistics: Statistics,
    affine: tuple[Tensor | None, Tensor | None],
    eps: float,
    activation: PostOp = NONE,
    other: Tensor | None = None,
) -> Tensor:
    """Normalise x by running statistics, add `other`, and apply the activation."""
    mean, var = statistics
    if mean is None or var is None:
        raise ArgumentError(
            f"{where}: `running_mean` and `running_var` are needed if the statistics "
            "of the batch are not used."
        )
    recorded = any(a is not None and a._edge for a in (x, *affine, other))
    if has_wide_parameters(x, *affine) and (
        (recorded and current().grad) or not _fit(x, *affine, other)
    ):
        wide, more = (None if a is None else astype(a, float32) for a in (x, other))
        assert wide is not None, "the input is no optional operand"
        out = by_running(where, wide, statistics, affine, eps, activation, more)
        return astype(out, x.dtype)
    op = running_by_input_op if activation[0] in BY_INPUT else running_op
    operands = x, mean.detach(), var.detach(), *affine, other
    found: Tensor = op(*operands, eps, *activation)
    return found


def _values(where: str, input: Tensor) -> int:
    """Return the number of values in a channel; raise if it is only one."""
    shape: tuple[int, ...] = input._array.shape
    n = shape[0] * math.prod(shape[2:])
    if n == 1:
        raise ShapeError(
            f"{where}: `input` of shape {input.shape} has one value in each channel; "
            f"training needs two or more, or eval()."
        )
    return n


def check_channels(
    where: str,
    input: Tensor,
    least: int,
    statistics: Statistics,
    weight: Tensor | None,
    bias: Tensor | None,
) -> None:
    """Raise unless the operands are floats with the same number of channels."""
    x = check_tensor(where, input)
    check_float(where, x)
    if x.ndim < least:
        behind = ", ..." if least == 2 else ", L, ..."
        message = f"{where}: `input` has shape {x.shape}; it must be (N, C{behind})."
        raise ShapeError(message)
    names = ("running_mean", "running_var", "weight", "bias")
    channels = x._array.shape[1:2]
    for name, tensor in zip(names, (*statistics, weight, bias), strict=True):
        if tensor is not None and check_tensor(where, tensor)._array.shape != channels:
            raise ShapeError(
                f"{where}: `{name}` has shape {tensor.shape}; it must be "
                f"({x.shape[1]},), with one number for each channel of {x.shape}."
            )


def with_statistics(
    op: Any, tensors: tuple[Tensor | None, ...], attributes: tuple[Any, ...]
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the result of an operator, and mean and variance without a history.

    For half precision the statistics stay float32: rounded, they would overflow where
    running statistics do not.  Operands that no kernel takes together are computed in
    float32.
    """
    x: Any = tensors[0]
    half = x.dtype if x.dtype.is_half and not _fit(x, *tensors[1:]) else None
    if half is not None:
        tensors = tuple([None if a is None else cast(a, float32) for a in tensors])
    out, mean, var = op(*tensors, *attributes)
    return out if half is None else cast(out, half), mean.detach(), var.detach()


def _fit(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, other: Tensor | None = None
) -> bool:
    """Return whether a kernel takes these dtypes together.

    `other` must have the dtype of `x`, and `weight` and `bias` must have one dtype.
    """
    if other is not None and other.dtype is not x.dtype:
        return False
    if weight is None:
        return bias is None
    alike = bias is None or bias.dtype is weight.dtype
    return alike and weight.dtype in (x.dtype, float32)


def move(
    statistics: Statistics, now: Sequence[Tensor], n: int, momentum: float
) -> None:
    """Move running statistics towards those of `n` values in a channel, if n > 0."""
    if n == 0:
        return
    with no_grad():
        mean, var = statistics
        if mean is not None:
            _move(mean, now[0], momentum, momentum)
        if var is not None:
            _move(var, now[1], momentum, momentum * n / max(n - 1, 1))


def _move(kept: Tensor, now: Tensor, momentum: float, share: float) -> None:
    """Write (1 - momentum) * kept + share * now; round half precision only once."""
    if kept.dtype.is_half:
        kept.copy_(kept.float().mul_(1 - momentum).add_(now, alpha=share))
    else:
        kept.mul_(1 - momentum).add_(now, alpha=share)

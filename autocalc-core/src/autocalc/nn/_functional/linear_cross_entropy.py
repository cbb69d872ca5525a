# SPDX-License-Identifier: MIT
"""The cross-entropy of a linear layer's outputs, a few rows of them at a time.

With many classes the logits are the largest thing in a training step.  Rows are
independent: a chunk's logits are dropped when its loss is known, and computed again
when the backward pass comes to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from autocalc._graph._grad_mode import is_grad_enabled
from autocalc._ops._operator.checks import check_float, check_reduction
from autocalc._ops._operator.coerce import check_tensor
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops.arranging.joining import cat
from autocalc._ops.indexing import indexing, masking
from autocalc._ops.losses.classification_losses import cross_entropy
from autocalc._ops.matrices import matmul
from autocalc._ops.reductions import reduction as reductions
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import as_int, check_flag, number, one_of, short
from autocalc._tensor.dtypes import DType
from autocalc.autograd._checkpoint import checkpoint
from autocalc.errors import ArgumentError, DTypeError, ShapeError

_POLICIES = ("auto", "accurate", "balanced", "compact")


@dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """How `linear_cross_entropy` cuts a batch into chunks.

    Parameters
    ----------
    allow_retain_graph
        Accepted so that programs carry over: a second backward pass always works.
    batch_chunk_size
        How many rows a chunk has.
    chunking_method
        How to find that number: ``"aspect_ratio"`` makes the logits of a chunk about as
        large as the input, ``"aspect_ratio:n"`` n times smaller; ``"auto"`` is
        ``"aspect_ratio:2"`` unless `batch_chunk_size` is given; None takes all rows.
    acc_policy, acc_dtype
        Accepted so that programs carry over: kernels compute in float32 and wider.

    Raises
    ------
    ArgumentError
        If an argument is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LinearCrossEntropyOptions(batch_chunk_size=64).batch_chunk_size
    64
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: DType | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        where = type(self).__name__
        check_flag(where, "allow_retain_graph", self.allow_retain_graph)
        one_of(where, "acc_policy", self.acc_policy, _POLICIES)
        size = self.batch_chunk_size
        if size is not None and as_int(where, "batch_chunk_size", size) < 1:
            message = f"{where}: `batch_chunk_size` is {size}; it must be 1 or more."
            raise ArgumentError(message)
        if self.chunking_method not in (None, "auto") and not _factor(self):
            message = (
                f"{where}: `chunking_method` is {short(self.chunking_method)}; it must "
                f"be None, 'auto', 'aspect_ratio' or 'aspect_ratio:n', n 1 or more."
            )
            raise ArgumentError(message)
        if self.acc_dtype is not None:
            kind = dtypes.as_dtype(self.acc_dtype)
            if not kind.is_floating_point:
                message = f"{where}: `acc_dtype` is {kind.name}; it must be a float."
                raise ArgumentError(message)

    def rows(self, batch: int, features: int, classes: int) -> int:
        """Return how many rows a chunk has."""
        given = self.batch_chunk_size
        method = self.chunking_method
        if method is None or (method == "auto" and given is not None):
            return max(1, batch if given is None else min(given, batch))
        factor = 2 if method == "auto" else _factor(self)
        as_large = -(-batch // max(1, -(-classes // max(1, features))))
        power = 1 << max(0, as_large - 1).bit_length()  # of 2, not below
        found = max(1, min(power // factor, batch))
        if given is not None and given != found:
            message = (
                f"linear_cross_entropy: `batch_chunk_size`={given} and "
                f"`chunking_method`={method!r}, which gives {found}, differ; give one."
            )
            raise ArgumentError(message)
        return found


def _factor(options: LinearCrossEntropyOptions) -> int:
    """Return n of "aspect_ratio:n", 1 without, 0 of another text."""
    method: Any = options.chunking_method
    if method == "aspect_ratio":
        return 1
    name, _, factor = method.partition(":") if isinstance(method, str) else ("", "", "")
    return int(factor) if name == "aspect_ratio" and factor.isdecimal() else 0


@rounded_once
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Tensor:
    """Return ``cross_entropy(linear(input, linear_weight, linear_bias), target)``.

    With `options` the batch is cut into chunks: the logits of all rows are never held
    at once, and are computed a second time in the backward pass.

    Parameters
    ----------
    input
        (N, F) or (F,).
    linear_weight
        (C, F), or (C, d1, ..., F) for losses at several positions.
    target
        Labels 0 to C - 1, int64 or uint8, (N,), (), or (N, d1, ...); or probabilities,
        (N, C), (C,), or (N, C, d1, ...).
    linear_bias
        (C,) or (C, d1, ...).
    weight
        A factor for each class, (C,).
    reduction
        ``"mean"`` (with labels weighted), ``"sum"`` or ``"none"``.
    ignore_index
        Rows with this label count for nothing, by default those with -100.
    label_smoothing
        The share of the target that is spread over all classes.
    options
        How to cut the batch; None does not.

    Raises
    ------
    ShapeError
        If the shapes do not fit.
    ArgumentError
        If `ignore_index` is given with probabilities, or an argument is out of range.
    KernelDataError
        If a label is outside 0 to C - 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> x, w = ac.randn(6, 4), ac.randn(100, 4, requires_grad=True)
    >>> labels = ac.randint(100, (6,))
    >>> two_rows = ac.nn.LinearCrossEntropyOptions(batch_chunk_size=2)
    >>> F = ac.nn.functional
    >>> loss = F.linear_cross_entropy(x, w, labels, options=two_rows)
    >>> ac.allclose(loss, F.cross_entropy(x @ w.T, labels))
    True
    """
    where = "linear_cross_entropy"
    _check_shapes(where, input, linear_weight, linear_bias)
    check_reduction(where, reduction)
    smoothing = number(where, "label_smoothing", label_smoothing)
    classes, *positions, features = linear_weight.shape
    shape = (*input.shape[:-1], classes, *positions)
    spread = check_tensor(where, target).shape == shape
    if spread and ignore_index is not None:
        message = (
            f"{where}: `ignore_index`={ignore_index!r} with a `target` of "
            f"probabilities, which has no labels to ignore; leave it out."
        )
        raise ArgumentError(message)
    ignored = (
        -100 if ignore_index is None else as_int(where, "ignore_index", ignore_index)
    )
    kind: Any = type(options)
    if options is not None and kind is not LinearCrossEntropyOptions:
        message = (
            f"{where}: `options` is {short(options)}; it must be a "
            f"LinearCrossEntropyOptions or None."
        )
        raise DTypeError(message)
    settings = weight, ignored, smoothing
    rows = None
    if options is not None and input.ndim == 2:
        rows = options.rows(input.shape[0], features, math.prod(shape[1:]))
    if rows is None or rows >= input.shape[0]:
        parts = input, linear_weight, linear_bias
        return _loss(parts, target, settings, reduction)
    if target.shape[:1] != input.shape[:1]:
        message = (
            f"{where}: `target` has shape {target.shape} for {input.shape[0]} rows of "
            f"`input`; it must begin with as many."
        )
        raise ShapeError(message)
    losses = [
        _chunk((input[i : i + rows], linear_weight, linear_bias), target[i : i + rows],
               settings, reduction)
        for i in range(0, input.shape[0], rows)
    ]  # fmt: skip
    if reduction == "none":
        return cat(losses, 0)
    total = losses[0]
    for loss in losses[1:]:
        total = total + loss
    if reduction == "sum":
        return total
    count = target.numel() // classes if spread else _counted(target, weight, ignored)
    return total / count


_Parts = tuple[Tensor, Tensor, Tensor | None]
_Settings = tuple[Tensor | None, int, float]


def _loss(parts: _Parts, target: Tensor, settings: _Settings, reduction: str) -> Tensor:
    """Return the loss of some rows, with all their logits."""
    x, linear_weight, bias = parts
    classes, *positions, features = linear_weight.shape
    weight, ignored, smoothing = settings
    if positions:
        linear_weight = view.reshape(linear_weight, (-1, features))
        bias = bias if bias is None else view.reshape(bias, (-1,))
    logits = matmul.linear(x, linear_weight, bias)
    if positions:
        logits = view.reshape(logits, (*x.shape[:-1], classes, *positions))
    return cross_entropy(
        logits, target, weight, ignore_index=ignored, reduction=reduction,
        label_smoothing=smoothing,
    )  # fmt: skip


def _chunk(
    parts: _Parts, target: Tensor, settings: _Settings, reduction: str
) -> Tensor:
    """Return the loss of some rows, or their sum; no logits are kept."""
    kind = "none" if reduction == "none" else "sum"

    def run(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return _loss((x, weight, bias), target, settings, kind)

    if not is_grad_enabled():
        return run(*parts)
    loss: Tensor = checkpoint(run, *parts, preserve_rng_state=False)
    return loss


def _counted(target: Tensor, weight: Tensor | None, ignored: int) -> Tensor | int:
    """Return the divisor of the mean: the weights of the labels that count."""
    left_out = target == ignored
    if weight is None:
        return target.numel() - int(left_out.sum())
    labels = masking.where(left_out, 0, target)
    shares = indexing.index_select(weight, 0, view.reshape(labels, (-1,)))
    kept = masking.where(view.reshape(left_out, (-1,)), 0.0, shares)
    return reductions.sum(kept)


def _check_shapes(
    where: str, input: Tensor, linear_weight: Tensor, bias: Tensor | None
) -> None:
    check_float(where, input, linear_weight)
    fits = linear_weight.ndim >= 2 and input.ndim in (1, 2)
    fits = fits and input.shape[-1] == linear_weight.shape[-1]
    if not fits or (input.ndim == 1 and linear_weight.ndim > 2):
        message = (
            f"{where}: `input` has shape {input.shape}, `linear_weight` "
            f"{linear_weight.shape}; they must be (N, F) or (F,), and (C, F), or (N, "
            f"F) and (C, d1, ..., F)."
        )
        raise ShapeError(message)
    if bias is None:
        return
    check_float(where, bias)
    if bias.shape != linear_weight.shape[:-1]:
        message = (
            f"{where}: `linear_bias` has shape {bias.shape}; for a `linear_weight` of "
            f"{linear_weight.shape} it must be {linear_weight.shape[:-1]}."
        )
        raise ShapeError(message)

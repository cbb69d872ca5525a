# SPDX-License-Identifier: MIT
"""The cross-entropy of the outputs of a linear layer, a few rows at a time.

With many classes the logits are the largest tensor of a training step.  Rows are
independent, and the gradients of a sum of losses are proportional to the gradient of
the sum.  So the logits of a chunk give its losses and its gradients at once, and are
then dropped. Losses of single rows have no common factor.  Their logits are computed
again in the backward pass.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autocalc._graph._grad_mode import enable_grad, is_grad_enabled
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
from autocalc.autograd._function import Function
from autocalc.autograd._gradients import grad
from autocalc.errors import ArgumentError, DTypeError, ShapeError

#: The default number of logits of a chunk. For the head of GPT-2, with 768 features and
#: 50,257 classes, this takes 1.07 times as long as all logits at once.  Chunks of 64
#: rows take 1.32 times as long (AVX-512, Zen 5).
_LOGITS = 1 << 24

_POLICIES = ("auto", "accurate", "balanced", "compact")


@dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """Options that control how `linear_cross_entropy` cuts a batch into chunks of rows.

    Parameters
    ----------
    allow_retain_graph
        True to keep the gradients for a second backward pass.  If False, the first
        backward pass reuses their memory, and a second one computes them again.
    batch_chunk_size
        The number of rows of a chunk.  None lets `chunking_method` choose it.
    chunking_method
        The rule that chooses the number of rows.  ``"auto"`` chooses the number so that
        the logits of a chunk have 2**24 elements, which are 64 MiB in float32.  With
        ``"aspect_ratio"``, the logits of a chunk are about as large as the input.  With
        ``"aspect_ratio:n"``, they are n times smaller.  None makes one chunk of all
        rows.
    acc_policy, acc_dtype
        Accepted for compatibility with PyTorch.  They have no effect.  Kernels
        accumulate in float32 or float64.

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
            raise ArgumentError(
                f"{where}: `chunking_method` is {short(self.chunking_method)}; it must "
                f"be None, 'auto', 'aspect_ratio' or 'aspect_ratio:n', n 1 or more."
            )
        if self.acc_dtype is not None:
            kind = dtypes.as_dtype(self.acc_dtype)
            if not kind.is_floating_point:
                message = (
                    f"{where}: `acc_dtype` is {kind.name}; it must be a floating-point "
                    "dtype."
                )
                raise ArgumentError(message)

    def rows(self, batch: int, features: int, classes: int) -> int:
        """Return the number of rows of a chunk."""
        given = self.batch_chunk_size
        method = self.chunking_method
        if method == "auto" and given is None:
            given = _LOGITS // max(1, classes)
        if method is None or method == "auto":
            return max(1, batch if given is None else min(given, batch))
        factor = _factor(self)
        as_large = -(-batch // max(1, -(-classes // max(1, features))))
        power = 1 << max(0, as_large - 1).bit_length()  # a power of 2, rounded up
        found = max(1, min(power // factor, batch))
        if given is not None and given != found:
            raise ArgumentError(
                f"linear_cross_entropy: `batch_chunk_size` is {given}, but "
                f"`chunking_method`={method!r} gives {found}; give only one of them."
            )
        return found


def _factor(options: LinearCrossEntropyOptions) -> int:
    """Return n of "aspect_ratio:n", 1 without n, or 0 for any other text."""
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

    The batch is cut into chunks of rows, so that the logits of all rows are never in
    memory at the same time.  The gradients are computed together with the loss, chunk
    by chunk.  With ``reduction="none"`` the backward pass computes the logits again.

    Parameters
    ----------
    input
        The features, of shape (N, F) or (F,), with a floating-point dtype.
    linear_weight
        The weight of the linear layer, of shape (C, F).  With a shape (C, d1, ..., F),
        each sample has losses at several positions.
    target
        Class labels from 0 to C - 1, of dtype int64 or uint8 and of shape (N,), () or
        (N, d1, ...).  Instead of labels, it may be class probabilities, of the dtype of
        `input` and of shape (N, C), (C,) or (N, C, d1, ...).
    linear_bias
        The bias of the linear layer, of shape (C,) or (C, d1, ...).
    weight
        A factor for the loss of each class, of shape (C,).
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.  With labels, the mean is weighted by
        `weight`.
    ignore_index
        The label of rows that are ignored.  The default is -100.
    label_smoothing
        The share of the target that is distributed evenly over all classes, from 0 to
        1.
    options
        The options for cutting the batch.  None computes all rows at once.

    Raises
    ------
    ShapeError
        If the shapes do not match.
    ArgumentError
        If `ignore_index` is given with probabilities, or an argument is out of range.
    KernelDataError
        If a label is outside the range from 0 to C - 1.

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
        raise ArgumentError(
            f"{where}: `ignore_index`={ignore_index!r} was given with a `target` of "
            "probabilities, which has no labels to ignore; do not give it."
        )
    ignored = (
        -100 if ignore_index is None else as_int(where, "ignore_index", ignore_index)
    )
    kind: Any = type(options)
    if options is not None and kind is not LinearCrossEntropyOptions:
        raise DTypeError(
            f"{where}: `options` is {short(options)}; it must be a "
            f"LinearCrossEntropyOptions or None."
        )
    settings = weight, ignored, smoothing
    rows = None
    if options is not None and input.ndim == 2:
        rows = options.rows(input.shape[0], features, math.prod(shape[1:]))
    if rows is None or rows >= input.shape[0]:
        parts = input, linear_weight, linear_bias
        return _loss(parts, target, settings, reduction)
    if target.shape[:1] != input.shape[:1]:
        raise ShapeError(
            f"{where}: `target` has shape {target.shape} for {input.shape[0]} rows of "
            "`input`; its first size must be the number of rows."
        )
    job = _Job(rows, target, settings, bool(options and options.allow_retain_graph))
    if reduction == "none":
        return cat([job.losses(i, input, linear_weight, linear_bias)
                    for i in job.starts()], 0)  # fmt: skip
    total: Tensor = _Total.apply(input, linear_weight, linear_bias, job)
    if reduction == "sum":
        return total
    count = target.numel() // classes if spread else _counted(target, weight, ignored)
    return total / count


_Parts = tuple[Tensor, Tensor, Tensor | None]
_Settings = tuple[Tensor | None, int, float]


def _loss(parts: _Parts, target: Tensor, settings: _Settings, reduction: str) -> Tensor:
    """Return the loss of some rows; all their logits exist at once."""
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


@dataclass(frozen=True)
class _Job:
    """A batch split into chunks of a number of rows."""

    rows: int
    target: Tensor
    settings: _Settings
    #: Whether gradients are kept for a second backward pass.
    keeps: bool

    def starts(self) -> range:
        """Return the first row of each chunk."""
        return range(0, self.target.shape[0], self.rows)

    def total(self, i: int, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return the sum of the losses of the chunk `x`, which begins at row `i`."""
        target = self.target[i : i + self.rows]
        return _loss((x, weight, bias), target, self.settings, "sum")

    def losses(self, i: int, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return the losses of the chunk of `x` that begins at row `i`."""
        target, chunk = self.target[i : i + self.rows], x[i : i + self.rows]

        def run(*parts: Any) -> Tensor:
            return _loss(parts, target, self.settings, "none")

        if not is_grad_enabled():
            return run(chunk, weight, bias)
        return checkpoint(run, chunk, weight, bias, preserve_rng_state=False)  # type: ignore[no-any-return]  # what `run` returns


class _Total(Function):
    """The sum of the losses of a `_Job`; its forward also computes the gradients."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, job: _Job
    ) -> Tensor:
        """Return the sum, and save its gradients."""
        parts = x, weight, bias
        total, gradients = _with_gradients(job, parts, ctx.needs_input_grad)
        ctx.job, ctx.used = job, False
        ctx.save_for_backward(*parts, *gradients)
        return total

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Multiply the saved gradients by the gradient of the sum.

        If they are not kept, the first backward pass reuses their memory, and a second
        one computes them again.
        """
        parts, gradients = ctx.saved_tensors[:3], ctx.saved_tensors[3:]
        if is_grad_enabled():
            return (*_recorded(ctx.job, parts, ctx.needs_input_grad, g), None)
        if ctx.used:
            _, gradients = _with_gradients(ctx.job, parts, ctx.needs_input_grad)
        ctx.used = not ctx.job.keeps
        scaled = Tensor.mul if ctx.job.keeps else Tensor.mul_
        return (*(d if d is None else scaled(d, g) for d in gradients), None)


def _with_gradients(job: _Job, parts: Any, wanted: Any) -> tuple[Tensor, list[Any]]:
    """Compute the loss and the gradients, one chunk after the other."""
    x = parts[0]
    weight, bias = map(_leaf, parts[1:], wanted[1:])
    losses, dx = [], []
    for i in job.starts():
        chunk = _leaf(x[i : i + job.rows], wanted[0])
        with enable_grad():
            loss = job.total(i, chunk, weight, bias)
            if loss.requires_grad:
                loss.backward()
        losses.append(loss.detach())
        dx.append(chunk.grad)
    others = [part if part is None else part.grad for part in (weight, bias)]
    return _added(losses), [cat(dx, 0) if wanted[0] else None, *others]


def _leaf(part: Tensor | None, wanted: bool) -> Any:
    """Return a part of the loss as a new leaf."""
    return part if part is None else part.detach().requires_grad_(wanted)


def _added(losses: list[Tensor]) -> Tensor:
    """Return the sum of some losses."""
    return functools.reduce(operator.add, losses)


def _recorded(job: _Job, parts: Any, wanted: Any, g: Tensor) -> Iterator[Tensor | None]:
    """Return the gradients, recorded for all chunks so that they have gradients."""
    x, weight, bias = parts
    with enable_grad():
        total = _added(
            [job.total(i, x[i : i + job.rows], weight, bias) for i in job.starts()]
        )
    inputs = [part for part, one in zip(parts, wanted, strict=False) if one]
    found = iter(grad(total, inputs, g, create_graph=True))
    return (next(found) if one else None for one in wanted[:3])


def _counted(target: Tensor, weight: Tensor | None, ignored: int) -> Tensor:
    """Return the divisor of the mean: the sum of the weights of the counted labels."""
    left_out = target == ignored
    if weight is None:
        return target.numel() - reductions.sum(left_out)
    labels = masking.where(left_out, 0, target)
    shares = indexing.index_select(weight, 0, view.reshape(labels, (-1,)))
    kept = masking.where(view.reshape(left_out, (-1,)), 0.0, shares)
    return reductions.sum(kept)


def _check_shapes(
    where: str, input: Tensor, linear_weight: Tensor, bias: Tensor | None
) -> None:
    check_float(where, input, linear_weight)
    fits = linear_weight.ndim >= 2 and input.ndim in (1, 2)
    if fits and input.shape[-1] != linear_weight.shape[-1]:
        raise ShapeError(
            f"{where}: expected equal input and linear_weight last dimensions "
            f"(in_features), got {input.shape[-1]} and {linear_weight.shape[-1]}, "
            f"respectively: `input` has shape {input.shape} and `linear_weight` has "
            f"shape {linear_weight.shape}."
        )
    if not fits or (input.ndim == 1 and linear_weight.ndim > 2):
        raise ShapeError(
            f"{where}: `input` has shape {input.shape} and `linear_weight` has shape "
            f"{linear_weight.shape}; they must be (N, F) or (F,), and (C, F), or (N, "
            "F) and (C, d1, ..., F)."
        )
    if bias is None:
        return
    check_float(where, bias)
    if bias.shape != linear_weight.shape[:-1]:
        raise ShapeError(
            f"{where}: `linear_bias` has shape {bias.shape}; for a `linear_weight` of "
            f"shape {linear_weight.shape} it must have shape "
            f"{linear_weight.shape[:-1]}."
        )

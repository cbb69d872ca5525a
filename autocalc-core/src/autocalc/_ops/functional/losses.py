# SPDX-License-Identifier: MIT
"""Losses."""

from __future__ import annotations

from autocalc._ops import loss
from autocalc._ops import shape as shapes
from autocalc._ops._arguments import check_tensor
from autocalc._ops._coerce import cast
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import as_int, number, one_of
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    r"""Return the cross-entropy of logits and class labels.

    loss_i = -log(softmax(input_i)[target_i]), averaged over the rows.

    Parameters
    ----------
    input
        Logits [N, C], [C], or [N, C, d1, ...].
    target
        Labels 0 to C - 1, int64, [N], [], or [N, d1, ...].
    weight
        A factor for each class, [C].
    ignore_index
        Rows with this label count for nothing.
    reduction
        ``"mean"`` (weighted), ``"sum"`` or ``"none"``.
    label_smoothing
        The share of the target that is spread over all classes.

    Raises
    ------
    KernelDataError
        If a label is outside 0 to C - 1.
    """
    logits, labels = class_rows("cross_entropy", input, target)
    one_of("cross_entropy", "reduction", reduction, ("mean", "sum", "none"))
    label_smoothing = number("cross_entropy", "label_smoothing", label_smoothing)
    if not 0.0 <= label_smoothing <= 1.0:
        message = (
            f"cross_entropy: `label_smoothing`={label_smoothing}; it must lie in 0 "
            f"to 1."
        )
        raise ArgumentError(message)
    if weight is not None and check_tensor("cross_entropy", weight).requires_grad:
        message = (
            "cross_entropy: `weight` requires a gradient, which this loss does not "
            "give; pass weight.detach()."
        )
        raise GradError(message)
    out = loss.cross_entropy(
        logits,
        labels,
        weight,
        reduction,
        as_int("cross_entropy", "ignore_index", ignore_index),
        label_smoothing,
    )
    if reduction != "none":
        return out
    return shapes.detach_from_base(shapes.reshape(out, target.shape))


def class_rows(where: str, input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Bring logits to [N, C] and labels to [N]."""
    class_dim = 0 if check_tensor(where, input).ndim == 1 else 1
    check_tensor(where, target)
    expected = input.shape[:class_dim] + input.shape[class_dim + 1 :]
    if input.ndim == 0 or target.shape != expected:
        message = (
            f"{where}: `input` has shape {input.shape}, `target` {target.shape}; "
            f"for an input [N, C, ...] the labels must be [N, ...]."
        )
        raise ShapeError(message)
    if target.is_floating_point() or target.dtype is dtypes.bool_:
        message = (
            f"{where}: `target` has dtype {target.dtype.name}; labels must be integers."
        )
        raise DTypeError(message)
    if input.ndim == 1:
        input = shapes.reshape(input, (1, *input.shape))
    elif input.ndim > 2:
        order = (0, *range(2, input.ndim), 1)
        input = shapes.permute(input, order)
        input = shapes.reshape(input, (-1, input.shape[-1]))
    labels = cast(target, dtypes.int64)
    return input, labels if labels.ndim == 1 else shapes.reshape(labels, (-1,))

# SPDX-License-Identifier: MIT
"""Reduction of the losses of single elements: the mean, the sum, or none."""

from __future__ import annotations

from autocalc._dispatch._callers import warn
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.checks import REDUCTIONS
from autocalc._ops.reductions import reduction as reduction_ops
from autocalc._ops.views import broadcasting
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags, one_of
from autocalc.errors import AutocalcWarning, ShapeError


def chosen(
    where: str,
    size_average: bool | None,
    reduce: bool | None,
    reduction: str,
    *more: str,
) -> str:
    """Return the checked reduction: one of the usual three, or one of `more`.

    Two deprecated flags override it, with a warning.
    """
    if size_average is None and reduce is None:
        if reduction.__class__ is str and reduction in REDUCTIONS:
            return reduction
        one_of(where, "reduction", reduction, (*more, *REDUCTIONS))
        return reduction
    flags = {"size_average": size_average, "reduce": reduce}
    given = {name: flag for name, flag in flags.items() if flag is not None}
    check_flags(where, **given)
    meant = "none" if reduce is False else "sum" if size_average is False else "mean"
    message = (
        f"{where}: `size_average` and `reduce` are deprecated; use "
        f"reduction={meant!r} instead."
    )
    warn(message, AutocalcWarning)
    return meant


def reduced(values: Tensor, reduction: str) -> Tensor:
    """Return the mean, the sum, or the values themselves."""
    if reduction == "mean":
        return reduction_ops.mean(values)
    return reduction_ops.sum(values) if reduction == "sum" else values


def broadcast_with_warning(
    where: str, input: Tensor, target: Tensor
) -> tuple[Tensor, Tensor]:
    """Broadcast both to one shape, and warn if the shapes differ."""
    check_tensor(where, input), check_tensor(where, target)
    if input.shape == target.shape:
        return input, target
    message = (
        f"{where}: `input` has shape {input.shape} and `target` has shape "
        f"{target.shape}; they are broadcast, which is rarely intended. Please ensure "
        "they have the same size."
    )
    warn(message, AutocalcWarning)
    shape = broadcast_shapes(where, input.shape, target.shape)
    return broadcasting.expand(input, shape), broadcasting.expand(target, shape)


def fits(where: str, input: Tensor, **others: Tensor) -> None:
    """Raise unless the others are tensors that broadcast to the shape of `input`."""
    for name, other in others.items():
        shape = check_tensor(where, other).shape
        if broadcast_shapes(where, input.shape, shape) != input.shape:
            raise ShapeError(
                f"{where}: `{name}` has shape {shape}, which does not broadcast to the "
                f"shape of `input`, {input.shape}."
            )


def same_shape(where: str, input: Tensor, target: Tensor) -> None:
    """Raise if shapes differ."""
    check_tensor(where, input), check_tensor(where, target)
    if input.shape != target.shape:
        raise ShapeError(
            f"{where}: Using a target size {target.shape} for an input size "
            f"{input.shape}. Expected both to be equal."
            + " Reshape one of them: target.view_as(input)."
            * (input.numel() == target.numel())
        )

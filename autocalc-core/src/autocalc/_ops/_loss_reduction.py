# SPDX-License-Identifier: MIT
"""The mean, the sum or nothing of the losses of single elements."""

from __future__ import annotations

import warnings

from autocalc._ops import reduction as reduction_ops
from autocalc._ops._arguments import check_tensor
from autocalc._ops._checks import REDUCTIONS
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
    """Return the checked reduction: one of the three, or of what else a loss has.

    Two deprecated flags override it, with a warning.
    """
    if size_average is None and reduce is None:
        one_of(where, "reduction", reduction, (*more, *REDUCTIONS))
        return reduction
    flags = {"size_average": size_average, "reduce": reduce}
    given = {name: flag for name, flag in flags.items() if flag is not None}
    check_flags(where, **given)
    meant = "none" if reduce is False else "sum" if size_average is False else "mean"
    warnings.warn(
        f"{where}: `size_average` and `reduce` are deprecated; use "
        f"reduction={meant!r} instead.",
        AutocalcWarning,
        stacklevel=3,
    )
    return meant


def reduced(values: Tensor, reduction: str) -> Tensor:
    """Return the mean, the sum, or the values themselves."""
    if reduction == "mean":
        return reduction_ops.mean(values)
    return reduction_ops.sum(values) if reduction == "sum" else values


def broadcast_with_warning(where: str, input: Tensor, target: Tensor) -> None:
    """Warn of shapes that differ."""
    check_tensor(where, input), check_tensor(where, target)
    if input.shape != target.shape:
        warnings.warn(
            f"{where}: `input` has shape {input.shape}, `target` {target.shape}; they "
            f"are broadcast, which is rarely what is meant. Reshape one of them.",
            AutocalcWarning,
            stacklevel=3,
        )


def same_shape(where: str, input: Tensor, target: Tensor) -> None:
    """Raise if shapes differ."""
    check_tensor(where, input), check_tensor(where, target)
    if input.shape != target.shape:
        message = (
            f"{where}: `input` has shape {input.shape}, `target` {target.shape}; they "
            f"must be equal."
        )
        raise ShapeError(message)

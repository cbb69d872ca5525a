# SPDX-License-Identifier: MIT
"""Cross-entropy with its gradient in one pass over the logits."""

from __future__ import annotations

from typing import Any

import cupy

from autocalc.plugin import DispatchKey, KernelImpl
from autocalc_kernels_cuda import _errors
from autocalc_kernels_cuda._rows import floats, pointer, run_rows

_count = cupy.ReductionKernel(
    "int64 target, int64 ignored", "int64 out", "target != ignored", "a + b", "out = a",
    "0", "autocalc_count_labels",
)  # fmt: skip
_total = cupy.ReductionKernel(
    "float64 loss", "T out", "loss", "a + b", "out = a", "0", "autocalc_total_loss"
)
_mean = cupy.ReductionKernel(
    "float64 loss, raw int64 count", "T out", "loss", "a + b", "out = a / count[0]",
    "0", "autocalc_mean_loss",
)  # fmt: skip
_TARGET = _errors.number("cross_entropy", ("target",))


def _cross_entropy(
    loss: Any,
    grad: Any,
    logits: Any,
    target: Any,
    weight: Any,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
) -> None:
    rows, classes = logits.shape
    logits, target = map(cupy.ascontiguousarray, (logits, target))
    losses = cupy.empty(rows, cupy.float64)
    count = None
    if reduction == "mean":
        count = cupy.empty(1, cupy.int64)
        _count(target, ignore_index, count[0])
    to = grad
    if grad is not None and not grad.flags.c_contiguous:
        to = cupy.empty(grad.shape, grad.dtype)
    run_rows(
        "losses",
        "cross_entropy",
        logits,
        rows,
        losses,
        pointer(to),
        logits,
        target,
        pointer(count),
        classes,
        ignore_index,
        float(label_smoothing),
        _errors.record(),
        _TARGET,
    )
    if to is not grad:
        grad[...] = to
    if reduction == "none":
        loss[...] = losses
    elif reduction == "sum":
        _total(losses, loss)
    else:
        _mean(losses, count, loss)


def _supports(key: DispatchKey) -> str | None:
    return "takes no `weight`" if key.dtypes[4] is not None else floats(key)


def losses() -> dict[str, KernelImpl]:
    """Return cross-entropy."""
    return {"cross_entropy": KernelImpl(_cross_entropy, supports=_supports)}

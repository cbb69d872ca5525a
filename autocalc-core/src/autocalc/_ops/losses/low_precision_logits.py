# SPDX-License-Identifier: MIT
"""Cross-entropy of logits in lower precision: a float32 loss without a copy.

The logits of a language model are its largest tensor.  They are cast to float32 a few
rows at a time.  Their gradient has the dtype of the logits, so it is stored in that
dtype.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.state import current
from autocalc._dispatch.selection.upcast import FLOAT32
from autocalc._graph._node import Node
from autocalc._kernels.spec import Array
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.cast import astype
from autocalc._ops._operator.rules import Op, Saves
from autocalc._tensor import Tensor, make
from autocalc._tensor.dtypes import float32
from autocalc.errors import KernelIndexError

#: The number of elements that are cast to float32 at a time.
_BLOCK = 1 << 20

_op = Op("cross_entropy_of_halves")
_op.saves = Saves("grad:logits logits target weight", TABLE["cross_entropy"])


def cross_entropy_of_halves(
    logits: Tensor,
    labels: Tensor,
    weight: Tensor | None,
    reduction: str,
    ignore: int,
    smoothing: float,
) -> Tensor:
    """Return the float32 loss of ``[N, C]`` logits, as kernels do for other dtypes."""
    if weight is not None and weight.dtype.is_half:
        weight = astype(weight, float32)
    inputs = (logits, labels, weight)
    edges = (logits._edge, None, None)
    record = edges[0] is not None and current().grad
    factors = None if weight is None else weight._array
    operands = (logits._array, labels._array, factors)
    count = _count(*operands[1:], ignore) if reduction == "mean" else None
    losses, slope = _by_rows(*operands, (ignore, smoothing), count, record)
    if reduction != "none":
        losses = arrays.sum(losses, (0,), False)
    if count is not None:
        losses = arrays.div(losses, count)
    result = make(losses, None)
    if record:
        saves: Any = _op.saves
        saved, versions = saves(edges, (result, make(slope, None), *inputs))
        shapes = tuple([() if x is None else x._array.shape for x in inputs])
        dtype, attributes = logits._array.dtype, (reduction, ignore, smoothing)
        result._edge = Node(_op, edges, saved, versions, shapes, dtype, attributes)
    return result


def _blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    rows = max(_BLOCK // max(shape[1], 1), 1)
    for start in range(0, shape[0], rows):
        yield slice(start, start + rows)


def _by_rows(
    logits: Array,
    labels: Array,
    weight: Any,
    options: tuple[int, float],
    count: Any,
    wanted: bool,
) -> tuple[Array, Any]:
    """Return the loss of each row and, if `wanted`, its derivative by the logits.

    The derivative is divided by `count` before it is rounded.  So it is rounded only
    once if the gradient of the mean itself is 1.
    """
    losses = arrays.empty(labels.shape, FLOAT32)
    slope = arrays.empty(logits.shape, logits.dtype) if wanted else None
    if count is not None:  # without rows, all derivatives are 0
        none = arrays.compare(count, constant(0, FLOAT32), "eq")
        count = arrays.where(none, constant(1, FLOAT32), count)
    for rows in _blocks(logits.shape):
        wide = arrays.cast(logits[rows], FLOAT32)
        want = 0b11 if wanted else 1
        try:
            loss, grad = arrays.cross_entropy(
                wide, labels[rows], weight, "none", *options, want=want
            )
        except KernelIndexError as error:
            raise _of_target(error, rows.start) from None
        arrays.copy(loss, into=losses[rows])
        if slope is not None:
            grad = grad if count is None else arrays.div(grad, count)
            arrays.copy(grad, into=slope[rows])
    return losses, slope


def _count(labels: Array, weight: Any, ignore: int) -> Array:
    """Return the sum of the weights of the rows, the divisor of a mean."""
    kept = arrays.compare(labels, constant(ignore, labels.dtype), "ne")
    one, zero = constant(1, FLOAT32), constant(0, FLOAT32)
    if weight is not None:
        first = constant(0, labels.dtype)
        try:
            one = arrays.gather(weight, arrays.where(kept, labels, first), 0)
        except KernelIndexError as error:
            raise _of_target(error, 0) from None
    return arrays.sum(arrays.where(kept, one, zero), (0,), False)


def _of_target(error: KernelIndexError, start: int) -> KernelIndexError:
    """Return a kernel's error on labels from `start` on as an error of `target`."""
    kernel, _, index, value = error.found
    if kernel:
        error.found = "cross_entropy", "target", index + start, value
    return error


def _rule(k: Any, n: Any, g: Any) -> Any:
    """Multiply the saved derivative by g; a recorded pass uses primitives."""
    slope, logits, labels, weight = n.saved
    if k.records:
        wide = (k.cast(logits, FLOAT32), labels, weight)
        grad = k.through_decomposition("cross_entropy", wide, n.attributes, g)[0]
        return k.cast(grad, k.dtype(logits)), None, None
    reduction = n.attributes[0]
    out = k.empty(slope.shape, slope.dtype)
    for rows in _blocks(slope.shape):
        factor = k.reshape(g[rows], (-1, 1)) if reduction == "none" else g
        k.copy(k.mul(k.cast(slope[rows], FLOAT32), factor), into=out[rows])
    return out, None, None


_op.rule = _rule

# SPDX-License-Identifier: MIT
"""The batching rules of losses, and of convolutions with weights of each example.

The channels of all examples are the groups of one convolution, so that one call of a
kernel computes each example with its own weights.
"""

from __future__ import annotations

from typing import Any

from autocalc._batching.calls import DECLINED, Call, rule
from autocalc._dispatch.selection.arrays import arrays


def convolved(call: Call) -> Any:
    """Compute `conv` or `conv_dx` with a weight, or a bias, of each example."""
    *geometry, groups = call.attributes
    images, weight, bias = call.inputs[0], call.full(1), call.full(2)
    if 0 in images.shape or 0 in weight.shape:
        return DECLINED
    weight = _lines(weight)
    bias = None if bias is None else _lines(bias)
    if call.batched[0] or groups > 1 or call.spec.name == "conv_dx":
        images, groups = _as_channels(call.full(0)), groups * call.size
    (found,) = call.run(images, weight, bias, *geometry, groups)
    return (_of_examples(call.size, found),)


def _lines(x: Any) -> Any:
    """Return an array [B, O, ...] with one first dimension for both."""
    return arrays.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _as_channels(images: Any) -> Any:
    """Return images [B, N, C, ...] with the channels of all examples, [N, B C, ...]."""
    size, n, channels, *sizes = images.shape
    turned = arrays.permute(images, (1, 0, *range(2, images.ndim)))
    return arrays.reshape(turned, (n, size * channels, *sizes))


def _of_examples(size: int, images: Any) -> Any:
    """Return images [N, B C, ...] as those of each example, [B, N, C, ...]."""
    n, channels, *sizes = images.shape
    parted = arrays.reshape(images, (n, size, channels // size, *sizes))
    return arrays.permute(parted, (1, 0, *range(2, parted.ndim)))


@rule("conv_dweight")
def _conv_dweight(call: Call) -> Any:
    """Compute the gradient of each example's weight: one group for each of them."""
    g, x = call.full(0), call.full(1)
    if 0 in g.shape or 0 in x.shape:
        return DECLINED
    *geometry, groups = call.attributes
    results = call.run(_as_channels(g), _as_channels(x), *geometry, groups * call.size)
    return [
        None if y is None else arrays.reshape(y, (call.size, *shape))
        for y, shape in zip(results, call.shapes, strict=True)
    ]


@rule("cross_entropy")
def _cross_entropy(call: Call) -> Any:
    """Compute the loss of all rows, and then the sum or the mean of each example."""
    reduction, ignored, smoothing = call.attributes
    rows, classes = call.inputs[0].shape[call.batched[0] :]
    if call.batched[2] or not rows or not classes:
        return DECLINED
    size, weight = call.size, call.inputs[2]
    logits = arrays.reshape(call.full(0), (size * rows, classes))
    labels = arrays.reshape(call.full(1), (size * rows,))
    loss, grad = call.run(logits, labels, weight, "none", ignored, smoothing)
    loss = arrays.reshape(loss, (size, rows))
    if grad is not None:
        grad = arrays.reshape(grad, (size, rows, classes))
    if reduction != "none":
        loss = arrays.sum(loss, (1,), False)
    if reduction == "mean":
        skipped = arrays.compare(labels, arrays.constant(ignored, labels), "eq")
        total = _weights(labels, skipped, weight, logits)
        total = arrays.sum(arrays.reshape(total, (size, rows)), (1,), False)
        loss = arrays.div(loss, total)
        if grad is not None:
            grad = arrays.div(grad, arrays.reshape(total, (size, 1, 1)))
            skipped = arrays.reshape(skipped, (size, rows, 1))
            grad = arrays.where(skipped, arrays.constant(0, grad), grad)
    return loss, grad


def _weights(labels: Any, skipped: Any, weight: Any, like: Any) -> Any:
    """Return the weight of each row: 0 if its label is skipped."""
    zero, one = arrays.constant(0, like), arrays.constant(1, like)
    if weight is None:
        return arrays.where(skipped, zero, one)
    labels = arrays.where(skipped, arrays.constant(0, labels), labels)
    return arrays.where(skipped, zero, arrays.index_select(weight, labels, 0))

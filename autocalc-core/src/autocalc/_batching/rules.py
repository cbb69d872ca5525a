# SPDX-License-Identifier: MIT
"""The batching rules of kernels.

Most kernels belong to a class that one rule serves: they compute element by element,
along dimensions, on the matrices of the last two dimensions, or on images whose first
dimension counts them.
"""

from __future__ import annotations

from typing import Any

from autocalc._batching.calls import DECLINED, Call, rule
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import check_values
from autocalc.errors import VmapError


def _padded(x: Any, batched: bool, ndim: int) -> Any:
    """Return an operand whose examples have `ndim` dimensions: ones come first."""
    missing = ndim - (x.ndim - batched)
    if not batched or missing <= 0:
        return x
    return arrays.reshape(x, (x.shape[0], *(1,) * missing, *x.shape[1:]))


@rule("elementwise")
def _elementwise(call: Call) -> Any:
    """Broadcast each example on its own: the dimension of examples stays first."""
    present = [i for i, x in enumerate(call.inputs) if x is not None]
    ndim = max(call.ndim(i) for i in present)
    operands = [
        None if x is None else _padded(x, batched, ndim)
        for x, batched in zip(call.inputs, call.batched, strict=True)
    ]
    return call.run(*operands, *call.attributes)


@rule("copy")
def _copy(call: Call) -> Any:
    """Copy all examples; broadcasting and conversion are left to the caller."""
    x = call.inputs[0]
    (shape,) = call.shapes
    x = _padded(x, True, len(shape))
    return (x if x.shape[1:] == shape else arrays.expand(x, (call.size, *shape)),)


@rule("fill")
def _fill(call: Call) -> Any:
    """Repeat the number of each example."""
    (value,) = call.inputs
    (shape,) = call.shapes
    value = arrays.reshape(value, (call.size, *(1,) * len(shape)))
    return (arrays.expand(value, (call.size, *shape)),)


# ---- along dimensions ----------------------------------------------------------------


@rule(
    *("argmax", "argsort", "argtopk", "cumargmax", "cumprod", "cumsum"),
    *("gather", "log_softmax", "log_softmax_backward", "logcumsumexp", "resample"),
    *("resample_backward", "scatter", "scatter_add", "scatter_amax", "scatter_amin"),
    *("scatter_mul", "softmax", "softmax_backward"),
)
def _along_axis(call: Call) -> Any:
    """Count the dimension `axis` from behind the examples."""
    axis, *more = call.attributes
    if call.spec.name.startswith("resample") and call.ndim(0) == 5:
        return DECLINED
    operands = [call.full(i) for i in range(len(call.inputs))]
    return call.run(*operands, axis + 1 if axis >= 0 else axis, *more)


@rule("logsumexp", "max", "mean", "min", "norm", "prod", "std", "sum", "var")
def _over_axes(call: Call) -> Any:
    """Count the dimensions `axes` from behind the examples."""
    axes, *more = call.attributes
    moved = tuple([axis + 1 if axis >= 0 else axis for axis in axes])
    return call.run(call.full(0), moved, *more)


def _spread(index: Any, axis: int, shape: Any) -> Any:
    """Return the index of each example along `axis`, repeated to a shape."""
    size, n = index.shape
    ones = [1] * len(shape)
    ones[axis] = n
    index = arrays.reshape(index, (size, *ones))
    return arrays.contiguous(arrays.expand(index, (size, *shape)))


@rule("index_select")
def _index_select(call: Call) -> Any:
    """Select along the dimension; with an index for each example, gather."""
    axis, *_ = call.attributes
    if call.only(0):
        return call.run(call.inputs[0], call.inputs[1], axis + 1)
    index = _spread(call.inputs[1], axis, call.shapes[0])
    return (arrays.gather(arrays.contiguous(call.full(0)), index, axis + 1),)


def _written_at(call: Call, scatter: Any) -> Any:
    axis, *_ = call.attributes
    a, index, src = call.inputs
    if not call.batched[1]:
        return call.run(call.full(0), index, call.full(2), axis + 1)
    shape = src.shape[call.batched[2] :]
    return (scatter(call.full(0), _spread(index, axis, shape), call.full(2), axis + 1),)


@rule("index_add")
def _index_add(call: Call) -> Any:
    """Add along the dimension; with an index for each example, scatter."""
    return _written_at(call, arrays.scatter_add)


@rule("index_copy")
def _index_copy(call: Call) -> Any:
    """Copy along the dimension; with an index for each example, scatter."""
    return _written_at(call, arrays.scatter)


def _own_rows(indices: Any, size: int, rows: int) -> Any:
    """Return indices into tables that are joined: example b counts from b * rows."""
    start = arrays.mul(arrays.arange(size, indices), arrays.constant(rows, indices))
    start = arrays.reshape(start, (size, *(1,) * (indices.ndim - 1)))
    return arrays.add(indices, start)


@rule("embedding")
def _embedding(call: Call) -> Any:
    """Look up rows; the tables of all examples are joined to one."""
    weight, indices = call.inputs
    if not call.batched[0]:
        return call.run(weight, indices)
    size, rows, width = weight.shape
    check_values(_check_rows, indices, arrays.constant(rows, indices))
    table = arrays.reshape(weight, (size * rows, width))
    return call.run(table, _own_rows(call.full(1), size, rows))


def _check_rows(indices: Any, rows: Any) -> None:
    """Raise if an index is outside of one table: it would be in another example's."""
    if indices.size and (indices.min() < 0 or indices.max() >= rows):
        raise VmapError(
            f"vmap: embedding: an index is {indices.min()} or {indices.max()}, but the "
            f"table of each example has {rows} rows. index out of range in self"
        )


@rule("embedding_backward")
def _embedding_backward(call: Call) -> Any:
    """Add rows into the joined tables of all examples."""
    (padding,) = call.attributes
    (rows, width), _ = call.free or ((0, 0), None)
    if padding >= 0:
        return DECLINED
    indices = _own_rows(call.full(1), call.size, rows)
    g = arrays.contiguous(call.full(0))
    (found,) = call.run(g, indices, padding, shape=(call.size * rows, width))
    return (arrays.reshape(found, (call.size, rows, width)),)


@rule("positions")
def _positions(call: Call) -> Any:
    """Compute the place of each index."""
    return call.run(call.inputs[0], *call.attributes)


@rule("between")
def _between(call: Call) -> Any:
    """Look at the elements of all examples: the answer is one for all of them."""
    (found,) = call.run(call.inputs[0], *call.attributes)
    return (arrays.expand(found, (call.size,)),)


# ---- matrices ------------------------------------------------------------------------


@rule(
    *("cholesky", "cofactor", "cofactor_derivative", "det", "eigh", "inv", "ldl"),
    *("ldl_solve", "lu", "pinv", "qr", "row_order", "slogdet", "solve", "svd"),
)
def _matrices(call: Call) -> Any:
    """Compute on the matrices of all examples: dimensions in front are free."""
    name, operands = call.spec.name, [call.full(i) for i in range(len(call.inputs))]
    if name in {"cofactor_derivative", "ldl_solve", "solve"}:
        ndim = max(call.ndim(i) for i in range(len(operands)))
        if any(call.ndim(i) != ndim for i in range(len(operands))):
            return DECLINED
    if name == "pinv" and any(x.ndim > 1 for x in operands[1:]):
        return DECLINED
    if name == "pinv":
        if any(call.batched[1:]):
            return DECLINED
        operands[1:] = call.inputs[1:]
    return call.run(*operands, *call.attributes)


@rule("gemm")
def _gemm(call: Call) -> Any:
    """Multiply the matrices of all examples; dimensions in front are broadcast."""
    a, b, bias = call.inputs
    if call.batched[2] or call.shapes[1:] != [None]:
        return DECLINED
    if call.only(0) and call.ndim(0) == call.ndim(1) == 2:
        rows = arrays.reshape(a, (a.shape[0] * a.shape[1], a.shape[2]))
        (found, *_) = call.run(rows, b, bias, *call.attributes)
        return (arrays.reshape(found, (*a.shape[:2], b.shape[-1])), None)
    ndim = max(call.ndim(0), call.ndim(1))
    a, b = _padded(a, call.batched[0], ndim), _padded(b, call.batched[1], ndim)
    return call.run(a, b, bias, *call.attributes)


# ---- layers --------------------------------------------------------------------------


@rule("linear", "layer_norm", "rms_norm")
def _rows(call: Call) -> Any:
    """Compute each row: with shared weights, the dimensions in front are free."""
    if not call.only(0):
        return DECLINED
    return call.run(*call.inputs, *call.attributes)


@rule("linear_backward", "layer_norm_backward", "rms_norm_backward")
def _rows_backward(call: Call) -> Any:
    """Compute the gradients of rows; those of weights are sums for each example."""
    weights = len(call.inputs) - 1
    if call.want != 1 or call.batched[weights]:
        return DECLINED
    operands = [call.full(i) for i in range(weights)]
    return call.run(*operands, call.inputs[weights], *call.attributes)


#: For kernels of images: the inputs whose first dimension counts the images, and the
#: outputs whose first dimension does.  All other inputs must be shared.
_IMAGES = {
    "adaptive_avg_pool": (0,),
    "adaptive_avg_pool_backward": (0,),
    "adaptive_max_pool": (0,),
    "attention": (0, 1, 2),
    "avg_pool": (0,),
    "avg_pool_backward": (0,),
    "conv": (0,),
    "conv_activation": (0,),
    "conv_dx": (0,),
    "fold": (0,),
    "grid_sample": (0, 1),
    "max_pool": (0,),
    "max_pool_backward": (0, 1),
    "rotary": (0,),
    "unfold": (0,),
}


@rule(*_IMAGES)
def _images(call: Call) -> Any:
    """Join the images of all examples to one batch, with shared weights."""
    places = _IMAGES[call.spec.name]
    if not call.only(*places) or call.ndim(0) == 0:
        return DECLINED
    operands = list(call.inputs)
    for i in places:
        operands[i] = _joined(call.full(i))
    results = call.run(*operands, *call.attributes)
    return [None if x is None else _parted(call.size, x) for x in results]


def _joined(x: Any) -> Any:
    """Return images of all examples, [B, N, ...], as one batch."""
    return arrays.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _parted(size: int, x: Any) -> Any:
    """Return one batch as the images of all examples."""
    return arrays.reshape(x, (size, x.shape[0] // size, *x.shape[1:]))


@rule("attention_backward", "grid_sample_backward")
def _images_backward(call: Call) -> Any:
    """Join the images of all examples, if nothing else belongs to the examples."""
    images = 6 if call.spec.name == "attention_backward" else 3
    if any(call.batched[images:]):
        return DECLINED
    operands = [_joined(call.full(i)) for i in range(images)]
    results = call.run(*operands, *call.inputs[images:], *call.attributes)
    return [None if x is None else _parted(call.size, x) for x in results]


# ---- random numbers ------------------------------------------------------------------


@rule("normal", "random_bits", "uniform")
def _random(call: Call) -> Any:
    """Draw for all examples; `draw` has taken words for all of them."""
    seed, offset = call.inputs
    shape = call.shapes[0]
    return call.run(
        seed, arrays.slice(offset, (0, ...)), *call.attributes, shape=(call.size, *shape)
    )


@rule("dropout")
def _dropout(call: Call) -> Any:
    """Drop elements of all examples; without an offset for each, the same ones."""
    a, seed, offset = call.inputs
    if not call.batched[2]:
        return DECLINED if call.batched[1] else _dropped_alike(call)
    return call.run(call.full(0), seed, arrays.slice(offset, (0, ...)), *call.attributes)


def _dropped_alike(call: Call) -> Any:
    a, seed, offset = call.inputs
    _, mask = arrays.dropout(arrays.slice(a, (0, ...)), seed, offset, *call.attributes)
    mask = arrays.expand(mask, a.shape)
    out = arrays.dropout_backward(a, arrays.contiguous(mask), *call.attributes)
    return out, mask


# ---- results whose shape depends on values -------------------------------------------


@rule("nonzero", "true_places")
def _by_values(call: Call) -> Any:
    """Raise: the results of the examples could have different shapes."""
    raise VmapError(
        f"vmap: the shape of the result of {call.spec.name} depends on the values, so "
        f"examples could have different shapes. We do not support batching operators "
        f"that can output dynamic shape. Use where() instead of a mask as an index."
    )


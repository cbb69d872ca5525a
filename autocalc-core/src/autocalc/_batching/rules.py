# SPDX-License-Identifier: MIT
"""The batching rules of kernels.

Most kernels belong to a class that one rule serves: they compute element by element,
along dimensions, on the matrices of the last two dimensions, or on images whose first
dimension counts them.
"""

from __future__ import annotations

from typing import Any

from autocalc._batching.calls import DECLINED, Call, rule
from autocalc._batching.layers import convolved
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
    first: Any = operands[0]
    if len(call.dtypes) > 1 or call.attributes or call.dtypes[0] == first.dtype:
        return call.run(*operands, *call.attributes)
    out = arrays.empty((call.size, *call.shapes[0]), call.dtypes[0])
    return (getattr(arrays, call.spec.name)(*operands, into=out),)


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
    """Count the dimension `axis` without that of the examples."""
    axis, *more = call.attributes
    if call.spec.name.startswith("resample") and call.ndim(0) == 5:
        return DECLINED
    operands = [call.full(i) for i in range(len(call.inputs))]
    return call.run(*operands, axis + 1 if axis >= 0 else axis, *more)


@rule("logsumexp", "max", "mean", "min", "norm", "prod", "std", "sum", "var")
def _over_axes(call: Call) -> Any:
    """Count the dimensions `axes` without that of the examples."""
    axes, *more = call.attributes
    if not call.ndim(0):  # a number is reduced over no dimensions
        column = arrays.reshape(call.inputs[0], (call.size, 1))
        return call.run(column, (1,), False, *more[1:])
    moved = tuple([axis + 1 if axis >= 0 else axis for axis in axes])
    return call.run(call.full(0), moved, *more)


@rule("fft", "rfft", "irfft")
def _transforms(call: Call) -> Any:
    """Count the dimensions of a transform without that of the examples."""
    axes, *more = call.attributes
    several = isinstance(axes, tuple)
    moved = tuple([axis + 1 for axis in axes]) if several else axes + 1
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
    _, index, src = call.inputs
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
    *("cholesky", "cofactor", "det", "eigh", "inv", "lu", "qr", "row_order"),
    *("slogdet", "svd"),
)
def _matrices(call: Call) -> Any:
    """Compute on the matrices of all examples: dimensions in front are free."""
    return call.run(*call.inputs, *call.attributes)


@rule("cofactor_derivative")
def _cofactor_derivative(call: Call) -> Any:
    """Compute on the matrices of all examples; directions come before them."""
    a, d = call.full(0), call.full(1)
    return call.run(a, arrays.permute(d, (1, 0, *range(2, d.ndim))))


@rule("ldl", "ldl_solve", "solve")
def _pairs_of_matrices(call: Call) -> Any:
    """Compute on several matrices of each example, which are broadcast."""
    ndims = [call.ndim(i) for i in range(len(call.inputs))]
    if call.spec.name == "ldl_solve":
        ndims[1] += 1  # pivots are vectors
    more = [max(ndims) - n for n in ndims]
    operands = []
    for i, missing in enumerate(more):
        x = call.full(i)
        operands.append(_padded(x, True, x.ndim - 1 + missing))
    return call.run(*operands, *call.attributes)


@rule("pinv")
def _pinv(call: Call) -> Any:
    """Invert the matrices of all examples, with shared tolerances."""
    if not call.only(0):
        return DECLINED
    return call.run(*call.inputs, *call.attributes)


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


@rule("rms_norm")
def _rms_norm(call: Call) -> Any:
    """Norm the rows; weights of each example are multiplied afterwards."""
    x, weight = call.inputs
    if not call.batched[1]:
        return call.run(x, weight, *call.attributes)
    out, *more = call.run(call.full(0), None, *call.attributes)
    return [arrays.mul(out, _padded(weight, True, out.ndim - 1)), *more]


@rule("searchsorted")
def _searchsorted(call: Call) -> Any:
    """Search in the line of each example, or in one line that they share."""
    line, values = call.inputs
    if call.ndim(0) > 1:
        return call.run(call.full(0), call.full(1), *call.attributes)
    if not call.batched[0]:
        return call.run(line, values, *call.attributes)
    values = call.full(1)
    rows = arrays.reshape(values, (call.size, values.size // max(call.size, 1)))
    (found,) = call.run(line, rows, *call.attributes)
    return (arrays.reshape(found, values.shape),)


@rule("linear")
def _linear(call: Call) -> Any:
    """Multiply by shared weights at once, or by the weights of each example."""
    x, weight, bias = call.inputs
    if call.only(0):
        return call.run(x, weight, bias, *call.attributes)
    if call.attributes != ("none",) or call.shapes[1] is not None:
        return DECLINED
    rows = _rows_of(x, call.batched[0])
    turned = arrays.permute(weight, (0, 2, 1) if call.batched[1] else (1, 0))
    out = arrays.gemm(rows, turned, None)[0]
    if bias is not None:
        line = _padded(bias, call.batched[2], 2)
        # If only the bias belongs to the examples, the product is shared.
        into = out if out.ndim == 3 else None
        out = arrays.add(out, line, into=into)
    return arrays.reshape(out, (call.size, *call.shapes[0])), None


def _rows_of(x: Any, batched: bool) -> Any:
    """Return the rows of each example, [B, M, n], or rows that all share, [M, n]."""
    if not batched:
        return arrays.reshape(x, (-1, x.shape[-1]))
    return arrays.reshape(x, (x.shape[0], -1, x.shape[-1]))


@rule("linear_backward")
def _linear_backward(call: Call) -> Any:
    """Compute the gradients of the weights of each example by one product for each."""
    if not call.batched[0] or any(0 in x.shape for x in call.inputs if x is not None):
        return DECLINED
    g, x, weight = call.inputs
    dx = dweight = dbias = None
    if call.want & 1:
        dx = arrays.gemm(_rows_of(g, True), weight, None)[0]
        dx = arrays.reshape(dx, (call.size, *call.shapes[0]))
    if call.want & 2:
        dweight = _outer(_rows_of(g, True), _rows_of(x, call.batched[1]))
    if call.want & 4:
        dbias = arrays.sum(_rows_of(g, True), (1,), False)
    return dx, dweight, dbias


def _outer(g: Any, x: Any) -> Any:
    """Return g^T x for each example; of one row it is an outer product."""
    if g.shape[1] == 1:
        columns = arrays.reshape(g, (g.shape[0], g.shape[2], 1))
        return arrays.mul(columns, x)
    return arrays.gemm(arrays.permute(g, (0, 2, 1)), x, None)[0]


@rule("layer_norm")
def _rows(call: Call) -> Any:
    """Compute each row: with shared weights, the dimensions in front are free."""
    if not call.only(0):
        return DECLINED
    return call.run(*call.inputs, *call.attributes)


@rule("layer_norm_backward", "rms_norm_backward")
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
    if call.spec.name == "conv_activation" and call.inputs[3] is not None:
        places = (0, 3)
    if call.spec.name in {"conv", "conv_dx"} and not call.only(0):
        return convolved(call)
    if not call.only(*places) or call.ndim(0) == 0:
        return DECLINED
    operands = list(call.inputs)
    for i in places:
        operands[i] = _joined(call.full(i))
    results = call.run(*operands, *call.attributes)
    return [None if x is None else _parted(call.size, x) for x in results]


def _joined(x: Any) -> Any:
    """Return images of all examples, [B, N, ...], as one batch."""
    if x is None:
        return None
    return arrays.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _parted(size: int, x: Any) -> Any:
    """Return one batch as the images of all examples."""
    return arrays.reshape(x, (size, x.shape[0] // size, *x.shape[1:]))


@rule("grid_sample_backward")
def _grid_sample_backward(call: Call) -> Any:
    """Join the images of all examples to one batch."""
    results = call.run(*[_joined(call.full(i)) for i in range(3)], *call.attributes)
    return [None if x is None else _parted(call.size, x) for x in results]


@rule("attention")
def _attention(call: Call) -> Any:
    """Join the sequences of all examples to one batch."""
    return _attended(call, 3)


@rule("attention_backward")
def _attention_backward(call: Call) -> Any:
    """Join the sequences of all examples to one batch."""
    return _attended(call, 6)


def _attended(call: Call, sequences: int) -> Any:
    """Run attention on one batch; a mask, a seed and an offset follow the sequences."""
    operands = [_joined(call.full(i)) for i in range(sequences)]
    mask, seed, offset = call.inputs[sequences:]
    if call.batched[sequences + 1]:
        return DECLINED
    if call.batched[sequences + 2] and not _draw_apart(offset):
        return DECLINED
    if mask is not None and (call.batched[sequences] or mask.shape[0] != 1):
        mask = call.full(sequences)
        size, n, *rest = mask.shape
        count = operands[0].shape[0] // size
        if n != count:
            mask = arrays.expand(mask, (size, count, *rest))
        mask = _joined(mask)
    if call.batched[sequences + 2]:  # words for all examples follow each other
        offset = arrays.slice(offset, (0, ...))
    elif offset is not None:
        return DECLINED
    results = call.run(*operands, mask, seed, offset, *call.attributes)
    return [None if x is None else _parted(call.size, x) for x in results]


# ---- random numbers ------------------------------------------------------------------


@rule("normal", "random_bits", "uniform")
def _random(call: Call) -> Any:
    """Draw for all examples; `draw` has taken words for all of them."""
    seed, offset = call.inputs
    if not _draw_apart(offset):
        return DECLINED
    shape = call.shapes[0]
    return call.run(
        seed,
        arrays.slice(offset, (0, ...)),
        *call.attributes,
        shape=(call.size, *shape),
    )


def _draw_apart(offset: Any) -> bool:
    """Return whether each example has words of its own.

    In nested calls of `vmap`, examples of one level may draw the same numbers.
    """
    return offset.ndim == 1 and len(set(offset.tolist())) == len(offset)


@rule("dropout")
def _dropout(call: Call) -> Any:
    """Drop elements of all examples; without an offset for each, the same ones."""
    _, seed, offset = call.inputs
    if not call.batched[2]:
        return DECLINED if call.batched[1] else _dropped_alike(call)
    if not _draw_apart(offset):
        return DECLINED
    return call.run(
        call.full(0), seed, arrays.slice(offset, (0, ...)), *call.attributes
    )


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
        f"vmap: We do not support batching operators that can output dynamic shape. "
        f"The shape of the result of {call.spec.name} depends on the values, so "
        f"examples could have different shapes. Use where() instead of a mask as an "
        f"index."
    )

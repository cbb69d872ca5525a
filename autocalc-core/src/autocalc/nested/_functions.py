# SPDX-License-Identifier: MIT
"""Functions and operators of nested tensors, made of functions of their rows."""

from __future__ import annotations

from typing import Any

from autocalc._ops.activations import rectifiers, smooth
from autocalc._ops.arranging.joining import cat
from autocalc._ops.attention.dot_product import scaled_dot_product_attention
from autocalc._ops.matrices import matmul
from autocalc._ops.norms.layer_norm import layer_norm
from autocalc._ops.random import dropout
from autocalc._ops.sequences.segments import segment_reduce
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nested._tensor import FUNCTIONS, NestedTensor

#: Functions of the elements of one tensor.
ELEMENTWISE = (
    *("abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "digamma", "erf", "erfc"),
    *("exp", "exp2", "expm1", "floor", "isfinite", "isinf", "isnan", "lgamma", "log"),
    *("log10", "log1p", "log2", "logical_not", "neg", "positive", "reciprocal", "relu"),
    *("round", "rsqrt", "sgn", "sigmoid", "sign", "sin", "sinh", "sqrt", "square"),
    *("tan", "tanh", "trunc", "clamp", "bitwise_not"),
)
#: Functions of the elements of two tensors, of which one may be a number.
PAIRS = (
    *("add", "sub", "mul", "div", "pow", "maximum", "minimum", "eq", "ne", "lt"),
    *("le", "gt", "ge", "logical_and", "logical_or", "floor_divide", "remainder"),
)
_REFLECTED = {"add": "radd", "sub": "rsub", "mul": "rmul", "div": "rtruediv"}


def _of_rows(name: str) -> Any:
    function = getattr(Tensor, name)

    def call(x: Any, *args: Any, **words: Any) -> Any:
        return x._with(function(x._vals, *args, **words))

    return call


def _of_pairs(name: str) -> Any:
    function = getattr(Tensor, name)

    def call(x: Any, y: Any, **words: Any) -> Any:
        like = x if isinstance(x, NestedTensor) else y
        a, b = rows_beside(name, x, like), rows_beside(name, y, like)
        if not isinstance(a, Tensor):  # a number comes first
            a = b.new_full((), a) if b.is_floating_point() else b * 0 + a
        return like._with(function(a, b, **words))

    return call


def rows_beside(where: str, x: Any, like: NestedTensor) -> Any:
    """Return what `x` is next to the rows of a nested tensor."""
    if isinstance(x, NestedTensor):
        same = x._offs is like._offs or x._offs.tolist() == like._offs.tolist()
        if not same or x._turned != like._turned:
            raise ShapeError(
                f"{where}: the sequences of two nested tensors must have the same "
                f"lengths, but the offsets are {x._offs.tolist()[:6]} and "
                f"{like._offs.tolist()[:6]}."
            )
        return x._vals
    if not isinstance(x, Tensor) or x.ndim == 0:
        return x
    if x.ndim <= like.ndim - like._ragged - 1:  # after the ragged dimension
        return x
    if x.ndim == like.ndim and x.shape[like._ragged] == 1:
        one = x.squeeze(like._ragged)
        if one.shape[0] == 1:
            return one
        return one.index_select(0, like._which())
    raise ShapeError(
        f"{where}: a dense tensor of shape {tuple(x.shape)} does not fit a nested one "
        f"of shape {tuple(like.shape)}; give sizes after the ragged dimension, or one "
        "row for each sequence."
    )


for _name in ELEMENTWISE:
    FUNCTIONS[_name] = _of_rows(_name)
for _name in PAIRS:
    FUNCTIONS[_name] = _of_pairs(_name)


def _only_rows(where: str, x: NestedTensor) -> None:
    if x._turned:
        raise ArgumentError(
            f"{where}: the ragged dimension must be dimension 1; call transpose(1, 2) "
            "first."
        )


def _linear(input: Any, weight: Tensor, bias: Tensor | None = None) -> Any:
    _only_rows("linear", input)
    return input._with(matmul.linear(input._vals, weight, bias))


def _layer_norm(input: Any, normalized_shape: Any, *args: Any, **words: Any) -> Any:
    _only_rows("layer_norm", input)
    return input._with(layer_norm(input._vals, normalized_shape, *args, **words))


def _reduced(name: str) -> Any:
    function = getattr(Tensor, name)

    def call(x: Any, dim: Any = None, keepdim: bool = False, **words: Any) -> Any:
        dim = words.pop("axis", dim)
        if dim is None:
            return function(x._vals, **words)
        axis = x._dim(name, dim[0] if isinstance(dim, (tuple, list)) else dim)
        if isinstance(dim, (tuple, list)) and len(dim) != 1:
            raise ArgumentError(f"{name}: give one dimension, or none for all.")
        if axis == x._ragged and not x._turned and name in ("sum", "mean"):
            found = segment_reduce(x._vals, name, offsets=x._offs)
            return found.unsqueeze(1) if keepdim else found
        if axis <= x._ragged:
            raise ArgumentError(
                f"{name}: not supported over dimension {dim} of a nested tensor of "
                f"shape {tuple(x.shape)}; the ragged dimension needs to be dimension 1."
            )
        return x._with(function(x._vals, axis - 1, keepdim, **words))

    return call


for _name in ("sum", "mean"):
    FUNCTIONS[_name] = _reduced(_name)


def _softmax(name: str) -> Any:
    function = getattr(Tensor, name)

    def call(input: Any, dim: int, *, dtype: Any = None) -> Any:
        axis = input._dim(name, dim)
        if axis <= input._ragged:
            raise ArgumentError(
                f"{name}: `dim`={dim} of a nested tensor must be after the ragged "
                "dimension."
            )
        return input._with(function(input._vals, axis - 1, dtype=dtype))

    return call


FUNCTIONS["softmax"] = _softmax("softmax")
FUNCTIONS["log_softmax"] = _softmax("log_softmax")


def _of_function(function: Any) -> Any:
    def call(input: Any, *args: Any, **words: Any) -> Any:
        return input._with(function(input._vals, *args, **words))

    return call


def _attention(query: Any, key: Any, value: Any, **words: Any) -> Any:
    """Return attention within each sequence: no row of padding is computed."""
    given = (query, key, value)
    if not all(isinstance(x, NestedTensor) and x._turned for x in given):
        raise DTypeError(
            "scaled_dot_product_attention: query, key and value must all be nested, of "
            "shape [B, heads, j1, E]: split the heads with unflatten and call "
            "transpose(1, 2)."
        )
    if words.get("attn_mask") is not None:
        raise ArgumentError(
            "scaled_dot_product_attention: `attn_mask` is not supported for nested "
            "tensors; each sequence attends to itself only."
        )
    if key._offs.tolist() != value._offs.tolist() or len(query) != len(key):
        raise ShapeError(
            "scaled_dot_product_attention: key and value must have sequences of the "
            "same lengths, and query as many sequences."
        )
    parts = zip(query.unbind(), key.unbind(), value.unbind(), strict=True)
    found = [scaled_dot_product_attention(q, k, v, **words) for q, k, v in parts]
    rows = cat([x.transpose(0, 1) for x in found])
    return NestedTensor(rows, query._offs, turned=True)


FUNCTIONS.update(
    linear=_linear,
    layer_norm=_layer_norm,
    scaled_dot_product_attention=_attention,
    gelu=_of_function(smooth.gelu),
    silu=_of_function(smooth.silu),
    leaky_relu=_of_function(rectifiers.leaky_relu),
    dropout=_of_function(dropout.dropout),
    unbind=NestedTensor.unbind,
    transpose=NestedTensor.transpose,
)


def _attach() -> None:
    """Make the functions methods of `NestedTensor`."""
    kind: Any = NestedTensor
    own = {"unbind", "transpose", "scaled_dot_product_attention", "linear"}
    for name, call in FUNCTIONS.items():
        if name not in own:
            setattr(kind, name, call)
    for name in ("add", "sub", "mul", "pow", "eq", "ne", "lt", "le", "gt", "ge", "neg"):
        setattr(kind, f"__{name}__", FUNCTIONS[name])
    kind.__truediv__, kind.__abs__ = FUNCTIONS["div"], FUNCTIONS["abs"]
    kind.__hash__ = Tensor.__hash__
    for name, other in _REFLECTED.items():
        setattr(kind, f"__{other}__", _exchanged(FUNCTIONS[name]))
    for name in ("float32", "float64", "float16", "bfloat16", "int64"):
        short = {"float32": "float", "float64": "double", "float16": "half"}
        setattr(kind, short.get(name, name), _cast(getattr(dtypes, name)))


def _exchanged(call: Any) -> Any:
    def other_first(self: Any, other: Any) -> Any:
        return call(other, self)

    return other_first


def _cast(dtype: Any) -> Any:
    def to_dtype(self: Any) -> Any:
        return self.to(dtype)

    return to_dtype


_attach()

# SPDX-License-Identifier: MIT
"""Sums, products and functions of the elements of sparse tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autocalc._ops._operator.coerce import Number
from autocalc._ops.arranging.joining import cat
from autocalc._ops.sequences.searching import searchsorted
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import promote
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.sparse._compressed import Compressed
from autocalc.sparse._conversion import as_layout
from autocalc.sparse._coo import CooTensor
from autocalc.sparse._tensor import SparseTensor, function, unsupported

#: Functions of one tensor that map 0 to 0, or False.
ZERO_TO_ZERO = (
    *("abs", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv"),
    *("expm1", "floor", "frac", "isinf", "isnan", "isneginf", "isposinf", "log1p"),
    *("neg", "positive", "rad2deg", "relu", "round", "sgn", "sign", "signbit", "sin"),
    *("sinh", "sqrt", "square", "tan", "tanh", "trunc"),
)


def _of_values(name: str) -> Any:
    method = getattr(Tensor, name)

    def call(x: Any, *args: Any, **words: Any) -> Any:
        same = x.coalesce() if isinstance(x, CooTensor) else x
        return same._with(method(same._vals, *args, **words))

    call.__name__ = name
    return call


for _name in ZERO_TO_ZERO:
    if hasattr(Tensor, _name):
        function(_name)(_of_values(_name))


def is_number(x: Any) -> bool:
    """Return whether `x` is a number, or a dense tensor without dimensions."""
    if isinstance(x, Number):
        return True
    return isinstance(x, Tensor) and not isinstance(x, SparseTensor) and x.ndim == 0


def same_shape(where: str, x: Any, y: Any) -> None:
    """Raise unless two sparse tensors have one shape and one kind of dimensions."""
    if tuple(x.shape) != tuple(y.shape):
        raise ShapeError(
            f"{where}: expected 'self' and 'other' to have same size, but "
            f"{tuple(x.shape)} != {tuple(y.shape)}; sparse tensors do not broadcast."
        )
    if x.is_sparse and y.is_sparse and x.sparse_dim() != y.sparse_dim():
        raise ShapeError(
            f"{where}: expected both tensors to have the same number of sparse "
            f"dimensions, but got {x.sparse_dim()} and {y.sparse_dim()}."
        )


def coordinates_of(x: Any) -> CooTensor:
    """Return a sparse tensor as coordinates."""
    return x if isinstance(x, CooTensor) else x.to_sparse_coo()


@function("add", "__add__", "__radd__")
def add(x: Any, y: Any, *, alpha: Any = 1) -> Any:
    """Return x + alpha y; a dense tensor plus a sparse one is dense."""
    x_sparse, y_sparse = isinstance(x, SparseTensor), isinstance(y, SparseTensor)
    if x_sparse and y_sparse:
        same_shape("add", x, y)
        return _joined(x, y, alpha)
    if y_sparse and isinstance(x, Tensor):
        same_shape("add", x, y)
        return x + _scaled(y.to_dense(), alpha)
    if isinstance(x, Compressed) and isinstance(y, Tensor) and y.ndim:
        return x.to_dense() + _scaled(y, alpha)
    raise DTypeError(
        "add: add(sparse, dense) is not supported. Use add(dense, sparse) instead. "
        "A number cannot be added: the result would have no zeros."
    )


def _scaled(x: Tensor, alpha: Any) -> Tensor:
    return x if isinstance(alpha, int) and alpha == 1 else x * alpha


def _joined(x: Any, y: Any, alpha: Any) -> Any:
    a, b = coordinates_of(x), coordinates_of(y)
    dtype = promote(a.dtype, b.dtype)
    values = cat([a._vals.to(dtype), _scaled(b._vals, alpha).to(dtype)])
    made = CooTensor(cat([a._idx, b._idx], 1), values, a.shape)
    if a.is_coalesced() and b.is_coalesced():
        made = made.coalesce()
    layout = x.layout
    return made if isinstance(x, CooTensor) else as_layout(made, layout)


@function("sub", "__sub__")
def sub(x: Any, y: Any, *, alpha: Any = 1) -> Any:
    """Return x - alpha y."""
    return add(x, y, alpha=-alpha)


@function("mul", "__mul__", "__rmul__")
def mul(x: Any, y: Any) -> Any:
    """Return the product of the elements, which is sparse."""
    if not isinstance(x, SparseTensor):
        x, y = y, x
    if is_number(y):
        return x._with(x._vals * y)
    if not isinstance(y, Tensor):
        raise unsupported("mul", x)
    if isinstance(y, SparseTensor):
        return _both(x, y)
    return _with_dense("mul", x, y, Tensor.mul)


def _both(x: Any, y: Any) -> Any:
    """Return the product of two sparse tensors: at the places that both have."""
    same_shape("mul", x, y)
    a, b = coordinates_of(x).coalesce(), coordinates_of(y).coalesce()
    values, has = looked_up(b, a._key())
    found: Any = has.nonzero()
    kept = found.reshape(-1)
    picked = a._vals.index_select(0, kept) * values.index_select(0, kept)
    made = CooTensor(a._idx.index_select(1, kept), picked, a.shape, True)
    return made if isinstance(x, CooTensor) else as_layout(made, x.layout)


def looked_up(x: CooTensor, key: Tensor) -> tuple[Tensor, Tensor]:
    """Return the values of a coalesced tensor at places, and whether it has them."""
    own = x._key()
    if not own.numel():
        shape = (key.shape[0], *x._vals.shape[1:])
        return x._vals.new_zeros(shape), key < 0
    at = searchsorted(own, key).clamp(max=own.shape[0] - 1)
    return x._vals.index_select(0, at), own.index_select(0, at) == key


def _with_dense(where: str, x: Any, y: Tensor, operator: Any) -> Any:
    """Return operator(x, y) at the places of x, where y is dense."""
    if tuple(x.shape) != tuple(y.shape):
        try:
            y = y.expand(tuple(x.shape))
        except (ShapeError, ArgumentError):
            raise ShapeError(
                f"{where}: a dense tensor of shape {tuple(y.shape)} does not expand to "
                f"the shape {tuple(x.shape)} of the sparse one."
            ) from None
    x = x.coalesce() if isinstance(x, CooTensor) else x
    coo = x if isinstance(x, CooTensor) else x._coo()
    return x._with(operator(x._vals, at_places(y, coo)))


def at_places(dense: Tensor, x: CooTensor) -> Tensor:
    """Return the values of a dense tensor at the places of a sparse one."""
    n = x.sparse_dim()
    rows = dense.reshape((math.prod(dense.shape[:n]), *dense.shape[n:]))
    return rows.index_select(0, x._key())


@function("div", "__truediv__")
def div(x: Any, y: Any, *, rounding_mode: Any = None) -> Any:
    """Return x / y, where y is a number."""
    if not isinstance(x, SparseTensor) or not is_number(y):
        where = "floor division" if rounding_mode == "floor" else "division"
        raise DTypeError(
            f"Sparse {where} requires a scalar or zero-dim dense tensor divisor; for "
            "others use to_dense()."
        )
    same = x.coalesce() if rounding_mode and isinstance(x, CooTensor) else x
    return same._with(same._vals.div(y, rounding_mode=rounding_mode))


@function("floor_divide", "__floordiv__")
def floor_divide(x: Any, y: Any) -> Any:
    """Return floor(x / y), where y is a number."""
    return div(x, y, rounding_mode="floor")


@function("pow", "__pow__")
def pow(x: Any, exponent: Any) -> Any:
    """Return x to the power of a number above 0."""
    if not isinstance(exponent, (int, float, np.number)) or exponent <= 0:
        raise ArgumentError(
            f"pow: sparse tensors need an exponent above 0, not {exponent!r}: cannot "
            "raise the zeros to it."
        )
    same = x.coalesce() if isinstance(x, CooTensor) else x
    return same._with(same._vals**exponent)


@function("sparse_mask")
def sparse_mask(x: Any, mask: Any) -> Any:
    """Return the elements of `x` at the places of a sparse tensor."""
    if not isinstance(mask, SparseTensor):
        message = f"sparse_mask: `mask` is a {type(mask).__name__}; it must be sparse."
        raise DTypeError(message)
    if tuple(x.shape) != tuple(mask.shape):
        raise ShapeError(
            f"sparse_mask: operands have incompatible sizes; self has size "
            f"{tuple(x.shape)} but mask has size {tuple(mask.shape)}."
        )
    coo = mask if isinstance(mask, CooTensor) else mask._coo()
    if not isinstance(x, SparseTensor):
        return mask._with(at_places(x, coo))
    values, has = looked_up(coordinates_of(x).coalesce(), coo._key())
    has = has.reshape((-1, *(1,) * (values.ndim - 1)))
    return mask._with(values.where(has, values.new_zeros(())))

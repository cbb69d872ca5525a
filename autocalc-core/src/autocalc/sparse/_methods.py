# SPDX-License-Identifier: MIT
"""The methods and operators of sparse tensors, made of their functions."""

from __future__ import annotations

from typing import Any

from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.ranges import arange
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.layouts import sparse_csc, sparse_csr
from autocalc.errors import DTypeError
from autocalc.sparse import _arithmetic, _matrices, _reductions  # noqa: F401  they register functions
from autocalc.sparse._compressed import CscTensor, CsrTensor
from autocalc.sparse._conversion import as_layout, relaid
from autocalc.sparse._coo import CooTensor
from autocalc.sparse._tensor import FUNCTIONS, SparseTensor, function


def _reflected(call: Any) -> Any:
    def other_first(self: Any, other: Any) -> Any:
        return call(other, self)

    return other_first


def _written(name: str, call: Any) -> Any:
    """Return the in-place form of a function: the tensor takes over the result."""

    def write(self: Any, *args: Any, **words: Any) -> Any:
        return self._take(name, call(self, *args, **words))

    return write


#: Names of methods and operators, and the functions that they call.
_OPERATORS = {
    **{f"__{name}__": name for name in ("add", "sub", "mul", "matmul", "pow")},
    "__truediv__": "div",
    "__floordiv__": "floor_divide",
    "__neg__": "neg",
    "__pos__": "positive",
    "__abs__": "abs",
    "multiply": "mul",
    "divide": "div",
    "true_divide": "div",
    "subtract": "sub",
    "negative": "neg",
    "negative_": "neg_",
    "arcsin_": "asin_",
    "arcsin": "asin",
    "arctan": "atan",
    "arcsinh": "asinh",
    "arctanh": "atanh",
}
_FUNCTIONS_ONLY = {
    *("cat", "concat", "concatenate", "clone", "transpose", "t", "swapdims"),
    *("swapaxes", "zeros_like", "empty_like"),
}
_PYTHON = ("mul", "add", "sub", "div", "floor_divide", "pow")


def attach() -> None:
    """Make the functions methods of `SparseTensor`."""
    kind: Any = SparseTensor
    for name, call in FUNCTIONS.items():
        if not name.startswith("__") and name not in _FUNCTIONS_ONLY:
            setattr(kind, name, call)
    for name in ("add", "mul", "matmul", "sub"):
        setattr(kind, f"__r{name}__", _reflected(FUNCTIONS[name]))
    for name in (*_PYTHON, *_arithmetic.ZERO_TO_ZERO):
        if name in FUNCTIONS:
            setattr(kind, f"{name}_", _written(f"{name}_", FUNCTIONS[name]))
    for name, other in (("__iadd__", "add"), ("__isub__", "sub"), ("__imul__", "mul")):
        setattr(kind, name, getattr(kind, f"{other}_"))
    kind.__itruediv__ = kind.div_
    for name, other in _OPERATORS.items():
        setattr(kind, name, getattr(kind, other))


def _as_csr(self: Any, dense_dim: Any = None) -> Any:
    """Return the matrix in the layout CSR."""
    del dense_dim
    return as_layout(self, sparse_csr)


def _as_csc(self: Any, dense_dim: Any = None) -> Any:
    """Return the matrix in the layout CSC."""
    del dense_dim
    return as_layout(self, sparse_csc)


for _kind in (CooTensor, CsrTensor, CscTensor):
    for _name, _made in (("to_sparse_csr", _as_csr), ("to_sparse_csc", _as_csc)):
        if _name not in vars(_kind):
            setattr(_kind, _name, _made)


def _to_sparse(self: Any, *args: Any, layout: Any = None, **words: Any) -> Any:
    """Return the tensor in another sparse layout."""
    return relaid(self, args, layout, words)


SparseTensor.to_sparse = _to_sparse  # type: ignore[method-assign]  # of each layout


def _getitem(self: Any, index: Any) -> Any:
    """Return a slice along the first dimensions, one integer for each."""
    found = self
    for one in index if isinstance(index, tuple) else (index,):
        if not isinstance(one, int) or isinstance(one, bool):
            raise DTypeError(
                f"getitem: a sparse tensor can be indexed with integers only, not "
                f"{one!r}; use index_select() or to_dense()."
            )
        found = (
            found[one]
            if not isinstance(found, SparseTensor)
            else (_reductions.select(found, 0, one))
        )
    return found


SparseTensor.__getitem__ = _getitem  # type: ignore[method-assign]  # of each layout


@function("zeros_like")
def zeros_like(x: Any, **words: Any) -> Any:
    """Return a sparse tensor of the same shape without entries."""
    dtype = words.get("dtype") or x.dtype
    own = words.get("requires_grad")
    n = x.sparse_dim()
    values = zeros((0, *x.shape[n:]), dtype=dtype)
    made: Any = CooTensor(zeros((n, 0), dtype=dtypes.int64), values, x.shape, True)
    made = made if isinstance(x, CooTensor) else as_layout(made, x.layout)
    return made.requires_grad_() if own else made


function("empty_like")(zeros_like)


@function("transpose", "swapdims", "swapaxes")
def transpose(x: Any, dim0: int, dim1: int) -> Any:
    """Return a sparse tensor with two dimensions exchanged."""
    return type(x).transpose(x, dim0, dim1)


@function("t")
def t(x: Any) -> Any:
    """Return the transpose of a sparse matrix."""
    return type(x).t(x)


@function("zero_")
def zero_(self: Any) -> Any:
    """Remove all entries; return the tensor."""
    self.__dict__.update(zeros_like(self).__dict__)
    return self


def _cast(name: str) -> Any:
    dtype = getattr(dtypes, name)

    def to_dtype(self: Any) -> Any:
        return self.to(dtype)

    return to_dtype


for _short, _long in (
    ("float", "float32"),
    ("double", "float64"),
    ("half", "float16"),
    ("bfloat16", "bfloat16"),
    ("int", "int32"),
    ("long", "int64"),
    ("bool", "bool_"),
):
    setattr(SparseTensor, _short, _cast(_long))


def _same(self: Any, *args: Any, **words: Any) -> Any:
    """Return the tensor itself: it is on the CPU."""
    del args, words
    return self


SparseTensor.cpu = _same  # type: ignore[method-assign]  # as the dense method


def _norm(
    self: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Tensor:
    """Return the norm of all elements."""
    if dim not in (None, ()) or keepdim or dtype is not None:
        raise DTypeError("norm: the norm of a sparse tensor is over all elements.")
    same = self.coalesce() if isinstance(self, CooTensor) else self
    return same._vals.norm(2 if p in ("fro", None) else p)


function("norm")(_norm)
function("clone")(SparseTensor.clone)


@function("ne")
def ne(x: Any, y: Any) -> Any:
    """Return the entries that are not equal to themselves: those that are NaN."""
    if x is y:
        return FUNCTIONS["isnan"](x)
    raise DTypeError("ne: sparse tensors are not compared; use to_dense().")


@function("narrow")
def narrow(x: Any, dim: int, start: int, length: int) -> Any:
    """Return a range of slices of a sparse tensor."""
    return _reductions.index_select(x, dim, arange(start, start + length))


@function("any")
def any_(x: Any) -> Tensor:
    """Return whether any element is not zero."""
    same = x.coalesce() if isinstance(x, CooTensor) else x
    return same._vals.any()

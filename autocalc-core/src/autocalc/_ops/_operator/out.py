# SPDX-License-Identifier: MIT
"""`out=`: write the result into a tensor of the caller."""

from __future__ import annotations

from typing import Any, TypeVar

from autocalc._dispatch._callers import warn
from autocalc._dispatch.device.addresses import repeats
from autocalc._dispatch.device.dual_parts import has_tangent
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import current
from autocalc._ops._operator.coerce import as_operand, check_tensor
from autocalc._ops._operator.kinds import is_of_kind
from autocalc._ops._operator.view_tracker import base_of
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import (
    ArgumentError,
    AutocalcWarning,
    DTypeError,
    GradError,
    ShapeError,
)

T = TypeVar("T")


def apply_out(where: str, result: T, out: Any) -> T:
    """Return `result`, or `out` after the result was written to it.

    If the result consists of several tensors, so does `out`.

    Raises
    ------
    ArgumentError
        If `out` does not hold as many tensors as the result.
    """
    if out is None:
        return result
    if isinstance(result, Tensor):
        same: T = copy_to_out(where, result, out)  # type: ignore[assignment]  # a Tensor, as T is
        return same
    parts: Any = result
    if not isinstance(out, (tuple, list)) or len(out) != len(parts):
        raise ArgumentError(
            f"{where}: `out` is {type(out).__name__}; it must be a tuple of "
            f"{len(parts)} tensors, like the result."
        )
    if where in _OF_EQUAL_DTYPES:
        _check_equal_dtypes(where, parts, out)
    tensors = [copy_to_out(where, one, to) for one, to in zip(parts, out, strict=True)]
    kind: Any = type(parts)
    whole: T = kind(*tensors) if hasattr(kind, "_fields") else kind(tensors)
    return whole


#: The names of dtypes in the errors of PyTorch.
_SPOKEN = {
    "float64": "Double",
    "float32": "Float",
    "float16": "Half",
    "int64": "Long",
    "bfloat16": "BFloat16",
    "int32": "Int",
    "int16": "Short",
    "int8": "Char",
    "uint8": "Byte",
    "bool": "Bool",
}


def spoken(dtype: dtypes.DType) -> str:
    """Return the name of a dtype as it appears in the errors of PyTorch."""
    return _SPOKEN.get(dtype.name, dtype.name)


_TRUTH = (dtypes.bool_, dtypes.uint8), " only supports bool tensor for result, got"
_OF_INFINITY = (dtypes.bool_,), " does not support non-boolean outputs, such as"

#: Operators whose `out` must have the dtype of the result, with the allowed dtypes and
#: the text of the error for all others.
_OF_ONE_KIND: dict[str, tuple[tuple[dtypes.DType, ...], str]] = {
    **dict.fromkeys(("all", "any"), _TRUTH),
    **dict.fromkeys(("isneginf", "isposinf"), _OF_INFINITY),
    "nonzero": ((dtypes.int64,), ": `out` is to have scalar type Long (int64), not"),
}


#: Operators whose error for the dtype of `out` ends with other words in PyTorch.
_FACTORS = {"cholesky", "eigh", "eigvalsh", "inv"}

#: Operators whose values and indices are written into tensors of the same dtypes only.
_OF_EQUAL_DTYPES = {
    *("max", "min", "mode", "median", "nanmedian", "kthvalue"),
    *("cummax", "cummin"),
}


def _check_equal_dtypes(where: str, parts: Any, out: Any) -> None:
    """Raise unless `out` is a pair of tensors of the dtypes of values and indices."""
    for name, one, to in zip(("values", "indices"), parts, out, strict=True):
        needed, given = (spoken(check_tensor(where, x).dtype) for x in (one, to))
        if needed != given:
            words = f"expected scalar type {needed} but got {given} for {name}"
            if where.startswith("cum"):
                words = f"expected scalar_type {needed} but found {given} for {name}"
            raise DTypeError(f"{where}: {words} of `out`; make it with that dtype.")


def shares_elements(where: str, x: Tensor) -> ArgumentError:
    """Make the error for a write into a tensor that has one element several times."""
    return ArgumentError(
        f"{where}: unsupported operation: the tensor of shape {x.shape} is "
        "expanded or has overlapping windows: several of its elements share a "
        "single memory location. Call clone() on it before the write."
    )


def copy_to_out(where: str, result: Tensor, out: Tensor) -> Tensor:
    """Copy the converted `result` into `out`; return `out`.

    An `out` that has another shape takes the shape of the result, like `resize_`.  If
    it has no elements, this happens silently, so that ``out=ac.empty(0)`` fits every
    result; otherwise there is a warning.

    Raises
    ------
    ShapeError
        If the shapes differ and `out` is a view of too little memory.
    DTypeError
        If the result would lose its kind, such as a float stored in integers.
    GradError
        If gradients are recorded, and the result or `out` requires a gradient.
    ArgumentError
        If several elements of `out` share memory.
    """
    check_tensor(where, out)
    if is_of_kind(out):
        return out._take(where, result)  # type: ignore[attr-defined,no-any-return]  # of its kind
    if current().grad and (out._edge or result._edge):
        raise GradError(
            f"{where}: functions with out=... arguments don't support automatic "
            "differentiation, but an operand or `out` requires a gradient. Use the "
            "returned value instead, or ac.no_grad()."
        )
    if has_tangent(out._array) or has_tangent(result._array):
        raise GradError(
            f"{where}: an out= function does not support tangents of forward mode. Use "
            f"the returned value instead."
        )
    fits = out._array.shape == result._array.shape
    if where in _OF_ONE_KIND and out.dtype not in _OF_ONE_KIND[where][0]:
        raise DTypeError(f"{where}{_OF_ONE_KIND[where][1]} {out.dtype.name}.")
    if result.dtype.category > out.dtype.category and where != "bernoulli":
        got = f"result with dtype {spoken(out.dtype)}"
        if where in _FACTORS:
            got = f"{spoken(out.dtype).lower()} instead"
        raise DTypeError(
            f"{where}: result type {spoken(result.dtype)} can't be cast to the desired "
            f"output type {spoken(out.dtype)}. Expected out tensor to have dtype "
            f"{result.dtype.name}, but got {got}."
        )
    if not fits:
        _resize(where, out, result._array.shape)
    elif not ((flags := out._array.flags).c_contiguous and flags.writeable):
        _allow_write(where, out)
    arrays.copy(as_operand(result, out.dtype)._array, into=out._array)
    out._bump()
    return out


def _allow_write(where: str, out: Tensor) -> None:
    """Raise if elements of `out` share memory; else let an expanded one be written."""
    a = out._array
    if repeats(a):
        raise shares_elements(where, out)
    if not a.flags.writeable and base_of(out)._array.flags.writeable:
        a.flags.writeable = True  # `expand` clears it; nothing overlaps here


def _resize(where: str, out: Tensor, shape: tuple[int, ...]) -> None:
    """Give `out` the shape of the result, in new memory unless it is a view."""
    was = out.shape
    if base_of(out) is out:
        out._array = arrays.empty(shape, out._array.dtype)
    else:
        _resize_view(where, out, shape)
    if 0 not in was:
        message = (
            f"An output with one or more elements was resized: `out` of {where} had "
            f"shape {was}, and the result has shape {shape}. The out tensor will be "
            "resized unless it has no elements or the shape of the result."
        )
        warn(message, AutocalcWarning)


def _resize_view(where: str, out: Tensor, shape: tuple[int, ...]) -> None:
    """Give a view another shape in its own memory; raise if that is too small."""
    try:
        out.resize_(shape)
    except ArgumentError:
        raise ShapeError(
            f"{where}: `out` has shape {out.shape}, but the result has shape {shape}; "
            "they must be equal, because `out` is a view, and its memory is too small."
        ) from None

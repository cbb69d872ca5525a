# SPDX-License-Identifier: MIT
"""Checks of tensors, and of numbers that several layers take."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.coerce import dtype_of
from autocalc._tensor import dtypes
from autocalc._tensor.checks import one_of, plain
from autocalc.errors import ArgumentError, DTypeError, ShapeError

#: The reductions: how the losses of single elements are combined.
REDUCTIONS = ("mean", "sum", "none")


def check_number(where: str, name: str, value: Any) -> None:
    """Raise unless `value` is a finite number of 0 or more."""
    value = plain(value)
    if not isinstance(value, (int, float)) or not 0 <= value < math.inf:
        message = f"{where}: `{name}` is {value!r}; it must be a number, 0 or more."
        raise ArgumentError(message)


def check_sizes(where: str, **sizes: Any) -> list[int]:
    """Return the values as integers; raise unless all are integers of 0 or more."""
    found = {name: plain(size) for name, size in sizes.items()}
    for name, size in found.items():
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            asked = f"{where}: `{name}` is {size!r}; it must be an integer, 0 or more."
            if isinstance(size, int) and size < 0:
                asked += " Trying to create tensor with negative dimension."
            raise ArgumentError(asked)
    return list(found.values())


def check_probability(where: str, p: Any) -> float:
    """Return `p` as a Python number; raise unless it is a number from 0 to 1."""
    if p.__class__ is float and 0.0 <= p <= 1.0:
        return p
    p = plain(p)
    if not isinstance(p, (int, float)) or not 0.0 <= p <= 1.0:
        raise ArgumentError(
            f"{where}: `p` is {p!r}; it must be a probability between 0 and 1."
        )
    return p


def check_reduction(where: str, reduction: Any) -> None:
    """Raise unless `reduction` is "mean", "sum" or "none"."""
    one_of(where, "reduction", reduction, REDUCTIONS)


def check_approximate(where: str, approximate: Any) -> None:
    """Raise unless `approximate` names a form of gelu."""
    one_of(where, "approximate", approximate, ("none", "tanh"))


def refuse_booleans(where: str, *operands: Any) -> None:
    """Raise if an operand is a boolean tensor, True or False."""
    if dtypes.bool_ in [dtype_of(where, one) for one in operands]:
        raise DTypeError(
            f"{where}: needs numbers, not bool; convert a mask with .float() or "
            ".long()."
        )


def check_float(where: str, *tensors: Any) -> None:
    """Raise unless all operands are tensors of a floating-point dtype."""
    for x in tensors:
        if check_tensor(where, x)._array.dtype.kind not in FLOAT_KINDS:
            raise DTypeError(
                f"{where}: needs float32 or float64, not {x.dtype.name}: it is not "
                "implemented for that dtype. Convert it with .float()."
            )


def check_factor(
    where: str, name: str, value: Any, kind: dtypes.DType, dtype: dtypes.DType
) -> None:
    """Raise if a factor, which is of the dtype `kind`, cannot multiply `dtype`."""
    lone = kind is dtypes.bool_ and dtype is not dtypes.bool_
    if lone or (kind.is_differentiable and kind.category > dtype.category):
        why = f"for integers, argument {name} must not be a floating point number."
        if lone:
            why = f"Boolean {name} only supported for Boolean results."
        raise DTypeError(
            f"{where}: `{name}` is {value!r}, but it multiplies {dtype.name}; {why}"
        )


def check_shape(where: str, name: str, x: Any, needed: str) -> None:
    """Raise unless a tensor has a shape of the required form.

    ``"(N, C, L) or (C, L)"`` means two or three dimensions.  ``"[..., n, k]"`` means
    two or more.  ``"square matrices [..., n, n]"`` means two or more, and the last two
    must be equal.  ``"a vector"`` and ``"a matrix"`` are forms, too.  Other words are
    only text.
    """
    if not _fits(check_tensor(where, x)._array.shape, needed):
        raise ShapeError(_unfit(where, name, x.shape, needed))


def _unfit(where: str, name: str, shape: tuple[int, ...], needed: str) -> str:
    """Return the text of the error for a shape."""
    if not needed.startswith("square"):
        return f"{where}: `{name}` has shape {shape}; it must be {needed}."
    what = "have at least 2 dimensions and " if len(shape) < 2 else ""
    return (
        f"{where}: `{name}` has shape {shape}; it must {what}be batches of square "
        "matrices."
    )


@lru_cache(1024)  # 0.1 us; the comparison takes 1 us
def _fits(shape: tuple[int, ...], needed: str) -> bool:
    if not (forms := re.findall(r"[\[(]([^\])]*)[\])]", needed)):
        forms = ["n"] if needed.startswith("a vector") else ["m, n"]
    return any(_has_form(list(shape), re.findall(r"[^ ,]+", form)) for form in forms)


def _has_form(sizes: list[int], names: list[str]) -> bool:
    """Return whether there is one size per name, and equal names have equal sizes."""
    if "..." in names:
        at = names.index("...")
        more = len(sizes) - len(names) + 1
        if more < 0:
            return False
        names, sizes = names[:at] + names[at + 1 :], sizes[:at] + sizes[at + more :]
    known = dict(zip(names, sizes, strict=False))
    return len(sizes) == len(names) and [known[name] for name in names] == sizes

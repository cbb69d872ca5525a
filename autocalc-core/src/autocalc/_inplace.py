# SPDX-License-Identifier: MIT
"""Operations that write into a tensor, and when they may.

A write counts in the storage's version cell, so that a saved array that was changed is
caught.  With gradients recorded, a tensor with history becomes the result of the
operation; leaves and views are refused, since their history would be wrong.
"""

from __future__ import annotations

from typing import Any

from autocalc import _functional as functional
from autocalc._creation import random_into
from autocalc._dispatch._arrays import arrays, constant
from autocalc._dispatch._state import current
from autocalc._graph._node import Leaf
from autocalc._ops import elementwise
from autocalc._ops._coerce import as_operand
from autocalc._ops.shape import overwritten
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError


def check_writable(where: str, x: Tensor, other: Any = None) -> bool:
    """Return whether the write must be recorded; raise if it may not happen."""
    steps = zip(x._array.strides, x.shape, strict=True)
    if x._array.size and any(stride == 0 and n > 1 for stride, n in steps):
        message = (
            f"{where}: the tensor of shape {x.shape} is expanded: several of its "
            f"elements are one place in memory. clone() it before the write."
        )
        raise ArgumentError(message)
    recorded = current().grad and (
        x._edge is not None or (isinstance(other, Tensor) and other._edge is not None)
    )
    if not recorded:
        return False
    if x._edge.__class__ is Leaf:
        message = (
            f"{where}: a leaf of shape {x.shape} that requires a gradient cannot be "
            f"changed in place while gradients are recorded. Do it under ac.no_grad(), "
            f"or use the operation that returns a new tensor."
        )
        raise GradError(message)
    if x._version is not None and x._version.views:
        message = (
            f"{where}: the tensor of shape {x.shape} is, or has, a view in the graph, "
            f"and a write would make the view's history wrong. Use the operation that "
            f"returns a new tensor, or clone() the view."
        )
        raise GradError(message)
    return True


def _write(where: str, x: Tensor, result: Tensor, recorded: bool) -> Tensor:
    """Make `x` hold `result`, and lead to what made it if that is recorded."""
    if result.shape != x.shape:
        message = (
            f"{where}: the result has shape {result.shape}, which does not fit into "
            f"the tensor of shape {x.shape}."
        )
        raise ShapeError(message)
    if result.is_floating_point() and not x.is_floating_point():
        message = (
            f"{where}: the result has dtype {result.dtype.name}, which cannot be "
            f"stored in {x.dtype.name}; convert the tensor first."
        )
        raise DTypeError(message)
    converted = as_operand(result, x.dtype)
    arrays.copy(converted._array, into=x._array)
    x._cell().count += 1
    if recorded and converted._edge is not None:
        # A rule that saved its output holds `result`'s memory, which nobody else has.
        x._edge = converted._edge
    elif recorded and x._edge is not None:
        overwritten(x)
    return x


def _binary(name: str, x: Tensor, other: Any) -> Tensor:
    where = f"{name}_"
    recorded = check_writable(where, x, other)
    operator = getattr(elementwise, name)
    if not recorded and isinstance(other, Tensor) and _direct(x, other):
        getattr(arrays, name)(x._array, other._array, into=x._array)
        x._bump()
        return x
    if recorded and isinstance(other, Tensor) and other._edge is not None:
        before = _snapshot(x)
        result = operator(before, before if other is x else other)
    else:
        result = operator(x, other)
    return _write(where, x, result, recorded)


def _snapshot(x: Tensor) -> Tensor:
    """Return `x` as it is before the write, for a rule that saves its inputs."""
    return make(arrays.copy(x._array), x._edge)


def _direct(x: Tensor, other: Tensor) -> bool:
    """Return whether the kernel can write into `x` itself."""
    a, b = x._array, other._array
    fits = a.dtype is b.dtype and a.dtype.kind == "f"
    if not fits or (a.shape != b.shape and b.ndim):
        return False
    return a is b or not arrays.may_overlap(a, b)


def add_(x: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """Add alpha * other."""
    return _binary("add", x, other if alpha == 1 else elementwise.mul(other, alpha))


def sub_(x: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """Subtract alpha * other."""
    return _binary("sub", x, other if alpha == 1 else elementwise.mul(other, alpha))


def mul_(x: Tensor, other: Any) -> Tensor:
    """Multiply by `other`."""
    return _binary("mul", x, other)


def div_(x: Tensor, other: Any, rounding_mode: str | None = None) -> Tensor:
    """Divide by `other`."""
    if rounding_mode is not None:
        return apply_("div", x, other, rounding_mode=rounding_mode)
    return _binary("div", x, other)


def apply_(name: str, x: Tensor, *args: Any, **words: Any) -> Tensor:
    """Let `x` take over the values of the function `name` of it."""
    where = f"{name}_"
    history = (a for a in args if isinstance(a, Tensor) and a._edge is not None)
    recorded = check_writable(where, x, next(history, None))
    before = _snapshot(x) if recorded else x
    args = tuple([before if a is x else a for a in args])
    result = getattr(functional, name)(before, *args, **words)
    return _write(where, x, result, recorded)


def clamp_(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit to min and max."""
    recorded = check_writable("clamp_", x)
    before = _snapshot(x) if recorded else x
    return _write("clamp_", x, functional.clamp(before, min, max), recorded)


def copy_(x: Tensor, src: Any) -> Tensor:
    """Take over the values of `src`, broadcast and converted."""
    recorded = check_writable("copy_", x, src)
    if not isinstance(src, Tensor):
        return fill_(x, src)
    source = functional.expand(src, x.shape)
    if recorded:
        copied = functional.clone(as_operand(source, x.dtype))
        return _write("copy_", x, copied, recorded)
    a, b = x._array, source._array
    arrays.copy(arrays.copy(b) if arrays.may_overlap(a, b) else b, into=a)
    x._cell().count += 1
    return x


def fill_(x: Tensor, value: Any) -> Tensor:
    """Set every element to `value`."""
    recorded = check_writable("fill_", x)
    if isinstance(value, Tensor):
        return copy_(x, value)
    number = constant(functional.numbers_only("fill_", value), x._array.dtype)
    if x._array.flags.c_contiguous:
        arrays.fill(number, into=x._array)
    else:
        arrays.copy(number, into=x._array)
    x._cell().count += 1
    if recorded:
        overwritten(x)
    return x


def zero_(x: Tensor) -> Tensor:
    """Set every element to 0."""
    return fill_(x, 0)


def detach_(x: Tensor) -> Tensor:
    """Cut the history off."""
    x._edge = None
    return x


def uniform_(x: Tensor, low: Any, high: Any, generator: Any) -> Tensor:
    """Draw every element evenly from [low, high)."""
    return _draw("uniform", x, low, high, generator)


def normal_(x: Tensor, mean: Any, std: Any, generator: Any) -> Tensor:
    """Draw every element from a normal distribution."""
    return _draw("normal", x, mean, std, generator)


def _draw(kernel: str, x: Tensor, a: Any, b: Any, generator: Any) -> Tensor:
    recorded = check_writable(f"{kernel}_", x)
    if not x.is_floating_point():
        message = f"{kernel}_: needs float32 or float64, not {x.dtype.name}."
        raise DTypeError(message)
    out = x._array if x.is_contiguous() else arrays.empty(x.shape, x._array.dtype)
    random_into(kernel, out, a, b, generator)
    if out is not x._array:
        arrays.copy(out, into=x._array)
    x._cell().count += 1
    if recorded:
        overwritten(x)
    return x


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Write `value` into the part of `x` that a basic index names."""
    check_writable("index assignment", x, value)
    if current().grad and isinstance(value, Tensor) and value._edge is not None:
        message = (
            "index assignment: `value` requires a gradient, which cannot be recorded "
            "through a part of a tensor yet. Build the result with cat(), stack() or "
            "where()."
        )
        raise GradError(message)
    if x._edge is not None and current().grad:
        message = (
            f"index assignment: the tensor of shape {x.shape} has a history, which a "
            f"write into a part of it would make wrong. Use where() or cat()."
        )
        raise GradError(message)
    if isinstance(index, (Tensor, list)) and not (
        isinstance(index, Tensor) and index.ndim == 0
    ):
        message = (
            "index assignment: the index is a tensor or a list; use integers, slices, "
            "None and Ellipsis, or build the result with where()."
        )
        raise DTypeError(message)
    copy_(functional.getitem(x.detach(), index), value)

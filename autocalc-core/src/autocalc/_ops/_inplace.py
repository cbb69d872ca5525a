# SPDX-License-Identifier: MIT
"""Operations that write their result into the first operand; see `_writing`."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._arrays import arrays, constant
from autocalc._kernels.table import TABLE
from autocalc._ops import arithmetic, clamping, exponential, view
from autocalc._ops._arguments import as_int
from autocalc._ops._coerce import as_operand
from autocalc._ops._op import OPERATORS
from autocalc._ops._partial_writes import record_write
from autocalc._ops._view_tracker import base_of, leave_base
from autocalc._ops._writing import check_writable, fill_, write
from autocalc._ops.distributions import bernoulli
from autocalc._ops.filled import number
from autocalc._ops.random_draws import integers_below, rand_like, random_into
from autocalc._tensor import Tensor, make
from autocalc.errors import ArgumentError, DTypeError

#: Functions that are one elementwise kernel, which may write over its input.
_UNARY = frozenset(name for name, k in TABLE.items() if k.signature == "~ out ; a")


def _binary(name: str, x: Tensor, other: Any) -> Tensor:
    where = f"{name}_"
    recorded = check_writable(where, x, other)
    operator = OPERATORS[name]
    if not recorded:
        operand = _direct(x, other)
        if operand is not None:
            getattr(arrays, name)(x._array, operand, into=x._array)
            x._bump()
            return x
    if recorded and isinstance(other, Tensor) and other._edge is not None:
        before = _snapshot(x)
        result = operator(before, before if other is x else other)
    else:
        result = operator(x, other)
    return write(where, x, result, recorded)


def _snapshot(x: Tensor) -> Tensor:
    """Return `x` as it is before the write, for a rule that saves its inputs."""
    return make(arrays.copy(x._array), x._edge)


def _direct(x: Tensor, other: Any) -> Any:
    """Return `other` as an array with which a kernel can write into `x`, or None."""
    a = x._array
    if a.dtype.kind != "f":
        return None
    if other.__class__ is float or other.__class__ is int:
        return constant(other, a.dtype)
    if not isinstance(other, Tensor) or other._array.dtype is not a.dtype:
        return None
    b = other._array
    skipped = a.ndim - b.ndim
    if skipped < 0 or any(
        n not in {1, m} for m, n in zip(a.shape[skipped:], b.shape, strict=True)
    ):
        return None
    return b if a is b or not arrays.may_overlap(a, b) else None


def _add_multiple(name: str, x: Tensor, other: Any, alpha: Any) -> Tensor:
    if alpha == 1:
        return _binary(name, x, other)
    if isinstance(other, Tensor) and other.shape == x.shape:
        recorded = check_writable(f"{name}_", x, other)
        operand = None if recorded else _direct(x, other)
        if operand is not None and isinstance(alpha, (int, float)):
            factor = constant(-alpha if name == "sub" else alpha, x._array.dtype)
            arrays.axpy(x._array, factor, operand)
            x._bump()
            return x
    return _binary(name, x, arithmetic.mul(other, alpha))


def add_(x: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """Add alpha * other."""
    return _add_multiple("add", x, other, alpha)


def sub_(x: Tensor, other: Any, alpha: Any = 1) -> Tensor:
    """Subtract alpha * other."""
    return _add_multiple("sub", x, other, alpha)


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
    if not recorded and name in _UNARY and x.is_floating_point():
        getattr(arrays, name)(x._array, into=x._array)
        x._bump()
        return x
    before = _snapshot(x) if recorded else x
    args = tuple([before if a is x else a for a in args])
    result = getattr(Tensor, name)(before, *args, **words)
    return write(where, x, result, recorded)


def clamp_(x: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit to min and max."""
    recorded = check_writable("clamp_", x)
    before = _snapshot(x) if recorded else x
    return write("clamp_", x, clamping.clamp(before, min, max), recorded)


def zero_(x: Tensor) -> Tensor:
    """Set every element to 0."""
    return fill_(x, 0)


def detach_(x: Tensor) -> Tensor:
    """Cut the history off."""
    x._edge = None
    if base_of(x) is not x:
        leave_base(x)
    return x


def uniform_(x: Tensor, low: Any, high: Any, generator: Any) -> Tensor:
    """Draw every element evenly from [low, high)."""
    return _draw("uniform", x, low, high, generator)


def normal_(x: Tensor, mean: Any, std: Any, generator: Any) -> Tensor:
    """Draw every element from a normal distribution."""
    return _draw("normal", x, mean, std, generator)


def _draw(kernel: str, x: Tensor, a: Any, b: Any, generator: Any) -> Tensor:
    recorded = check_writable(f"{kernel}_", x)
    a, b = [number(f"{kernel}_", "parameters", p) for p in (a, b)]
    if not (0 if kernel == "normal" else a) <= b:
        message = (
            f"{kernel}_: got {a} and {b}; the second is a deviation, which is not "
            f"negative."
            if kernel == "normal"
            else f"{kernel}_: got {a} and {b}; the second is the larger one."
        )
        raise ArgumentError(message)
    if not x.is_floating_point():
        message = f"{kernel}_: needs float32 or float64, not {x.dtype.name}."
        raise DTypeError(message)
    out = x._array if x.is_contiguous() else arrays.empty(x.shape, x._array.dtype)
    random_into(kernel, out, a, b, generator)
    if out is not x._array:
        arrays.copy(out, into=x._array)
    x._cell().count += 1
    if recorded:
        record_write(x, None)
    return x


def bernoulli_(x: Tensor, p: Any, generator: Any) -> Tensor:
    """Draw 1 with probability `p`, else 0."""
    if isinstance(p, Tensor):
        drawn = bernoulli(view.expand(p.detach(), x.shape), generator=generator)
    else:
        drawn = bernoulli(x.detach(), p, generator=generator)
    return _drawn_into("bernoulli_", x, drawn)


def random_(x: Tensor, low: int, high: int | None, generator: Any) -> Tensor:
    """Draw integers; by default up to what the dtype holds exactly."""
    low = as_int("random_", "low", low)
    if high is None and low != 0:
        low, high = 0, low
    if high is None:
        exact = {"float32": 24, "float64": 53, "bool": 1, "int64": 62}
        bits = exact.get(x.dtype.name, 8 * x.itemsize - x.dtype.is_signed)
        high = 2**bits + x.is_floating_point()
    drawn = integers_below("random_", low, high, x.shape, generator)
    return _drawn_into("random_", x, make(drawn, None))


def exponential_(x: Tensor, lambd: float, generator: Any) -> Tensor:
    """Draw from the distribution of density lambd * exp(-lambd * x)."""
    if not number("exponential_", "lambd", lambd) > 0:
        message = f"exponential_: `lambd` is {lambd}; it must be positive."
        raise ArgumentError(message)
    u = rand_like(x.detach(), generator=generator)
    drawn = arithmetic.div(exponential.log(arithmetic.sub(1, u)), -lambd)
    return _drawn_into("exponential_", x, drawn)


def _drawn_into(where: str, x: Tensor, drawn: Tensor) -> Tensor:
    recorded = check_writable(where, x)
    return write(where, x, as_operand(drawn, x.dtype), recorded)

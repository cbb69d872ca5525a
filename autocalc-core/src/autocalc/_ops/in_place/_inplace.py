# SPDX-License-Identifier: MIT
"""Operations that write their result into the first operand; see `_writing`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from inspect import Signature, signature, unwrap
from typing import Any

from autocalc._dispatch.device.device import is_batched
from autocalc._dispatch.engine.eager import elementwise
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.select import KERNEL_INDEX
from autocalc._dispatch.selection.upcast import FLOAT_KINDS, computed_in
from autocalc._kernels.table import TABLE
from autocalc._ops._operator.arguments import (
    OF_OLDER_ORDERS,
    check_older_order,
    of_older_order,
)
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.coerce import as_operand, check_tensor
from autocalc._ops._operator.factories import OPERATORS
from autocalc._ops._operator.method import method, python_operator
from autocalc._ops._operator.partial_writes import record_write
from autocalc._ops._operator.rules import Op
from autocalc._ops._operator.traced import traced
from autocalc._ops._operator.view_tracker import base_of, leave_base
from autocalc._ops.complex_numbers import parts
from autocalc._ops.creation.constants import number
from autocalc._ops.creation.like import ones_like
from autocalc._ops.elementwise import (
    arithmetic,
    clamping,
    exponential,
    rounding,
    trigonometric,
)
from autocalc._ops.random.distributions import bernoulli
from autocalc._ops.random.random_draws import rand_like, random_into
from autocalc._ops.random.random_integers import integers_below, largest_exact
from autocalc._ops.views import broadcasting
from autocalc._ops.views._writing import check_writable, fill_, write
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.checks import require
from autocalc._tensor.generator import Generator, check_own_numbers
from autocalc._tensor.limits import finfo
from autocalc.errors import ArgumentError, DTypeError, VmapError

#: Functions of one elementwise kernel that may write over its input.
_UNARY = frozenset(name for name, k in TABLE.items() if k.signature == "~ out ; a")
#: The same for kernels of two operands.
_BINARY = frozenset(n for n, k in TABLE.items() if k.signature == "~ out ; a b")


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
    """Return a copy of `x` before the write, for a rule that saves its inputs."""
    return make(arrays.copy(x._array), x._edge)


def _direct(x: Tensor, other: Any) -> Any:
    """Return `other` as an array that a kernel can use to write into `x`, or None."""
    a = x._array
    if a.dtype.kind not in FLOAT_KINDS:
        return None
    if other.__class__ is float or other.__class__ is int:
        return constant(other, computed_in(a.dtype))
    if not isinstance(other, Tensor) or other._array.dtype is not a.dtype:
        return None
    b = other._array
    if a.shape != b.shape:
        skipped = a.ndim - b.ndim
        if skipped < 0 or any(
            n not in {1, m} for m, n in zip(a.shape[skipped:], b.shape, strict=True)
        ):
            return None
    return b if a is b or not arrays.may_overlap(a, b) else None


def _add_multiple(name: str, x: Tensor, other: Any, alpha: Any) -> Tensor:
    if alpha.__class__ is int and alpha == 1:
        return _binary(name, x, other)
    return _multiple_added(x, other, alpha, name)


@traced(writes=True, light=True)
def _multiple_added(x: Tensor, other: Any, alpha: Any, name: str) -> Tensor:
    if isinstance(other, Tensor) and other.shape == check_tensor(f"{name}_", x).shape:
        recorded = check_writable(f"{name}_", x, other)
        operand = None if recorded else _direct(x, other)
        if operand is not None and alpha.__class__ in {int, float}:
            kind = computed_in(x._array.dtype)
            factor = constant(-alpha if name == "sub" else alpha, kind)
            arrays.axpy(x._array, factor, operand)
            x._bump()
            return x
    check_tensor(f"{name}_", x)
    return _binary(name, x, arithmetic.multiplied(f"{name}_", x, other, alpha))


@method("add_")
@elementwise("in place", 2, KERNEL_INDEX["add"])
def add_(
    x: Tensor, other: Any, tensor: Tensor | None = None, *, alpha: Any = 1
) -> Tensor:
    """Add alpha * other to the tensor in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 2.0])
    >>> x.add_(ac.tensor([10.0, 20.0]), alpha=2)
    tensor([21., 42.])
    """
    if tensor is not None:  # the older order of PyTorch
        check_older_order("add_", "alpha", other, tensor)
        alpha, other = other, tensor
    return _add_multiple("add", x, other, alpha)


@method("sub_ subtract_")
@elementwise("in place", 2, KERNEL_INDEX["sub"])
def sub_(
    x: Tensor, other: Any, tensor: Tensor | None = None, *, alpha: Any = 1
) -> Tensor:
    """Subtract alpha * other from the tensor in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 2.0])
    >>> x.sub_(ac.tensor([10.0, 20.0]), alpha=2)
    tensor([-19., -38.])
    """
    if tensor is not None:  # the older order of PyTorch
        check_older_order("sub_", "alpha", other, tensor)
        alpha, other = other, tensor
    return _add_multiple("sub", x, other, alpha)


@method("div_ divide_ true_divide_")
@elementwise("in place", 2, KERNEL_INDEX["div"])
def div_(x: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Divide the tensor by `other` in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([7.0, 8.0])
    >>> x.div_(2, rounding_mode="floor")
    tensor([3., 4.])
    """
    if rounding_mode is not None:
        return apply_(arithmetic.div, "div_", x, other, rounding_mode=rounding_mode)
    return _binary("div", x, other)


for _name, _function, _kernel in (
    ("__iadd__", add_, "add"),
    ("__isub__", sub_, "sub"),
    ("__itruediv__", div_, "div"),
):
    _operator = python_operator(unwrap(_function))
    method(_name)(elementwise("in place", 2, KERNEL_INDEX[_kernel])(_operator))


@method("float_power_")
def float_power_(x: Tensor, exponent: Any) -> Tensor:
    """Apply `float_power` to the float64 tensor in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([2.0, 3.0], dtype=ac.float64)
    >>> x.float_power_(2)
    tensor([4., 9.], dtype=autocalc.float64)
    """
    given = check_tensor("float_power_", x).dtype
    if given not in (dtypes.float64, dtypes.complex128):
        raise DTypeError(
            "float_power_: the operation's result requires dtype float64, which a "
            f"tensor of {x.dtype.name} cannot hold; use pow_, or float_power, which "
            "returns a new tensor."
        )
    return apply_(arithmetic.float_power, "float_power_", x, exponent)


def apply_(
    function: Callable[..., Tensor], where: str, x: Tensor, *args: Any, **words: Any
) -> Tensor:
    """Write the values of ``function(x, ...)`` into `x`."""
    given = (*args, *words.values())
    history = (a for a in given if isinstance(a, Tensor) and a._edge is not None)
    recorded = check_writable(where, x, next(history, None))
    before = _snapshot(x) if recorded else x
    args = tuple([before if a is x else a for a in args])
    words = {name: before if a is x else a for name, a in words.items()}
    return write(where, x, function(before, *args, **words), recorded)


def in_place(
    where: str, function: Callable[..., Tensor], *, as_operator: bool = False
) -> Callable[..., Tensor]:
    """Make the method `where`, which writes ``function(x, ...)`` into x.

    A Python operator leaves foreign operands to Python.
    """
    op: Op | None = getattr(function, "op", None)
    call: Callable[..., Tensor]
    if op is not None and op.name in _UNARY:
        call = _unary_in_place(where, function, getattr(arrays, op.name))
        call = elementwise("in place", 1, KERNEL_INDEX[op.name])(call)
    elif op is not None and op.name in _BINARY and not op.reads_itself:
        kernel = op.name

        def call(self: Tensor, other: Any) -> Tensor:
            return _binary(kernel, self, other)

        call = python_operator(call) if as_operator else call
        call = elementwise("in place", 2, KERNEL_INDEX[kernel])(call)
    else:
        call = _applied(where, function)
        call = python_operator(call) if as_operator else call

    call.__name__ = call.__qualname__ = where
    call.__doc__ = f"Apply `{where[:-1]}` to the tensor in place; return the tensor."
    return call


@cache
def _applied(where: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make the method of a function that is not a single kernel."""

    def call(self: Tensor, *args: Any, **words: Any) -> Tensor:
        if words.get("dtype") is not None:
            _check_own_dtype(where, self, words["dtype"])
        return apply_(function, where, self, *args, **words)

    if where[:-1] in OF_OLDER_ORDERS:
        call = _of_either_order(where, call)
    call.__name__ = where
    call.__signature__ = _without_out(function)  # type: ignore[attr-defined]  # what `inspect` reads
    return autocasts("as given")(traced(call))


def _of_either_order(where: str, call: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make a method that also takes PyTorch's older order of arguments."""

    def either(self: Tensor, *args: Any, beta: Any = 1, alpha: Any = 1) -> Tensor:
        if args and not isinstance(args[0], Tensor):
            return of_older_order(call, (self, *args), beta, alpha, where)
        return call(self, *args, beta=beta, alpha=alpha)

    return either


def _check_own_dtype(where: str, x: Tensor, dtype: Any) -> None:
    if dtypes.as_dtype(dtype) is not check_tensor(where, x).dtype:
        raise DTypeError(
            f"{where}: `dtype` is {dtype}, but an in-place operation must keep the "
            f"dtype of the tensor, {x.dtype}. Do not give `dtype`."
        )


def _unary_in_place(
    where: str, function: Callable[..., Tensor], kernel: Callable[..., Any]
) -> Callable[..., Tensor]:
    def call(self: Tensor) -> Tensor:
        recorded = check_writable(where, self)
        if not recorded and self.is_floating_point():
            kernel(self._array, into=self._array)
            self._bump()
            return self
        before = _snapshot(self) if recorded else self
        return write(where, self, function(before), recorded)

    return call


def _without_out(function: Callable[..., Any]) -> Signature:
    """Return the signature of a function without `out`."""
    given = signature(function)
    parameters = [p for name, p in given.parameters.items() if name != "out"]
    return given.replace(parameters=parameters)


@method("zero_")
@traced(light=True)
def zero_(x: Tensor) -> Tensor:
    """Set every element to 0, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.tensor([1.0, 2.0]).zero_()
    tensor([0., 0.])
    """
    return fill_(x, 0)


@method("detach_")
def detach_(x: Tensor) -> Tensor:
    """Detach the tensor from its gradient history, in place; return the tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> y = ac.ones(2, requires_grad=True) * 3
    >>> y.detach_().requires_grad
    False
    """
    check_tensor("detach_", x)._edge = None
    if base_of(x) is not x:
        leave_base(x)
    return x


@method("uniform_")
@traced
def uniform_(
    x: Tensor, low: Any = 0.0, high: Any = 1.0, *, generator: Any = None
) -> Tensor:
    """Set every element to a number drawn evenly from [low, high).

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.empty(1000).uniform_(2.0, 3.0)
    >>> 2.0 <= x.min().item() < 2.1, 2.9 < x.max().item() <= 3.0
    (True, True)
    """
    return _draw("uniform", x, low, high, generator)


@method("normal_")
@traced
def normal_(
    x: Tensor, mean: Any = 0.0, std: Any = 1.0, *, generator: Any = None
) -> Tensor:
    """Set every element to a number drawn from a normal distribution.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.empty(10000).normal_(2.0, 0.1)
    >>> round(x.mean().item(), 1), round(x.std().item(), 1)
    (2.0, 0.1)
    """
    return _draw("normal", x, mean, std, generator)


def _draw_complex(kernel: str, x: Tensor, a: Any, b: Any, generator: Any) -> Tensor:
    """Fill both parts; a normal distribution has the standard deviation `b` in all."""
    a, b = (number(f"{kernel}_", "parameters", p) for p in (a, b))
    normal = kernel == "normal"
    b = b * math.sqrt(0.5) if normal else b
    _draw(kernel, parts.real(x), a, b, generator)
    _draw(kernel, parts.imag(x), 0.0 if normal else a, b, generator)
    return x


def _draw(kernel: str, x: Tensor, a: Any, b: Any, generator: Any) -> Tensor:
    recorded = check_writable(f"{kernel}_", x)
    if x.is_complex():
        return _draw_complex(kernel, x, a, b, generator)
    a, b = [number(f"{kernel}_", "parameters", p) for p in (a, b)]
    if not (0 if kernel == "normal" else a) <= b:
        raise ArgumentError(
            f"{kernel}_: got {a} and {b}; the second is a standard deviation, which "
            "must not be negative."
            if kernel == "normal"
            else f"{kernel}_: got {a} and {b}; uniform_ expects to return numbers "
            "between them, so that the second must be the larger one."
        )
    array = x._array
    if kernel == "uniform" and b - a > finfo(x.dtype).max:
        raise ArgumentError(
            "uniform_ expects to-from to be a finite number of the dtype: it is "
            f"{b - a:g} for {x.dtype.name}; draw from [0, 1) and multiply."
        )
    if array.dtype.kind not in FLOAT_KINDS:
        raise DTypeError(f"{kernel}_: needs float32 or float64, not {x.dtype.name}.")
    out = array if array.flags.c_contiguous else arrays.empty(array.shape, array.dtype)
    try:
        random_into(kernel, out, a, b, generator)
    except VmapError:
        check_own_numbers(f"{kernel}_", array)
        raise
    if out is not array:
        arrays.copy(out, into=array)
    x._cell().count += 1
    if recorded:
        record_write(x, None)
    return x


@method("bernoulli_")
@traced
def bernoulli_(
    x: Tensor, p: Any = 0.5, *, generator: Generator | None = None
) -> Tensor:
    """Set every element to 1 with probability `p`, and to 0 otherwise.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.empty(10000).bernoulli_(0.3)
    >>> sorted(set(x.tolist())), round(x.mean().item(), 1)
    ([0.0, 1.0], 0.3)
    """
    check_tensor("bernoulli_", x)
    if isinstance(p, Tensor):
        drawn = bernoulli(broadcasting.expand(p.detach(), x.shape), generator=generator)
        if is_batched(p._array.dtype):  # its values differ, not only the numbers drawn
            recorded = check_writable("bernoulli_", x)
            return write("bernoulli_", x, as_operand(drawn, x.dtype), recorded)
    else:
        drawn = bernoulli(x.detach(), p, generator=generator)
    return _drawn_into("bernoulli_", x, drawn)


@method("random_")
@traced
def random_(
    x: Tensor,
    low: int | None = None,
    high: Any = ...,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set every element to an integer drawn from `low` to ``high - 1``.

    ``random_(high)`` draws from 0 on.  Without `high`, the largest integer is the
    largest n for which the dtype can hold all integers from 0 to n: 2**24 for float32,
    2**63 - 1 for int64.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.empty(1000, dtype=ac.int64).random_(3, 6)
    >>> sorted(set(x.tolist()))
    [3, 4, 5]
    """
    kind = check_tensor("random_", x).dtype
    if high is ...:
        low, high = (0, None) if low is None else (0, low)
    first = 0 if low is None else low
    last = largest_exact(kind) + 1 if high is None else high
    drawn = integers_below("random_", first, last, x.shape, kind, generator)
    return _drawn_into("random_", x, make(drawn, None))


@method("exponential_")
@traced
def exponential_(
    x: Tensor, lambd: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Set every element to a draw with the density lambd * exp(-lambd * x).

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.empty(10000).exponential_(lambd=2.0)
    >>> x.min().item() >= 0, round(x.mean().item(), 1)  # 1 / lambd
    (True, 0.5)
    """
    if not number("exponential_", "lambd", lambd) > 0:
        raise ArgumentError(f"exponential_: `lambd` is {lambd}; it must be positive.")
    u = _evenly_drawn(check_tensor("exponential_", x), generator)
    drawn = arithmetic.div(exponential.log(arithmetic.sub(1, u)), -lambd)
    return _drawn_into("exponential_", x, drawn)


@method("log_normal_")
def log_normal_(
    x: Tensor,
    mean: float = 1.0,
    std: float = 2.0,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set every element to exp(n), with n drawn from a normal distribution.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.empty(10000).log_normal_(mean=1.0, std=0.1)
    >>> round(x.log().mean().item(), 1), round(x.log().std().item(), 1)
    (1.0, 0.1)
    """
    where = "log_normal_"
    middle, spread = number(where, "mean", mean), number(where, "std", std)
    require(where, "std", std, spread > 0, "positive")
    _check_floats(where, x)
    like = ones_like(x.detach(), dtype=_drawn_in(x))
    drawn = normal_(like, middle, spread, generator=generator)
    return _drawn_into(where, x, exponential.exp(drawn))


@method("cauchy_")
def cauchy_(
    x: Tensor,
    median: float = 0.0,
    sigma: float = 1.0,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Set every element to a draw from a Cauchy distribution.

    The median of the distribution is `median`, and its scale is `sigma`.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.empty(10000).cauchy_(median=3.0)
    >>> round(x.median().item())
    3
    """
    where = "cauchy_"
    middle, width = number(where, "median", median), number(where, "sigma", sigma)
    require(where, "sigma", sigma, width > 0, "positive")
    _check_floats(where, x)
    u = _evenly_drawn(x, generator)
    slope = trigonometric.tan(arithmetic.mul(arithmetic.sub(u, 0.5), math.pi))
    return _drawn_into(where, x, arithmetic.add(arithmetic.mul(slope, width), middle))


@method("geometric_")
def geometric_(x: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Set every element to a draw from a geometric distribution.

    A draw is the number of trials up to the first success; each trial succeeds with
    probability `p`.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.empty(10000).geometric_(0.25)
    >>> x.min().item(), round(x.mean().item())  # 1 / p
    (1.0, 4)
    """
    where = "geometric_"
    if not 0 < number(where, "p", p) < 1:
        raise ArgumentError(f"{where}: `p` is {p}; it must be between 0 and 1.")
    like = ones_like(check_tensor(where, x).detach(), dtype=dtypes.float64)
    u = rand_like(like, generator=generator)
    tries = arithmetic.div(exponential.log1p(arithmetic.neg(u)), math.log1p(-p))
    drawn = clamping.clamp_min(rounding.ceil(tries), 1.0)
    return _drawn_into(where, x, drawn)


def _drawn_in(x: Tensor) -> dtypes.DType:
    """Return the dtype in which random numbers are drawn and computed with."""
    return dtypes.float32 if x.dtype.is_half else x.dtype


def _evenly_drawn(x: Tensor, generator: Generator | None) -> Tensor:
    return rand_like(x.detach(), dtype=_drawn_in(x), generator=generator)


def _check_floats(where: str, x: Tensor) -> None:
    if not check_tensor(where, x).is_floating_point():
        message = (
            f"{where}: needs floats, not {x.dtype.name}: it is not implemented for "
            "that dtype. Convert it with .float()."
        )
        raise DTypeError(message)


def _drawn_into(where: str, x: Tensor, drawn: Tensor) -> Tensor:
    recorded = check_writable(where, x)
    try:
        return write(where, x, as_operand(drawn, x.dtype), recorded)
    except VmapError:
        check_own_numbers(where, x._array)
        raise

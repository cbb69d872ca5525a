# SPDX-License-Identifier: MIT
"""Run a formula over kernels; the same formula over arrays is the reference.

A formula is a function ``f(xp, *operands, *attributes)`` that uses NumPy's functions
and operators.  `over_kernels` turns it into a decomposition: the operands become
`Term`s, whose operators call kernels of the namespace `k`, and `xp` becomes
`OverKernels`.

Kernels compute in the dtype of their operands, so conversions to `xp.float64` and
`xp.longdouble` have no effect: ``wide(xp, a)`` is `a`.  Numbers become constants with
the dtype of the first term.  Values are not known while the formula runs: `any` and
`all` return False.  A formula may therefore use them only to select a shorter path or
to correct an extreme value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from autocalc._kernels.rules import INT64
from autocalc._kernels.spec import DType, Shape

#: The value of `xp.float64` over kernels, which compute in the dtype of their operands.
_AS_GIVEN = "as given"

_LISTS = (list, tuple)

Axis = int | tuple[int, ...] | None


def over_kernels(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Return the formula as a function of kernels: ``f(k, *operands, *attributes)``."""

    @wraps(formula)
    def decomposition(k: Any, *operands: Any, **named: Any) -> Any:
        terms = _as_terms(k, operands)
        more = {
            name: value if name == "dtype" else _as_terms(k, value)
            for name, value in named.items()
        }
        like = next(iter(_terms_of(terms)), None)
        given = {id(term.array) for term in _terms_of([terms, *more.values()])}
        return _arrays_of(formula(OverKernels(k, like), *terms, **more), given)

    return decomposition


def _as_terms(k: Any, operand: Any) -> Any:
    """Convert arrays to terms; numbers, strings and None do not change."""
    if operand is None or isinstance(operand, (int, float, str)):
        return operand
    if operand.__class__ in _LISTS:  # ONNX values are named tuples
        return operand.__class__(_as_terms(k, one) for one in operand)
    return operand if operand.__class__ is Term else Term(k, operand)


def _terms_of(operands: Any) -> list[Term]:
    """Return the terms in operands and in lists of operands."""
    if operands.__class__ is Term:
        return [operands]
    if operands.__class__ in _LISTS:
        return [term for one in operands for term in _terms_of(one)]
    return []


def _arrays_of(result: Any, given: set[int]) -> Any:
    """Return the arrays of terms; operands are copied, because results must be new."""
    if result.__class__ in _LISTS:
        return result.__class__(_arrays_of(one, given) for one in result)
    if result is None:
        return None
    return result.k.copy(result.array) if id(result.array) in given else result.array


class Term:
    """An array in a formula, whose operators call kernels."""

    __slots__ = ("array", "k")
    __hash__ = None  # type: ignore[assignment]  # `==` compares elements

    def __init__(self, k: Any, array: Any) -> None:
        self.k, self.array = k, array

    # ---- properties that need no computation -------------------------------------

    @property
    def shape(self) -> Shape:
        return tuple(self.k.shape(self.array))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def dtype(self) -> DType:
        """NumPy's dtype of the elements, wherever they are."""
        dtype = self.k.dtype(self.array)
        return getattr(dtype, "numpy", dtype)  # type: ignore[no-any-return]  # `k` is untyped

    # ---- views -------------------------------------------------------------------

    def reshape(self, *shape: Any) -> Term:
        if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
            (shape,) = shape
        return Term(self.k, self.k.reshape(self.array, tuple(shape)))

    def transpose(self, axes: Sequence[int]) -> Term:
        return Term(self.k, self.k.permute(self.array, tuple(axes)))

    @property
    def T(self) -> Term:
        return self.transpose(range(self.ndim)[::-1])

    def __getitem__(self, index: Any) -> Term:
        index = index if isinstance(index, tuple) else (index, ...)
        return Term(self.k, self.k.slice(self.array, index))

    def copy(self) -> Term:
        return Term(self.k, self.k.copy(self.array))

    def astype(self, dtype: Any) -> Term:
        if dtype is _AS_GIVEN or dtype == self.dtype:
            return self
        return Term(self.k, self.k.cast(self.array, dtype))

    # ---- operators ---------------------------------------------------------------

    def call(self, kernel: str, *operands: Any) -> Term:
        """Return the kernel's result for operands; numbers get this term's dtype."""
        arrays = (self._array_of(one) for one in operands)
        return Term(self.k, getattr(self.k, kernel)(*arrays))

    def _array_of(self, operand: Any) -> Any:
        if operand.__class__ is Term:
            return operand.array
        if isinstance(operand, (int, float)):
            return self.k.constant(operand, self.array)
        return operand

    def __add__(self, other: Any) -> Term:
        return self.call("add", self, other)

    def __radd__(self, other: Any) -> Term:
        """Add; the integer 0, with which `sum` begins, is ignored."""
        return self if other.__class__ is int and not other else self + other

    def __sub__(self, other: Any) -> Term:
        return self.call("sub", self, other)

    def __rsub__(self, other: Any) -> Term:
        return self.call("sub", other, self)

    def __mul__(self, other: Any) -> Term:
        return self.call("mul", self, other)

    def __rmul__(self, other: Any) -> Term:
        """Multiply; the integer 1, with which a product begins, is ignored."""
        return self if other.__class__ is int and other == 1 else self * other

    def __truediv__(self, other: Any) -> Term:
        return self.call("div", self, other)

    def __rtruediv__(self, other: Any) -> Term:
        return self.call("div", other, self)

    def __neg__(self) -> Term:
        return self.call("neg", self)

    def _compared(self, other: Any, word: str) -> Term:
        number = self._array_of(other)
        return Term(self.k, self.k.compare(self.array, number, word))

    def __lt__(self, other: Any) -> Term:
        return self._compared(other, "lt")

    def __le__(self, other: Any) -> Term:
        return self._compared(other, "le")

    def __gt__(self, other: Any) -> Term:
        return self._compared(other, "gt")

    def __ge__(self, other: Any) -> Term:
        return self._compared(other, "ge")

    def __eq__(self, other: object) -> Term:  # type: ignore[override]  # by elements
        return self._compared(other, "eq")

    def __ne__(self, other: object) -> Term:  # type: ignore[override]  # by elements
        return self._compared(other, "ne")

    def __rand__(self, other: bool) -> Term:
        """Return the term; a conjunction begins with True."""
        return self if other is True else NotImplemented

    def __and__(self, other: Term) -> Term:
        return self.call("where", self, other, self)

    def __or__(self, other: Term) -> Term:
        return self.call("where", self, self, other)

    def __invert__(self) -> Term:
        return self.call("where", self, False, True)


#: The kernels whose names differ from NumPy's functions.
_NAMES = {"absolute": "abs", "power": "pow"}


class OverKernels:
    """The namespace `xp` over the kernels of `k`; constants have `like`'s dtype."""

    float64 = longdouble = complex128 = _AS_GIVEN
    inf, int64 = math.inf, INT64

    def __init__(self, k: Any, like: Any) -> None:
        self.k, self.like = k, like

    def __getattr__(self, name: str) -> Callable[..., Term]:
        """Return a function that calls the kernel with this name."""
        kernel = _NAMES.get(name, name)

        def call(*operands: Any) -> Term:
            first = next(one for one in operands if one.__class__ is Term)
            return first.call(kernel, *operands)

        return call

    def kernel(self, name: str, *operands: Any, **named: Any) -> Any:
        """Return a kernel's result for terms: a term, or a tuple of terms and None."""
        arrays = [one.array if one.__class__ is Term else one for one in operands]
        return _as_terms(self.k, getattr(self.k, name)(*arrays, **named))

    def where(self, condition: Term, a: Any, b: Any) -> Term:
        like: Term = next((x for x in (a, b) if x.__class__ is Term), self.like)
        return like.call("where", condition, a, b)

    # ---- properties of values, which are not known -------------------------------

    @staticmethod
    def any(condition: Any) -> bool:
        return False

    all = any

    @staticmethod
    def isnan(a: Term) -> Term:
        return a != a  # noqa: PLR0124  NaN alone differs from itself

    @staticmethod
    def isfinite(a: Term) -> Term:
        return a * 0.0 == 0.0  # inf * 0 and NaN * 0 are NaN

    @staticmethod
    def square(a: Term) -> Term:
        return a * a

    @staticmethod
    def log1p(a: Term) -> Term:
        """Return log(1 + a) with the relative precision of `a`, for a >= 0.

        The sum u = 1 + a is rounded, but log(u) / (u - 1) hardly depends on this
        rounding.  The result is this quotient times `a`, or `a` itself where u is 1.
        """
        u = 1 + a
        is_one = u == 1
        safe = a.call("where", is_one, 1, u - 1)
        return a.call("where", is_one, a, a * (a.call("log", u) / safe))

    @staticmethod
    def floor(a: Term) -> Term:
        return a.call("round", a, "floor")

    @staticmethod
    def round(a: Term) -> Term:
        return a.call("round", a, "even")

    @staticmethod
    def sign(a: Term) -> Term:
        return a.call("where", a > 0, 1.0, a.call("where", a < 0, -1.0, a))

    @staticmethod
    def clip(a: Term, low: float, high: float) -> Term:
        return a.call("minimum", a.call("maximum", a, low), high)

    def take_along_axis(self, a: Term, index: Term, axis: int) -> Term:
        return self.kernel("gather", a, index, axis)  # type: ignore[no-any-return]

    # ---- sums and products -------------------------------------------------------

    def sum(self, a: Term, axis: Axis = None, keepdims: bool = False) -> Term:
        return self._reduced("sum", a, axis, keepdims)

    def max(
        self,
        a: Term,
        axis: Axis = None,
        keepdims: bool = False,
        initial: float | None = None,
    ) -> Term:
        if initial is not None and not a.size:
            total: Term = self.sum(a, axis, keepdims)
            return total + initial
        return self._reduced("max", a, axis, keepdims)

    def _reduced(self, kernel: str, a: Term, axis: Axis, keepdims: bool) -> Term:
        axes = range(a.ndim) if axis is None else axis
        axes = (axes,) if isinstance(axes, int) else axes
        axes = tuple(sorted(one % a.ndim for one in axes))
        if not axes:
            return a
        return Term(self.k, getattr(self.k, kernel)(a.array, axes, keepdims))

    def matmul(self, a: Term, b: Term) -> Term:
        """Return the product; if `b` is one matrix, `a` may have any dimensions."""
        if b.ndim > 2 or a.ndim == 2:
            return Term(self.k, self.k.gemm(a.array, b.array, None)[0])
        *lead, width = a.shape
        out = self.matmul(a.reshape(math.prod(lead), width), b)
        return out.reshape(*lead, b.shape[1])

    # ---- making arrays -----------------------------------------------------------

    def full(self, shape: Shape, value: float, dtype: Any) -> Any:
        """Return an array filled with a number, or the number itself for shape ()."""
        if shape == ():
            return value
        near = self.k.dtype(self.like.array)
        if dtype is _AS_GIVEN:
            dtype = near
        elif hasattr(near, "of"):  # the operands are on a device
            dtype = near.of(dtype)
        return Term(self.k, self.k.full(tuple(shape), value, dtype))

    def zeros(self, shape: Shape, dtype: Any) -> Any:
        return self.full(shape, 0.0, dtype)

    def ones(self, shape: Shape, dtype: Any) -> Any:
        return self.full(shape, 1.0, dtype)

    def zeros_like(self, a: Term) -> Any:
        return self.full(a.shape, 0.0, a.dtype)

    @staticmethod
    def asarray(value: Any, dtype: Any = None) -> Any:
        return value

    def arange(self, n: int) -> Term:
        return Term(self.k, self.k.arange(n, self.like.array))

    def concatenate(self, parts: Sequence[Term], axis: int = 0) -> Term:
        axis %= parts[0].ndim
        return Term(self.k, self.k.cat([part.array for part in parts], axis))

    def stack(self, parts: Sequence[Term], axis: int = 0) -> Term:
        shape = list(parts[0].shape)
        shape.insert(axis % (len(shape) + 1), 1)
        return self.concatenate([part.reshape(shape) for part in parts], axis)

    def broadcast_to(self, a: Term, shape: Shape) -> Term:
        return Term(self.k, self.k.expand(a.array, tuple(shape)))

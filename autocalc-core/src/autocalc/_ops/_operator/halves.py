# SPDX-License-Identifier: MIT
"""Functions of several kernels on float16 and bfloat16, rounded only once.

::

    @method("addmm", inplace="addmm_")
    @traced
    @rounded_once
    def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None): ...

A kernel computes in float32 and rounds its result.  A function of several kernels would
round after each of them.  It would also overflow where only an intermediate value does.
So this decorator casts the tensors to float32, and rounds the results of the function.
Both casts are recorded, so gradients are computed in float32, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any, TypeVar, overload

from autocalc._dispatch.engine.eager import accelerated
from autocalc._dispatch.selection.upcast import FLOAT32, FLOAT_KINDS, HALVES
from autocalc._ops._operator.cast import astype
from autocalc._ops._operator.kinds import KINDS
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.dtypes import DType
from autocalc.errors import DTypeError

CallT = TypeVar("CallT", bound=Callable[..., Any])
T = TypeVar("T")


@overload
def rounded_once(function: CallT) -> CallT: ...


@overload
def rounded_once(*, promotes: bool) -> Callable[[CallT], CallT]: ...


def rounded_once(function: Any = None, *, promotes: bool = False) -> Any:
    """Compute a function of float16 or bfloat16 in float32, and round the result once.

    Parameters
    ----------
    function
        The function to decorate.
    promotes
        Whether the function promotes its operands, so that a pair of half precision and
        float32 is converted, too.  Other functions refuse such a pair.
    """
    if function is None:
        return partial(_rounded_once, promotes=promotes)
    return _rounded_once(function, promotes)


def _rounded_once(function: Callable[..., Any], promotes: bool) -> Any:
    @wraps(function)
    def wide(*args: Any, **words: Any) -> Any:
        return in_float32(function, args, words, promotes=promotes)

    @wraps(function)
    def call(*args: Any, **words: Any) -> Any:
        if _holds_half(args) or (words and _holds_half(words.values())):
            return wide(*args, **words)
        return function(*args, **words)

    made = accelerated("rounded_once", function, wide)
    return call if made is function else made


def _holds_half(given: Iterable[Any]) -> bool:
    """Return whether a tensor of half precision is among the arguments."""
    for x in given:
        if isinstance(x, Tensor):
            if x.__class__ not in KINDS and x._array.dtype in HALVES:
                return True
        elif (x.__class__ is list or x.__class__ is tuple) and _holds_half(x):
            return True
    return False


def in_float32(
    function: Callable[..., T],
    args: tuple[Any, ...],
    words: dict[str, Any] | None = None,
    *,
    promotes: bool = False,
) -> T:
    """Cast tensors of half precision to float32, call a function, round its results."""
    words = words or {}
    kinds, scalars = _float_kinds([*args, *words.values()])
    halves = HALVES & (kinds | scalars)
    kinds = kinds or scalars  # 0-d tensors change no dtype
    if not halves or (len(kinds) > 1 and not promotes):
        return function(*args, **words)
    half = dtypes.of(next(iter(kinds))) if len(kinds) == 1 else dtypes.float32
    args = tuple([_widened(x) for x in args])
    words = {name: _widened(x) for name, x in words.items()}
    rounded: T = _rounded(function(*args, **words), half)
    return rounded


def check_alike(where: str, given: Iterable[Any]) -> None:
    """Raise if tensors of half precision meet other dtypes.

    The kernels would accept such a mixture.
    """
    kinds, _ = _float_kinds(given)
    if len(kinds) > 1 and HALVES & kinds:
        names = " and ".join(sorted(dtypes.of(kind).name for kind in kinds))
        raise DTypeError(
            f"{where}: the tensors are {names}; they must have the same dtype. Convert "
            "one of them with .to(...)."
        )


def _float_kinds(given: Iterable[Any]) -> tuple[set[Any], set[Any]]:
    """Return the floating-point dtypes of tensors, and those of 0-d tensors."""
    found: tuple[set[Any], set[Any]] = set(), set()
    for x in given:
        if isinstance(x, Tensor):
            if x._array.dtype.kind in FLOAT_KINDS:
                found[x._array.ndim == 0].add(x._array.dtype)
        elif isinstance(x, (list, tuple)):
            for mine, more in zip(found, _float_kinds(x), strict=True):
                mine.update(more)
    return found


def _widened(x: Any) -> Any:
    """Return an argument with its half-precision tensors cast to float32."""
    if isinstance(x, Tensor):
        return astype(x, dtypes.float32) if x._array.dtype in HALVES else x
    if isinstance(x, DType):
        return dtypes.float32 if x.is_half else x
    return _with_parts(x, [_widened(one) for one in x]) if _is_several(x) else x


def _rounded(x: Any, half: DType) -> Any:
    """Return a result, or several, with the float32 tensors rounded."""
    if isinstance(x, Tensor):
        return astype(x, half) if x._array.dtype is FLOAT32 and half.is_half else x
    return _with_parts(x, [_rounded(one, half) for one in x]) if _is_several(x) else x


def _is_several(x: Any) -> bool:
    return x.__class__ is list or x.__class__ is tuple or hasattr(x, "_fields")


def _with_parts(x: Any, parts: list[Any]) -> Any:
    """Return a list, tuple or named tuple of the same class with other parts."""
    return x.__class__(*parts) if hasattr(x, "_fields") else x.__class__(parts)

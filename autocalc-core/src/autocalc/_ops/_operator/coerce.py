# SPDX-License-Identifier: MIT
"""Convert operands to one dtype before a kernel sees them."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from autocalc._dispatch.device.device import DeviceDType, host_dtype, place_of
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.upcast import FLOAT_KINDS, HALVES
from autocalc._ops._operator.cast import astype, move
from autocalc._ops._operator.kinds import elsewhere, is_of_kind, refusal
from autocalc._ops._operator.method import library
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.dtypes import DType
from autocalc.errors import DTypeError, ShapeError

Number = (int, float, complex, bool, np.number, np.bool_)

#: The classes of Python numbers.
PLAIN = frozenset({int, float, bool, complex})


def rank(x: Any) -> int:
    """Return the weight of an operand in promotion: 2, 1, or 0 for a number."""
    if isinstance(x, Tensor) or x.__class__ is np.ndarray:
        return 2 if x.ndim else 1
    return 0


def of_numpy(x: Any) -> Any:
    """Copy a NumPy array into a tensor; return any other operand unchanged."""
    if x.__class__ is not np.ndarray:
        return x
    return make(arrays.filled(x, dtype_of("", x).numpy), None)


def dtype_of(where: str, x: Any) -> DType:
    """Return the dtype that an operand contributes to promotion."""
    if isinstance(x, Tensor):
        return dtypes.of(x._array.dtype)
    if isinstance(x, Number):
        return dtypes.of_scalar(x)
    if x.__class__ is np.ndarray:
        return dtypes.of(x.dtype.newbyteorder("="))
    if library(type(x)) == "torch":
        raise _of_pytorch(where, x)
    raise DTypeError(
        f"{where}: an operand is a {type(x).__name__}; it must be a Tensor or a "
        f"number. Make a tensor with ac.tensor(...) or ac.from_numpy(...)."
    )


def _of_pytorch(where: str, given: object) -> DTypeError:
    return DTypeError(
        f"{where}: got a {type(given).__name__} of PyTorch instead of a Tensor of "
        "AutoCalc. ac.from_dlpack(x.detach()) shares its memory, and "
        "ac.tensor(x.detach().numpy()) copies it."
    )


def not_a_tensor(where: str, given: object) -> TypeError:
    """Make the error for an operand that is not a tensor."""
    if library(type(given)) == "torch":
        return _of_pytorch(where, given)
    if is_of_kind(given):
        return refusal(where, given)
    remedy = "Make one with ac.tensor(...) or ac.from_numpy(...)."
    if isinstance(given, tuple) and any(isinstance(one, Tensor) for one in given):
        remedy = (
            "Take one of its elements: recurrent and attention layers return tuples, "
            "`output, state = layer(x)`."
        )
    return DTypeError(f"{where}: needs a Tensor, not {type(given).__name__}. {remedy}")


def of_other_kind(where: str, *operands: Any) -> Any:
    """Run a function on tensors that are not dense; raise if none has it."""
    function = elsewhere(where, *operands)
    if function is None:
        raise not_a_tensor(where, operands[0])
    return function(*operands)


def check_tensor(where: str, x: Any) -> Tensor:
    if not isinstance(x, Tensor):
        raise not_a_tensor(where, x)
    return x


def both_tensors(where: str) -> Callable[[Any, Any], None]:
    """Return a check that both operands are tensors.

    PyTorch refuses numbers here, too.
    """

    def check(x: Any, y: Any) -> None:
        check_tensor(where, x), check_tensor(where, y)

    return check


def tensor_first(where: str) -> Callable[[Any, Any], None]:
    """Return a check that the first operand is a tensor; the second may be a number."""

    def check(x: Any, y: Any) -> None:
        check_tensor(where, x)

    return check


#: Integers smaller than this convert to a float without rounding, even to float32.
_EXACT = 1 << 24


def fast_scalar(x: Any, y: Any) -> Tensor | None:
    """Return a number next to a floating-point tensor as a 0-d tensor of its dtype.

    Return None for any other pair.  This avoids the search for a common dtype, which
    takes two thirds of the time of ``x + 2.0``.
    """
    kind = type(y)
    if kind is float or (kind is int and -_EXACT < y < _EXACT):
        array = getattr(x, "_array", None)
        if array is not None and array.dtype.kind in FLOAT_KINDS:
            number = constant(y, array.dtype)
            if array.dtype not in HALVES or float(number) == y:
                return make(number, None)
    return None


def is_beside_half(x: Any, y: Any) -> bool:
    """Return whether a number would be rounded in the half precision of the tensor.

    Such a pair is computed in float32.
    """
    tensor, value = (x, y) if isinstance(x, Tensor) else (y, x)
    if not isinstance(tensor, Tensor) or tensor._array.dtype not in HALVES:
        return False
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and float(constant(value, tensor._array.dtype)) != value


def array_beside(a: Any, y: Any) -> Any:
    """Return `y`, a tensor or a number, as an array to compute with `a`.

    A number gets the dtype of `a`.  Return None if the number would change the dtype of
    the result (a float next to integers), or if `y` is neither a tensor nor a number.
    """
    kind = y.__class__
    if kind is float:
        return constant(y, a.dtype) if a.dtype.kind in FLOAT_KINDS else None
    if kind is int:
        return constant(y, a.dtype) if a.dtype.kind != "b" else None
    if kind is bool:
        return constant(y, a.dtype)
    if kind is complex:
        return constant(y, a.dtype) if a.dtype.kind == "c" else None
    return getattr(y, "_array", None)


def result_dtype(where: str, *operands: Any) -> DType:
    """Return the dtype in which an operation on `operands` runs.

    Operands of one rank are promoted together, before those of lower ranks.
    """
    if len(operands) == 2:
        a, b = operands
        first, second = dtype_of(where, a), dtype_of(where, b)
        return dtypes.result_dtype(first, rank(a), second, rank(b))
    found: dict[int, DType] = {}
    for x in operands:
        weight, dtype = rank(x), dtype_of(where, x)
        found[weight] = dtypes.promote(found.get(weight, dtype), dtype)
    most, *weaker = sorted(found, reverse=True)
    result = found[most]
    for weight in weaker:
        result = dtypes.result_dtype(result, most, found[weight], weight)
    return result


def same_dtype(where: str, x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Return two tensors, which must have the same dtype: nothing is promoted here."""
    a, b = check_tensor(where, x), check_tensor(where, y)
    if a._array.dtype is not b._array.dtype:
        place = place_of(where, a._array, b._array)
        if place is not None and a.dtype is b.dtype:
            return beside(a, place), beside(b, place)
        if a.dtype is not b.dtype:
            raise DTypeError(
                f"{where}: the tensors are {a.dtype.name} and {b.dtype.name}; they "
                f"must have the same dtype. {_conversion(a, b)}"
            )
    return a, b


def beside(x: Tensor, place: DeviceDType) -> Tensor:
    """Return `x` at the place of other operands, with its own dtype."""
    kind = place.of(x.dtype.numpy)
    return x if x._array.dtype is kind else move(x, kind)


def together(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Return tensors at one place; under `vmap`, examples share those that were not."""
    found = [x._array for x in tensors]
    if all(a.__class__ is np.ndarray for a in found):
        return tensors
    place = place_of("operands", *found)
    return tensors if place is None else tuple([beside(x, place) for x in tensors])


def _conversion(a: Tensor, b: Tensor) -> str:
    """Return the hint for two different dtypes: convert the integers to floats."""
    if a.is_floating_point() == b.is_floating_point():
        return "Convert one of them with .to(...)."
    which, other = ("first", b) if b.is_floating_point() else ("second", a)
    return f"Convert the {which} with .to(ac.{other.dtype.name})."


def as_operand(x: Any, dtype: DType, place: DeviceDType | None = None) -> Tensor:
    """Return `x` as a tensor of `dtype`: a recorded cast, or a cached constant.

    With `place`, a number or a CPU tensor without dimensions is moved to that device.
    """
    kind: Any = dtype.numpy if place is None else place.of(dtype.numpy)
    x = of_numpy(x)
    if not isinstance(x, Tensor):
        return make(constant(x, kind), None)
    found = cast(x, dtype)
    moves = place is not None and found._array.dtype is not kind
    return move(found, kind) if moves else found


def coerce(where: str, *operands: Any) -> tuple[Tensor, ...]:
    """Return all operands as tensors of the dtype that they promote to."""
    if _of_one_dtype(operands):
        return operands
    dtype = result_dtype(where, *operands)
    place = place_of(where, *[getattr(x, "_array", None) for x in operands])
    return tuple(as_operand(x, dtype, place) for x in operands)


def coerce_two(where: str, x: Any, y: Any) -> tuple[Tensor, ...]:
    """Do what `coerce` does for two operands; return at once if nothing is promoted."""
    a, b = getattr(x, "_array", None), getattr(y, "_array", None)
    if a is not None and b is not None:
        if a.dtype is b.dtype:
            return x, y
    elif a is not None and (b := array_beside(a, y)) is not None:
        return x, make(b, None)
    elif b is not None and (a := array_beside(b, x)) is not None:
        return make(a, None), y
    return coerce(where, x, y)


def _of_one_dtype(operands: tuple[Any, ...]) -> bool:
    try:
        dtype = operands[0]._array.dtype
        for x in operands:
            if x._array.dtype is not dtype:
                return False
    except AttributeError:
        return False  # a number, or no valid operand
    return True


def coerce_pair(where: str, x: Any, y: Any) -> tuple[Tensor, ...]:
    """Return two operands, one or both of them not tensors, as tensors of one dtype."""
    if not (isinstance(x, Tensor) or isinstance(y, Tensor)):
        dtype_of(where, x)
        return make(constant(x, dtypes.of_scalar(x).numpy), None), y
    return coerce(where, x, y)


def promote_pair(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """Cast two tensors of different dtypes to the dtype that they promote to."""
    return coerce("promotion", x, y)


def cast(x: Tensor, dtype: DType) -> Tensor:
    """Return `x` with another dtype, as a recorded operation."""
    if dtype.__class__ is not DType:
        dtype = dtypes.as_dtype(dtype)
    given = x._array.dtype
    if given is dtype.numpy or host_dtype(given) is dtype.numpy:
        return x
    return astype(x, dtype)


def in_float32(function: Callable[..., Tensor], *halves: Tensor) -> Tensor:
    """Compute a composition of operators in float32, and round the result once.

    The operands are float16 or bfloat16.  Each operator alone would round its result,
    and squares and quotients would overflow.
    """
    wide = (cast(x, dtypes.float32) for x in halves)
    return cast(function(*wide), halves[0].dtype)


def check_and_cast(where: str, x: Any, dtype: DType | None) -> Tensor:
    """Return the tensor `x` in the dtype that the user asked for, or in its own."""
    check_tensor(where, x)
    return x if dtype is None else cast(x, dtype)


def to_float(x: Tensor) -> Tensor:
    """Return an integer or boolean tensor in the default floating-point dtype.

    Complex tensors do not change.
    """
    if x._array.dtype.kind == "c":  # its kernel takes it, or says that it does not
        return x
    return cast(x, dtypes.get_default_dtype())


def checked_number(where: str, x: Tensor, value: Any) -> Tensor:
    """Return a number or 0-d tensor in the dtype of `x`, which must hold that kind."""
    if value.__class__ in PLAIN:
        array = array_beside(x._array, value)
        if array is not None:
            return make(array, None)
    if isinstance(value, Tensor) and value.ndim:
        raise ShapeError(
            f"{where}: `value` is a tensor of shape {value.shape}; it must be a number "
            f"or a tensor without dimensions."
        )
    kind = dtype_of(where, value)
    if kind.category > x.dtype.category and x.dtype is not dtypes.bool_:
        raise DTypeError(
            f"{where}: `value` is {kind.name}, which a tensor of {x.dtype.name} cannot "
            f"hold; convert the tensor first."
        )
    return as_operand(value, x.dtype, place_of(where, x._array))


def contiguous(x: Tensor) -> Any:
    """Return the array of `x`, copied if it is not C-contiguous."""
    return arrays.contiguous(x._array)

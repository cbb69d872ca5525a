# SPDX-License-Identifier: MIT
"""Padding of a tensor: constant, reflected, replicated or circular."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.arguments import check_tensor, integers, min_of
from autocalc._ops._operator.autocasting import autocasts
from autocalc._ops._operator.checks import refuse_booleans
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.one_node import one_node
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import full
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.in_place._inplace_indices import setitem
from autocalc._ops.indexing import indexing
from autocalc._ops.views import view
from autocalc._ops.views.conversion import laid_as
from autocalc._tensor import Tensor, make
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.dtypes import int64
from autocalc.errors import NoFormulaError, ShapeError

_MODES = ("constant", "reflect", "replicate", "circular")


@traced
def pad(
    input: Tensor,
    pad: Sequence[int],
    mode: str = "constant",
    value: float | None = None,
) -> Tensor:
    """Return `input` with elements added before and after its last dimensions.

    Parameters
    ----------
    input
        The input tensor, of any shape.
    pad
        The number of elements to add before and after the last dimension, then before
        and after the second to last, and so on.  A negative number removes elements.
    mode
        ``"constant"`` adds the number `value`; ``"reflect"`` mirrors the elements at
        the border, without repeating the border itself; ``"replicate"`` repeats the
        border; ``"circular"`` continues with the elements of the other end.
    value
        The number that is added in the mode ``"constant"``; None is 0.

    Raises
    ------
    ShapeError
        If `pad` has too many numbers, a size becomes negative, or the input has too few
        elements for "reflect" or "circular".

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.pad(ac.tensor([[1, 2, 3]]), (1, -1))
    tensor([[0, 1, 2]])
    >>> ac.nn.functional.pad(ac.tensor([[1, 2, 3]]), (2, 0), mode="reflect")
    tensor([[3, 2, 1, 2, 3]])
    """
    x = check_tensor("pad", input)
    amounts = integers("pad", "pad", pad)
    shape = x._array.shape
    if mode == "constant":
        plan = _plan(shape, amounts)
        if plan is not None:
            return laid_as(x, _framed(x, *plan, value))
    if len(amounts) % 2 or len(amounts) > 2 * len(shape):
        raise ShapeError(
            f"pad: `pad` holds {len(amounts)} numbers for a tensor of shape {x.shape}; "
            "it must hold two numbers for each dimension, beginning with the last one."
        )
    if mode not in _MODES or (mode != "constant" and value is not None):
        raise NoFormulaError(
            f"pad: `mode`={mode!r} with `value`={value}; `mode` must be one of "
            f"{', '.join(_MODES)}, and only 'constant' uses `value`."
        )
    both = tuple(zip(amounts[::2], amounts[1::2], strict=True))[::-1]
    sizes = list(shape)
    for d, (before, after) in enumerate(both, len(shape) - len(both)):
        sizes[d] += before + after
    if min(sizes, default=0) < 0:
        raise ShapeError(
            f"pad: padding {amounts} of shape {x.shape} would give the shape "
            f"{tuple(sizes)}; no size can be negative."
        )
    if mode == "constant":
        return laid_as(x, _constant(x, both, sizes, 0 if value is None else value))
    if mode != "circular" and x._array.dtype.kind == "b":
        refuse_booleans("pad", x)
    if mode == "circular" and min(amounts, default=0) < 0:  # the rest wraps around
        x = indexing.getitem(x, (..., *_kept(x, both)))
        both = tuple((max(a, 0), max(b, 0)) for a, b in both)
    circular = mode == "circular"
    made = bordered("pad", x, both, mode) if circular else _mirrored(x, both, mode)
    return view.clone(x) if made is x else laid_as(x, made)


Shape = tuple[int, ...]


@lru_cache(1024)
def _plan(shape: Shape, amounts: Shape) -> tuple[Shape, tuple[slice, ...]] | None:
    """Return the padded shape and the place of the input in it.

    Return None if nothing is added, if something is removed, or if `amounts` do not
    fit.
    """
    first = len(shape) - len(amounts) // 2
    if first < 0 or len(amounts) % 2 or min_of(amounts) < 0 or not any(amounts):
        return None
    both = ((0, 0),) * first + tuple(zip(amounts[-2::-2], amounts[-1::-2], strict=True))
    sizes = tuple(n + sum(pair) for n, pair in zip(shape, both, strict=True))
    starts = zip(shape, both, strict=True)
    return sizes, tuple(slice(before, before + n) for n, (before, _) in starts)


@one_node("pad")
def _framed(
    x: Tensor, sizes: Shape, place: tuple[slice, ...], value: float | None
) -> Tensor:
    """Return a tensor filled with `value`, with `x` at `place`."""
    a = x._array
    if value is None:
        out = arrays.zeros(sizes, a.dtype)
    else:
        out = full(sizes, value, dtype=x.dtype, device=place_of_tensor(x))._array
    arrays.copy(a, into=out[place])
    return make(out, None)


@_framed.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return (k.slice(g, n.attributes[1]),)


def _kept(x: Tensor, both: tuple[tuple[int, int], ...]) -> list[slice]:
    """Return the part of each padded dimension that negative amounts leave."""
    kept = []
    for (before, after), n in zip(both, x.shape[x.ndim - len(both) :], strict=True):
        start = max(-before, 0)
        kept.append(slice(start, max(n - max(-after, 0), start)))
    return kept


def _constant(
    x: Tensor, both: tuple[tuple[int, int], ...], sizes: list[int], value: float
) -> Tensor:
    if all(n == 0 for pair in both for n in pair):
        return view.clone(x)
    kept, place = _kept(x, both), []
    for (before, _), part in zip(both, kept, strict=True):
        start = max(before, 0)
        place.append(slice(start, start + part.stop - part.start))
    out = full(sizes, value, dtype=x.dtype, device=place_of_tensor(x))
    setitem(out, (..., *place), indexing.getitem(x, (..., *kept)))
    return out


def _reflected(i: int, n: int) -> int:
    return -i if i < 0 else 2 * (n - 1) - i if i >= n else i


def _replicated(i: int, n: int) -> int:
    return min(max(i, 0), n - 1)


def _wrapped(i: int, n: int) -> int:
    return i % n


#: Maps a mode to (the source of element i outside of n, how far outside i may be).
_BORDERS: dict[str, tuple[Callable[[int, int], int], Callable[[int], int]]] = {
    "reflect": (_reflected, lambda n: n - 1),
    "replicate": (_replicated, lambda n: 2**62 if n else 0),
    "circular": (_wrapped, lambda n: n),
}


@rounded_once
def bordered(where: str, x: Tensor, both: tuple[tuple[int, int], ...], mode: str,
             ) -> Tensor:  # fmt: skip
    """Return `x` with (before, after) elements around each of its last dimensions.

    Raises
    ------
    ShapeError
        If there are too few elements to reflect or to wrap.
    """
    _, limit = _BORDERS[mode]
    shape = x._array.shape
    for axis, (before, after) in enumerate(both, len(shape) - len(both)):
        n = shape[axis]
        if not (before or after):
            continue
        if max(before, after) > limit(n):
            raise ShapeError(
                f"{where}: Padding size should be "
                f"{'less than' if limit(n) < n else 'at most'} the corresponding input "
                f"dimension in mode {mode!r}: the padding is {max(before, after)} for "
                f"a dimension of size {n}."
            )
        read = _kept_places if n + before + after <= _KEPT else _places_read
        places = make(read(n, before, after, mode), None)
        x = indexing.index_select_op(x, places, axis)
    return x


@autocasts("float32")
def _mirrored(x: Tensor, both: tuple[tuple[int, int], ...], mode: str) -> Tensor:
    return bordered("pad", x, both, mode)


def _places_read(n: int, before: int, after: int, mode: str) -> Any:
    """Return an array: the source of each element of a padded dimension."""
    place, _ = _BORDERS[mode]
    index = [place(i, n) for i in range(-before, n + after)]
    return arrays.frozen(tensor(index, dtype=int64)._array)


#: Sources for up to this many elements are cached.
_KEPT = 4096
_kept_places = lru_cache(64)(_places_read)

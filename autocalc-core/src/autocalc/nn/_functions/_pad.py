# SPDX-License-Identifier: MIT
"""Tensors with more, or less, around them; and classes as vectors."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._ops._arguments import as_int, check_tensor, integers
from autocalc._ops._inplace_indices import setitem
from autocalc._ops.creation import full, zeros
from autocalc._ops.functional import clone, expand, getitem, scatter, unsqueeze
from autocalc._tensor import Tensor, dtypes
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nn._functions._borders import bordered

_MODES = ("constant", "reflect", "replicate", "circular")


def pad(
    input: Tensor,
    pad: Sequence[int],
    mode: str = "constant",
    value: float | None = None,
) -> Tensor:
    """Return `input` with elements added around its last dimensions.

    Parameters
    ----------
    input
        Of any shape.
    pad
        How many elements (before, after) the last dimension, then before and after the
        one in front of it, and so on; negative numbers take elements away.
    mode
        ``"constant"`` adds `value`; ``"reflect"`` what lies on the other side of the
        border, without the border itself; ``"replicate"`` the border; ``"circular"``
        what lies at the other end.
    value
        Of ``"constant"``; 0 by default.

    Raises
    ------
    ShapeError
        If `pad` does not fit, a size becomes negative, or there are too few elements
        to reflect or to wrap.

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
    if len(amounts) % 2 or len(amounts) > 2 * x.ndim:
        message = (
            f"pad: `pad` holds {len(amounts)} numbers for a tensor of shape {x.shape}; "
            f"it takes two for each dimension, from the last one on."
        )
        raise ShapeError(message)
    if mode not in _MODES or (mode != "constant" and value is not None):
        message = (
            f"pad: `mode`={mode!r} with `value`={value}; a mode is one of "
            f"{', '.join(_MODES)}, and only the first takes a value."
        )
        raise ArgumentError(message)
    both = tuple(zip(amounts[::2], amounts[1::2], strict=True))[::-1]
    first = x.ndim - len(both)
    sizes = [
        n + (sum(both[d - first]) if d >= first else 0) for d, n in enumerate(x.shape)
    ]
    if min(sizes, default=0) < 0:
        message = (
            f"pad: padding {amounts} of shape {x.shape} would give "
            f"{tuple(sizes)}; no size can be negative."
        )
        raise ShapeError(message)
    if mode == "constant":
        return _constant(x, both, sizes, 0 if value is None else value)
    if mode == "circular" and min(amounts, default=0) < 0:  # what is left goes round
        x = getitem(x, (..., *_kept(x, both)))
        both = tuple((max(a, 0), max(b, 0)) for a, b in both)
    return bordered("pad", x, both, mode)


def _kept(x: Tensor, both: tuple[tuple[int, int], ...]) -> list[slice]:
    """Return the part of each padded dimension that negative numbers leave."""
    kept = []
    for (before, after), n in zip(both, x.shape[x.ndim - len(both) :], strict=True):
        start = max(-before, 0)
        kept.append(slice(start, max(n - max(-after, 0), start)))
    return kept


def _constant(
    x: Tensor, both: tuple[tuple[int, int], ...], sizes: list[int], value: float
) -> Tensor:
    if all(n == 0 for pair in both for n in pair):
        return clone(x)
    kept, place = _kept(x, both), []
    for (before, _), part in zip(both, kept, strict=True):
        start = max(before, 0)
        place.append(slice(start, start + part.stop - part.start))
    out = full(sizes, value, dtype=x.dtype)
    setitem(out, (..., *place), getitem(x, (..., *kept)))
    return out


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Return vectors of zeros with a 1 at the place of each class.

    Parameters
    ----------
    tensor
        Classes from 0 on, of any shape, of an integer dtype.
    num_classes
        How many there are; by default one more than the largest.

    Returns
    -------
    Tensor
        Of int64; of the shape of `tensor`, and num_classes behind it.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.functional.one_hot(ac.tensor([1, 0]), 3)
    tensor([[0, 1, 0],
            [1, 0, 0]])
    """
    x, count = (
        check_tensor("one_hot", tensor),
        as_int("one_hot", "num_classes", num_classes),
    )
    if x.is_floating_point() or x.dtype is dtypes.bool_:
        message = f"one_hot: `tensor` has dtype {x.dtype.name}; it must hold integers."
        raise DTypeError(message)
    if count < 1:
        if count != -1 or x.numel() == 0:
            message = (
                f"one_hot: `num_classes`={count} for {x.numel()} classes; give a "
                f"number, 1 or more."
            )
            raise ArgumentError(message)
        count = int(x.max()) + 1
    nothing = zeros((*x.shape, max(count, 1)), dtype=dtypes.int64)
    index = expand(unsqueeze(x, -1), (*x.shape, 1))
    return scatter(nothing, -1, index, 1)

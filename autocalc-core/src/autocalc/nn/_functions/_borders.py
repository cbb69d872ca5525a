# SPDX-License-Identifier: MIT
"""Elements of a tensor repeated around it: what convolutions read beyond an image."""

from __future__ import annotations

from collections.abc import Callable

from autocalc._ops.creation import tensor
from autocalc._ops.functional import index_select
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import int64
from autocalc.errors import ShapeError


def _reflected(i: int, n: int) -> int:
    return -i if i < 0 else 2 * (n - 1) - i if i >= n else i


def _replicated(i: int, n: int) -> int:
    return min(max(i, 0), n - 1)


def _wrapped(i: int, n: int) -> int:
    return i % n


#: Mode: (where element i of n lies if it lies outside, how far outside i may be).
_MODES: dict[str, tuple[Callable[[int, int], int], Callable[[int], int]]] = {
    "reflect": (_reflected, lambda n: n - 1),
    "replicate": (_replicated, lambda n: 2**62 if n else 0),
    "circular": (_wrapped, lambda n: n),
}


def bordered(where: str, x: Tensor, both: tuple[tuple[int, int], ...], mode: str,
             ) -> Tensor:  # fmt: skip
    """Return `x` with (before, after) elements around each of its last dimensions.

    Raises
    ------
    ShapeError
        If there are too few elements to reflect or to wrap.
    """
    place, limit = _MODES[mode]
    for axis, (before, after) in enumerate(both, x.ndim - len(both)):
        n = x.shape[axis]
        if not (before or after):
            continue
        if max(before, after) > limit(n):
            message = (
                f"{where}: padding {max(before, after)} of a dimension of {n} in mode "
                f"{mode!r}; it can be at most {limit(n)}."
            )
            raise ShapeError(message)
        index = [place(i, n) for i in range(-before, n + after)]
        x = index_select(x, axis, tensor(index, dtype=int64))
    return x

# SPDX-License-Identifier: MIT
"""The cache of attention: keys and values of earlier positions."""

from __future__ import annotations

from autocalc._ops.creation.constants import zeros
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType
from autocalc.errors import GradError, ShapeError


class KeyValueCache:
    """A cache of the keys and values of one attention layer.

    Its memory, for `length` positions, is allocated when the cache is made.

    Parameters
    ----------
    batch, heads, length, features
        The sizes of the two tables: their shape is (batch, length, heads, features).
    dtype
        The floating-point dtype of the two tables.

    Attributes
    ----------
    count
        The number of filled positions.

    Examples
    --------
    >>> import autocalc as ac
    >>> cache = ac.models.KeyValueCache(batch=1, heads=2, length=8, features=4)
    >>> keys, values = cache.append(ac.ones(1, 3, 2, 4), ac.ones(1, 3, 2, 4))
    >>> keys.shape, cache.count
    (autocalc.Size([1, 3, 2, 4]), 3)
    """

    def __init__(
        self,
        batch: int,
        heads: int,
        length: int,
        features: int,
        dtype: DType | None = None,
    ) -> None:
        # Next to each other, as a projection gives them: one copy adds both.
        self._both = zeros(batch, length, 2 * heads, features, dtype=dtype)
        self._keys = self._both[:, :, :heads]
        self._values = self._both[:, :, heads:]
        self.count = 0

    @property
    def length(self) -> int:
        """The number of positions for which there is room."""
        return self._keys.shape[1]

    def append(
        self, keys: Tensor, values: Tensor, start: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Store the keys and values of S new positions; return those of all positions.

        `keys` and `values` have the shape (B, S, H, D).  The results are views of the
        tables.  By default, `keys` and `values` are stored after the first `count`
        positions, and `count` grows by S. If `start` is given, they are stored at that
        position and `count` does not change.  Pass `start` in a function that
        `autocalc.compile` compiles, because a compiled function must not change an
        attribute.

        Raises
        ------
        ShapeError
            If there is not enough room.
        GradError
            If `keys` or `values` have an autograd history.  Gradients do not flow
            through a cache.
        """
        if keys.requires_grad or values.requires_grad:
            raise GradError(
                "KeyValueCache: keys and values have a gradient history, which a "
                "cache cannot keep; call the model under ac.no_grad()."
            )
        counted, start = start is None, self.count if start is None else start
        stop = start + keys.shape[1]
        if stop > self.length:
            raise ShapeError(
                f"KeyValueCache: {keys.shape[1]} positions do not fit: {start} of "
                f"{self.length} positions are already used. Make the cache longer."
            )
        self._keys[:, start:stop].copy_(keys)
        self._values[:, start:stop].copy_(values)
        if counted:
            self.count = stop
        return self._keys[:, :stop], self._values[:, :stop]

    def reorder(self, rows: Tensor) -> None:
        """Put the texts of the given numbers (B,) in the place of all texts."""
        if self.count:
            known = self._both[:, : self.count]
            known.copy_(known[rows])

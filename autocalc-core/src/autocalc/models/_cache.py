# SPDX-License-Identifier: MIT
"""The cache of attention: keys and values of earlier positions."""

from __future__ import annotations

from autocalc._ops.creation.constants import zeros
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType
from autocalc.errors import GradError, ShapeError


class KeyValueCache:
    """Keys and values of one layer, room for `length` positions made at once.

    Parameters
    ----------
    batch, heads, length, features
        Sizes: both tables are ``[batch, length, heads, features]``.
    dtype
        The dtype of the tables.

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
        """How many positions there is room for."""
        return self._keys.shape[1]

    def append(
        self, keys: Tensor, values: Tensor, start: int | None = None
    ) -> tuple[Tensor, Tensor]:
        """Add positions ``[B, S, H, D]``; return all that are filled, as views.

        They go after the first `count`, which then counts them too; or to the
        position `start`, and `count` stays: what `autocalc.compile` records may change
        no such attribute.

        Raises
        ------
        ShapeError
            If there is no room for them.
        GradError
            If they have a history: gradients do not flow through a cache.
        """
        if keys.requires_grad or values.requires_grad:
            raise GradError(
                "KeyValueCache: keys and values have a history, and a cache keeps "
                "none; read text under ac.no_grad()."
            )
        counted, start = start is None, self.count if start is None else start
        stop = start + keys.shape[1]
        if stop > self.length:
            raise ShapeError(
                f"KeyValueCache: {keys.shape[1]} positions do not fit after "
                f"{start} of {self.length}; make the cache longer."
            )
        self._keys[:, start:stop].copy_(keys)
        self._values[:, start:stop].copy_(values)
        if counted:
            self.count = stop
        return self._keys[:, :stop], self._values[:, :stop]

# SPDX-License-Identifier: MIT
"""`Size`: the shape of a tensor, a tuple that can count its elements."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import index
from typing import Any, SupportsIndex, overload

from autocalc._dispatch.engine.eager import bind
from autocalc._tensor import spelling
from autocalc.errors import DTypeError


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of its sizes with the method `numel`.

    Slices, sums and multiples of a `Size` are of the same class.

    Parameters
    ----------
    sizes
        The sizes, integers; by default there are none.

    Raises
    ------
    DTypeError
        If a size is not an integer.

    Examples
    --------
    >>> import autocalc as ac
    >>> shape = ac.zeros(2, 3, 4).shape
    >>> shape, shape.numel()
    (autocalc.Size([2, 3, 4]), 24)
    >>> shape[1:], shape == (2, 3, 4)
    (autocalc.Size([3, 4]), True)
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable[Any] = ()) -> Size:
        try:
            return tuple.__new__(cls, [int(index(n)) for n in sizes])
        except TypeError:
            message = f"Size: {sizes!r} was given; it must be a sequence of integers."
            raise DTypeError(message) from None

    def numel(self) -> int:
        """Return the number of elements: the product of the sizes."""
        return math.prod(self)

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice[Any, Any, Any]) -> Size: ...
    def __getitem__(self, key: Any) -> Any:
        """Return a size, or those of a slice."""
        found = tuple.__getitem__(self, key)
        return tuple.__new__(Size, found) if found.__class__ is tuple else found

    def __add__(self, other: Any) -> Any:
        """Return the sizes and then those of `other`, a tuple."""
        if not isinstance(other, tuple):
            return NotImplemented
        return Size((*self, *other))

    def __radd__(self, other: Any) -> Any:
        """Return the sizes of `other`, a tuple, and then these."""
        if not isinstance(other, tuple):
            return NotImplemented
        return Size((*other, *self))

    def __mul__(self, times: SupportsIndex) -> Size:
        """Return the sizes repeated `times` times."""
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"{spelling.package}.Size([{', '.join(map(str, self))}])"

    def __format__(self, spec: str) -> str:
        """Return the text of a plain tuple, for use in messages."""
        return format(tuple.__repr__(self), spec)

    def __reduce__(self) -> Any:
        return Size, (tuple(self),)


class _Sizes(dict[tuple[int, ...], Size]):
    """The sizes of shapes seen before; making a new one takes four times as long."""

    _most = 4096

    def __missing__(self, shape: tuple[int, ...]) -> Size:
        if len(self) >= self._most:
            self.clear()
        size = self[shape] = tuple.__new__(Size, shape)
        return size


#: Maps the shape of an array to its `Size`.
SIZES = _Sizes()


bind(Size=Size)

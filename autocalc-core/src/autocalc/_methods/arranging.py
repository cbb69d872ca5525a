# SPDX-License-Identifier: MIT
"""Methods that part, arrange and repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops import _inplace as inplace
from autocalc._ops import functional
from autocalc._tensor import Tensor

Ints = int | Sequence[int]


def _one_by_one(given: tuple[Any, ...], named: Any) -> Any:
    """Return integers given one by one, as one sequence, or by name."""
    if named is not None:
        return named
    return given[0] if len(given) == 1 and not isinstance(given[0], int) else given


class Arranging:
    """Parts by their place, and dimensions moved and repeated."""

    __slots__ = ()

    def __reversed__(self: Tensor) -> Tensor:
        return functional.flip(self, 0) if self.ndim else self

    def select(self: Tensor, dim: int, index: int) -> Tensor:
        """Return slice number `index` along `dim`: a view."""
        return functional.select(self, dim, index)

    def narrow(self: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
        """Return `length` slices along `dim` from `start` on: a view."""
        return functional.narrow(self, dim, start, length)

    def split(self: Tensor, split_size: Ints, dim: int = 0) -> tuple[Tensor, ...]:
        """Return views of one size, or of each size, along `dim`."""
        return functional.split(self, split_size, dim)

    def split_with_sizes(
        self: Tensor, split_sizes: Sequence[int], dim: int = 0
    ) -> tuple[Tensor, ...]:
        """Return views of the given sizes along `dim`."""
        return functional.split_with_sizes(self, split_sizes, dim)

    def tensor_split(
        self: Tensor, indices_or_sections: Ints, dim: int = 0
    ) -> tuple[Tensor, ...]:
        """Return that many views along `dim`, or views cut before each index."""
        return functional.tensor_split(self, indices_or_sections, dim)

    def hsplit(self: Tensor, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        """Return views along the second dimension, or the only one."""
        return functional.hsplit(self, indices_or_sections)

    def vsplit(self: Tensor, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        """Return views along the first dimension."""
        return functional.vsplit(self, indices_or_sections)

    def dsplit(self: Tensor, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        """Return views along the third dimension."""
        return functional.dsplit(self, indices_or_sections)

    def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        """Return at most `chunks` views along `dim`."""
        return functional.chunk(self, chunks, dim)

    def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
        """Return a view of each slice along `dim`."""
        return functional.unbind(self, dim)

    def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        """Return the diagonal of two dimensions as the last one: a view."""
        return functional.diagonal(self, offset, dim1, dim2)

    def diag(self: Tensor, diagonal: int = 0) -> Tensor:
        """Return the matrix of a diagonal, or the diagonal of a matrix."""
        return functional.diag(self, diagonal)

    def diag_embed(
        self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1
    ) -> Tensor:
        """Return zeros with the last dimension of x on a diagonal."""
        return functional.diag_embed(self, offset, dim1, dim2)

    def trace(self: Tensor) -> Tensor:
        """Return the sum of the diagonal of a matrix."""
        return functional.trace(self)

    def tril(self: Tensor, diagonal: int = 0) -> Tensor:
        """Return x with zeros above a diagonal."""
        return functional.tril(self, diagonal)

    def triu(self: Tensor, diagonal: int = 0) -> Tensor:
        """Return x with zeros below a diagonal."""
        return functional.triu(self, diagonal)

    def tril_(self: Tensor, diagonal: int = 0) -> Tensor:
        """Write zeros above a diagonal, in place; return x."""
        return inplace.apply_("tril", self, diagonal)

    def triu_(self: Tensor, diagonal: int = 0) -> Tensor:
        """Write zeros below a diagonal, in place; return x."""
        return inplace.apply_("triu", self, diagonal)

    def movedim(self: Tensor, source: Ints, destination: Ints) -> Tensor:
        """Return x with dimensions moved: a view."""
        return functional.movedim(self, source, destination)

    moveaxis = movedim

    def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
        """Return x with two dimensions exchanged: a view."""
        return functional.transpose(self, axis0, axis1)

    swapdims = swapaxes

    def broadcast_to(self: Tensor, size: Sequence[int]) -> Tensor:
        """Return x repeated to `size`, without a copy."""
        return functional.broadcast_to(self, size)

    def expand_as(self: Tensor, other: Tensor) -> Tensor:
        """Return x repeated to the shape of `other`, without a copy."""
        return functional.expand_as(self, other)

    def view_as(self: Tensor, other: Tensor) -> Tensor:
        """Return x in the shape of `other`, sharing its memory."""
        return functional.view_as(self, other)

    def reshape_as(self: Tensor, other: Tensor) -> Tensor:
        """Return x in the shape of `other`."""
        return functional.reshape_as(self, other)

    def ravel(self: Tensor) -> Tensor:
        """Return x with one dimension."""
        return functional.ravel(self)

    def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
        """Return x with one dimension in several."""
        return functional.unflatten(self, dim, sizes)

    def sum_to_size(self: Tensor, *size: Any) -> Tensor:
        """Return x summed over the dimensions in which `size` broadcasts to it."""
        return functional.sum_to_size(self, *size)

    def repeat(self: Tensor, *repeats: Any) -> Tensor:
        """Return copies of x side by side."""
        return functional.repeat(self, *repeats)

    def tile(self: Tensor, *sizes: Any, dims: Any = None) -> Tensor:
        """Return copies of x side by side; missing repeats are 1."""
        return functional.tile(self, _one_by_one(sizes, dims))

    def repeat_interleave(
        self: Tensor,
        repeats: int | Tensor | None = None,
        dim: int | None = None,
        *,
        output_size: int | None = None,
    ) -> Tensor:
        """Return each element repeated, one behind the other."""
        return functional.repeat_interleave(self, repeats, dim, output_size=output_size)

    def roll(self: Tensor, shifts: Any, dims: Any = None) -> Tensor:
        """Return x shifted along dimensions, round the end."""
        return functional.roll(self, shifts, dims)

    def flip(self: Tensor, *axes: Any, dims: Any = None) -> Tensor:
        """Return x with the order along dimensions reversed."""
        return functional.flip(self, _one_by_one(axes, dims))

    def fliplr(self: Tensor) -> Tensor:
        """Return x with the order along the second dimension reversed."""
        return functional.fliplr(self)

    def flipud(self: Tensor) -> Tensor:
        """Return x with the order along the first dimension reversed."""
        return functional.flipud(self)

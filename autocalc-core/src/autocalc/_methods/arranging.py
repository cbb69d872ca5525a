# SPDX-License-Identifier: MIT
"""Methods that part, arrange and repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autocalc._ops import _inplace as inplace
from autocalc._ops import diagonal as diagonal_ops
from autocalc._ops import rearranging, reduction, splitting, view
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
        return rearranging.flip(self, 0) if self.ndim else self

    def select(self: Tensor, dim: int, index: int) -> Tensor:
        """Return slice number `index` along `dim`: a view."""
        return splitting.select(self, dim, index)

    def narrow(self: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
        """Return `length` slices along `dim` from `start` on: a view."""
        return splitting.narrow(self, dim, start, length)

    def split(self: Tensor, split_size: Ints, dim: int = 0) -> tuple[Tensor, ...]:
        """Return views of one size, or of each size, along `dim`."""
        return splitting.split(self, split_size, dim)

    def split_with_sizes(
        self: Tensor, split_sizes: Sequence[int], dim: int = 0
    ) -> tuple[Tensor, ...]:
        """Return views of the given sizes along `dim`."""
        return splitting.split_with_sizes(self, split_sizes, dim)

    def tensor_split(
        self: Tensor, indices_or_sections: Ints, dim: int = 0
    ) -> tuple[Tensor, ...]:
        """Return that many views along `dim`, or views cut before each index."""
        return splitting.tensor_split(self, indices_or_sections, dim)

    def hsplit(self: Tensor, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        """Return views along the second dimension, or the only one."""
        return splitting.hsplit(self, indices_or_sections)

    def vsplit(self: Tensor, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        """Return views along the first dimension."""
        return splitting.vsplit(self, indices_or_sections)

    def dsplit(self: Tensor, indices_or_sections: Ints) -> tuple[Tensor, ...]:
        """Return views along the third dimension."""
        return splitting.dsplit(self, indices_or_sections)

    def chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
        """Return at most `chunks` views along `dim`."""
        return splitting.chunk(self, chunks, dim)

    def unbind(self: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
        """Return a view of each slice along `dim`."""
        return splitting.unbind(self, dim)

    def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
        """Return the diagonal of two dimensions as the last one: a view."""
        return diagonal_ops.diagonal(self, offset, dim1, dim2)

    def diag(self: Tensor, diagonal: int = 0) -> Tensor:
        """Return the matrix of a diagonal, or the diagonal of a matrix."""
        return diagonal_ops.diag(self, diagonal)

    def diag_embed(
        self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1
    ) -> Tensor:
        """Return zeros with the last dimension of x on a diagonal."""
        return diagonal_ops.diag_embed(self, offset, dim1, dim2)

    def trace(self: Tensor) -> Tensor:
        """Return the sum of the diagonal of a matrix."""
        return diagonal_ops.trace(self)

    def tril(self: Tensor, diagonal: int = 0) -> Tensor:
        """Return x with zeros above a diagonal."""
        return diagonal_ops.tril(self, diagonal)

    def triu(self: Tensor, diagonal: int = 0) -> Tensor:
        """Return x with zeros below a diagonal."""
        return diagonal_ops.triu(self, diagonal)

    def tril_(self: Tensor, diagonal: int = 0) -> Tensor:
        """Write zeros above a diagonal, in place; return x."""
        return inplace.apply_("tril", self, diagonal)

    def triu_(self: Tensor, diagonal: int = 0) -> Tensor:
        """Write zeros below a diagonal, in place; return x."""
        return inplace.apply_("triu", self, diagonal)

    def movedim(self: Tensor, source: Ints, destination: Ints) -> Tensor:
        """Return x with dimensions moved: a view."""
        return view.movedim(self, source, destination)

    moveaxis = movedim

    def swapaxes(self: Tensor, axis0: int, axis1: int) -> Tensor:
        """Return x with two dimensions exchanged: a view."""
        return view.transpose(self, axis0, axis1)

    swapdims = swapaxes

    def broadcast_to(self: Tensor, size: Sequence[int]) -> Tensor:
        """Return x repeated to `size`, without a copy."""
        return view.broadcast_to(self, size)

    def expand_as(self: Tensor, other: Tensor) -> Tensor:
        """Return x repeated to the shape of `other`, without a copy."""
        return view.expand_as(self, other)

    def view_as(self: Tensor, other: Tensor) -> Tensor:
        """Return x in the shape of `other`, sharing its memory."""
        return view.view_as(self, other)

    def reshape_as(self: Tensor, other: Tensor) -> Tensor:
        """Return x in the shape of `other`."""
        return view.reshape_as(self, other)

    def ravel(self: Tensor) -> Tensor:
        """Return x with one dimension."""
        return view.ravel(self)

    def unflatten(self: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
        """Return x with one dimension in several."""
        return view.unflatten(self, dim, sizes)

    def sum_to_size(self: Tensor, *size: Any) -> Tensor:
        """Return x summed over the dimensions in which `size` broadcasts to it."""
        return reduction.sum_to_size(self, *size)

    def repeat(self: Tensor, *repeats: Any) -> Tensor:
        """Return copies of x side by side."""
        return rearranging.repeat(self, *repeats)

    def tile(self: Tensor, *sizes: Any, dims: Any = None) -> Tensor:
        """Return copies of x side by side; missing repeats are 1."""
        return rearranging.tile(self, _one_by_one(sizes, dims))

    def repeat_interleave(
        self: Tensor,
        repeats: int | Tensor | None = None,
        dim: int | None = None,
        *,
        output_size: int | None = None,
    ) -> Tensor:
        """Return each element repeated, one behind the other."""
        return rearranging.repeat_interleave(
            self, repeats, dim, output_size=output_size
        )

    def roll(self: Tensor, shifts: Any, dims: Any = None) -> Tensor:
        """Return x shifted along dimensions, round the end."""
        return rearranging.roll(self, shifts, dims)

    def flip(self: Tensor, *axes: Any, dims: Any = None) -> Tensor:
        """Return x with the order along dimensions reversed."""
        return rearranging.flip(self, _one_by_one(axes, dims))

    def fliplr(self: Tensor) -> Tensor:
        """Return x with the order along the second dimension reversed."""
        return rearranging.fliplr(self)

    def flipud(self: Tensor) -> Tensor:
        """Return x with the order along the first dimension reversed."""
        return rearranging.flipud(self)

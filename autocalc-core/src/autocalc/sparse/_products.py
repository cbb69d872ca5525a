# SPDX-License-Identifier: MIT
"""Products of a sparse and a dense matrix, and the two gradients of such a product.

A sparse matrix is given by its `Places`: the row and the column of each entry.  The sum
over the entries is computed in blocks of at most `BLOCK` elements, so no array has as
many elements as there are entries times columns.  Entries are added in their order,
which makes the results the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.one_node import one_node
from autocalc._tensor import Tensor, make

#: The most elements of a temporary array: 256 KiB of float32 stay in the cache.
BLOCK = 1 << 16


class Places(NamedTuple):
    """The rows and columns of the entries, vectors of int64, and the matrix's sizes."""

    row: Any
    col: Any
    rows: int
    cols: int

    @property
    def turned(self) -> Places:
        """The places in the transposed matrix."""
        return Places(self.col, self.row, self.cols, self.rows)


def _blocks(entries: int, width: int) -> Iterator[slice]:
    """Yield slices of the entries; each entry needs `width` elements."""
    step = max(1, BLOCK // max(width, 1))
    return (slice(at, at + step) for at in range(0, entries, step))


def _product(values: Any, dense: Any, places: Places) -> Any:
    """Return the sums over the entries p: out[row[p]] += values[p] * dense[col[p]]."""
    width = dense.shape[1]
    out = arrays.zeros((places.rows, width), dense.dtype)
    for block in _blocks(values.shape[0], width):
        part = arrays.index_select(dense, places.col[block], 0)
        arrays.mul(part, arrays.reshape(values[block], (-1, 1)), into=part)
        arrays.index_add(out, places.row[block], part, 0, into=out)
    return out


def _sampled(a: Any, b: Any, places: Places) -> Any:
    """Return the dot product of row row[p] of `a` and row col[p] of `b` for each p."""
    entries = places.row.shape[0]
    out = arrays.empty((entries,), a.dtype)
    for block in _blocks(entries, a.shape[1]):
        part = arrays.index_select(a, places.row[block], 0)
        other = arrays.index_select(b, places.col[block], 0)
        arrays.mul(part, other, into=part)
        arrays.sum(part, (1,), False, into=out[block])
    return out


@one_node("spmm", saves="a:b b:a", like="mul")
def spmm(values: Tensor, dense: Tensor, places: Places) -> Tensor:
    """Return the product of a sparse matrix with `values` and a dense matrix."""
    return make(_product(values._array, dense._array, places), None)


@spmm.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return dvalues = sddmm(g, dense), and ddense = the transposed matrix times g."""
    (values, dense), (places,) = n.saved, n.attributes
    product, sampled = (spmm, sddmm) if k.records else (_product, _sampled)
    return (
        sampled(g, dense, places) if n.needs(0) else None,
        product(values, g, places.turned) if n.needs(1) else None,
    )


@one_node("sddmm", saves="a:b b:a", like="mul")
def sddmm(a: Tensor, b: Tensor, places: Places) -> Tensor:
    """Return the elements of ``a @ b.T`` at some places."""
    return make(_sampled(a._array, b._array, places), None)


@sddmm.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return da = the sparse matrix g times b, and db = its transpose times a."""
    (a, b), (places,) = n.saved, n.attributes
    product = spmm if k.records else _product
    return (
        product(g, b, places) if n.needs(0) else None,
        product(g, a, places.turned) if n.needs(1) else None,
    )

# SPDX-License-Identifier: MIT
"""Sums, products, means and extrema at indices, in the memory of the tensor.

Where no kernel works in place, only the selected places are read, reduced and written
again.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.arguments import NeededDim, axis_of, check_tensor
from autocalc._ops._operator.checks import refuse_booleans
from autocalc._ops._operator.coerce import same_dtype
from autocalc._ops._operator.halves import rounded_once
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.in_place._index_writers import Writer, write_at
from autocalc._ops.in_place._inplace import apply_
from autocalc._ops.indexing import indexing, scattering
from autocalc._ops.sequences import scatter_reduction
from autocalc._ops.sequences.mode import places_in_runs
from autocalc._ops.views import broadcasting, view
from autocalc._ops.views._writing import check_writable
from autocalc._tensor import Tensor, make
from autocalc._tensor.checks import one_of

#: Kernels that combine the old value with the new ones.  The flag says whether the
#: kernel records itself, because it saves neither the old value nor the result.
_KERNELS = {
    "sum": (scattering.scatter_add_op, True),
    "amax": (scatter_reduction.scatter_amax_op, False),
    "amin": (scatter_reduction.scatter_amin_op, False),
}


@method("scatter_reduce_")
@traced
def scatter_reduce_(
    x: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    src: Tensor | None = None,
    reduce: str | None = None,
    *,
    include_self: bool = True,
    axis: Any = None,
) -> Tensor:
    """Combine this tensor in place, at `index`, with elements of `src`; return it.

    Examples
    --------
    >>> import autocalc as ac
    >>> index = ac.tensor([0, 0, 2])
    >>> ac.ones(3).scatter_reduce_(0, index, ac.tensor([4.0, 2.0, 5.0]), "amax")
    tensor([4., 1., 5.])
    """
    check_tensor("scatter_reduce_", x)
    if _reduced_in_place(x, dim, index, src, reduce, include_self):
        return x
    function = scatter_reduction.scatter_reduce
    words = {"include_self": include_self}
    return apply_(function, "scatter_reduce_", x, dim, index, src, reduce, **words)


@method("index_reduce_")
@traced
def index_reduce_(
    x: Tensor,
    dim: NeededDim = None,
    index: Tensor | None = None,
    source: Tensor | None = None,
    reduce: str | None = None,
    *,
    include_self: bool = True,
    axis: Any = None,
) -> Tensor:
    """Combine this tensor in place, at `index`, with slices of `source`; return it.

    Examples
    --------
    >>> import autocalc as ac
    >>> index, source = ac.tensor([0, 0]), ac.tensor([2.0, 3.0])
    >>> ac.ones(2).index_reduce_(0, index, source, "prod")
    tensor([6., 1.])
    """
    check_tensor("index_reduce_", x)
    if _rows_reduced_in_place(x, dim, index, source, reduce, include_self):
        return x
    function = scatter_reduction.index_reduce
    words = {"include_self": include_self}
    return apply_(function, "index_reduce_", x, dim, index, source, reduce, **words)


def _reduced_in_place(
    x: Tensor, dim: int, index: Any, src: Any, reduce: Any, include_self: Any
) -> bool:
    """Reduce like `scatter_reduce_`; return whether it was possible in place."""
    one_of("scatter_reduce", "reduce", reduce, scatter_reduction.REDUCTIONS)
    return _reduced("scatter_reduce", x, dim, index, src, reduce, include_self)


def _rows_reduced_in_place(
    x: Tensor, dim: int, index: Any, source: Any, reduce: Any, include_self: Any
) -> bool:
    """Reduce like `index_reduce_`; return whether it was possible in place."""
    refuse_booleans("index_reduce", x)
    one_of("index_reduce", "reduce", reduce, scatter_reduction.REDUCTIONS[1:])
    if not isinstance(index, Tensor) or not isinstance(source, Tensor):
        return False
    if x.ndim == 0 or index.ndim != 1 or source.ndim != x.ndim:
        return False
    axis = axis_of("index_reduce", dim, x.ndim)
    sizes = (*x.shape[:axis], index.shape[0], *x.shape[axis + 1 :])
    if source.shape != sizes:
        return False
    places = indexing.as_positions("index_reduce", index)
    line = tuple(-1 if d == axis else 1 for d in range(x.ndim))
    places = broadcasting.expand(view.reshape(places, line), sizes)
    return _reduced("index_reduce", x, axis, places, source, reduce, include_self)


def _reduced(
    name: str, x: Tensor, dim: int, index: Any, src: Any, reduce: str, own: Any
) -> bool:
    tensors = isinstance(index, Tensor) and isinstance(src, Tensor)
    if not tensors or index.ndim != x.ndim or not index.numel():
        return False
    axis = axis_of(name, dim, x.ndim)
    index = indexing.as_positions(name, index)
    recorded = check_writable(f"{name}_", x, src)
    operator, saves_nothing = _KERNELS.get(reduce, (None, False))
    direct = own and (saves_nothing or not recorded) and operator is not None
    if not direct and (2 * index.numel() > x.numel() or src.shape != index.shape):
        return False
    same_dtype(name, x, src)
    part = indexing.window(name, x, index.shape, axis)

    def run(write: Writer, x: Tensor) -> Tensor:
        if direct:
            return scattering.along(name, write, x, axis, index, src)
        found = _reduced_alone(x, index, src, axis, reduce, own)
        return write(x, index, found, axis)

    kernel = operator if direct else scattering.scatter_op
    return write_at(f"{name}_", kernel, part, (index, src), run)


@rounded_once
def _reduced_alone(
    x: Tensor, index: Tensor, src: Tensor, axis: int, reduce: str, own: bool
) -> Tensor:
    """Return the new value of the place that each index names."""
    first = make(_first_of_equals(index._array, axis), None)
    there = indexing.gather_op(x, index, axis)
    found = scatter_reduction._reduced(reduce, own, there, first, src, axis)
    return indexing.gather_op(found, first, axis)


def _first_of_equals(index: Any, axis: int) -> Any:
    """Return for each index along `axis` the place of the first index equal to it."""
    index = arrays.copy(index)
    order = arrays.argsort(index, axis, False)
    ordered = arrays.gather(index, order, axis)
    line = (-1, *(1,) * (index.ndim - axis - 1))
    numbers = arrays.arange(index.shape[axis], index).reshape(line)
    begins = arrays.sub(numbers, places_in_runs(ordered, axis))
    return arrays.scatter(index, order, arrays.gather(order, begins, axis), axis)

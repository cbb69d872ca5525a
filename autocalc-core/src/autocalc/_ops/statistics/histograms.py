# SPDX-License-Identifier: MIT
"""Histograms in one or more dimensions: the number of values in each bin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.arguments import as_int, check_tensor
from autocalc._ops._operator.checks import check_float
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops.creation.constants import ones, zeros
from autocalc._ops.creation.ranges import linspace
from autocalc._ops.elementwise import arithmetic, bitwise, comparison
from autocalc._ops.elementwise.clamping import clamp_max
from autocalc._ops.indexing.scattering import index_add
from autocalc._ops.reductions import extrema
from autocalc._ops.sequences import scans
from autocalc._ops.sequences.searching import searchsorted
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import number, sequence, short
from autocalc._tensor.device import place_of_tensor
from autocalc.errors import ArgumentError, DTypeError, ShapeError


class Histogram(NamedTuple):
    """The contents of the bins and their edges."""

    hist: Tensor
    bin_edges: Tensor


class HistogramDD(NamedTuple):
    """The contents of the bins and their edges in each dimension."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


@method("histogram")
@declared
def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
    out: tuple[Tensor, Tensor] | None = None,
) -> Histogram:
    """Return how many elements each bin holds, and the edges of the bins.

    Bin i contains x with edge[i] <= x < edge[i + 1]; the last bin also contains its
    right edge.  Elements outside of the edges are left out.  NaN is left out if `range`
    or edges are given.  The results have no gradient.

    Parameters
    ----------
    input
        The values x, a floating-point tensor of any shape.
    bins
        The number of bins of equal width; or the edges in ascending order, a vector of
        shape [n + 1] and the dtype of `input`.
    range
        The two ends of bins of equal width; by default the smallest and the largest
        element, or 0 and 1 for an empty tensor.  If both ends are equal, each is moved
        outwards by 0.5.
    weight
        The weights of the elements, a tensor with as many elements and the dtype of
        `input`. A bin then holds the sum of the weights of its elements.
    density
        True to divide each bin by the sum of all bins and by its width, so that the
        integral is 1.
    out
        Two tensors to write the results into, converted to their dtypes.

    Returns
    -------
    Histogram
        The named tuple (hist, bin_edges) with the shapes [n] and [n + 1], of the dtype
        of `input`.

    Raises
    ------
    DTypeError
        If `input` is not a floating-point tensor, or `weight` or the edges have another
        dtype.
    ShapeError
        If `weight` has another number of elements than `input`, or the edges are not a
        vector.
    ArgumentError
        If the number of bins is below 1, an end is not finite, or the ends or edges are
        not in ascending order.

    Examples
    --------
    >>> import autocalc as ac
    >>> h = ac.histogram(ac.tensor([1.0, 2.0, 1.0]), bins=4, range=(0.0, 3.0))
    >>> h.hist, h.bin_edges[1].item()
    (tensor([0., 2., 1., 0.]), 0.75)
    """
    check_float("histogram", input)
    with no_grad():
        points = view.reshape(input.detach(), (-1, 1))
        one = bins if isinstance(bins, Tensor) else as_int("histogram", "bins", bins)
        edges = _edges("histogram", points, [one], range)
        amounts = _amounts("histogram", points, weight)
        hist = _counted(points, edges, amounts, density)
    return Histogram(hist, edges[0])


@declared
def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> HistogramDD:
    """Return how many points each bin of a grid holds, and the edges of the grid.

    A point counts in a bin if each of its coordinates is between the edges of the bin
    in that dimension; see `histogram`.  The results have no gradient.

    Parameters
    ----------
    input
        The points, a floating-point tensor of shape [..., n, D]; the last dimension
        holds coordinates.
    bins
        The number of bins of equal width: one number for all dimensions, or one for
        each; or, for each dimension, its edges in ascending order, in the dtype of
        `input`.
    range
        The two ends for each dimension, one dimension after the other: 2 * D numbers.
        By default they are the smallest and the largest coordinates, or 0 and 1 if
        there are no points.
    weight
        A weight for each point, a tensor of shape [..., n] and the dtype of `input`. A
        bin then holds the sum of the weights of its points.
    density
        True to divide each bin by the sum of all bins and by its volume.

    Returns
    -------
    HistogramDD
        The named tuple (hist, bin_edges): hist has the shape [n_1, ..., n_D], and
        bin_edges is a tuple of the edges of each dimension; all have the dtype of
        `input`.

    Raises
    ------
    DTypeError
        If `input` is not a floating-point tensor, or `weight` or the edges have another
        dtype.
    ShapeError
        If `input` has fewer than two dimensions, `weight` has another shape, or the
        edges are not vectors.
    ArgumentError
        If a number of bins is below 1, `bins` does not describe D dimensions, an end is
        not finite, or the ends or edges are not in ascending order.

    Examples
    --------
    >>> import autocalc as ac
    >>> points = ac.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> ac.histogramdd(points, bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 2.]])
    """
    where = "histogramdd"
    check_float(where, input)
    if input.ndim < 2 or input.shape[-1] == 0:
        raise ShapeError(
            f"{where}: `input` has shape {input.shape}; it must be [..., points, D] "
            "with D at least 1."
        )
    if weight is not None and check_tensor(where, weight).shape != input.shape[:-1]:
        raise ShapeError(
            f"{where}: `weight` has shape {weight.shape}; for points of shape "
            f"{input.shape} it must have shape {input.shape[:-1]}."
        )
    with no_grad():
        points = view.reshape(
            input.detach(), (math.prod(input.shape[:-1]), input.shape[-1])
        )
        edges = _edges(where, points, bins, range)
        amounts = _amounts(where, points, weight)
        return HistogramDD(_counted(points, edges, amounts, density), tuple(edges))


def _counted(
    points: Tensor, edges: list[Tensor], amounts: Tensor, density: bool
) -> Tensor:
    """Return the sums of the amounts of the points in each bin."""
    sizes = [edge.shape[0] - 1 for edge in edges]
    place = zeros(points.shape[0], dtype=dtypes.int64, device=place_of_tensor(points))
    inside = ones(points.shape[0], dtype=dtypes.bool_, device=place_of_tensor(points))
    for d, edge in enumerate(edges):
        x = view.clone(points[:, d])
        nearest = clamp_max(searchsorted(edge, x, right=True) - 1, sizes[d] - 1)
        place = place * sizes[d] + nearest
        for one in (comparison.ge(x, edge[0]), comparison.le(x, edge[-1])):
            inside = bitwise.bitwise_and(inside, one)
    hist = zeros(math.prod(sizes), dtype=points.dtype, device=place_of_tensor(points))
    hist = index_add(hist, 0, place[inside], amounts[inside])
    hist = view.reshape(hist, sizes)
    return _per_volume(hist, edges) if density else hist


def _per_volume(hist: Tensor, edges: list[Tensor]) -> Tensor:
    """Divide the bins by their total and by their volumes."""
    hist = arithmetic.div(hist, hist.sum())
    for d, edge in enumerate(edges):
        shape = [-1 if axis == d else 1 for axis in range(hist.ndim)]
        hist = arithmetic.div(hist, view.reshape(scans.diff(edge), shape))
    return hist


def _amounts(where: str, points: Tensor, weight: Any) -> Tensor:
    """Return the weight of each point."""
    if weight is None:
        return ones(points.shape[0], dtype=points.dtype, device=place_of_tensor(points))
    if check_tensor(where, weight).dtype is not points.dtype:
        raise DTypeError(
            f"{where}: input tensor and weight tensor should have the same dtype: "
            f"they are {points.dtype.name} and {weight.dtype.name}."
        )
    if weight.numel() != points.shape[0]:
        raise ShapeError(
            f"{where}: `weight` has {weight.numel()} elements; there must be one for "
            f"each of {points.shape[0]} values."
        )
    return view.reshape(weight.detach(), (-1,))


# ---- the edges -----------------------------------------------------------------------


def _edges(where: str, points: Tensor, bins: Any, ends: Any) -> list[Tensor]:
    """Return the edges of the bins in each dimension."""
    dims = points.shape[1]
    one = isinstance(bins, Tensor) or not isinstance(bins, (list, tuple))
    given = [bins] * dims if one else list(bins)
    if len(given) != dims:
        raise ArgumentError(
            f"{where}: `bins` has {len(given)} entries for {dims} dimensions; give one "
            "number, or one entry for each dimension."
        )
    if all(isinstance(edge, Tensor) for edge in given):
        return _given_edges(where, points, given, ends)
    counts = [as_int(where, "bins", n) for n in given]
    if min(counts) < 1:
        message = f"{where}: `bins` is {min(counts)}; it must be at least 1."
        raise ArgumentError(message)
    return [
        linspace(low, high, n + 1, dtype=points.dtype, device=place_of_tensor(points))
        for n, (low, high) in zip(counts, _ends(where, points, ends), strict=True)
    ]


def _given_edges(
    where: str, points: Tensor, edges: list[Tensor], ends: Any
) -> list[Tensor]:
    if ends is not None:
        raise ArgumentError(
            f"{where}: `range`={short(ends)} was given together with edges; it can "
            "only be used with numbers of bins."
        )
    for edge in edges:
        if edge.dtype is not points.dtype:
            raise DTypeError(
                f"{where}: input tensor and bins tensors should have the same dtype: "
                f"they are {points.dtype.name} and {edge.dtype.name}."
            )
        if edge.ndim != 1 or edge.shape[0] < 2:
            raise ShapeError(
                f"{where}: the edges have shape {edge.shape}; they must be a vector of "
                "at least 2 elements."
            )
        if not comparison.ge(edge[1:], edge[:-1]).all() or comparison.isnan(edge).any():
            message = (
                f"{where}: the edges {short(edge.tolist())} are not in ascending order."
            )
            raise ArgumentError(message)
    return [view.clone(edge.detach()) for edge in edges]


def _ends(where: str, points: Tensor, given: Any) -> list[tuple[float, float]]:
    """Return where the bins of each dimension begin and end."""
    dims = points.shape[1]
    if given is not None:
        numbers = [number(where, "range", x) for x in sequence(where, "range", given)]
        if len(numbers) != 2 * dims:
            raise ArgumentError(
                f"{where}: `range` has {len(numbers)} numbers; for {dims} dimensions "
                f"it needs {2 * dims}, two for each."
            )
        pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    elif points.shape[0]:
        least, most = extrema.amin(points, 0), extrema.amax(points, 0)
        pairs = list(zip(least.tolist(), most.tolist(), strict=True))
    else:
        pairs = [(0.0, 1.0)] * dims
    return [_apart(where, low, high) for low, high in pairs]


def _apart(where: str, low: float, high: float) -> tuple[float, float]:
    """Return two ends that differ."""
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ArgumentError(
            f"{where}: the bins would be between {low:g} and {high:g}; both must be "
            "finite, and the first must not be above the second. Give `range`, or "
            "remove the elements that are not finite."
        )
    return (low - 0.5, high + 0.5) if low == high else (low, high)

# SPDX-License-Identifier: MIT
"""Random numbers from distributions whose parameters are tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy import ndarray

from autocalc._dispatch.device.device import dtype_near, whole
from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.state import check_values, recordings
from autocalc._kernels.rules import broadcast_shapes
from autocalc._ops._operator.checks import check_probability
from autocalc._ops._operator.coerce import as_operand
from autocalc._ops._operator.method import method
from autocalc._ops._operator.short_calls import holds
from autocalc._ops._operator.traced import traced
from autocalc._ops.creation.constants import (
    count_of,
    finished,
    float_or,
    like,
    number,
    placed,
    shape_of,
)
from autocalc._ops.random.random_draws import drawn_floats, draws
from autocalc._ops.reductions.extrema import ends
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.device import Device, present
from autocalc._tensor.dtypes import DType
from autocalc._tensor.generator import Generator
from autocalc.errors import ArgumentError, DTypeError, ShapeError


def _floats(where: str, name: str, x: Any) -> Any:
    """Return the array of a floating-point tensor."""
    if not isinstance(x, Tensor) or not x.is_floating_point():
        kind = x.dtype.name if isinstance(x, Tensor) else type(x).__name__
        raise DTypeError(f"{where}: `{name}` is {kind}; it must be a tensor of floats.")
    return x._array


def _check_probabilities(where: str, p: Any, high: float) -> None:
    """Raise unless all numbers are between 0 and `high`; NaN is refused."""

    def check(p: Any) -> None:
        if p.size and not _are_between(p, 0.0, high):
            _check_between(where, *ends(make(p, None)), high)

    check_values(check, p)


def _are_between(a: Any, least: float, most: float, above: int = 0) -> bool:
    """Return whether all are between `least` and `most`, and `above` per row > least.

    Return False if this is unknown: on other devices, and while `compile` records.
    """
    if not isinstance(a, ndarray) or recordings:
        return False
    return holds(arrays.between(a, least, most, above))


def _check_between(where: str, least: float, most: float, high: float) -> None:
    if not (least >= 0 and most <= high):
        limit = "finite" if high > 1 else "at most 1"
        raise ArgumentError(
            f"{where}: the probabilities are between {least:g} and {most:g}; they must "
            f"be at least 0 and {limit}."
        )


@method("bernoulli")
@traced
def bernoulli(
    input: Tensor,
    p: float | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Draw 1s and 0s of the dtype of `input`, which holds the probabilities of 1.

    If `p` is given, it replaces all of these probabilities.

    Parameters
    ----------
    input
        The input tensor.
    p
        The probability of a 1; by default, the elements of `input` are the
        probabilities.
    generator
        The generator of the random numbers; None is the generator that `manual_seed`
        seeds.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.bernoulli(ac.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    like("bernoulli", input)
    if p is None:
        chances = make(_floats("bernoulli", "input", input), None)
        _check_probabilities("bernoulli", chances._array, 1.0)
        return _hits(chances, chances, generator)
    chance = number("bernoulli", "p", p)
    check_probability("bernoulli", chance)
    return _hits_of(chance, input.detach(), generator)


@traced
def _hits_of(chance: float, like: Tensor, generator: Any) -> Tensor:
    """Return 1 with this probability, else 0, with the shape and dtype of `like`."""
    kind = like.dtype if like.is_floating_point() else dtypes.float32
    there = dtype_near(like._array, kind.numpy)
    drawn = draws("uniform", like.shape, there, generator)
    hit = arrays.compare(drawn, constant(chance, there), "lt")
    return make(arrays.cast(hit, like._array.dtype), None)


@traced
def _hits(chances: Tensor, like: Tensor, generator: Any) -> Tensor:
    """Return 1 with these probabilities, else 0, in the dtype of `like`."""
    a = chances._array
    drawn = draws("uniform", a.shape, a.dtype, generator)
    hit = arrays.compare(drawn, a, "lt")
    return make(arrays.cast(hit, like._array.dtype), None)


@method("multinomial")
@traced
def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Return indices drawn with probabilities proportional to `input`.

    Parameters
    ----------
    input
        The weights, a tensor of shape (C,) or (N, C).  The weights are finite and not
        negative, and each row has a weight above 0.
    num_samples
        The number of draws from each row.
    replacement
        True to allow an index to be drawn more than once from a row.
    generator
        The generator of the random numbers; None is the generator that `manual_seed`
        seeds.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Returns
    -------
    Tensor
        The indices, a tensor of int64 of shape (num_samples,) or (N, num_samples).

    Raises
    ------
    ShapeError
        If the shape of `input` is neither (C,) nor (N, C), or C is 0.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.multinomial(ac.tensor([0.0, 3.0]), 2, replacement=True)
    tensor([1, 1])
    """
    weights = _floats("multinomial", "input", input)
    if weights.ndim not in (1, 2) or weights.shape[-1] == 0:
        raise ShapeError(
            f"multinomial: `input` has shape {weights.shape}; it must be (C,) or (N, "
            "C) with C at least 1."
        )
    count = count_of("multinomial", num_samples)
    if count == 0:
        raise ArgumentError("multinomial: `num_samples` is 0; it must be at least 1.")
    _check_weights(make(weights, None), count, replacement)
    draw = _again if replacement else _once
    drawn = draw(make(weights, None), count, generator)._array
    return make(drawn, None)


def _check_weights(weights: Tensor, count: int, replacement: bool) -> None:
    def check(a: Any) -> None:
        if a.size and not _are_between(a, 0.0, _FINITE, 1 if replacement else count):
            _check_each_weight(make(a, None), count, replacement)

    check_values(check, weights._array)


def _check_each_weight(weights: Tensor, count: int, replacement: bool) -> None:
    needed = 1 if replacement else count
    smallest, largest, fewest = [one.item() for one in _extremes(weights, replacement)]
    _check_between("multinomial", smallest, largest, _FINITE)
    least = int(fewest)
    if least < needed:
        raise ArgumentError(
            f"multinomial: a row has {least} weights above 0; to draw {count} indices, "
            f"it must have at least {needed}."
        )


#: No weight may exceed this number.
_FINITE = 1.7e308


@traced
def _extremes(weights: Tensor, replacement: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Return the smallest and largest weight, and the fewest weights above 0 in a row.

    With replacement, the third result says whether each row has a weight above 0.
    """
    a = weights._array
    last, zero = (a.ndim - 1,), constant(0, a.dtype)
    if replacement:
        largest = arrays.max(a, last, False)
        fewest = arrays.compare(largest, zero, "gt")
    else:
        largest, positive = a, arrays.compare(a, zero, "gt")
        fewest = arrays.sum(positive, last, False)
    if fewest.ndim:
        fewest = arrays.min(arrays.cast(fewest, dtypes.int64.numpy), (0,), False)
    axes = tuple(range(largest.ndim))
    least = arrays.min(a, tuple(range(a.ndim)), False)
    most = arrays.max(largest, axes, False)
    return make(least, None), make(most, None), make(fewest, None)


def _rows_of(weights: Tensor) -> Any:
    """Return an array: the weights as rows of float64."""
    rows = arrays.cast(weights._array, dtypes.float64.numpy)
    return rows if rows.ndim == 2 else arrays.reshape(rows, (1, rows.size))


def _of_each(weights: Tensor, drawn: Any) -> Tensor:
    """Return the draws of each row as a tensor; drop the row dimension for one row."""
    line = weights.ndim == 1
    return make(arrays.reshape(drawn, (drawn.size,)) if line else drawn, None)


@traced
def _once(weights: Tensor, count: int, generator: Any) -> Tensor:
    """Draw without replacement: take the first arrivals of exponential clocks."""
    rows = _rows_of(weights)
    # 1 - u is in (0, 1]; a clock with weight 0 never rings.
    drawn = draws("uniform", rows.shape, rows.dtype, generator)
    u = arrays.sub(arrays.constant(1, rows), drawn)
    clocks = arrays.div(arrays.neg(arrays.log(u)), rows)
    never = arrays.compare(rows, arrays.constant(0, rows), "eq")
    clocks = arrays.where(never, arrays.constant(float("inf"), rows), clocks)
    return _of_each(weights, arrays.argtopk(clocks, 1, count, False))


@traced
def _again(weights: Tensor, count: int, generator: Any) -> Tensor:
    """Draw with replacement: find where a number falls in the running sums."""
    a = arrays.cast(weights._array, dtypes.float64.numpy)
    *rows, classes = a.shape
    ends = arrays.cumsum(a, len(rows))
    total = arrays.slice(ends, (..., slice(classes - 1, classes)))
    drawn = draws("uniform", (*rows, count), a.dtype, generator)
    places = arrays.mul(drawn, total)
    # A draw may be rounded up to the total, which belongs to the last class.
    if rows or classes == 1:
        found = arrays.searchsorted(ends, places, True)
        return make(arrays.minimum(found, arrays.constant(classes - 1, found)), None)
    inner = arrays.slice(ends, (slice(classes - 1),))
    return make(arrays.searchsorted(inner, places, True), None)


def normal(
    mean: Any,
    std: Any = 1.0,
    size: Sequence[int] | None = None,
    *,
    generator: Generator | None = None,
    out: Tensor | None = None,
    dtype: DType | None = None,
    device: str | Device | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return numbers drawn from normal distributions.

    Parameters
    ----------
    mean, std
        The mean and the standard deviation: numbers together with `size`, or
        floating-point tensors, which are broadcast.
    size
        The shape of the result, if `mean` and `std` are numbers.
    dtype
        The dtype of the result, if `mean` and `std` are numbers; by default the default
        dtype.
    device
        The device of the result; by default the CPU.
    requires_grad
        Whether operations on the result are recorded for gradients.
    generator
        The generator of the random numbers; None uses the generator that `manual_seed`
        seeds.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    ArgumentError
        If a standard deviation is negative.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.normal(ac.tensor([1.0, 2.0]), 0.0)
    tensor([1., 2.])
    """
    if device is not None:
        present(device)
    tensors = [x for x in (mean, std) if isinstance(x, Tensor)]
    for x in tensors:
        _floats("normal", "mean and std", x)
    for name, given in (("mean", mean), ("std", std)):
        if not isinstance(given, Tensor):
            number("normal", name, given)
    kind = float_or(dtype, tensors[0].dtype if tensors else None)
    if size is not None:
        shape = shape_of("normal", (size,))
    elif tensors:
        shape = broadcast_shapes("normal", *(x.shape for x in tensors))
    else:
        raise ArgumentError(
            f"normal: mean={mean} and std={std} are numbers; give `size`, too."
        )
    wide = dtypes.float32 if kind.is_half else kind
    center, spread = (as_operand(x, wide)._array for x in (mean, std))
    known = whole(spread)
    axes = tuple(range(known.ndim))
    if known.size and not float(arrays.min(known, axes)) >= 0:
        least = float(arrays.min(known, axes))
        message = (
            f"normal expects std >= 0.0, but found std of {least:g}; normal expects "
            "all elements of std >= 0.0."
        )
        raise ArgumentError(message)
    drawn = drawn_floats("normal", "normal", shape, wide, generator)
    array = arrays.add(arrays.mul(drawn, spread), center)
    array = array if wide is kind else arrays.cast(array, kind.numpy)
    return finished("normal", placed(array, device), out, requires_grad)

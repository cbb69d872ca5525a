# SPDX-License-Identifier: MIT
"""The gradients of a layer of long short-term memory; see `lstm` for the formulas.

The backward pass carries the gradients of h and c from the last step to the first::

    dc += dh * o * (1 - tanh(c')^2)
    d(i, f, g, o) = (dc * g * i (1 - i), dc * c * f (1 - f), dc * i * (1 - g^2),
                     dh * tanh(c') * o (1 - o))
    dc = dc * f    dh = d(i, f, g, o) w_hh
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, Tolerance
from autocalc._kernels.cases import Case, absent, floats, join, uniform
from autocalc._kernels.declare import composite
from autocalc._kernels.matmul._bounds import (
    FEWER_PARTS,
    SPLIT,
    lost_in_parts,
    lost_of_parts,
    said_of_parts,
)
from autocalc._kernels.precision import wide
from autocalc._kernels.recurrent._sequence import (
    TEXT,
    answer,
    backward_work,
    blocks,
    check,
    for_each,
    in_turns,
    joined_steps,
    numbers,
    order,
    product,
    rows,
    states_before,
    sum_of,
    times,
    total,
    wanted,
    weight_gradient,
    with_last,
)
from autocalc._kernels.recurrent.lstm import SIGMOIDS, lstm_reference, lstm_samples
from autocalc._kernels.rules import expect_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Budget, Meta, Sample

lstm_backward = composite(
    "lstm_backward",
    "dx? dw_ih? dw_hh? dbias? dh0? dc0? ; "
    "g gc? x w_ih w_hh out acts cells h0 c0 ; reverse:bool",
    "The gradients of lstm, from the gradients `g` of out and `gc` of c_n. dbias is "
    "the gradient of each of both biases.",
    key="shapes",
)


@lstm_backward.rule
def _rule(
    g: Meta,
    gc: Meta | None,
    x: Meta,
    w_ih: Meta,
    w_hh: Meta,
    out: Meta,
    acts: Meta,
    cells: Meta,
    h0: Meta,
    c0: Meta,
    reverse: bool,
) -> tuple[Meta, ...]:
    name = "lstm_backward"
    given = (x, w_ih, w_hh, None, None)
    dtype, steps, batch, hidden = check(name, 4, *given, h0=h0, c0=c0)
    for word, meta in (("g", g), ("out", out), ("cells", cells)):
        expect_shape(name, word, meta, (steps, batch, hidden))
    expect_shape(name, "acts", acts, (steps, batch, 4 * hidden))
    expect_shape(name, "gc", gc, (batch, hidden))
    bias = Meta((4 * hidden,), dtype)
    return x, w_ih, w_hh, bias, h0, c0


class Slopes:
    """Computes the slopes of all gates together, from the gates' values.

    The slope is s (1 - s) for a sigmoid, and (1 + a) (1 - a) for a tanh.
    """

    def __init__(
        self, xp: Any, hidden: int, sigmoids: tuple[bool, ...], like: Array
    ) -> None:
        self.shift = for_each(xp, hidden, sigmoids, (0.0, 1.0), like)

    def __call__(self, values: Array) -> Array:
        """Return the slopes of ``[B, gates * H]``."""
        return (values + self.shift) * (1 - values)


@lstm_backward.formula(lead="gemm")
def _(
    xp: Any,
    g: Array,
    gc: Array | None,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    out: Array,
    acts: Array,
    cells: Array,
    h0: Array,
    c0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array | None, ...]:
    like = g
    g, x, w_ih, w_hh, out, h0, c0 = (
        wide(xp, a) for a in (g, x, w_ih, w_hh, out, h0, c0)
    )
    slope = Slopes(xp, h0.shape[1], SIGMOIDS, g)
    dh, dc = xp.zeros_like(h0), xp.zeros_like(c0) if gc is None else wide(xp, gc)
    first = states_before(xp, wide(xp, cells), c0, reverse)
    parts: dict[int, Array] = {}
    for t in reversed(order(x.shape[0], reverse)):
        gates = wide(xp, acts[t])
        i, f, a, o = blocks(gates, 4)
        dh = dh + g[t]
        top = xp.tanh(wide(xp, cells[t]))
        dc = dc + dh * o * (1 - top * top)
        to_gates = [dc * a, dc * first[t], dc * i, dh * top]
        parts[t] = xp.concatenate(to_gates, axis=1) * slope(gates)
        dc = dc * f
        dh = xp.matmul(parts[t], w_hh)
    d = joined_steps(xp, parts, x, 4 * h0.shape[1])
    return wanted(
        (
            lambda: xp.matmul(d, w_ih),
            lambda: weight_gradient(xp, d, x),
            lambda: weight_gradient(xp, d, states_before(xp, out, h0, reverse)),
            lambda: xp.sum(d, axis=(0, 1)),
            lambda: dh,
            lambda: dc,
        ),
        want,
        like,
    )


#: A function of two operands that bounds the error of their product without rounding
#: errors.
Lost: TypeAlias = Callable[[Array, Array], Array | float]


#: All roundings of ``1 - tanh(c)^2``: 4 of tanh, which count twice in the square, and 2
#: others.
_TOP = 10


def _lstm_backward(lost: Lost) -> Tolerance:
    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Limits:
        g, gc, x, w_ih, w_hh, out, acts, cells, h0, c0 = numbers(inputs)
        (reverse,) = attributes
        dh, off_h, off_c = (np.zeros_like(h0) for _ in range(3))
        dc = np.zeros_like(c0) if gc is None else gc
        first = states_before(np, cells, c0, reverse)
        parts: dict[int, Array] = {}
        offs: dict[int, Array] = {}
        for t in reversed(order(x.shape[0], reverse)):
            i, f, a, o = blocks(acts[t], 4)
            c, top = np.abs(first[t]), np.tanh(cells[t])
            dh, off_h = dh + g[t], off_h + eps * np.abs(dh + g[t])
            size_h = np.abs(dh)
            dc = dc + dh * o * (1 - top**2)
            off_c = off_c + off_h * o * (1 - top**2) + _TOP * eps * size_h * o
            off_c = off_c + eps * np.abs(dc)
            size_c = np.abs(dc)
            parts[t] = np.concatenate(
                [
                    dc * a * i * (1 - i),
                    dc * first[t] * f * (1 - f),
                    dc * i * (1 - a**2),
                    dh * top * o * (1 - o),
                ],
                axis=1,
            )
            off = [
                off_c * np.abs(a) * i * (1 - i) + 5 * eps * size_c * np.abs(a) * i,
                off_c * c * f * (1 - f) + 5 * eps * size_c * c * f,
                off_c * i * (1 - a**2) + 6 * eps * size_c * i,
                off_h * np.abs(top) * o * (1 - o) + 9 * eps * size_h * np.abs(top) * o,
            ]
            offs[t] = np.concatenate(off, axis=1)
            dc, off_c = dc * f, off_c * f + eps * size_c * f
            dh, off_h = (
                np.matmul(parts[t], w_hh),
                product(parts[t], offs[t], w_hh, eps),
            )
        width = 4 * h0.shape[1]
        d, off_d = sum_of(parts, g, width), sum_of(offs, g, width)
        before = states_before(np, out, h0, reverse)
        turned = rows(d).T
        limits = (
            product(d, off_d, w_ih, eps) + lost(d, w_ih),
            times(d, off_d, x, eps) + lost(turned, rows(x)),
            times(d, off_d, before, eps) + lost(turned, rows(before)),
            total(d, off_d, eps),
            off_h,
            off_c,
        )
        return with_last(limits, expected, eps)

    return tolerance


lstm_backward.budget(Budget(TEXT, _lstm_backward(lambda _a, _b: 0.0)))


@lstm_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for n, sample in enumerate(lstm_samples(make)):
        x, w_ih, w_hh, _, _, h0, c0 = sample.inputs
        out, _, *saved = answer(lstm_reference, *sample.inputs, *sample.attributes)
        gc = make.normal(*c0.shape) if n % 3 else None
        g = make.normal(*out.shape)
        inputs = (g, gc, x, w_ih, w_hh, out, *saved, h0, c0)
        yield from in_turns(sample.label, inputs, sample.attributes, n, 6)


lstm_backward.work(backward_work(_rule, 4, 40.0, x=2))
lstm_backward.benchmarks(
    Case(
        "28 steps of 128x28 to 128",
        join(
            floats(28, 128, 128),
            absent,
            floats(28, 128, 28),
            floats(512, 28),
            floats(512, 128),
            floats(28, 128, 128),
            uniform(28, 128, 512),
            floats(28, 128, 128),
            *[floats(128, 128)] * 2,
        ),
        (False,),
        0b111111,
    )
)


lstm_backward_split = Budget(
    f"{TEXT}; dx and the weights'{SPLIT}", _lstm_backward(lost_in_parts)
)


lstm_backward.exception("split", lstm_backward_split)
for _parts in FEWER_PARTS:
    lstm_backward.exception(
        _parts,
        Budget(
            f"{TEXT}; dx and the weights' as products: {said_of_parts(_parts)}",
            _lstm_backward(lost_of_parts(_parts)),
        ),
    )

# SPDX-License-Identifier: MIT
"""A layer of long short-term memory over a whole sequence, forward and backward.

Hochreiter and Schmidhuber: Long short-term memory (1997), with the forget gate of Gers
and others (2000).  At each step, with h and c those of the step before::

    i, f, g, o = the four blocks of w_ih x + b_ih + w_hh h + b_hh
    c' = sigmoid(f) * c + sigmoid(i) * tanh(g)
    h' = sigmoid(o) * tanh(c')

Backward walks the steps from the last to the first with the gradients of h and c::

    dc += dh * o * (1 - tanh(c')^2)
    d(i, f, g, o) = (dc * g * i (1 - i), dc * c * f (1 - f), dc * i * (1 - g^2),
                     dh * tanh(c') * o (1 - o))
    dc = dc * f    dh = d(i, f, g, o) w_hh
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Tolerance
from autocalc._kernels.cases import Case, absent, floats, join, uniform
from autocalc._kernels.declare import composite
from autocalc._kernels.elementwise.arithmetic import sub_in_primitives
from autocalc._kernels.matmul._bounds import SPLIT, lost_in_parts
from autocalc._kernels.precision import narrow, sigmoid_of, wide
from autocalc._kernels.recurrent._sequence import (
    TEXT,
    Gates,
    Sums,
    answer,
    back_in,
    backward_work,
    before_in,
    blocks,
    blocks_in,
    calls,
    check,
    for_each,
    in_turns,
    joined,
    joined_in,
    joined_steps,
    numbers,
    order,
    product,
    product_in,
    projected,
    projected_in,
    rows,
    sigmoid,
    states_before,
    states_before_each_step,
    step_of,
    sum_of,
    tanh,
    times,
    times_in,
    total,
    total_in,
    turned,
    wanted,
    weight_gradient,
    with_last,
    work,
)
from autocalc._kernels.rules import expect_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Budget, Meta, Sample

lstm = composite(
    "lstm",
    "out c_n acts? cells? ; x w_ih w_hh b_ih? b_hh? h0 c0 ; reverse:bool",
    "A layer of LSTM over x [T, B, I]: out [T, B, H] and the last cell c_n "
    "[B, H]; weights [4H, I] and [4H, H], gates in the order i, f, g, o. For "
    "the backward kernel: acts [T, B, 4H], the gates after their activations, "
    "and cells [T, B, H]. reverse: from the last step to the first.",
    key="shapes",
)


@lstm.rule
def _rule(
    x: Meta,
    w_ih: Meta,
    w_hh: Meta,
    b_ih: Meta | None,
    b_hh: Meta | None,
    h0: Meta,
    c0: Meta,
    reverse: bool,
) -> tuple[Meta, Meta, Meta, Meta]:
    given = (x, w_ih, w_hh, b_ih, b_hh)
    dtype, steps, batch, hidden = check("lstm", 4, *given, h0=h0, c0=c0)
    out = Meta((steps, batch, hidden), dtype)
    return out, c0, Meta((steps, batch, 4 * hidden), dtype), out


@lstm.reference
def lstm_reference(
    xp: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    h0: Array,
    c0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array, Array, Array, Array]:
    h, c, w = (wide(xp, a) for a in (h0, c0, w_hh))
    inputs = projected(xp, wide(xp, x), wide(xp, w_ih), b_ih)
    hidden = h0.shape[1]
    out: dict[int, Array] = {}
    cells: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in order(x.shape[0], reverse):
        sums = inputs[t] + projected(xp, h, w, b_hh)
        i, f, g, o = blocks(sums, 4)
        i, f, o = (sigmoid_of(xp, a) for a in (i, f, o))
        g = xp.tanh(g)
        c = f * c + i * g
        h = o * xp.tanh(c)
        out[t], cells[t] = h, c
        acts[t] = xp.concatenate([i, f, g, o], axis=1)
    joined = [
        narrow(joined_steps(xp, parts, x, width), x)
        for parts, width in ((out, hidden), (acts, 4 * hidden), (cells, hidden))
    ]
    return joined[0], narrow(c, x), joined[1], joined[2]


#: Which gates have a sigmoid; g has a tanh.
_SIGMOIDS = (True, True, False, True)


@lstm.decomposition(lead="gemm")
def _(
    k: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    h0: Array,
    c0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array | None, ...]:
    steps, (batch, hidden) = k.shape(x)[0], k.shape(h0)
    inputs = projected_in(k, x, w_ih, b_ih)
    weights = turned(k, w_hh)
    gates = Gates(k, hidden, _SIGMOIDS, x)
    h, c = h0, c0
    out: dict[int, Array] = {}
    cells: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in order(steps, reverse):
        sums, _ = k.gemm(h, weights, b_hh)
        acts[t] = gates(k.add(sums, step_of(k, inputs, t)))
        i, f, g, o = blocks_in(k, acts[t], 4)
        c = k.add(k.mul(f, c), k.mul(i, g))
        h = k.mul(o, k.tanh(c))
        out[t], cells[t] = h, c
    one, all_gates = (steps, batch, hidden), (steps, batch, 4 * hidden)
    return (
        joined_in(k, out, one, x),
        c if steps else k.copy(c),
        joined_in(k, acts, all_gates, x) if want & 0b0100 else None,
        joined_in(k, cells, one, x) if want & 0b1000 else None,
    )


@lstm.budget("K eps of the products' terms in each step, carried through the next ones")
def _(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, w_ih, w_hh, b_ih, b_hh, h0, c0 = numbers(inputs)
    weights, (reverse,) = (x, w_ih, w_hh, b_ih, b_hh), attributes
    out, _, acts, cells = lstm_reference(numpy_xp, *weights, h0, c0, reverse)
    sums = Sums(weights, eps)
    h, c = (
        states_before_each_step(out, h0, reverse),
        states_before_each_step(cells, c0, reverse),
    )
    off, off_c = np.zeros_like(h0), np.zeros_like(c0)
    offs: tuple[dict[int, Array], ...] = ({}, {}, {})
    for t in order(out.shape[0], reverse):
        i, f, g, o = blocks(acts[t], 4)
        off_i, off_f, off_g, off_o = blocks(sums.off(t, h[t], off), 4)
        off_i, off_f, off_o = (
            sigmoid(a, s, eps) for a, s in ((off_i, i), (off_f, f), (off_o, o))
        )
        off_g = tanh(off_g, g, eps)
        terms = f * np.abs(c[t]) + i * np.abs(g)
        kept = off_f * np.abs(c[t]) + (f + off_f) * off_c
        off_c = kept + off_i * np.abs(g) + (i + off_i) * off_g + 3 * eps * terms
        top = np.tanh(cells[t])
        off_top = tanh(off_c, top, eps)
        off = off_o * np.abs(top) + (o + off_o) * off_top + 2 * eps * np.abs(out[t])
        each = off, np.concatenate([off_i, off_f, off_g, off_o], axis=1), off_c
        for parts, one in zip(offs, each, strict=True):
            parts[t] = one
    limits = [joined(p, like) for p, like in zip(offs, (out, acts, cells), strict=True)]
    limits.insert(1, off_c)
    return with_last(limits, expected, eps)


@lstm.samples
def lstm_samples(make: Make) -> Iterator[Sample]:
    for call in calls(make, 4, 2):
        operands = (*call.weights, *call.states)
        yield Sample(call.label, operands, (call.reverse,), want=0b1100)


lstm.work(work(_rule, 4, 60.0, kept=2))


@lstm.benchmarks
def _() -> Iterator[Case]:
    batch, steps, features, hidden = 128, 28, 28, 128
    operands = join(
        floats(steps, batch, features),
        floats(4 * hidden, features),
        floats(4 * hidden, hidden),
        *[floats(4 * hidden)] * 2,
        *[floats(batch, hidden)] * 2,
    )
    label = f"{steps} steps of {batch}x{features} to {hidden}"
    yield Case(label, operands, (False,))


lstm_backward = composite(
    "lstm_backward",
    "dx? dw_ih? dw_hh? dbias? dh0? dc0? ; "
    "g gc? x w_ih w_hh out acts cells h0 c0 ; reverse:bool",
    "The gradients of lstm from those of out (g) and c_n (gc); dbias is that "
    "of either bias.",
    key="shapes",
)


@lstm_backward.rule
def _backward_rule(
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


@lstm_backward.reference
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
) -> tuple[Array, ...]:
    like = g
    g, x, w_ih, w_hh, out, h0, c0 = (
        wide(xp, a) for a in (g, x, w_ih, w_hh, out, h0, c0)
    )
    dh, dc = xp.zeros_like(h0), xp.zeros_like(c0) if gc is None else wide(xp, gc)
    first = states_before(xp, wide(xp, cells), c0, reverse)
    parts: dict[int, Array] = {}
    for t in reversed(order(x.shape[0], reverse)):
        i, f, a, o = blocks(wide(xp, acts[t]), 4)
        dh = dh + g[t]
        top = xp.tanh(wide(xp, cells[t]))
        dc = dc + dh * o * (1 - top * top)
        sums = [
            dc * a * (i * (1 - i)),
            dc * first[t] * (f * (1 - f)),
            dc * i * (1 - a * a),
            dh * top * (o * (1 - o)),
        ]
        parts[t] = xp.concatenate(sums, axis=1)
        dc = dc * f
        dh = xp.matmul(parts[t], w_hh)
    d = joined_steps(xp, parts, x, 4 * h0.shape[1])
    results = (
        xp.matmul(d, w_ih),
        weight_gradient(xp, d, x),
        weight_gradient(xp, d, states_before(xp, out, h0, reverse)),
        xp.sum(d, axis=(0, 1)),
        dh,
        dc,
    )
    return tuple(narrow(a, like) for a in results)


class Slopes:
    """The slopes of all gates at once, of their values.

    s (1 - s) of a sigmoid, (1 + a) (1 - a) of a tanh.
    """

    def __init__(
        self, k: Any, hidden: int, sigmoids: tuple[bool, ...], like: Array
    ) -> None:
        self.k = k
        self.shift = for_each(k, hidden, sigmoids, (0.0, 1.0), like)

    def __call__(self, values: Array) -> Array:
        """Return the slopes of ``[B, gates * H]``."""
        k = self.k
        rest = k.add(k.neg(values), k.constant(1, values))
        return k.mul(k.add(values, self.shift), rest)


@lstm_backward.decomposition(lead="gemm")
def _(
    k: Any,
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
    steps, (batch, hidden) = k.shape(x)[0], k.shape(h0)
    slope = Slopes(k, hidden, _SIGMOIDS, g)
    first = before_in(k, cells, c0, reverse)
    one = k.constant(1, g)
    dh = k.zeros((batch, hidden), k.dtype(g))
    dc = k.zeros((batch, hidden), k.dtype(g)) if gc is None else gc
    parts: dict[int, Array] = {}
    for t in reversed(order(steps, reverse)):
        gates = step_of(k, acts, t)
        i, f, a, o = blocks_in(k, gates, 4)
        dh = k.add(dh, step_of(k, g, t))
        top = k.tanh(step_of(k, cells, t))
        rest = sub_in_primitives(k, one, k.mul(top, top))
        dc = k.add(dc, k.mul(k.mul(dh, o), rest))
        before = step_of(k, first, t)
        to_gates = [k.mul(dc, a), k.mul(dc, before), k.mul(dc, i), k.mul(dh, top)]
        parts[t] = k.mul(k.cat(to_gates, 1), slope(gates))
        dc = k.mul(dc, f)
        dh = product_in(k, parts[t], w_hh)
    d = joined_in(k, parts, (steps, batch, 4 * hidden), g)
    return wanted(
        (
            lambda: back_in(k, d, w_ih),
            lambda: times_in(k, d, x),
            lambda: times_in(k, d, before_in(k, out, h0, reverse)),
            lambda: total_in(k, d),
            lambda: dh,
            lambda: k.copy(dc) if dc is gc else dc,
        ),
        want,
    )


#: Of two operands: what their product loses beside its rounding errors.
Lost: TypeAlias = Callable[[Array, Array], Array | float]


#: Roundings of ``1 - tanh(c)^2`` in all: tanh 4, twice for the square, and its own 2.
_TOP = 10


def _lstm_backward(lost: Lost) -> Tolerance:
    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Sequence[Any]:
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
            product(d, off_d, w_ih, eps),
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


lstm_backward.work(backward_work(_backward_rule, 4, 40.0, x=2))
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
    f"{TEXT}; the weights'{SPLIT}", _lstm_backward(lost_in_parts)
)


lstm_backward.exception("split", lstm_backward_split)

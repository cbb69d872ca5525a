# SPDX-License-Identifier: MIT
"""A layer of long short-term memory over a whole sequence.

Hochreiter and Schmidhuber: Long short-term memory (1997), with the forget gate of Gers
and others (2000).  Each step computes, from the previous h and c::

    i, f, g, o = the four blocks of w_ih x + b_ih + w_hh h + b_hh
    c' = sigmoid(f) * c + sigmoid(i) * tanh(g)
    h' = sigmoid(o) * tanh(c')
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs, Limits
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import wide
from autocalc._kernels.recurrent._sequence import (
    Gates,
    Sums,
    blocks,
    calls,
    check,
    joined,
    joined_steps,
    numbers,
    order,
    projected,
    sigmoid,
    states_before_each_step,
    tanh,
    wanted,
    with_last,
    work,
)
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

lstm = composite(
    "lstm",
    "out c_n acts? cells? ; x w_ih w_hh b_ih? b_hh? h0 c0 ; reverse:bool",
    "A layer of LSTM over x [T, B, I]: out [T, B, H] and the last cell c_n [B, H]; "
    "weights [4H, I] and [4H, H], with gates in the order i, f, g, o. acts [T, B, 4H], "
    "the gates after their activations, and cells [T, B, H] are for the backward "
    "kernel. `reverse` goes from the last step to the first.",
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


#: The gates with a sigmoid; only g has a tanh.
SIGMOIDS = (True, True, False, True)


@lstm.formula(lead="gemm")
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
) -> tuple[Any, ...]:
    h, c, weights = wide(xp, h0), wide(xp, c0), wide(xp, w_hh).T
    inputs = projected(xp, wide(xp, x), wide(xp, w_ih), b_ih, b_hh)
    hidden = h0.shape[1]
    gates = Gates(xp, hidden, SIGMOIDS, h)
    out: dict[int, Array] = {}
    cells: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in order(x.shape[0], reverse):
        acts[t] = gates(inputs[t] + xp.matmul(h, weights))
        i, f, g, o = blocks(acts[t], 4)
        c = f * c + i * g
        h = o * xp.tanh(c)
        out[t], cells[t] = h, c
    return wanted(
        (
            lambda: joined_steps(xp, out, x, hidden),
            lambda: c,
            lambda: joined_steps(xp, acts, x, 4 * hidden),
            lambda: joined_steps(xp, cells, x, hidden),
        ),
        want | 0b0011,
        x,
    )


@lstm.budget("K eps of the products' terms in each step, carried through the next ones")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
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

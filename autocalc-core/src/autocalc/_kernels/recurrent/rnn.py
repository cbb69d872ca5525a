# SPDX-License-Identifier: MIT
"""A plain recurrent layer over a whole sequence, forward and backward.

Elman: Finding structure in time (1990).  Each step computes, from the previous h::

    h' = activation(w_ih x + b_ih + w_hh h + b_hh)

The backward pass goes from the last step to the first: d = dh * slope, dh = d w_hh.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, ulp
from autocalc._kernels.cases import Case, floats, join, uniform
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.recurrent._sequence import (
    TEXT,
    Sums,
    answer,
    backward_work,
    calls,
    check,
    in_turns,
    joined,
    joined_steps,
    numbers,
    order,
    product,
    projected,
    states_before,
    states_before_each_step,
    tanh,
    times,
    total,
    wanted,
    weight_gradient,
    with_last,
    work,
)
from autocalc._kernels.rules import expect_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

rnn = composite(
    "rnn",
    "out ; x w_ih w_hh b_ih? b_hh? h0 ; activation:tanh,relu reverse:bool",
    "A recurrent layer over x [T, B, I]: out [T, B, H]; weights [H, I] and [H, H]. "
    "`reverse` goes from the last step to the first.",
    key="shapes",
)


@rnn.rule
def _rule(
    x: Meta,
    w_ih: Meta,
    w_hh: Meta,
    b_ih: Meta | None,
    b_hh: Meta | None,
    h0: Meta,
    activation: str,
    reverse: bool,
) -> Meta:
    given = (x, w_ih, w_hh, b_ih, b_hh)
    dtype, steps, batch, hidden = check("rnn", 1, *given, h0=h0)
    return Meta((steps, batch, hidden), dtype)


@rnn.formula(lead="gemm")
def rnn_reference(
    xp: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    h0: Array,
    activation: str,
    reverse: bool,
) -> Array:
    h, weights = wide(xp, h0), wide(xp, w_hh).T
    inputs = projected(xp, wide(xp, x), wide(xp, w_ih), b_ih, b_hh)
    out: dict[int, Array] = {}
    for t in order(x.shape[0], reverse):
        sums = inputs[t] + xp.matmul(h, weights)
        h = out[t] = xp.tanh(sums) if activation == "tanh" else xp.maximum(sums, 0)
    return narrow(joined_steps(xp, out, x, h0.shape[1]), x)


@rnn.budget("K eps of the products' terms in each step, carried through the next ones")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    *weights, h0 = numbers(inputs)
    activation, reverse = attributes
    out = expected[0]
    sums, states = Sums(weights, eps), states_before_each_step(out, h0, reverse)
    off, offs = np.zeros_like(h0), {}
    for t in order(out.shape[0], reverse):
        off = sums.off(t, states[t], off)
        if activation == "tanh":
            off = tanh(off, out[t], eps)
        offs[t] = off
    return [joined(offs, out) + ulp(out, eps)]


@rnn.samples
def rnn_samples(make: Make) -> Iterator[Sample]:
    for n, call in enumerate(calls(make, 1, 1)):
        attributes = (("tanh", "relu")[n // 2 % 2], call.reverse)
        yield Sample(call.label, (*call.weights, *call.states), attributes)


rnn.work(work(_rule, 1, 15.0))
rnn.benchmarks(
    Case(
        "28 steps of 128x28 to 128",
        join(
            floats(28, 128, 28),
            floats(128, 28),
            floats(128, 128),
            *[floats(128)] * 2,
            floats(128, 128),
        ),
        ("tanh", False),
    )
)


rnn_backward = composite(
    "rnn_backward",
    "dx? dw_ih? dw_hh? dbias? dh0? ; "
    "g x w_ih w_hh out h0 ; activation:tanh,relu reverse:bool",
    "The gradients of rnn, from the gradient g of out. dbias is the gradient of each "
    "of both biases.",
    key="shapes",
)


@rnn_backward.rule
def _backward_rule(
    g: Meta,
    x: Meta,
    w_ih: Meta,
    w_hh: Meta,
    out: Meta,
    h0: Meta,
    activation: str,
    reverse: bool,
) -> tuple[Meta, ...]:
    name = "rnn_backward"
    given = (x, w_ih, w_hh, None, None)
    dtype, steps, batch, hidden = check(name, 1, *given, h0=h0)
    for word, meta in (("g", g), ("out", out)):
        expect_shape(name, word, meta, (steps, batch, hidden))
    return x, w_ih, w_hh, Meta((hidden,), dtype), h0


@rnn_backward.formula(lead="gemm")
def _(
    xp: Any,
    g: Array,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    out: Array,
    h0: Array,
    activation: str,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array | None, ...]:
    like = g
    g, x, w_ih, w_hh, out, h0 = (wide(xp, a) for a in (g, x, w_ih, w_hh, out, h0))
    dh = xp.zeros_like(h0)
    parts: dict[int, Array] = {}
    for t in reversed(order(x.shape[0], reverse)):
        dh = dh + g[t]
        if activation == "tanh":
            parts[t] = dh * (1 - out[t] * out[t])
        else:
            parts[t] = xp.where(out[t] > 0, dh, 0.0)
        dh = xp.matmul(parts[t], w_hh)
    d = joined_steps(xp, parts, x, h0.shape[1])
    return wanted(
        (
            lambda: xp.matmul(d, w_ih),
            lambda: weight_gradient(xp, d, x),
            lambda: weight_gradient(xp, d, states_before(xp, out, h0, reverse)),
            lambda: xp.sum(d, axis=(0, 1)),
            lambda: dh,
        ),
        want,
        like,
    )


@rnn_backward.budget(TEXT)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    g, x, w_ih, w_hh, out, h0 = numbers(inputs)
    activation, reverse = attributes
    dh, off = np.zeros_like(h0), np.zeros_like(h0)
    parts: dict[int, Array] = {}
    offs: dict[int, Array] = {}
    for t in reversed(order(x.shape[0], reverse)):
        dh, off = dh + g[t], off + eps * np.abs(dh + g[t])
        slope = 1 - out[t] ** 2 if activation == "tanh" else out[t] > 0
        parts[t], offs[t] = dh * slope, off * slope + 4 * eps * np.abs(dh)
        off = product(parts[t], offs[t], w_hh, eps)
        dh = np.matmul(parts[t], w_hh)
    d, off_d = joined(parts, g), joined(offs, g)
    limits = (
        product(d, off_d, w_ih, eps),
        times(d, off_d, x, eps),
        times(d, off_d, states_before(np, out, h0, reverse), eps),
        total(d, off_d, eps),
        off,
    )
    return with_last(limits, expected, eps)


@rnn_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for n, sample in enumerate(rnn_samples(make)):
        x, w_ih, w_hh, _, _, h0 = sample.inputs
        out = answer(rnn_reference, *sample.inputs, *sample.attributes)
        inputs = (make.normal(*out.shape), x, w_ih, w_hh, out, h0)
        yield from in_turns(sample.label, inputs, sample.attributes, n, 5)


rnn_backward.work(backward_work(_backward_rule, 1, 5.0))
rnn_backward.benchmarks(
    Case(
        "28 steps of 128x28 to 128",
        join(
            floats(28, 128, 128),
            floats(28, 128, 28),
            floats(128, 28),
            floats(128, 128),
            uniform(28, 128, 128),
            floats(128, 128),
        ),
        ("tanh", False),
        0b11111,
    )
)

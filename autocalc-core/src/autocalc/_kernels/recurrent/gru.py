# SPDX-License-Identifier: MIT
"""A layer of gated recurrent units over a whole sequence, forward and backward.

Cho and others: Learning phrase representations using RNN encoder-decoder (2014), with
the reset gate behind the product, as cuDNN and PyTorch have it.  At each step, with h
that of the step before and xr, xz, xn, hr, hz, hn the blocks of w_ih x + b_ih and of
w_hh h + b_hh::

    r = sigmoid(xr + hr)    z = sigmoid(xz + hz)    n = tanh(xn + r * hn)
    h' = n + z * (h - n)

Backward walks the steps from the last to the first with the gradient of h::

    dn = dh (1 - z) (1 - n^2)    dz = dh (h - n) z (1 - z)    dr = dn hn r (1 - r)
    dh = dh z + (dr, dz, dn r) w_hh
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels.budgets import Inputs
from autocalc._kernels.cases import Case, floats, join, uniform
from autocalc._kernels.declare import composite
from autocalc._kernels.elementwise.arithmetic import sub_in_primitives
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
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

gru = composite(
    "gru",
    "out acts? ; x w_ih w_hh b_ih? b_hh? h0 ; reverse:bool",
    "A layer of gated recurrent units over x [T, B, I]: out [T, B, H]; weights "
    "[3H, I] and [3H, H], gates in the order r, z, n. For the backward "
    "kernel: acts [T, B, 4H], the gates after their activations, and the block "
    "n of w_hh h + b_hh. reverse: from the last step to the first.",
    key="shapes",
)


@gru.rule
def _rule(
    x: Meta,
    w_ih: Meta,
    w_hh: Meta,
    b_ih: Meta | None,
    b_hh: Meta | None,
    h0: Meta,
    reverse: bool,
) -> tuple[Meta, Meta]:
    given = (x, w_ih, w_hh, b_ih, b_hh)
    dtype, steps, batch, hidden = check("gru", 3, *given, h0=h0)
    out = Meta((steps, batch, hidden), dtype)
    return out, Meta((steps, batch, 4 * hidden), dtype)


@gru.reference
def gru_reference(
    xp: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    h0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array, Array]:
    h, w = wide(xp, h0), wide(xp, w_hh)
    inputs = projected(xp, wide(xp, x), wide(xp, w_ih), b_ih)
    hidden = h0.shape[1]
    out: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in order(x.shape[0], reverse):
        xr, xz, xn = blocks(inputs[t], 3)
        hr, hz, hn = blocks(projected(xp, h, w, b_hh), 3)
        r, z = sigmoid_of(xp, xr + hr), sigmoid_of(xp, xz + hz)
        n = xp.tanh(xn + r * hn)
        h = n + z * (h - n)
        out[t], acts[t] = h, xp.concatenate([r, z, n, hn], axis=1)
    return (
        narrow(joined_steps(xp, out, x, hidden), x),
        narrow(joined_steps(xp, acts, x, 4 * hidden), x),
    )


@gru.decomposition(lead="gemm")
def _(
    k: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    h0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array, Array | None]:
    steps, (batch, hidden) = k.shape(x)[0], k.shape(h0)
    inputs = projected_in(k, x, w_ih, b_ih)
    weights = turned(k, w_hh)
    gates = Gates(k, hidden, (True, True), x)
    two, third = (..., slice(0, 2 * hidden)), (..., slice(2 * hidden, 3 * hidden))
    h = h0
    out: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in order(steps, reverse):
        of_h, _ = k.gemm(h, weights, b_hh)
        of_x = step_of(k, inputs, t)
        both = gates(k.add(k.slice(of_x, two), k.slice(of_h, two)))
        r, z = blocks_in(k, both, 2)
        hn = k.slice(of_h, third)
        n = k.tanh(k.add(k.slice(of_x, third), k.mul(r, hn)))
        h = k.add(n, k.mul(z, sub_in_primitives(k, h, n)))
        out[t] = h
        if want & 0b10:
            acts[t] = k.cat([both, n, hn], 1)
    one = (steps, batch, hidden)
    saved = None
    if want & 0b10:
        saved = joined_in(k, acts, (*one[:2], 4 * hidden), x)
    return joined_in(k, out, one, x), saved


@gru.budget("K eps of the products' terms in each step, carried through the next ones")
def _(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, w_ih, w_hh, b_ih, b_hh, h0 = numbers(inputs)
    weights, (reverse,) = (x, w_ih, w_hh, b_ih, b_hh), attributes
    out, acts = gru_reference(numpy_xp, *weights, h0, reverse)
    sums, states = Sums(weights, eps), states_before_each_step(out, h0, reverse)
    off = np.zeros_like(h0)
    offs: tuple[dict[int, Array], ...] = ({}, {})
    for t in order(out.shape[0], reverse):
        h = states[t]
        r, z, n, hn = blocks(acts[t], 4)
        off_r, off_z, _ = blocks(sums.off(t, h, off), 3)
        off_r, off_z = sigmoid(off_r, r, eps), sigmoid(off_z, z, eps)
        off_hn = blocks(sums.off_h(h, off), 3)[2]
        off_xn, xn = (blocks(a[t], 3)[2] for a in (sums.off_x, sums.of_x))
        off_n = off_xn + off_r * np.abs(hn) + (r + off_r) * off_hn
        off_n = tanh(off_n + 2 * eps * (xn + r * np.abs(hn)), n, eps)
        terms = (1 + z) * np.abs(n) + z * np.abs(h)
        change = off_z * (np.abs(h - n) + off + off_n) + z * off
        off = (1 - z + 2 * eps) * off_n + change + 4 * eps * terms
        each = off, np.concatenate([off_r, off_z, off_n, off_hn], axis=1)
        for parts, one in zip(offs, each, strict=True):
            parts[t] = one
    limits = [joined(p, like) for p, like in zip(offs, (out, acts), strict=True)]
    return with_last(limits, expected, eps)


@gru.samples
def gru_samples(make: Make) -> Iterator[Sample]:
    for call in calls(make, 3, 1):
        operands = (*call.weights, *call.states)
        yield Sample(call.label, operands, (call.reverse,), want=0b10)


gru.work(work(_rule, 3, 50.0))


@gru.benchmarks
def _() -> Iterator[Case]:
    batch, steps, features, hidden = 128, 28, 28, 128
    operands = join(
        floats(steps, batch, features),
        floats(3 * hidden, features),
        floats(3 * hidden, hidden),
        *[floats(3 * hidden)] * 2,
        *[floats(batch, hidden)] * 1,
    )
    label = f"{steps} steps of {batch}x{features} to {hidden}"
    yield Case(label, operands, (False,))


gru_backward = composite(
    "gru_backward",
    "dx? dw_ih? dw_hh? db_ih? db_hh? dh0? ; g x w_ih w_hh out acts h0 ; reverse:bool",
    "The gradients of gru from that of out (g).",
    key="shapes",
)


@gru_backward.rule
def _backward_rule(
    g: Meta,
    x: Meta,
    w_ih: Meta,
    w_hh: Meta,
    out: Meta,
    acts: Meta,
    h0: Meta,
    reverse: bool,
) -> tuple[Meta, ...]:
    name = "gru_backward"
    given = (x, w_ih, w_hh, None, None)
    dtype, steps, batch, hidden = check(name, 3, *given, h0=h0)
    for word, meta in (("g", g), ("out", out)):
        expect_shape(name, word, meta, (steps, batch, hidden))
    expect_shape(name, "acts", acts, (steps, batch, 4 * hidden))
    bias = Meta((3 * hidden,), dtype)
    return x, w_ih, w_hh, bias, bias, h0


@gru_backward.reference
def _(
    xp: Any,
    g: Array,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    out: Array,
    acts: Array,
    h0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array, ...]:
    like = g
    g, x, w_ih, w_hh, out, h0 = (wide(xp, a) for a in (g, x, w_ih, w_hh, out, h0))
    dh = xp.zeros_like(h0)
    first = states_before(xp, out, h0, reverse)
    of_x: dict[int, Array] = {}
    of_h: dict[int, Array] = {}
    for t in reversed(order(x.shape[0], reverse)):
        r, z, n, hn = blocks(wide(xp, acts[t]), 4)
        dh = dh + g[t]
        dn = dh * (1 - z) * (1 - n * n)
        dz = dh * (first[t] - n) * (z * (1 - z))
        dr = dn * hn * (r * (1 - r))
        of_x[t] = xp.concatenate([dr, dz, dn], axis=1)
        of_h[t] = xp.concatenate([dr, dz, dn * r], axis=1)
        dh = dh * z + xp.matmul(of_h[t], w_hh)
    width = 3 * h0.shape[1]
    dx, dh_sums = (joined_steps(xp, parts, x, width) for parts in (of_x, of_h))
    results = (
        xp.matmul(dx, w_ih),
        weight_gradient(xp, dx, x),
        weight_gradient(xp, dh_sums, first),
        xp.sum(dx, axis=(0, 1)),
        xp.sum(dh_sums, axis=(0, 1)),
        dh,
    )
    return tuple(narrow(a, like) for a in results)


def slope_in(k: Any, s: Array, one: Array) -> Array:
    """Return s (1 - s), the slope of the sigmoid whose value is s."""
    return k.mul(s, k.add(one, k.neg(s)))


def _factors_in(k: Any, acts: Array, first: Array) -> tuple[Array, ...]:
    """Return what a step's gradients are multiplied by.

    From dn to the sum of r; from dh to those of z and n; and r and z.
    """
    one = k.constant(1, acts)
    r, z, n, hn = blocks_in(k, acts, 4)
    rest = sub_in_primitives(k, one, z)
    change = sub_in_primitives(k, first, n)
    return (
        k.mul(hn, slope_in(k, r, one)),
        k.mul(change, k.mul(z, rest)),
        k.mul(rest, sub_in_primitives(k, one, k.mul(n, n))),
        r,
        z,
    )


@gru_backward.decomposition(lead="gemm")
def _(
    k: Any,
    g: Array,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    out: Array,
    acts: Array,
    h0: Array,
    reverse: bool,
    *,
    want: int = -1,
) -> tuple[Array | None, ...]:
    steps, (batch, hidden) = k.shape(x)[0], k.shape(h0)
    first = before_in(k, out, h0, reverse)
    dh = k.zeros((batch, hidden), k.dtype(g))
    of_x: dict[int, Array] = {}
    of_h: dict[int, Array] = {}
    for t in reversed(order(steps, reverse)):
        kept, before = (step_of(k, a, t) for a in (acts, first))
        to_r, to_z, to_n, r, z = _factors_in(k, kept, before)
        dh = k.add(dh, step_of(k, g, t))
        dn, dz = k.mul(dh, to_n), k.mul(dh, to_z)
        dr = k.mul(dn, to_r)
        of_x[t] = k.cat([dr, dz, dn], 1)
        of_h[t] = k.cat([dr, dz, k.mul(dn, r)], 1)
        dh = k.add(k.mul(dh, z), product_in(k, of_h[t], w_hh))
    shape = (steps, batch, 3 * hidden)
    dx, dh_sums = (joined_in(k, parts, shape, g) for parts in (of_x, of_h))
    return wanted(
        (
            lambda: back_in(k, dx, w_ih),
            lambda: times_in(k, dx, x),
            lambda: times_in(k, dh_sums, first),
            lambda: total_in(k, dx),
            lambda: total_in(k, dh_sums),
            lambda: dh,
        ),
        want,
    )


@gru_backward.budget(TEXT)
def _(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x, w_ih, w_hh, out, acts, h0 = numbers(inputs)
    (reverse,) = attributes
    dh, off = np.zeros_like(h0), np.zeros_like(h0)
    first = states_before(np, out, h0, reverse)
    of_x: tuple[dict[int, Array], ...] = ({}, {})
    of_h: tuple[dict[int, Array], ...] = ({}, {})
    for t in reversed(order(x.shape[0], reverse)):
        r, z, n, hn = blocks(acts[t], 4)
        dh, off = dh + g[t], off + eps * np.abs(dh + g[t])
        size = np.abs(dh)
        slope = (1 - z) * (1 - n**2)
        change = first[t] - n
        dn, off_n = dh * slope, off * slope + 6 * eps * size
        dz = dh * change * z * (1 - z)
        terms = (np.abs(first[t]) + np.abs(n)) * z
        off_z = off * np.abs(change) * z * (1 - z) + 6 * eps * size * terms
        dr = dn * hn * r * (1 - r)
        off_r = off_n * np.abs(hn) * r * (1 - r) + 5 * eps * np.abs(dn * hn) * r
        of_x[0][t] = np.concatenate([dr, dz, dn], axis=1)
        of_x[1][t] = np.concatenate([off_r, off_z, off_n], axis=1)
        last = off_n * r + eps * np.abs(dn * r)
        of_h[0][t] = np.concatenate([dr, dz, dn * r], axis=1)
        of_h[1][t] = np.concatenate([off_r, off_z, last], axis=1)
        off = off * z + product(of_h[0][t], of_h[1][t], w_hh, eps)
        off = off + 2 * eps * size * z
        dh = dh * z + np.matmul(of_h[0][t], w_hh)
    width = 3 * h0.shape[1]
    d, off_d = (sum_of(parts, g, width) for parts in of_x)
    d_h, off_d_h = (sum_of(parts, g, width) for parts in of_h)
    limits = (
        product(d, off_d, w_ih, eps),
        times(d, off_d, x, eps),
        times(d_h, off_d_h, first, eps),
        total(d, off_d, eps),
        total(d_h, off_d_h, eps),
        off,
    )
    return with_last(limits, expected, eps)


@gru_backward.samples
def _(make: Make) -> Iterator[Sample]:
    for n, sample in enumerate(gru_samples(make)):
        x, w_ih, w_hh, _, _, h0 = sample.inputs
        out, acts = answer(gru_reference, *sample.inputs, *sample.attributes)
        inputs = (make.normal(*out.shape), x, w_ih, w_hh, out, acts, h0)
        yield from in_turns(sample.label, inputs, sample.attributes, n, 6)


gru_backward.work(backward_work(_backward_rule, 3, 30.0))
gru_backward.benchmarks(
    Case(
        "28 steps of 128x28 to 128",
        join(
            floats(28, 128, 128),
            floats(28, 128, 28),
            floats(384, 28),
            floats(384, 128),
            floats(28, 128, 128),
            uniform(28, 128, 512),
            floats(128, 128),
        ),
        (False,),
        0b111111,
    )
)

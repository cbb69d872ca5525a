# SPDX-License-Identifier: MIT
"""A layer of gated recurrent units over a whole sequence.

Cho and others: Learning phrase representations using RNN encoder-decoder (2014).  The
reset gate is applied after the product, as in cuDNN and PyTorch.  Each step computes,
from the previous h, and with the blocks xr, xz, xn of w_ih x + b_ih and hr, hz, hn of
w_hh h + b_hh::

    r = sigmoid(xr + hr)    z = sigmoid(xz + hz)    n = tanh(xn + r * hn)
    h' = n + z * (h - n)
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

gru = composite(
    "gru",
    "out acts? ; x w_ih w_hh b_ih? b_hh? h0 ; reverse:bool",
    "A layer of gated recurrent units over x [T, B, I]: out [T, B, H]; weights [3H, I] "
    "and [3H, H], with gates in the order r, z, n. acts [T, B, 4H] is for the backward "
    "kernel: the gates after their activations, and block n of w_hh h + b_hh. "
    "`reverse` goes from the last step to the first.",
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


@gru.formula(lead="gemm")
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
) -> tuple[Any, ...]:
    h, w, want_acts = wide(xp, h0), wide(xp, w_hh), bool(want & 0b10)
    inputs = projected(xp, wide(xp, x), wide(xp, w_ih), b_ih)
    hidden = h0.shape[1]
    gates = Gates(xp, hidden, (True, True), h)
    out: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in order(x.shape[0], reverse):
        of_x, of_h = inputs[t], projected(xp, h, w, b_hh)
        both = gates(of_x[..., : 2 * hidden] + of_h[..., : 2 * hidden])
        r, z = blocks(both, 2)
        hn = of_h[..., 2 * hidden :]
        n = xp.tanh(of_x[..., 2 * hidden :] + r * hn)
        h = out[t] = n + z * (h - n)
        if want_acts:
            acts[t] = xp.concatenate([both, n, hn], axis=1)
    return wanted(
        (
            lambda: joined_steps(xp, out, x, hidden),
            lambda: joined_steps(xp, acts, x, 4 * hidden),
        ),
        want | 0b01,
        x,
    )


@gru.budget("K eps of the products' terms in each step, carried through the next ones")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
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

# SPDX-License-Identifier: MIT
"""The gradients of a layer of gated recurrent units; see `gru` for the formulas.

The backward pass carries the gradient of h from the last step to the first::

    dn = dh (1 - z) (1 - n^2)    dz = dh (h - n) z (1 - z)    dr = dn hn r (1 - r)
    dh = dh z + (dr, dz, dn r) w_hh
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits
from autocalc._kernels.cases import Case, floats, join, uniform
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import wide
from autocalc._kernels.recurrent._sequence import (
    TEXT,
    answer,
    backward_work,
    blocks,
    check,
    in_turns,
    joined_steps,
    numbers,
    order,
    product,
    states_before,
    sum_of,
    times,
    total,
    wanted,
    weight_gradient,
    with_last,
)
from autocalc._kernels.recurrent.gru import gru_reference, gru_samples
from autocalc._kernels.rules import expect_shape
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample

gru_backward = composite(
    "gru_backward",
    "dx? dw_ih? dw_hh? db_ih? db_hh? dh0? ; g x w_ih w_hh out acts h0 ; reverse:bool",
    "The gradients of gru, from the gradient g of out.",
    key="shapes",
)


@gru_backward.rule
def _rule(
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


@gru_backward.formula(lead="gemm")
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
) -> tuple[Array | None, ...]:
    like = g
    g, x, w_ih, w_hh, out, h0 = (wide(xp, a) for a in (g, x, w_ih, w_hh, out, h0))
    dh = xp.zeros_like(h0)
    first = states_before(xp, out, h0, reverse)
    of_x: dict[int, Array] = {}
    of_h: dict[int, Array] = {}
    for t in reversed(order(x.shape[0], reverse)):
        r, z, n, hn = blocks(wide(xp, acts[t]), 4)
        dh, rest = dh + g[t], 1 - z
        dn = dh * (rest * (1 - n * n))
        dz = dh * ((first[t] - n) * (z * rest))
        dr = dn * (hn * (r * (1 - r)))
        of_x[t] = xp.concatenate([dr, dz, dn], axis=1)
        of_h[t] = xp.concatenate([dr, dz, dn * r], axis=1)
        dh = dh * z + xp.matmul(of_h[t], w_hh)
    width = 3 * h0.shape[1]
    dx, dh_sums = (joined_steps(xp, parts, x, width) for parts in (of_x, of_h))
    return wanted(
        (
            lambda: xp.matmul(dx, w_ih),
            lambda: weight_gradient(xp, dx, x),
            lambda: weight_gradient(xp, dh_sums, first),
            lambda: xp.sum(dx, axis=(0, 1)),
            lambda: xp.sum(dh_sums, axis=(0, 1)),
            lambda: dh,
        ),
        want,
        like,
    )


@gru_backward.budget(TEXT)
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
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


gru_backward.work(backward_work(_rule, 3, 30.0))
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

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

from typing import Any

from autocalc._kernels._legacy import _budgets_recurrent as budgets
from autocalc._kernels._legacy import _budgets_recurrent_backward as budgets_backward
from autocalc._kernels._legacy import _recurrent as recurrent
from autocalc._kernels._legacy import _references_recurrent as references
from autocalc._kernels._legacy import _samples_recurrent as samples
from autocalc._kernels._legacy.elementwise_composites import sub_in_primitives
from autocalc._kernels.rules import expect_shape
from autocalc._kernels.spec import Array, KernelSpec, Meta

# ---- rules ---------------------------------------------------------------------------


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
    dtype, steps, batch, hidden = recurrent.check("gru", 3, *given, h0=h0)
    out = Meta((steps, batch, hidden), dtype)
    return out, Meta((steps, batch, 4 * hidden), dtype)


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
    dtype, steps, batch, hidden = recurrent.check(name, 3, *given, h0=h0)
    for word, meta in (("g", g), ("out", out)):
        expect_shape(name, word, meta, (steps, batch, hidden))
    expect_shape(name, "acts", acts, (steps, batch, 4 * hidden))
    bias = Meta((3 * hidden,), dtype)
    return x, w_ih, w_hh, bias, bias, h0


# ---- in primitives -------------------------------------------------------------------


def gru_in_primitives(
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
    inputs = recurrent.projected_in(k, x, w_ih, b_ih)
    weights = recurrent.turned(k, w_hh)
    gates = recurrent.Gates(k, hidden, (True, True), x)
    two, third = (..., slice(0, 2 * hidden)), (..., slice(2 * hidden, 3 * hidden))
    h = h0
    out: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in recurrent.order(steps, reverse):
        of_h, _ = k.gemm(h, weights, b_hh)
        of_x = recurrent.step_of(k, inputs, t)
        both = gates(k.add(k.slice(of_x, two), k.slice(of_h, two)))
        r, z = recurrent.blocks_in(k, both, 2)
        hn = k.slice(of_h, third)
        n = k.tanh(k.add(k.slice(of_x, third), k.mul(r, hn)))
        h = k.add(n, k.mul(z, sub_in_primitives(k, h, n)))
        out[t] = h
        if want & 0b10:
            acts[t] = k.cat([both, n, hn], 1)
    one = (steps, batch, hidden)
    saved = None
    if want & 0b10:
        saved = recurrent.joined_in(k, acts, (*one[:2], 4 * hidden), x)
    return recurrent.joined_in(k, out, one, x), saved


def gru_backward_in_primitives(
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
    first = recurrent.before_in(k, out, h0, reverse)
    dh = k.zeros((batch, hidden), k.dtype(g))
    of_x: dict[int, Array] = {}
    of_h: dict[int, Array] = {}
    for t in reversed(recurrent.order(steps, reverse)):
        kept, before = (recurrent.step_of(k, a, t) for a in (acts, first))
        to_r, to_z, to_n, r, z = _factors_in(k, kept, before)
        dh = k.add(dh, recurrent.step_of(k, g, t))
        dn, dz = k.mul(dh, to_n), k.mul(dh, to_z)
        dr = k.mul(dn, to_r)
        of_x[t] = k.cat([dr, dz, dn], 1)
        of_h[t] = k.cat([dr, dz, k.mul(dn, r)], 1)
        dh = k.add(k.mul(dh, z), recurrent.product_in(k, of_h[t], w_hh))
    shape = (steps, batch, 3 * hidden)
    dx, dh_sums = (recurrent.joined_in(k, parts, shape, g) for parts in (of_x, of_h))
    return recurrent.wanted(
        (
            lambda: recurrent.back_in(k, dx, w_ih),
            lambda: recurrent.times_in(k, dx, x),
            lambda: recurrent.times_in(k, dh_sums, first),
            lambda: recurrent.total_in(k, dx),
            lambda: recurrent.total_in(k, dh_sums),
            lambda: dh,
        ),
        want,
    )


def _factors_in(k: Any, acts: Array, first: Array) -> tuple[Array, ...]:
    """Return what a step's gradients are multiplied by.

    From dn to the sum of r; from dh to those of z and n; and r and z.
    """
    one = k.constant(1, acts)
    r, z, n, hn = recurrent.blocks_in(k, acts, 4)
    rest = sub_in_primitives(k, one, z)
    change = sub_in_primitives(k, first, n)
    return (
        k.mul(hn, recurrent.slope_in(k, r, one)),
        k.mul(change, k.mul(z, rest)),
        k.mul(rest, sub_in_primitives(k, one, k.mul(n, n))),
        r,
        z,
    )


# ---- specs ---------------------------------------------------------------------------


SPECS = (
    KernelSpec(
        name="gru",
        kind="composite",
        signature="out acts? ; x w_ih w_hh b_ih? b_hh? h0 ; reverse:bool",
        doc=(
            "A layer of gated recurrent units over x [T, B, I]: out [T, B, H]; weights "
            "[3H, I] and [3H, H], gates in the order r, z, n. For the backward "
            "kernel: acts [T, B, 4H], the gates after their activations, and the block "
            "n of w_hh h + b_hh. reverse: from the last step to the first."
        ),
        rule=_rule,
        reference=references.gru,
        decomposition=gru_in_primitives,
        lead="gemm",
        budget=budgets.gru,
        samples=samples.gru,
        work=recurrent.work(_rule, 3, 50.0),
        key="shapes",
    ),
    KernelSpec(
        name="gru_backward",
        kind="composite",
        signature=(
            "dx? dw_ih? dw_hh? db_ih? db_hh? dh0? ; "
            "g x w_ih w_hh out acts h0 ; reverse:bool"
        ),
        doc="The gradients of gru from that of out (g).",
        rule=_backward_rule,
        reference=references.gru_backward,
        decomposition=gru_backward_in_primitives,
        lead="gemm",
        budget=budgets_backward.gru_backward,
        samples=samples.gru_backward,
        work=recurrent.backward_work(_backward_rule, 3, 30.0),
        key="shapes",
    ),
)

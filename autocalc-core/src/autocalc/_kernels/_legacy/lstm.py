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

from typing import Any

from autocalc._kernels._legacy import _budgets_recurrent as budgets
from autocalc._kernels._legacy import _budgets_recurrent_backward as budgets_backward
from autocalc._kernels._legacy import _recurrent as recurrent
from autocalc._kernels._legacy import _references_recurrent as references
from autocalc._kernels._legacy import _samples_recurrent as samples
from autocalc._kernels._legacy.elementwise_composites import sub_in_primitives
from autocalc._kernels.rules import expect_shape
from autocalc._kernels.spec import Array, KernelSpec, Meta

#: Which gates have a sigmoid; g has a tanh.
_SIGMOIDS = (True, True, False, True)

# ---- rules ---------------------------------------------------------------------------


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
    dtype, steps, batch, hidden = recurrent.check("lstm", 4, *given, h0=h0, c0=c0)
    out = Meta((steps, batch, hidden), dtype)
    return out, c0, Meta((steps, batch, 4 * hidden), dtype), out


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
    dtype, steps, batch, hidden = recurrent.check(name, 4, *given, h0=h0, c0=c0)
    for word, meta in (("g", g), ("out", out), ("cells", cells)):
        expect_shape(name, word, meta, (steps, batch, hidden))
    expect_shape(name, "acts", acts, (steps, batch, 4 * hidden))
    expect_shape(name, "gc", gc, (batch, hidden))
    bias = Meta((4 * hidden,), dtype)
    return x, w_ih, w_hh, bias, h0, c0


# ---- in primitives -------------------------------------------------------------------


def lstm_in_primitives(
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
    inputs = recurrent.projected_in(k, x, w_ih, b_ih)
    weights = recurrent.turned(k, w_hh)
    gates = recurrent.Gates(k, hidden, _SIGMOIDS, x)
    h, c = h0, c0
    out: dict[int, Array] = {}
    cells: dict[int, Array] = {}
    acts: dict[int, Array] = {}
    for t in recurrent.order(steps, reverse):
        sums, _ = k.gemm(h, weights, b_hh)
        acts[t] = gates(k.add(sums, recurrent.step_of(k, inputs, t)))
        i, f, g, o = recurrent.blocks_in(k, acts[t], 4)
        c = k.add(k.mul(f, c), k.mul(i, g))
        h = k.mul(o, k.tanh(c))
        out[t], cells[t] = h, c
    one, all_gates = (steps, batch, hidden), (steps, batch, 4 * hidden)
    return (
        recurrent.joined_in(k, out, one, x),
        c if steps else k.copy(c),
        recurrent.joined_in(k, acts, all_gates, x) if want & 0b0100 else None,
        recurrent.joined_in(k, cells, one, x) if want & 0b1000 else None,
    )


def lstm_backward_in_primitives(
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
    slope = recurrent.Slopes(k, hidden, _SIGMOIDS, g)
    first = recurrent.before_in(k, cells, c0, reverse)
    one = k.constant(1, g)
    dh = k.zeros((batch, hidden), k.dtype(g))
    dc = k.zeros((batch, hidden), k.dtype(g)) if gc is None else gc
    parts: dict[int, Array] = {}
    for t in reversed(recurrent.order(steps, reverse)):
        gates = recurrent.step_of(k, acts, t)
        i, f, a, o = recurrent.blocks_in(k, gates, 4)
        dh = k.add(dh, recurrent.step_of(k, g, t))
        top = k.tanh(recurrent.step_of(k, cells, t))
        rest = sub_in_primitives(k, one, k.mul(top, top))
        dc = k.add(dc, k.mul(k.mul(dh, o), rest))
        before = recurrent.step_of(k, first, t)
        to_gates = [k.mul(dc, a), k.mul(dc, before), k.mul(dc, i), k.mul(dh, top)]
        parts[t] = k.mul(k.cat(to_gates, 1), slope(gates))
        dc = k.mul(dc, f)
        dh = recurrent.product_in(k, parts[t], w_hh)
    d = recurrent.joined_in(k, parts, (steps, batch, 4 * hidden), g)
    return recurrent.wanted(
        (
            lambda: recurrent.back_in(k, d, w_ih),
            lambda: recurrent.times_in(k, d, x),
            lambda: recurrent.times_in(k, d, recurrent.before_in(k, out, h0, reverse)),
            lambda: recurrent.total_in(k, d),
            lambda: dh,
            lambda: k.copy(dc) if dc is gc else dc,
        ),
        want,
    )


# ---- specs ---------------------------------------------------------------------------


SPECS = (
    KernelSpec(
        name="lstm",
        kind="composite",
        signature="out c_n acts? cells? ; x w_ih w_hh b_ih? b_hh? h0 c0 ; reverse:bool",
        doc=(
            "A layer of LSTM over x [T, B, I]: out [T, B, H] and the last cell c_n "
            "[B, H]; weights [4H, I] and [4H, H], gates in the order i, f, g, o. For "
            "the backward kernel: acts [T, B, 4H], the gates after their activations, "
            "and cells [T, B, H]. reverse: from the last step to the first."
        ),
        rule=_rule,
        reference=references.lstm,
        decomposition=lstm_in_primitives,
        lead="gemm",
        budget=budgets.lstm,
        samples=samples.lstm,
        work=recurrent.work(_rule, 4, 60.0, kept=2),
        key="shapes",
    ),
    KernelSpec(
        name="lstm_backward",
        kind="composite",
        signature=(
            "dx? dw_ih? dw_hh? dbias? dh0? dc0? ; "
            "g gc? x w_ih w_hh out acts cells h0 c0 ; reverse:bool"
        ),
        doc=(
            "The gradients of lstm from those of out (g) and c_n (gc); dbias is that "
            "of either bias."
        ),
        rule=_backward_rule,
        reference=references.lstm_backward,
        decomposition=lstm_backward_in_primitives,
        lead="gemm",
        budget=budgets_backward.lstm_backward,
        exceptions={"split": budgets_backward.lstm_backward_split},
        samples=samples.lstm_backward,
        work=recurrent.backward_work(_backward_rule, 4, 40.0, x=2),
        key="shapes",
    ),
)

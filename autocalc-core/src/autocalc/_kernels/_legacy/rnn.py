# SPDX-License-Identifier: MIT
"""A plain recurrent layer over a whole sequence, forward and backward.

Elman: Finding structure in time (1990).  At each step, with h that of the step before::

    h' = activation(w_ih x + b_ih + w_hh h + b_hh)

Backward walks the steps from the last to the first: d = dh * slope, dh = d w_hh.
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
    activation: str,
    reverse: bool,
) -> Meta:
    given = (x, w_ih, w_hh, b_ih, b_hh)
    dtype, steps, batch, hidden = recurrent.check("rnn", 1, *given, h0=h0)
    return Meta((steps, batch, hidden), dtype)


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
    dtype, steps, batch, hidden = recurrent.check(name, 1, *given, h0=h0)
    for word, meta in (("g", g), ("out", out)):
        expect_shape(name, word, meta, (steps, batch, hidden))
    return x, w_ih, w_hh, Meta((hidden,), dtype), h0


# ---- in primitives -------------------------------------------------------------------


def rnn_in_primitives(
    k: Any,
    x: Array,
    w_ih: Array,
    w_hh: Array,
    b_ih: Array | None,
    b_hh: Array | None,
    h0: Array,
    activation: str,
    reverse: bool,
) -> Array:
    steps, (batch, hidden) = k.shape(x)[0], k.shape(h0)
    inputs = recurrent.projected_in(k, x, w_ih, b_ih)
    weights, zero = recurrent.turned(k, w_hh), k.constant(0, x)
    h = h0
    out: dict[int, Array] = {}
    for t in recurrent.order(steps, reverse):
        sums, _ = k.gemm(h, weights, b_hh)
        sums = k.add(sums, recurrent.step_of(k, inputs, t))
        h = out[t] = k.tanh(sums) if activation == "tanh" else k.maximum(sums, zero)
    return recurrent.joined_in(k, out, (steps, batch, hidden), x)


def rnn_backward_in_primitives(
    k: Any,
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
    steps, (batch, hidden) = k.shape(x)[0], k.shape(h0)
    zero, one = k.constant(0, g), k.constant(1, g)
    if activation == "tanh":
        slopes = sub_in_primitives(k, one, k.mul(out, out))
    else:
        slopes = k.compare(out, zero, "gt")
    dh = k.zeros((batch, hidden), k.dtype(g))
    parts: dict[int, Array] = {}
    for t in reversed(recurrent.order(steps, reverse)):
        dh = k.add(dh, recurrent.step_of(k, g, t))
        slope = recurrent.step_of(k, slopes, t)
        tanh = activation == "tanh"
        parts[t] = k.mul(dh, slope) if tanh else k.where(slope, dh, zero)
        dh = recurrent.product_in(k, parts[t], w_hh)
    d = recurrent.joined_in(k, parts, (steps, batch, hidden), g)
    return recurrent.wanted(
        (
            lambda: recurrent.back_in(k, d, w_ih),
            lambda: recurrent.times_in(k, d, x),
            lambda: recurrent.times_in(k, d, recurrent.before_in(k, out, h0, reverse)),
            lambda: recurrent.total_in(k, d),
            lambda: dh,
        ),
        want,
    )


# ---- specs ---------------------------------------------------------------------------


SPECS = (
    KernelSpec(
        name="rnn",
        kind="composite",
        signature=(
            "out ; x w_ih w_hh b_ih? b_hh? h0 ; activation:tanh,relu reverse:bool"
        ),
        doc=(
            "A recurrent layer over x [T, B, I]: out [T, B, H]; weights [H, I] and [H, "
            "H]. reverse: from the last step to the first."
        ),
        rule=_rule,
        reference=references.rnn,
        decomposition=rnn_in_primitives,
        lead="gemm",
        budget=budgets.rnn,
        samples=samples.rnn,
        work=recurrent.work(_rule, 1, 15.0),
        key="shapes",
    ),
    KernelSpec(
        name="rnn_backward",
        kind="composite",
        signature=(
            "dx? dw_ih? dw_hh? dbias? dh0? ; "
            "g x w_ih w_hh out h0 ; activation:tanh,relu reverse:bool"
        ),
        doc="The gradients of rnn from that of out (g); dbias is that of either bias.",
        rule=_backward_rule,
        reference=references.rnn_backward,
        decomposition=rnn_backward_in_primitives,
        lead="gemm",
        budget=budgets_backward.rnn_backward,
        samples=samples.rnn_backward,
        work=recurrent.backward_work(_backward_rule, 1, 5.0),
        key="shapes",
    ),
)

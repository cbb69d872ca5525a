# SPDX-License-Identifier: MIT
"""Error budgets of the recurrent kernels: errors carried from step to step.

Each step adds its own errors, of which that of its product is the largest: K eps of the
sizes of what is summed, as for gemm.  What a step takes over from the one before goes
through the product once more, where errors of many elements meet; as they are
independent, their squares are summed.  Sums of sizes there grow by the factor
sqrt(H) at each step, far beyond any error that occurs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels._legacy import _recurrent as recurrent
from autocalc._kernels._legacy import _references_recurrent as references
from autocalc._kernels._legacy._budgets import Inputs, budget, magnitude, ulp
from autocalc._kernels.spec import Array, Attributes

#: Roundings of an activation, and what its formula's parts add.
_ACTIVATION = 4


def numbers(operands: Inputs) -> Any:
    return [None if a is None else np.asarray(a, np.float64) for a in operands]


class _Sums:
    """The products of one call, and how far they may be off."""

    def __init__(self, operands: Inputs, eps: float) -> None:
        x, w_ih, w_hh, b_ih, b_hh = map(_size, operands)
        self.eps, self.w = eps, w_hh
        self.of_x = recurrent.projected(np, x, w_ih, b_ih)
        self.off_x = (x.shape[2] + 3) * eps * self.of_x
        self.bias = 0.0 if b_hh is None else b_hh

    def off_h(self, h: Array, off: Array) -> Array:
        """Bound the error of ``w_hh h + b_hh`` where h is off by `off`."""
        size = np.matmul(np.abs(h), self.w.T) + self.bias
        return (self.w.shape[1] + 3) * self.eps * size + carried(off, self.w.T)

    def off(self, t: int, h: Array, off: Array) -> Array:
        """Bound the error of all sums of step `t`."""
        size = np.matmul(np.abs(h), self.w.T) + self.bias + self.of_x[t]
        return self.off_x[t] + self.off_h(h, off) + 2 * self.eps * size


def carried(off: Array, w: Array) -> Array:
    """Bound the error of ``a w`` where the elements of a are off by `off`."""
    return np.sqrt(np.matmul(off**2, w**2))


def _size(a: Any) -> Any:
    return None if a is None else magnitude(a)


def _sigmoid(off: Array, value: Array, eps: float) -> Array:
    """Bound the error of a sigmoid of this value, its argument off by `off`.

    It may be taken from a tanh, whose rounding is eps: gates multiply and add, so what
    counts is their error beside 1.
    """
    return off * (value * (1 - value) + off) + (_ACTIVATION * value + 1) * eps


def _tanh(off: Array, value: Array, eps: float) -> Array:
    return off * (1 - value**2 + off) + _ACTIVATION * eps * np.abs(value)


def joined(parts: dict[int, Array], like: Array) -> Array:
    return recurrent.joined(np, parts, like, like.shape[2])


def _states(expected: Any, h0: Array, reverse: bool) -> Array:
    return recurrent.before(np, np.asarray(expected, np.float64), h0, reverse)


@budget("K eps of the products' terms in each step, carried through the next ones")
def rnn(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    *weights, h0 = numbers(inputs)
    activation, reverse = attributes
    out = expected[0]
    sums, states = _Sums(weights, eps), _states(out, h0, reverse)
    off, offs = np.zeros_like(h0), {}
    for t in recurrent.order(out.shape[0], reverse):
        off = sums.off(t, states[t], off)
        if activation == "tanh":
            off = _tanh(off, out[t], eps)
        offs[t] = off
    return [joined(offs, out) + ulp(out, eps)]


@budget("K eps of the products' terms in each step, carried through the next ones")
def lstm(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, w_ih, w_hh, b_ih, b_hh, h0, c0 = numbers(inputs)
    weights, (reverse,) = (x, w_ih, w_hh, b_ih, b_hh), attributes
    out, _, acts, cells = references.lstm(numpy_xp, *weights, h0, c0, reverse)
    sums = _Sums(weights, eps)
    h, c = _states(out, h0, reverse), _states(cells, c0, reverse)
    off, off_c = np.zeros_like(h0), np.zeros_like(c0)
    offs: tuple[dict[int, Array], ...] = ({}, {}, {})
    for t in recurrent.order(out.shape[0], reverse):
        i, f, g, o = recurrent.blocks(acts[t], 4)
        off_i, off_f, off_g, off_o = recurrent.blocks(sums.off(t, h[t], off), 4)
        off_i, off_f, off_o = (
            _sigmoid(a, s, eps) for a, s in ((off_i, i), (off_f, f), (off_o, o))
        )
        off_g = _tanh(off_g, g, eps)
        terms = f * np.abs(c[t]) + i * np.abs(g)
        kept = off_f * np.abs(c[t]) + (f + off_f) * off_c
        off_c = kept + off_i * np.abs(g) + (i + off_i) * off_g + 3 * eps * terms
        top = np.tanh(cells[t])
        off_top = _tanh(off_c, top, eps)
        off = off_o * np.abs(top) + (o + off_o) * off_top + 2 * eps * np.abs(out[t])
        each = off, np.concatenate([off_i, off_f, off_g, off_o], axis=1), off_c
        for parts, one in zip(offs, each, strict=True):
            parts[t] = one
    limits = [joined(p, like) for p, like in zip(offs, (out, acts, cells), strict=True)]
    limits.insert(1, off_c)
    return with_last(limits, expected, eps)


@budget("K eps of the products' terms in each step, carried through the next ones")
def gru(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    x, w_ih, w_hh, b_ih, b_hh, h0 = numbers(inputs)
    weights, (reverse,) = (x, w_ih, w_hh, b_ih, b_hh), attributes
    out, acts = references.gru(numpy_xp, *weights, h0, reverse)
    sums, states = _Sums(weights, eps), _states(out, h0, reverse)
    off = np.zeros_like(h0)
    offs: tuple[dict[int, Array], ...] = ({}, {})
    for t in recurrent.order(out.shape[0], reverse):
        h = states[t]
        r, z, n, hn = recurrent.blocks(acts[t], 4)
        off_r, off_z, _ = recurrent.blocks(sums.off(t, h, off), 3)
        off_r, off_z = _sigmoid(off_r, r, eps), _sigmoid(off_z, z, eps)
        off_hn = recurrent.blocks(sums.off_h(h, off), 3)[2]
        off_xn, xn = (recurrent.blocks(a[t], 3)[2] for a in (sums.off_x, sums.of_x))
        off_n = off_xn + off_r * np.abs(hn) + (r + off_r) * off_hn
        off_n = _tanh(off_n + 2 * eps * (xn + r * np.abs(hn)), n, eps)
        terms = (1 + z) * np.abs(n) + z * np.abs(h)
        change = off_z * (np.abs(h - n) + off + off_n) + z * off
        off = (1 - z + 2 * eps) * off_n + change + 4 * eps * terms
        each = off, np.concatenate([off_r, off_z, off_n, off_hn], axis=1)
        for parts, one in zip(offs, each, strict=True):
            parts[t] = one
    limits = [joined(p, like) for p, like in zip(offs, (out, acts), strict=True)]
    return with_last(limits, expected, eps)


def with_last(limits: Sequence[Any], expected: Inputs, eps: float) -> list[Any]:
    """Add the rounding of the result itself."""
    return [
        None if e is None else limit + ulp(e, eps)
        for limit, e in zip(limits, expected, strict=True)
    ]

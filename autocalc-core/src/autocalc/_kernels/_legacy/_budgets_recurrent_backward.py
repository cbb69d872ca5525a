# SPDX-License-Identifier: MIT
"""Error budgets of the recurrent backward kernels; see `_budgets_recurrent`.

What the forward kernel kept is given, so these are sums and products alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autocalc._kernels._legacy import _recurrent as recurrent
from autocalc._kernels._legacy._budgets import (
    SPLIT,
    Inputs,
    Lost,
    Tolerance,
    budget,
    lost_in_parts,
)
from autocalc._kernels._legacy._budgets_recurrent import (
    carried,
    joined,
    numbers,
    with_last,
)
from autocalc._kernels.spec import Array, Attributes, Budget

_TEXT = "K eps of the products' terms in each step, carried through the next ones"

#: Roundings of ``1 - tanh(c)^2`` in all: tanh 4, twice for the square, and its own 2.
_TOP = 10


def _product(d: Array, off: Array, w: Array, eps: float) -> Array:
    """Bound the error of ``d w`` where d is off by `off`."""
    size = np.matmul(np.abs(d), np.abs(w))
    return (d.shape[-1] + 2) * eps * size + carried(off, w)


def _rows(x: Array) -> Array:
    """Return the rows of all steps and examples."""
    return x.reshape(x.shape[0] * x.shape[1], x.shape[2])


def _times(d: Array, off: Array, a: Array, eps: float) -> Array:
    """Bound the error of ``d^T a`` over all steps and examples."""
    return _product(_rows(d).T, _rows(off).T, _rows(a), eps)


def _total(d: Array, off: Array, eps: float) -> Array:
    ones = np.ones((*d.shape[:2], 1))
    return _times(d, off, ones, eps)[:, 0]


def _sum_of(parts: dict[int, Array], like: Array, width: int) -> Array:
    return recurrent.joined(np, parts, like, width)


@budget(_TEXT)
def rnn_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x, w_ih, w_hh, out, h0 = numbers(inputs)
    activation, reverse = attributes
    dh, off = np.zeros_like(h0), np.zeros_like(h0)
    parts: dict[int, Array] = {}
    offs: dict[int, Array] = {}
    for t in reversed(recurrent.order(x.shape[0], reverse)):
        dh, off = dh + g[t], off + eps * np.abs(dh + g[t])
        slope = 1 - out[t] ** 2 if activation == "tanh" else out[t] > 0
        parts[t], offs[t] = dh * slope, off * slope + 4 * eps * np.abs(dh)
        off = _product(parts[t], offs[t], w_hh, eps)
        dh = np.matmul(parts[t], w_hh)
    d, off_d = joined(parts, g), joined(offs, g)
    limits = (
        _product(d, off_d, w_ih, eps),
        _times(d, off_d, x, eps),
        _times(d, off_d, recurrent.before(np, out, h0, reverse), eps),
        _total(d, off_d, eps),
        off,
    )
    return with_last(limits, expected, eps)


def _lstm_backward(lost: Lost) -> Tolerance:
    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Sequence[Any]:
        g, gc, x, w_ih, w_hh, out, acts, cells, h0, c0 = numbers(inputs)
        (reverse,) = attributes
        dh, off_h, off_c = (np.zeros_like(h0) for _ in range(3))
        dc = np.zeros_like(c0) if gc is None else gc
        first = recurrent.before(np, cells, c0, reverse)
        parts: dict[int, Array] = {}
        offs: dict[int, Array] = {}
        for t in reversed(recurrent.order(x.shape[0], reverse)):
            i, f, a, o = recurrent.blocks(acts[t], 4)
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
                _product(parts[t], offs[t], w_hh, eps),
            )
        width = 4 * h0.shape[1]
        d, off_d = _sum_of(parts, g, width), _sum_of(offs, g, width)
        before = recurrent.before(np, out, h0, reverse)
        turned = _rows(d).T
        limits = (
            _product(d, off_d, w_ih, eps),
            _times(d, off_d, x, eps) + lost(turned, _rows(x)),
            _times(d, off_d, before, eps) + lost(turned, _rows(before)),
            _total(d, off_d, eps),
            off_h,
            off_c,
        )
        return with_last(limits, expected, eps)

    return tolerance


lstm_backward = Budget(_TEXT, _lstm_backward(lambda _a, _b: 0.0))
lstm_backward_split = Budget(
    f"{_TEXT}; the weights'{SPLIT}", _lstm_backward(lost_in_parts)
)


@budget(_TEXT)
def gru_backward(
    inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
) -> Sequence[Any]:
    g, x, w_ih, w_hh, out, acts, h0 = numbers(inputs)
    (reverse,) = attributes
    dh, off = np.zeros_like(h0), np.zeros_like(h0)
    first = recurrent.before(np, out, h0, reverse)
    of_x: tuple[dict[int, Array], ...] = ({}, {})
    of_h: tuple[dict[int, Array], ...] = ({}, {})
    for t in reversed(recurrent.order(x.shape[0], reverse)):
        r, z, n, hn = recurrent.blocks(acts[t], 4)
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
        off = off * z + _product(of_h[0][t], of_h[1][t], w_hh, eps)
        off = off + 2 * eps * size * z
        dh = dh * z + np.matmul(of_h[0][t], w_hh)
    width = 3 * h0.shape[1]
    d, off_d = (_sum_of(parts, g, width) for parts in of_x)
    d_h, off_d_h = (_sum_of(parts, g, width) for parts in of_h)
    limits = (
        _product(d, off_d, w_ih, eps),
        _times(d, off_d, x, eps),
        _times(d_h, off_d_h, first, eps),
        _total(d, off_d, eps),
        _total(d_h, off_d_h, eps),
        off,
    )
    return with_last(limits, expected, eps)

# SPDX-License-Identifier: MIT
"""Sample calls of the recurrent kernels and of their backward kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels._legacy import _references_recurrent as references
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Sample

#: (T, B, I, H) and which of the two biases are there.
_CALLS = (
    ((1, 1, 1, 1), 0b01),
    ((3, 2, 5, 4), 0b11),
    ((2, 5, 3, 17), 0b10),
    ((4, 9, 16, 33), 0b11),
    ((0, 2, 3, 4), 0b11),
    ((3, 0, 3, 4), 0b11),
    ((2, 3, 0, 4), 0b00),
)
_LARGE = ((5, 37, 40, 64), 0b11)


class Call(NamedTuple):
    """x, w_ih, w_hh, b_ih, b_hh, then h0 (and c0) of one call."""

    label: str
    weights: tuple[Any, ...]
    states: tuple[Array, ...]
    reverse: bool


def _calls(make: Make, gates: int, states: int) -> Iterator[Call]:
    for n, (sizes, biases) in enumerate((*_CALLS, _LARGE)):
        steps, batch, features, hidden = sizes
        rows, scale = gates * hidden, 0.6 * float(hidden) ** -0.5
        weights = (
            make.normal(steps, batch, features),
            make.normal(rows, features, scale=scale),
            make.normal(rows, hidden, scale=scale),
            make.normal(rows) if biases & 0b01 else None,
            make.normal(rows) if biases & 0b10 else None,
        )
        first = tuple(make.normal(batch, hidden) for _ in range(states))
        large = "large, " if sizes == _LARGE[0] else ""
        yield Call(f"{large}{sizes}", weights, first, n % 2 == 1)


def rnn(make: Make) -> Iterator[Sample]:
    for n, call in enumerate(_calls(make, 1, 1)):
        attributes = (("tanh", "relu")[n // 2 % 2], call.reverse)
        yield Sample(call.label, (*call.weights, *call.states), attributes)


def lstm(make: Make) -> Iterator[Sample]:
    for call in _calls(make, 4, 2):
        operands = (*call.weights, *call.states)
        yield Sample(call.label, operands, (call.reverse,), want=0b1100)


def gru(make: Make) -> Iterator[Sample]:
    for call in _calls(make, 3, 1):
        operands = (*call.weights, *call.states)
        yield Sample(call.label, operands, (call.reverse,), want=0b10)


# ---- backward ------------------------------------------------------------------------


def _in_turns(
    label: str, inputs: tuple[Any, ...], attributes: tuple[Any, ...], n: int, outs: int
) -> Iterator[Sample]:
    """Yield a call for all outputs; or for some, then the others.

    The kit tries every pattern of absent outputs below the one given: of six, 63.
    """
    every, half = (1 << outs) - 1, (1 << outs // 2) - 1
    for want in (every,) if n == 1 else (half, every - half):
        yield Sample(label, inputs, attributes, want)


def _answer(reference: Callable[..., Any], *operands: Any) -> Any:
    with np.errstate(all="ignore"):
        return reference(numpy_xp, *operands)


def rnn_backward(make: Make) -> Iterator[Sample]:
    for n, sample in enumerate(rnn(make)):
        x, w_ih, w_hh, _, _, h0 = sample.inputs
        out = _answer(references.rnn, *sample.inputs, *sample.attributes)
        inputs = (make.normal(*out.shape), x, w_ih, w_hh, out, h0)
        yield from _in_turns(sample.label, inputs, sample.attributes, n, 5)


def lstm_backward(make: Make) -> Iterator[Sample]:
    for n, sample in enumerate(lstm(make)):
        x, w_ih, w_hh, _, _, h0, c0 = sample.inputs
        out, _, *saved = _answer(references.lstm, *sample.inputs, *sample.attributes)
        gc = make.normal(*c0.shape) if n % 3 else None
        g = make.normal(*out.shape)
        inputs = (g, gc, x, w_ih, w_hh, out, *saved, h0, c0)
        yield from _in_turns(sample.label, inputs, sample.attributes, n, 6)


def gru_backward(make: Make) -> Iterator[Sample]:
    for n, sample in enumerate(gru(make)):
        x, w_ih, w_hh, _, _, h0 = sample.inputs
        out, acts = _answer(references.gru, *sample.inputs, *sample.attributes)
        inputs = (make.normal(*out.shape), x, w_ih, w_hh, out, acts, h0)
        yield from _in_turns(sample.label, inputs, sample.attributes, n, 6)

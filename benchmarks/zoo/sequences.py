# SPDX-License-Identifier: MIT
"""Models of sequences without attention: LSTM, GRU, TCN, a linear scan.

Bai, Kolter, Koltun: An empirical evaluation of generic convolutional and recurrent
networks (2018); Martin, Cundy: Parallelizing linear recurrent neural nets over sequence
length (ICLR 2018).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.zoo.work import Make, Work, classes

VOCABULARY = 100


def last_type(ml: Any) -> type[Any]:
    """Return the class of a recurrent classifier: the head reads the last output."""
    nn = ml.nn

    class Last(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, recurrent: Any, hidden: int) -> None:
            super().__init__()
            self.recurrent, self.head = recurrent, nn.Linear(hidden, 10)

        def forward(self, x: Any) -> Any:
            return self.head(self.recurrent(x)[0][:, -1])

    return Last


def gru(batch: int, seq: int, features: int, hidden: int) -> Make:
    """Return the work of a GRU that classifies."""

    def make(ml: Any, _: Callable[[Any], Any]) -> Work:
        recurrent = ml.nn.GRU(features, hidden, batch_first=True)
        x = ml.randn(batch, seq, features)
        return Work(last_type(ml)(recurrent, hidden), (x,), classes(ml, batch))

    return make


def writer_type(ml: Any) -> type[Any]:
    """Return the class of a language model by two layers of LSTM."""
    nn = ml.nn

    class Writer(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, d: int) -> None:
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, d)
            self.lstm = nn.LSTM(d, d, 2, batch_first=True)
            self.head = nn.Linear(d, VOCABULARY)

        def forward(self, text: Any) -> Any:
            return self.head(self.lstm(self.tokens(text))[0])

    return Writer


def lstm(batch: int, seq: int, d: int) -> Make:
    """Return the work of an LSTM that tells the next token at each place."""

    def make(ml: Any, _: Callable[[Any], Any]) -> Work:
        text = ml.randint(0, VOCABULARY, (batch, seq))
        loss = classes(ml, batch, seq, count=VOCABULARY)
        return Work(writer_type(ml)(d), (text,), loss)

    return make


def causal_type(ml: Any) -> type[Any]:
    """Return the class of a TCN's block: two dilated convolutions and a shortcut."""
    nn, pad = ml.nn, ml.nn.functional.pad

    class Causal(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, d: int, dilation: int) -> None:
            super().__init__()
            self.before, self.relu = (2 * dilation, 0), nn.ReLU()
            self.conv_1 = nn.Conv1d(d, d, 3, dilation=dilation)
            self.conv_2 = nn.Conv1d(d, d, 3, dilation=dilation)

        def forward(self, x: Any) -> Any:
            y = self.relu(self.conv_1(pad(x, self.before)))
            return self.relu(x + self.relu(self.conv_2(pad(y, self.before))))

    return Causal


def tcn(batch: int, seq: int, d: int, layers: int) -> Make:
    """Return the work of a TCN that classifies."""

    def make(ml: Any, _: Callable[[Any], Any]) -> Work:
        nn = ml.nn
        blocks = [causal_type(ml)(d, 1 << i) for i in range(layers)]
        top = nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(d, 10)
        model = nn.Sequential(nn.Conv1d(8, d, 1), *blocks, *top)
        return Work(model, (ml.randn(batch, 8, seq),), classes(ml, batch))

    return make


def scan_type(ml: Any) -> type[Any]:
    """Return the class of a gated linear recurrence, h[t] = a[t] h[t - 1] + b[t].

    All places at once, in log2(length) steps that each double the reach.
    """
    nn, pad = ml.nn, ml.nn.functional.pad

    class Scan(nn.Module):  # type: ignore[misc, name-defined]  # known at run time
        def __init__(self, d: int) -> None:
            super().__init__()
            self.norm, self.both = nn.LayerNorm(d), nn.Linear(d, 2 * d)
            self.out = nn.Linear(d, d)

        def forward(self, x: Any) -> Any:
            gate, value = self.both(self.norm(x)).chunk(2, 2)
            a = ml.sigmoid(gate)
            h, reach, seq = (1 - a) * value, 1, x.shape[1]
            while reach < seq:
                h = h + a * pad(h[:, :-reach], (0, 0, reach, 0))
                a = a * pad(a[:, :-reach], (0, 0, reach, 0))
                reach *= 2
            return x + self.out(h)

    return Scan


def scan(batch: int, seq: int, d: int, layers: int) -> Make:
    """Return the work of scans that tell the next token at each place."""

    def make(ml: Any, _: Callable[[Any], Any]) -> Work:
        nn = ml.nn
        blocks = [scan_type(ml)(d) for _ in range(layers)]
        model = nn.Sequential(
            nn.Embedding(VOCABULARY, d), *blocks, nn.Linear(d, VOCABULARY)
        )
        text = ml.randint(0, VOCABULARY, (batch, seq))
        return Work(model, (text,), classes(ml, batch, seq, count=VOCABULARY))

    return make

# SPDX-License-Identifier: MIT
"""A search for a probable text, with several beginnings at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autocalc._ops.arranging.joining import cat
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.reductions.softmax import log_softmax
from autocalc._ops.sequences.sorting import topk
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import float32
from autocalc.models._cache import KeyValueCache


class _Row:
    """The beginnings of one text, the best first, and the texts that have ended.

    The score of a text is the mean of the logarithms of its tokens' probabilities.
    """

    def __init__(self, beams: int, end: tuple[int, ...]) -> None:
        self.beams, self.end = beams, end
        self.sums = [0.0] + [float("-inf")] * (beams - 1)
        self.tokens: list[list[int]] = [[] for _ in range(beams)]
        self.ended: list[tuple[float, list[int]]] = []
        self.done = False

    def extend(self, found: list[tuple[float, int, int]]) -> list[int]:
        """Take the best of (sum, beam, token), sorted; return the beams they extend."""
        length = len(self.tokens[0]) + 1
        kept: list[tuple[float, int, int]] = []
        for rank, (total, beam, token) in enumerate(found):
            if token not in self.end:
                kept.append((total, beam, token))
            elif rank < self.beams:
                self._finish(total / length, [*self.tokens[beam], token])
        kept = kept[: self.beams]
        self.tokens = [[*self.tokens[beam], token] for _, beam, token in kept]
        self.sums = [total for total, _, _ in kept]
        full = len(self.ended) == self.beams
        self.done = full and found[0][0] / length <= self.ended[-1][0]
        return [beam for _, beam, _ in kept]

    def _finish(self, score: float, tokens: list[int]) -> None:
        self.ended = sorted([*self.ended, (score, tokens)], key=lambda e: -e[0])
        self.ended = self.ended[: self.beams]

    def best(self) -> list[int]:
        """Return the tokens of the best text."""
        if not self.done:
            for total, tokens in zip(self.sums, self.tokens, strict=True):
                self._finish(total / max(1, len(tokens)), tokens)
        return self.ended[0][1]


def search(
    read: Callable[[Tensor], Tensor],
    caches: Sequence[KeyValueCache],
    prompt: Tensor,
    count: int,
    beams: int,
    end: tuple[int, ...],
) -> Tensor:
    """Return the prompt (B, S) and the best texts that the search finds after it.

    ``read`` returns logits (B * beams, V) and writes the caches.
    """
    rows = [_Row(beams, end) for _ in range(prompt.shape[0])]
    tokens = prompt.repeat_interleave(beams, 0)
    for _ in range(count):
        found = _best(log_softmax(read(tokens).to(float32), -1), rows)
        origins: list[int] = []
        for number, (row, some) in enumerate(zip(rows, found, strict=True)):
            same = list(range(beams))
            chosen = same if row.done else row.extend(some)
            origins += [number * beams + beam for beam in chosen]
        if all(row.done for row in rows):
            break
        tokens = tensor([[own[-1]] for row in rows for own in row.tokens])
        for cache in caches:
            cache.reorder(tensor(origins))
    texts = [row.best() for row in rows]
    width = max(map(len, texts))
    filled = [text + [end[0]] * (width - len(text)) if end else text for text in texts]
    return cat((prompt, tensor(filled, dtype=prompt.dtype)), 1) if width else prompt


def _best(shares: Tensor, rows: list[_Row]) -> list[list[tuple[float, int, int]]]:
    """Return the best extensions (sum, beam, token) of each text.

    A text has at most so many that end that there are enough without.
    """
    beams, vocabulary = rows[0].beams, shares.shape[-1]
    sums = tensor([row.sums for row in rows]).reshape(-1, 1)
    totals = (shares + sums).reshape(len(rows), -1)
    wanted = min((1 + len(rows[0].end)) * beams, beams * vocabulary)
    values, places = topk(totals, max(wanted, min(2 * beams, totals.shape[1])))
    return [
        [(v, *divmod(p, vocabulary)) for v, p in zip(some, at, strict=True)]
        for some, at in zip(values.tolist(), places.tolist(), strict=True)
    ]

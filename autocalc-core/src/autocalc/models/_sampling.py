# SPDX-License-Identifier: MIT
"""The next token: drawn from the logits, after what the settings leave of them."""

from __future__ import annotations

from dataclasses import dataclass

from autocalc._ops.indexing.indexing import gather
from autocalc._ops.indexing.masking import where
from autocalc._ops.random.random_draws import rand
from autocalc._ops.reductions.softmax import softmax
from autocalc._ops.sequences.scans import cumsum
from autocalc._ops.sequences.sorting import sort, topk
from autocalc._tensor import Tensor
from autocalc._tensor.checks import require
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.dtypes import float32
from autocalc._tensor.generator import Generator


@dataclass(frozen=True)
class Sampling:
    """How a token is drawn; `autocalc.models.stream` describes the settings."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    repetition_penalty: float = 1.0

    def check(self) -> None:
        """Raise unless all settings are in their ranges."""
        for name, holds, needed in (
            ("temperature", self.temperature >= 0, "0 or more"),
            ("top_k", self.top_k is None or self.top_k >= 1, "at least 1"),
            ("top_p", _is_share(self.top_p), "above 0 and at most 1"),
            ("min_p", _is_share(self.min_p), "above 0 and at most 1"),
            ("repetition_penalty", self.repetition_penalty > 0, "above 0"),
        ):
            require("generate", name, getattr(self, name), holds, needed)


def _is_share(value: float | None) -> bool:
    return value is None or 0 < value <= 1


def penalized(logits: Tensor, seen: Tensor, penalty: float) -> Tensor:
    """Return logits (B, V), of which those that `seen` (B, V) marks are lower.

    A positive logit is divided by the penalty, and a negative one is multiplied by it
    (Keskar et al.: CTRL, 2019, section 4.1).
    """
    lower = where(logits > 0, logits / penalty, logits * penalty)
    return where(seen, lower, logits)


def draw(logits: Tensor, sampling: Sampling, generator: Generator) -> Tensor:
    """Return a token (B, 1) for each row of logits (B, V).

    The one is taken in whose stretch of the sum of probabilities a number drawn evenly
    falls.  Where some are left out, the tokens are in the order of their probabilities.
    """
    if sampling.temperature == 0:
        return logits.argmax(-1, keepdim=True)
    if logits.dtype.itemsize == 2:
        logits = logits.to(float32)
    if sampling.temperature != 1:
        logits = logits / sampling.temperature
    top_k, top_p, min_p = sampling.top_k, sampling.top_p, sampling.min_p
    few = top_k is not None and top_k < logits.shape[-1]
    if not few and top_p is None and min_p is None:
        sums = cumsum(softmax(logits, -1), -1)
        return _drawn(sums, sums[:, -1:], generator)
    if top_k is not None and few:
        logits, tokens = topk(logits, top_k)
    else:
        logits, tokens = sort(logits, descending=True)
    shares = softmax(logits, -1)
    sums = cumsum(shares, -1)
    kept = sums[:, -1:]
    if top_p is not None:
        last = (sums - shares < top_p).sum(-1, keepdim=True) - 1
        kept = gather(sums, -1, last)
    if min_p is not None:
        last = (shares >= min_p * shares[:, :1]).sum(-1, keepdim=True) - 1
        kept = kept.minimum(gather(sums, -1, last))
    return gather(tokens, -1, _drawn(sums, kept, generator))


def _drawn(sums: Tensor, kept: Tensor, generator: Generator) -> Tensor:
    """Return the place (B, 1) at which each row of sums passes a part of `kept`."""
    batch, count = sums.shape
    drawn = (
        rand(
            batch,
            1,
            dtype=sums.dtype,
            device=place_of_tensor(sums),
            generator=generator,
        )
        * kept
    )
    return (sums <= drawn).sum(-1, keepdim=True).clamp(max=count - 1)

# SPDX-License-Identifier: MIT
"""Text from a model: one token after the other, each drawn from its logits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from autocalc._creation import rand
from autocalc._functional import cat, cumsum, gather, softmax, sort, stack, topk
from autocalc._grad_mode import no_grad
from autocalc._random import Generator, default_generator
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, ShapeError
from autocalc.models._reading import position_reader


def generate(
    model: Any,
    prompt: Tensor,
    count: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
) -> Tensor:
    """Return `prompt` [B, S] with `count` more tokens behind it, [B, S + count].

    The parameters are those of `stream`.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.Decoder(vocabulary=10, context=8, d_model=8, heads=2)
    >>> ac.models.generate(model, ac.tensor([[1, 2, 3], [4, 5, 6]]), 5).shape
    (2, 8)
    """
    tokens = stream(
        model,
        prompt,
        count,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        seed=seed,
    )
    new = list(tokens)
    return cat((prompt, stack(new, 1)), 1) if new else prompt.clone()


def stream(
    model: Any,
    prompt: Tensor,
    count: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
) -> Iterator[Tensor]:
    """Yield `count` times the next token [B] of each text, as soon as it is drawn.

    A step computes one position; what is behind it lies in the model's caches.  When
    these are full, the model reads the later half of its context anew and goes on.

    Parameters
    ----------
    model
        Called as ``model(tokens [B, S], caches)`` it returns logits [B, S, V];
        ``model.make_caches(B)`` begins a text, ``model.context`` is how long it may be
        (None: without end).
    prompt
        Where to begin, integers [B, S]; of those too long, the end.
    count
        How many tokens.
    temperature
        Divides the logits; 0 takes the likeliest token always.
    top_k
        Draw from the likeliest `top_k` tokens only.
    top_p
        Draw from the fewest tokens whose probabilities sum to `top_p` (Holtzman et
        al.: The curious case of neural text degeneration, 2020).
    seed
        Equal seeds give equal texts; by default the process's generator goes on.

    Raises
    ------
    ArgumentError, ShapeError
        If a setting is impossible, or `prompt` is not [B, S] with at least one token.
    """
    _check(prompt, count, temperature, top_k, top_p)
    generator = default_generator if seed is None else Generator().manual_seed(seed)
    return _stream(model, prompt, count, temperature, top_k, top_p, generator)


def _stream(
    model: Any,
    prompt: Tensor,
    count: int,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    generator: Generator,
) -> Iterator[Tensor]:
    was_training = model.training
    model.eval()
    reading, caches, room = _begin(model, prompt, model.context)
    read = reader(model, caches)
    text = [reading]
    try:
        for _ in range(count):
            with no_grad():  # not around the yield: the caller goes on in between
                if reading.shape[1] > room:
                    text = [cat(text, 1)]
                    reading, caches, room = _begin(model, text[0], model.context // 2)
                    read = reader(model, caches)
                logits = read(reading)
                room -= reading.shape[1]
                token = draw(logits, temperature, top_k, top_p, generator)
                reading = token.unsqueeze(1)
                text.append(reading)
            yield token
    finally:
        model.train(was_training)


def reader(model: Any, caches: Any) -> Callable[[Tensor], Tensor]:
    """Return ``read(tokens [B, S])``: the logits [B, V] behind the last of them."""
    one_more = position_reader(model, caches)

    def read(tokens: Tensor) -> Tensor:
        if one_more is not None and tokens.shape[1] == 1:
            return one_more(tokens)
        logits: Tensor = model(tokens, caches)[:, -1]
        return logits

    return read


def _begin(model: Any, text: Tensor, most: int | None) -> tuple[Tensor, Any, float]:
    """Return what to read of a text, empty caches, and room for how many tokens."""
    if most is not None:
        text = text[:, -max(most, 1) :]
    room = math.inf if model.context is None else model.context
    return text, model.make_caches(text.shape[0]), room


def draw(
    logits: Tensor,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    generator: Generator,
) -> Tensor:
    """Return a token [B] for each row of logits [B, V].

    The tokens stand in the order of their probabilities; the one is taken in whose
    stretch of the sum a number drawn evenly falls.
    """
    if temperature == 0:
        return logits.argmax(-1)
    logits = logits / temperature
    if top_k is not None and top_k < logits.shape[-1]:
        logits, tokens = topk(logits, top_k)
    else:
        logits, tokens = sort(logits, descending=True)
    shares = softmax(logits, -1)
    sums = cumsum(shares, -1)
    kept = sums[:, -1:]
    if top_p is not None:
        last = (sums - shares < top_p).sum(-1, keepdim=True) - 1
        kept = gather(sums, -1, last)
    drawn = rand(logits.shape[0], 1, dtype=logits.dtype, generator=generator) * kept
    place = (sums <= drawn).sum(-1, keepdim=True).clamp(max=logits.shape[-1] - 1)
    return gather(tokens, -1, place).reshape(-1)


def _check(
    prompt: Tensor,
    count: int,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
) -> None:
    if prompt.ndim != 2 or prompt.shape[1] == 0:
        message = (
            f"generate: `prompt` has shape {prompt.shape}; it must be [B, S] with at "
            f"least one token."
        )
        raise ShapeError(message)
    for name, value, holds, needed in (
        ("count", count, count >= 0, "0 or more"),
        ("temperature", temperature, temperature >= 0, "0 or more"),
        ("top_k", top_k, top_k is None or top_k >= 1, "at least 1"),
        ("top_p", top_p, top_p is None or 0 < top_p <= 1, "above 0 and at most 1"),
    ):
        if not holds:
            message = f"generate: `{name}` is {value}; it must be {needed}."
            raise ArgumentError(message)

# SPDX-License-Identifier: MIT
"""Text from a model: one token after the other, each drawn from its logits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.arranging.joining import cat
from autocalc._ops.indexing.indexing import gather
from autocalc._ops.random.random_draws import rand
from autocalc._ops.reductions.softmax import softmax
from autocalc._ops.sequences.scans import cumsum
from autocalc._ops.sequences.sorting import sort, topk
from autocalc._tensor import Tensor
from autocalc._tensor.checks import require
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.generator import Generator, default_generator
from autocalc.errors import ShapeError
from autocalc.models._reading import position_reader

#: Temperature, top_k and top_p.
Settings = tuple[float, int | None, float | None]


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
    """Generate text: return `prompt` (B, S) followed by `count` new tokens.

    The result has the shape (B, S + count).  The parameters are those of `stream`.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.Decoder(vocabulary=10, context=8, d_model=8, heads=2)
    >>> ac.models.generate(model, ac.tensor([[1, 2, 3], [4, 5, 6]]), 5).shape
    autocalc.Size([2, 8])
    """
    settings = temperature, top_k, top_p
    return cat((prompt, *_columns(model, prompt, count, settings, seed)), 1)


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
    """Generate text token by token: yield `count` tensors of shape (B,).

    Each step computes only the new position, because the model caches the earlier ones.
    When the caches are full, the model reads the second half of its context again.

    Parameters
    ----------
    model
        A model such as `Decoder`.  ``model(tokens, caches)`` returns logits (B, S, V)
        for tokens (B, S).  ``model.make_caches(B)`` returns empty caches.
        ``model.context`` is the largest length of a text, or None for no limit.
    prompt
        The tokens at the beginning, integers of shape (B, S).  If the prompt is longer
        than the context, only its end is used.
    count
        The number of tokens to generate.
    temperature
        The divisor of the logits.  0 always takes the most probable token.
    top_k
        If given, only the `top_k` most probable tokens can be drawn.
    top_p
        If given, only the most probable tokens can be drawn: the fewest tokens whose
        probabilities sum to at least `top_p` (Holtzman et al.: The curious case of
        neural text degeneration, 2020).
    seed
        The seed of the random numbers.  The same seed gives the same text.  By default
        the generator of the process is used.

    Raises
    ------
    ArgumentError, ShapeError
        If a setting is out of range, or if `prompt` does not have the shape (B, S) with
        S at least 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.Decoder(vocabulary=10, context=8, d_model=8, heads=2)
    >>> prompt = ac.tensor([[1, 2, 3], [4, 5, 6]])
    >>> for tokens in ac.models.stream(model, prompt, 2):
    ...     print(tokens.shape)
    autocalc.Size([2])
    autocalc.Size([2])
    """
    columns = _columns(model, prompt, count, (temperature, top_k, top_p), seed)
    return (column.reshape(-1) for column in columns)


def _columns(
    model: Any, prompt: Tensor, count: int, settings: Settings, seed: int | None
) -> Iterator[Tensor]:
    """Return an iterator over the next tokens, each (B, 1), as a model reads them."""
    _check(prompt, count, *settings)
    generator = default_generator if seed is None else Generator().manual_seed(seed)
    return _read(model, prompt, count, settings, generator)


def _read(
    model: Any, prompt: Tensor, count: int, settings: Settings, generator: Generator
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
                reading = draw(logits, *settings, generator)
                text.append(reading)
            yield reading
    finally:
        model.train(was_training)


def reader(model: Any, caches: Any) -> Callable[[Tensor], Tensor]:
    """Return ``read(tokens (B, S))``: the logits (B, V) after the last of them."""
    one_more = position_reader(model, caches)

    def read(tokens: Tensor) -> Tensor:
        if one_more is not None and tokens.shape[1] == 1:
            return one_more(tokens)
        logits: Tensor = model(tokens, caches)[:, -1]
        return logits

    return read


def _begin(model: Any, text: Tensor, most: int | None) -> tuple[Tensor, Any, float]:
    """Return the part of a text to read, empty caches, and their room in tokens."""
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
    """Return a token (B, 1) for each row of logits (B, V).

    The one is taken in whose stretch of the sum of probabilities a number drawn evenly
    falls.  Where some are left out, the tokens are in the order of their probabilities.
    """
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    if temperature != 1:
        logits = logits / temperature
    if top_p is None and (top_k is None or top_k >= logits.shape[-1]):
        sums = cumsum(softmax(logits, -1), -1)
        return _drawn(sums, sums[:, -1:], generator)
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


def _check(
    prompt: Tensor,
    count: int,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
) -> None:
    if prompt.ndim != 2 or prompt.shape[1] == 0:
        raise ShapeError(
            f"generate: `prompt` has shape {prompt.shape}; it must be [B, S] with S at "
            "least 1."
        )
    for name, value, holds, needed in (
        ("count", count, count >= 0, "0 or more"),
        ("temperature", temperature, temperature >= 0, "0 or more"),
        ("top_k", top_k, top_k is None or top_k >= 1, "at least 1"),
        ("top_p", top_p, top_p is None or 0 < top_p <= 1, "above 0 and at most 1"),
    ):
        require("generate", name, value, holds, needed)

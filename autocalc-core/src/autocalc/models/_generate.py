# SPDX-License-Identifier: MIT
"""Text from a model: one token after the other, each drawn from its logits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops.arranging.joining import cat
from autocalc._ops.creation.constants import full, ones, zeros
from autocalc._ops.indexing.masking import where
from autocalc._tensor import Tensor
from autocalc._tensor.checks import as_int, check_flag, require
from autocalc._tensor.dtypes import bool_
from autocalc._tensor.generator import Generator, default_generator
from autocalc.errors import ArgumentError, ShapeError
from autocalc.models._beams import search
from autocalc.models._reading import position_reader
from autocalc.models._sampling import Sampling, draw, penalized


@dataclass(frozen=True)
class _Run:
    """What is generated: a prompt, the number of tokens, and where a text ends."""

    prompt: Tensor
    count: int
    mask: Tensor | None
    end: tuple[int, ...]
    compiled: bool


def generate(
    model: Any,
    prompt: Tensor,
    count: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    beams: int = 1,
    mask: Tensor | None = None,
    end: int | Sequence[int] | None = None,
    compiled: bool = False,
    seed: int | None = None,
) -> Tensor:
    """Generate text: return `prompt` (B, S) followed by `count` new tokens.

    The result has the shape (B, S + count), or fewer columns if all texts end before.
    The parameters are those of `stream`, and in addition:

    Parameters
    ----------
    beams
        If it is above 1, no token is drawn.  The search keeps this number of beginnings
        of each text, those with the highest probability, and returns the text with the
        highest mean of the logarithms of its tokens' probabilities.

    Raises
    ------
    ArgumentError
        If beams are asked for together with settings for drawing, or with a text that
        is longer than the context.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.Decoder(vocabulary=10, context=8, d_model=8, heads=2)
    >>> ac.models.generate(model, ac.tensor([[1, 2, 3], [4, 5, 6]]), 5).shape
    autocalc.Size([2, 8])
    """
    sampling = Sampling(temperature, top_k, top_p, min_p, repetition_penalty)
    run = _run(model, prompt, count, mask, end, compiled)
    sampling.check()
    if as_int("generate", "beams", beams) == 1:
        return cat((prompt, *_columns(model, run, sampling, seed)), 1)
    require("generate", "beams", beams, beams > 1, "at least 1")
    _check_beams(model, run, sampling)
    caches = _make_caches(model, prompt.shape[0] * beams, prompt.shape[1] + count)
    repeated = None if mask is None else _wide(run).repeat_interleave(beams, 0)
    read = reader(model, caches, repeated, run.compiled)
    with _evaluating(model), no_grad():
        return search(read, caches, prompt, count, beams, run.end)


def stream(
    model: Any,
    prompt: Tensor,
    count: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    repetition_penalty: float = 1.0,
    mask: Tensor | None = None,
    end: int | Sequence[int] | None = None,
    compiled: bool = False,
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
    min_p
        If given, only tokens can be drawn whose probability is at least `min_p` times
        the largest one.
    repetition_penalty
        The divisor of positive logits of tokens that are in the text already, and the
        factor of negative ones.  Above 1, repetitions become rare.
    mask
        True for tokens and False for padding, of shape (B, S).  Texts of different
        lengths have their padding on the left.  Models of `from_pretrained` accept it.
    end
        The token that ends a text, or several such tokens.  A text that has ended
        continues with the first of them.  The iteration stops after the last text.
    compiled
        True to record the step that reads one token of a model of `from_pretrained`,
        and to replay it.  The recording takes as long as dozens of steps, so it is
        worth it for long texts.
    seed
        The seed of the random numbers.  The same seed gives the same text.  By default
        the generator of the process is used.

    Raises
    ------
    ArgumentError, ShapeError
        If a setting is out of range, if `prompt` does not have the shape (B, S) with S
        at least 1, or if `mask` has another shape or padding on the right.

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
    sampling = Sampling(temperature, top_k, top_p, min_p, repetition_penalty)
    run = _run(model, prompt, count, mask, end, compiled)
    sampling.check()
    columns = _columns(model, run, sampling, seed)
    return (column.reshape(-1) for column in columns)


def _columns(
    model: Any, run: _Run, sampling: Sampling, seed: int | None
) -> Iterator[Tensor]:
    """Return an iterator over the next tokens, each (B, 1), as a model reads them."""
    generator = default_generator if seed is None else Generator().manual_seed(seed)
    return _read(model, run, sampling, generator)


class _evaluating:
    """A context in which a model is in evaluation mode."""

    def __init__(self, model: Any) -> None:
        self._model, self._before = model, model.training

    def __enter__(self) -> None:
        self._model.eval()

    def __exit__(self, *_: object) -> None:
        self._model.train(self._before)


def _read(
    model: Any, run: _Run, sampling: Sampling, generator: Generator
) -> Iterator[Tensor]:
    picker = _Picker(run, sampling, generator)
    text = [run.prompt]
    with _evaluating(model):
        reading, read, room = _begin(model, run, run.prompt, model.context, run.count)
        for number in range(run.count):
            with no_grad():  # not around the yield: the caller goes on in between
                if reading.shape[1] > room:
                    text = [cat(text, 1)]
                    most, left = model.context // 2, run.count - number
                    reading, read, room = _begin(model, run, text[0], most, left)
                logits = read(reading)
                room -= reading.shape[1]
                reading = picker.pick(logits)
                text.append(reading)
            yield reading
            if picker.done:
                return


class _Picker:
    """Draws the next tokens, and knows what is in the texts and which have ended."""

    def __init__(self, run: _Run, sampling: Sampling, generator: Generator) -> None:
        self._run, self._sampling, self._generator = run, sampling, generator
        self._seen: Tensor | None = None
        self._ended: Tensor | None = None
        self.done = False

    def pick(self, logits: Tensor) -> Tensor:
        """Return the next tokens (B, 1) for logits (B, V)."""
        penalty = self._sampling.repetition_penalty
        if penalty != 1:
            logits = penalized(logits, self._marked(logits), penalty)
        tokens = draw(logits, self._sampling, self._generator)
        if self._run.end:
            tokens = self._after_end(tokens)
        if self._seen is not None:
            self._seen.scatter_(1, tokens, True)
        return tokens

    def _marked(self, logits: Tensor) -> Tensor:
        """Return which tokens (B, V) the texts contain."""
        if self._seen is None:
            prompt, mask = self._run.prompt, self._run.mask
            counts = zeros(*logits.shape)
            shown = ones(*prompt.shape) if mask is None else mask.float()
            self._seen = counts.scatter_add(1, prompt, shown) > 0
        return self._seen

    def _after_end(self, tokens: Tensor) -> Tensor:
        end = self._run.end
        if self._ended is None:
            self._ended = zeros(*tokens.shape, dtype=bool_)
        tokens = where(self._ended, full(tokens.shape, end[0]), tokens)
        for token in end:
            self._ended = self._ended | (tokens == token)
        self.done = bool(self._ended.all())
        return tokens


def reader(
    model: Any, caches: Any, mask: Tensor | None = None, compiled: bool = False
) -> Callable[[Tensor], Tensor]:
    """Return ``read(tokens (B, S))``: the logits (B, V) after the last of them."""
    if hasattr(model, "reader"):
        read: Callable[[Tensor], Tensor] = model.reader(caches, mask, compiled)
        return read
    one_more = position_reader(model, caches)

    def read_any(tokens: Tensor) -> Tensor:
        if one_more is not None and tokens.shape[1] == 1:
            return one_more(tokens)
        logits: Tensor = model(tokens, caches)[:, -1]
        return logits

    return read_any


def _begin(
    model: Any, run: _Run, text: Tensor, most: int | None, left: int
) -> tuple[Tensor, Callable[[Tensor], Tensor], float]:
    """Return the part of a text to read, its reader, and the room in tokens."""
    skipped = 0 if most is None else max(0, text.shape[1] - max(most, 1))
    text = text[:, skipped:]
    caches = _make_caches(model, text.shape[0], text.shape[1] + left)
    mask = None if run.mask is None else _wide(run)[:, skipped:]
    room = math.inf if model.context is None else model.context
    return text, reader(model, caches, mask, run.compiled), room


def _make_caches(model: Any, batch: int, length: int) -> Any:
    """Return empty caches; models with readers of their own make shorter ones."""
    if hasattr(model, "reader"):
        return model.make_caches(batch, min(length, model.context))
    return model.make_caches(batch)


def _wide(run: _Run) -> Tensor:
    """Return the mask with a column for each new token, too."""
    assert run.mask is not None, "the caller has looked"
    more = ones(run.prompt.shape[0], run.count, dtype=bool_)
    return cat((run.mask, more), 1)


def _run(
    model: Any, prompt: Tensor, count: int, mask: Any, end: Any, compiled: bool
) -> _Run:
    if prompt.ndim != 2 or prompt.shape[1] == 0:
        raise ShapeError(
            f"generate: `prompt` has shape {prompt.shape}; it must be [B, S] with S at "
            "least 1."
        )
    require("generate", "count", count, count >= 0, "0 or more")
    listed = () if end is None else (end,) if isinstance(end, int) else tuple(end)
    compiled = check_flag("generate", "compiled", compiled)
    return _Run(prompt, count, _checked(model, prompt, mask), listed, compiled)


def _checked(model: Any, prompt: Tensor, mask: Any) -> Tensor | None:
    if mask is None:
        return None
    if not hasattr(model, "reader"):
        raise ArgumentError(
            f"generate: {type(model).__name__} reads no padding, so `mask` must be "
            "None; generate texts of different lengths one by one."
        )
    if mask.shape != prompt.shape:
        raise ShapeError(
            f"generate: `mask` has shape {mask.shape}; it must be that of `prompt`, "
            f"{prompt.shape}."
        )
    shown: Tensor = mask.bool()
    if not bool(shown[:, -1].all()) or bool((shown[:, :-1] & ~shown[:, 1:]).any()):
        raise ArgumentError(
            "generate: `mask` has padding after a token; put all padding on the left, "
            "so that new tokens follow those of their text."
        )
    return None if bool(shown.all()) else shown


def _check_beams(model: Any, run: _Run, sampling: Sampling) -> None:
    if sampling not in (Sampling(), Sampling(0.0)):
        raise ArgumentError(
            "generate: a search with `beams` draws no tokens; leave out temperature, "
            "top_k, top_p, min_p and repetition_penalty, or pass beams=1."
        )
    length = run.prompt.shape[1] + run.count
    if not hasattr(model, "reader"):
        raise ArgumentError(
            f"generate: a search with `beams` needs a model of from_pretrained or "
            f"from_config, whose caches can be reordered, not {type(model).__name__}."
        )
    if length > model.context:
        raise ArgumentError(
            f"generate: a search with `beams` needs all {length} tokens in the "
            f"context, which has {model.context}; use a shorter prompt or a smaller "
            "count."
        )

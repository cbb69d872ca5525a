# SPDX-License-Identifier: MIT
"""Texts from a model, piece by piece, up to a word that ends them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

from autocalc._ops.creation.from_data import tensor
from autocalc._tensor.checks import require
from autocalc._tensor.dtypes import int64
from autocalc.errors import ArgumentError
from autocalc.models._generate import stream

#: Decoders put it where a character has not all of its bytes yet.
_UNFINISHED = "\ufffd"


def stream_text(
    model: Any,
    tokenizer: Any,
    prompt: str | Sequence[int],
    count: int,
    *,
    stop: str | Sequence[str] = (),
    **settings: Any,
) -> Generator[str, None, int]:
    """Continue a text: yield the pieces of the new text as they are generated.

    The generator returns the number of new tokens.

    Parameters
    ----------
    model
        A decoder of `from_pretrained`.
    tokenizer
        The `Tokenizer` of the same folder.
    prompt
        The text to continue, or its tokens.
    count
        The largest number of new tokens.  The text ends before at one of
        ``tokenizer.end``.
    stop
        A text, or several, at which the new text ends.  It is not part of the result.
    settings
        Further parameters of `stream`, such as `temperature` and `top_p`.

    Raises
    ------
    ArgumentError
        If the prompt has no tokens, or a setting is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.from_pretrained("smollm")  # doctest: +SKIP
    >>> tokenizer = ac.models.Tokenizer("smollm")  # doctest: +SKIP
    >>> for piece in ac.models.stream_text(model, tokenizer, "Once", 20):
    ...     print(piece, end="", flush=True)  # doctest: +SKIP
    """
    words = (stop,) if isinstance(stop, str) else tuple(stop)
    for word in words:
        require("stream_text", "stop", word, bool(word), "texts that are not empty")
    ids = tokenizer.encode(prompt) if isinstance(prompt, str) else list(prompt)
    if not ids:
        raise ArgumentError(
            "stream_text: `prompt` has no tokens; the model needs at least one to "
            "continue from."
        )
    settings.setdefault("end", tokenizer.end or None)
    columns = stream(model, tensor([ids], dtype=int64), count, **settings)
    return _pieces(columns, tokenizer, words)


def _pieces(
    columns: Iterator[Any], tokenizer: Any, stop: tuple[str, ...]
) -> Generator[str, None, int]:
    tokens: list[int] = []
    told = 0
    text = ""
    for column in columns:
        token = int(column)
        if token in tokenizer.end:
            break
        tokens.append(token)
        text = tokenizer.decode(tokens)
        places = [place for word in stop if (place := text.find(word, told)) >= 0]
        if places:
            text = text[: min(places)]
            break
        sure = len(text.rstrip(_UNFINISHED)) - _held(text, stop)
        if sure > told:
            yield text[told:sure]
            told = sure
    if len(text) > told:
        yield text[told:]
    return len(tokens)


def _held(text: str, stop: tuple[str, ...]) -> int:
    """Return how many characters at the end may be the beginning of a stop word."""
    return max(
        (n for word in stop for n in range(1, len(word)) if text.endswith(word[:n])),
        default=0,
    )

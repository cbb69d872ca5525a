# SPDX-License-Identifier: MIT
"""Text as numbers, one for each character."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from autocalc._ops.creation.from_data import from_numpy
from autocalc._ops.creation.ranges import arange
from autocalc._ops.indexing.indexing import index_select
from autocalc._ops.random.random_draws import randint
from autocalc._tensor import Tensor
from autocalc._tensor.generator import Generator
from autocalc.data._arrays import Indices
from autocalc.errors import ArgumentError, DataError


class Characters:
    """A text as a sequence of integers, one for each character.

    Parameters
    ----------
    text
        The text.  It has at least two characters.
    vocabulary
        The characters in the order of their numbers, 0 to V - 1.  The default is all
        characters of the text, sorted.

    Attributes
    ----------
    vocabulary
        All characters that can occur, as one string.
    tokens
        The numbers of the characters of the text, of shape (N,) and dtype int64.

    Raises
    ------
    ArgumentError
        If the text has fewer than two characters.
    DataError
        If the text has characters that are not in `vocabulary`.

    Examples
    --------
    >>> import autocalc as ac
    >>> text = ac.data.Characters("to be or not to be")
    >>> text.vocabulary, len(text)
    (' benort', 18)
    >>> text.decode(text.encode("note"))
    'note'
    """

    def __init__(self, text: str, vocabulary: str | None = None) -> None:
        if len(text) < 2:
            raise ArgumentError(
                f"Characters: the text has {len(text)} characters; a model needs at "
                "least 2, one to read and one to predict."
            )
        if vocabulary is None:
            vocabulary = "".join(sorted(set(text)))
        self.vocabulary = vocabulary
        codes = _codes(vocabulary)
        #: The number of each code point up to the largest one in the vocabulary; -1 for
        #: code points that are not in it.
        self._numbers = np.full(int(codes.max(initial=0)) + 1, -1)
        self._numbers[codes] = np.arange(len(vocabulary))
        self.tokens = self.encode(text)

    @classmethod
    def from_file(
        cls, path: str | Path | None = None, vocabulary: str | None = None
    ) -> Characters:
        """Read a UTF-8 file, or by default the help texts that are part of CPython."""
        return cls(builtin_text() if path is None else _read(Path(path)), vocabulary)

    def __len__(self) -> int:
        """Return the number of characters."""
        return len(self.tokens)

    def encode(self, text: str) -> Tensor:
        """Return the numbers of a text's characters, of shape (N,) and dtype int64."""
        codes = _codes(text)
        known = codes < len(self._numbers)
        numbers = np.where(known, self._numbers[codes * known], -1)
        if numbers.min(initial=0) < 0:
            unknown = sorted(set(text) - set(self.vocabulary))
            shown = ", ".join(map(repr, unknown[:5]))
            raise DataError(
                f"Characters: {len(unknown)} characters are not in the vocabulary of "
                f"{len(self.vocabulary)}: {shown}. Leave them out, or train on a text "
                f"that has them."
            )
        return from_numpy(numbers)

    def decode(self, tokens: Tensor | Iterable[int]) -> str:
        """Return the text for a sequence of numbers."""
        numbers: Any = tokens.tolist() if isinstance(tokens, Tensor) else tokens
        return "".join(self.vocabulary[number] for number in numbers)

    def split(self, part: float) -> tuple[Tensor, Tensor]:
        """Split the text: return the tokens of the first `part`, and the other tokens.

        `part` is a fraction from 0 to 1.

        Raises
        ------
        ArgumentError
            If one of the two parts would have fewer than two characters.
        """
        cut = int(part * len(self))
        if not 2 <= cut <= len(self) - 2:
            raise ArgumentError(
                f"Characters.split: `part`={part} of {len(self)} characters is "
                f"{cut}; both parts need at least 2."
            )
        return self.tokens[:cut], self.tokens[cut:]


def windows(
    tokens: Tensor, batch: int, length: int, generator: Generator | None = None
) -> tuple[Tensor, Tensor]:
    """Return random windows of tokens, and the same windows shifted by one token.

    Both results have the shape (batch, length).  The second one holds the next token
    for each token of the first one.

    Raises
    ------
    ArgumentError
        If the text has no more than `length` tokens.

    Examples
    --------
    >>> import autocalc as ac
    >>> inputs, targets = ac.data.windows(ac.arange(100), batch=4, length=8)
    >>> inputs.shape, bool((inputs + 1 == targets).all())
    (autocalc.Size([4, 8]), True)
    """
    places = len(tokens) - length
    if places < 1:
        raise ArgumentError(
            f"windows: a window of {length} + 1 tokens does not fit into a text of "
            f"{len(tokens)}; use shorter windows, or a longer text."
        )
    starts = randint(0, places, (batch, 1), generator=generator)
    index = (starts + arange(length + 1)).reshape(-1)
    stretch = index_select(tokens, 0, index).reshape(batch, length + 1)
    return stretch[:, :-1], stretch[:, 1:]


def builtin_text() -> str:
    """Return the help texts that are part of CPython (`pydoc_data.topics`), 0.7 MB."""
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


def _codes(text: str) -> Indices:
    """Return the code points of a text."""
    encoded = text.encode("utf-32-le", "surrogatepass")
    return np.frombuffer(encoded, "<u4").astype(np.int64)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8: byte {error.start} is "
            f"0x{error.object[error.start]:02x}. Convert it first, for example with "
            f"iconv -t utf-8."
        ) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error

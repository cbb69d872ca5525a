# SPDX-License-Identifier: MIT
"""Tokens of texts, by the file ``tokenizer.json`` of a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from autocalc._ops.creation.from_data import tensor
from autocalc._tensor import Tensor
from autocalc._tensor.checks import one_of
from autocalc._tensor.dtypes import bool_, int64
from autocalc.errors import ArgumentError, CheckpointError, MissingFileError
from autocalc.models._pretrained.config import read_json
from autocalc.models._pretrained.packages import package
from autocalc.models._pretrained.template import render

#: The names of special tokens in ``tokenizer_config.json`` that templates can use.
_SPECIAL = ("bos_token", "eos_token", "pad_token", "unk_token")


class Tokenizer:
    """Turns texts into tokens and back, as the folder of a model says.

    The package `tokenizers` is needed, and `jinja2` for chats: ``pip install
    autocalc-core[text]``.

    Parameters
    ----------
    folder
        The folder, which contains ``tokenizer.json``.

    Attributes
    ----------
    end
        The tokens that end a text.
    special
        The texts of special tokens, such as ``special["eos_token"]``.

    Raises
    ------
    ConfigError
        If the package `tokenizers` is not installed.
    CheckpointError
        If a file is missing or has another format.

    Examples
    --------
    >>> import autocalc as ac
    >>> tokenizer = ac.models.Tokenizer("smollm")  # doctest: +SKIP
    >>> tokenizer.decode(tokenizer.encode("a text"))  # doctest: +SKIP
    'a text'
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        tokenizers = package("tokenizers", "Tokenizer")
        self.folder = Path(folder)
        path = self.folder / "tokenizer.json"
        if not path.is_file():
            raise MissingFileError(
                f"Tokenizer: {path} does not exist. Save the tokenizer with "
                "save_pretrained of transformers, which writes this file."
            )
        try:
            self._tokens = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # the package raises nothing more special
            message = f"Tokenizer: {path} cannot be read: {error}."
            raise CheckpointError(message) from error
        self._tokens.no_padding()
        self._tokens.no_truncation()
        self._settings = self._optional("tokenizer_config.json")
        self.special = {
            name: text
            for name in _SPECIAL
            if (text := _text_of(self._settings.get(name))) is not None
        }
        self.end = self._ends()

    def encode(self, text: str, special: bool = True) -> list[int]:
        """Return the tokens of a text.

        If `special` is true, special tokens are added where the folder says so, for
        example one at the beginning.
        """
        ids: list[int] = self._tokens.encode(text, add_special_tokens=special).ids
        return ids

    def decode(self, tokens: Sequence[int] | Tensor, special: bool = False) -> str:
        """Return the text of tokens, with special tokens if `special` is true."""
        ids = tokens.tolist() if isinstance(tokens, Tensor) else list(tokens)
        text: str = self._tokens.decode(ids, skip_special_tokens=not special)
        return text

    def batch(
        self,
        texts: Sequence[str],
        *,
        side: str = "left",
        most: int | None = None,
        special: bool = True,
    ) -> tuple[Tensor, Tensor]:
        """Return the tokens of texts (B, S), and a mask that is False for padding.

        Parameters
        ----------
        texts
            The texts, of which each becomes a row.
        side
            ``"left"`` puts padding before the tokens, as generation needs it.
            ``"right"`` puts it after them, as encoders need it.
        most
            If given, the largest number of tokens of a text; others are cut off.
        special
            True to add special tokens.
        """
        one_of("Tokenizer.batch", "side", side, ("left", "right"))
        rows = [self.encode(text, special)[:most] for text in texts]
        width = max(map(len, rows), default=0)
        fill = self.number(self.special.get("pad_token", "")) or 0
        tokens, mask = [], []
        for row in rows:
            more, shown = [fill] * (width - len(row)), [False] * (width - len(row))
            left = side == "left"
            tokens.append(more + row if left else row + more)
            marks = [True] * len(row)
            mask.append(shown + marks if left else marks + shown)
        return tensor(tokens, dtype=int64), tensor(mask, dtype=bool_)

    def number(self, token: str) -> int | None:
        """Return the number of a token, or None if there is no such token."""
        found: int | None = self._tokens.token_to_id(token)
        return found

    def chat(self, messages: Sequence[Mapping[str, str]], *, reply: bool = True) -> str:
        """Return the text of a conversation, by the template of the folder.

        The text contains the special tokens, so encode it with ``special=False``.

        Parameters
        ----------
        messages
            The messages: dicts with the keys ``role`` and ``content``.  Roles are
            ``system``, ``user`` and ``assistant``.
        reply
            True to end the text where the reply of the model begins.

        Raises
        ------
        ArgumentError
            If the folder has no template.
        CheckpointError
            If the template fails, runs for more than 10 seconds, or needs more than
            1 GB of memory.  It runs in a sandbox, in a process of its own.
        """
        values = {
            **self.special,
            "messages": [dict(message) for message in messages],
            "add_generation_prompt": reply,
        }
        return render(self._template(), values)

    def _template(self) -> str:
        path = self.folder / "chat_template.jinja"
        if path.is_file():
            return path.read_text("utf-8")
        found = self._settings.get("chat_template")
        if isinstance(found, list):  # several, each with a name
            named = [one for one in found if isinstance(one, dict)]
            found = {one.get("name"): one.get("template") for one in named}
            found = found.get("default")
        if not isinstance(found, str):
            raise ArgumentError(
                f"Tokenizer.chat: {self.folder} has no template for chats: it belongs "
                "to a model that was not trained on conversations. Use a plain prompt."
            )
        return found

    def _ends(self) -> tuple[int, ...]:
        """Return the tokens that end a text, from the files that can name them."""
        for name in ("generation_config.json", "config.json"):
            found = self._optional(name).get("eos_token_id")
            listed = found if isinstance(found, list) else [found]
            if listed and all(type(token) is int for token in listed):
                return tuple(listed)
        token = self.number(self.special.get("eos_token", ""))
        return () if token is None else (token,)

    def _optional(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        return read_json(path, "Tokenizer") if path.is_file() else {}


def _text_of(token: Any) -> str | None:
    """Return the text of a special token, which can be an object."""
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None

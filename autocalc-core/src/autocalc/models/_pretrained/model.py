# SPDX-License-Identifier: MIT
"""What every model of a folder can do, and what every model of text can do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from copy import copy
from pathlib import Path
from typing import Any, ClassVar

from autocalc import nn
from autocalc._compile import compile
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType
from autocalc.models._cache import KeyValueCache
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.parts import Padding, Places, check_mask, check_tokens
from autocalc.models._pretrained.rotary import Rotary
from autocalc.nn import functional


class Pretrained(nn.Module):
    """A model with the settings of its ``config.json``.

    Names of modules are those of the tensors in the folder.
    """

    #: The names of a model's body in files of models with a head.
    body: ClassVar[str] = ""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config.values
        #: The folder from which the model was loaded.
        self.folder: Path | None = None

    def tie(self) -> None:
        """Let modules share their weights, where the family does so."""

    def adapt(self, found: Collection[str]) -> None:
        """Leave out parts of which the files have no tensors, where that is allowed."""

    def file_name(self, name: str) -> str:
        """Return the name in files of a parameter."""
        return name


class CausalModel(Pretrained):
    """A model of text that predicts the next token at each position.

    Calls have the interface of `Decoder`.  In addition, `mask` (B, T) is False where
    `tokens` are padding, so that texts of different lengths make a batch.

    Attributes
    ----------
    context
        The largest length of a text, in tokens.
    kv_heads, features
        The number of heads of keys and values, and of the features of one.
    """

    context: int
    kv_heads: int
    features: int
    rotary: Rotary | None
    #: The body and the last layer, as modules of the family.
    model: Any
    lm_head: Any

    def forward(
        self,
        tokens: Tensor,
        caches: Sequence[KeyValueCache] | None = None,
        start: int | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Return logits (B, S, V) of the next token, for each of `tokens` (B, S)."""
        past = _past(caches, start)
        name = type(self).__name__
        check_tokens(name, tokens, past, self.context)
        length = tokens.shape[1]
        padding = None
        if mask is not None:
            padding = self.padding(check_mask(name, mask, tokens, past))
        places = Places(length, past, padding)
        logits = self.logits(self.read(tokens, places, caches))
        if start is None:
            _count(caches, past + length)
        return logits

    def padding(self, mask: Tensor) -> Padding:
        """Return the tables for a mask (B, T), which is True for tokens."""
        return Padding(mask, self.dtype)

    @property
    def dtype(self) -> DType:
        """The dtype of the features: that of the last norm or layer."""
        floats = [p.dtype for p in self.parameters() if p.dtype.is_floating_point]
        return floats[-1]

    def read(
        self, tokens: Tensor, places: Places, caches: Sequence[KeyValueCache] | None
    ) -> Tensor:
        """Return the features (B, S, d) after the last block and its norm."""
        raise NotImplementedError

    def logits(self, x: Tensor) -> Tensor:
        """Return the logits (B, S, V) of features (B, S, d)."""
        logits: Tensor = self.lm_head(x)
        return logits

    @property
    def blocks(self) -> Any:
        """The blocks, each of which has a cache."""
        return self.model.layers

    @property
    def embedding(self) -> nn.Embedding:
        """The table of the tokens."""
        table: nn.Embedding = self.model.embed_tokens
        return table

    def tie(self) -> None:
        """Use the table of tokens as the weight of the last layer, if it is tied."""
        if self.config.get("tie_word_embeddings", self.tied):
            self.lm_head.weight = self.embedding.weight

    #: Whether the last layer has the table's weight, if the settings do not say it.
    tied: ClassVar[bool] = False

    def make_caches(self, batch: int, length: int | None = None) -> list[KeyValueCache]:
        """Return an empty cache for each block, with room for `length` positions."""
        length = self.context if length is None else length
        dtype = self.dtype
        if self.rotary is not None:
            self.rotary.reserve(length, dtype)
        sizes = (batch, self.kv_heads, length, self.features)
        return [KeyValueCache(*sizes, dtype=dtype) for _ in self.blocks]

    def reader(
        self,
        caches: Sequence[KeyValueCache],
        mask: Tensor | None = None,
        compiled: bool = False,
    ) -> Callable[[Tensor], Tensor]:
        """Return ``read(tokens (B, S))``: the logits (B, V) after the last of them.

        The tokens follow those in the caches.  `mask` has a column for each position of
        the caches.  If `compiled` is true, single tokens are read by a recorded step,
        which holds for all positions.
        """
        padding = None if mask is None else self.padding(mask)
        # The same memory with a constant count, which a recorded step guards.
        tables = [copy(cache) for cache in caches]

        def read(tokens: Tensor, start: int) -> Tensor:
            places = Places(tokens.shape[1], start, padding)
            x = self.read(tokens, places, tables)
            return self.logits(x[:, -1:])[:, 0]

        one = compile(read, fallback=True) if compiled else read

        def after(tokens: Tensor) -> Tensor:
            start, length = caches[0].count, tokens.shape[1]
            logits = (one if length == 1 else read)(tokens, start)
            _count(caches, start + length)
            return logits

        return after

    def loss(self, tokens: Tensor, targets: Tensor) -> Tensor:
        """Return the mean cross-entropy of targets (B, S); -100 leaves one out."""
        logits = self(tokens)
        flat = logits.reshape(-1, logits.shape[-1])
        return functional.cross_entropy(flat, targets.reshape(-1))


def _past(caches: Sequence[KeyValueCache] | None, start: int | None) -> int:
    """Return how many positions are over: as the caller says, or the caches."""
    if start is not None:
        return start
    return caches[0].count if caches else 0


def _count(caches: Sequence[KeyValueCache] | None, count: int) -> None:
    for cache in caches or ():
        cache.count = count


def of_cache(caches: Sequence[KeyValueCache] | None, number: int) -> Any:
    """Return the cache of a block, or None."""
    return None if caches is None else caches[number]

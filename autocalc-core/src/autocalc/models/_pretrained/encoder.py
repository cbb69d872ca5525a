# SPDX-License-Identifier: MIT
"""What encoders of text have in common.

Devlin et al.: BERT: pre-training of deep bidirectional transformers for language
understanding (2019).  A token sees all tokens of its text.
"""

from __future__ import annotations

from autocalc._ops.creation.ranges import arange
from autocalc._tensor import Tensor
from autocalc.models._pretrained.config import Config
from autocalc.models._pretrained.model import Pretrained
from autocalc.models._pretrained.parts import Attention, check_mask, check_tokens


class EncoderAttention(Attention):
    """Attention of all tokens to all tokens of their text."""

    def __init__(self, config: Config, d: int, heads: int) -> None:
        if d % heads:
            raise config.refusal("num_attention_heads", f"a divisor of {d}")
        super().__init__(heads, heads, d // heads)

    def mix(self, q: Tensor, k: Tensor, v: Tensor, seen: Tensor | None) -> Tensor:
        """Return the result (B, S, d) for projections (B, S, d)."""
        batch, length, d = q.shape
        sizes = batch, length, self.heads, self.features
        q, k, v = (x.reshape(sizes).permute(0, 2, 1, 3) for x in (q, k, v))
        y = self._product(q, k, v, seen, False)
        return y.permute(0, 2, 1, 3).reshape(batch, length, d)


class Encoder(Pretrained):
    """An encoder; `architectures` in ``config.json`` chooses its head.

    Without a head, a call returns features (B, S, d).  A head for masked tokens returns
    logits (B, S, V), and one for classes returns logits (B, classes).
    """

    context: int
    head: str
    #: The kinds of heads, by the ends of their names.
    heads = ("Model", "ForMaskedLM", "ForSequenceClassification")

    def kind(self, config: Config) -> str:
        """Return the kind of head that the settings ask for."""
        named = config.values.get("architectures") or ["Model"]
        first = named[0] if isinstance(named, list) and named else named
        for end in self.heads:
            if isinstance(first, str) and first.endswith(end):
                return end
        raise config.refusal("architectures", f"a class ...{', ...'.join(self.heads)}")

    def file_name(self, name: str) -> str:
        """Return the name in files; without a head, the body has no prefix."""
        return name.removeprefix(self.body) if self.head == "Model" else name

    def checked(self, tokens: Tensor, mask: Tensor | None) -> Tensor | None:
        """Return what each token sees; raise unless the arguments fit."""
        name = type(self).__name__
        check_tokens(name, tokens, 0, self.context)
        if mask is None:
            return None
        return check_mask(name, mask, tokens, 0)[:, None, None, : tokens.shape[1]]


def classes_of(config: Config) -> int:
    """Return the number of classes, which newer files give by their names only."""
    names = config.values.get("id2label")
    if isinstance(names, dict) and names:
        return len(names)
    return config.size("num_labels", 2)


def positions_of(tokens: Tensor) -> Tensor:
    """Return the positions (S,) of tokens (B, S)."""
    return arange(tokens.shape[1])

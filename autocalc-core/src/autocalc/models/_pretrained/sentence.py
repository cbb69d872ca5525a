# SPDX-License-Identifier: MIT
"""Sentence models: an encoder, a mean over the tokens of a text, a vector of length 1.

Reimers, Gurevych: Sentence-BERT: sentence embeddings using siamese BERT-networks
(2019).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType
from autocalc.errors import CheckpointError
from autocalc.models._pretrained.config import Config, read_json
from autocalc.models._pretrained.encoder import Encoder
from autocalc.models._pretrained.loading import load_model
from autocalc.nn import functional

#: The parts of every sentence model.
KNOWN = ["Transformer", "Pooling"]
POOLINGS = ("cls", "max", "mean")
_OLDER = {
    "cls": "pooling_mode_cls_token",
    "max": "pooling_mode_max_tokens",
    "mean": "pooling_mode_mean_tokens",
}
_OTHERS = ("mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")


class SentenceModel(nn.Module):
    """A model that returns a vector (B, d) for each text.

    Parameters
    ----------
    encoder
        The encoder, which returns features (B, S, d).
    pooling
        ``"mean"`` for the mean of the features over all tokens of a text, ``"max"`` for
        the largest value of each feature, or ``"cls"`` for the first token's features.
    normalize
        True to divide each vector by its length.
    """

    def __init__(self, encoder: Any, pooling: str, normalize: bool) -> None:
        super().__init__()
        self.encoder, self.pooling, self.normalize = encoder, pooling, normalize
        self.folder: Path | None = None

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return vectors (B, d) of `tokens` (B, S); `mask` is False for padding."""
        vectors = self._pooled(self.encoder(tokens, mask), mask)
        return functional.normalize(vectors, dim=-1) if self.normalize else vectors

    def _pooled(self, x: Tensor, mask: Tensor | None) -> Tensor:
        if self.pooling == "cls":
            return x[:, 0]
        if mask is None:
            return x.mean(1) if self.pooling == "mean" else x.amax(1)
        kept = mask.bool().unsqueeze(-1)
        if self.pooling == "max":
            return x.masked_fill(~kept, float("-inf")).amax(1)
        weights = kept.to(x.dtype)
        return (x * weights).sum(1) / weights.sum(1).clamp(min=1e-9)


def load_sentence_model(folder: Path, dtype: DType | None) -> SentenceModel:
    """Return the model that ``modules.json`` describes."""
    parts = _parts(folder / "modules.json")
    kinds = [kind for kind, _ in parts]
    if kinds not in (KNOWN, [*KNOWN, "Normalize"]):
        raise CheckpointError(
            f"from_pretrained: {folder / 'modules.json'} lists the modules "
            f"{', '.join(kinds)}; known are Transformer, Pooling and then Normalize."
        )
    pooling = _pooling(folder / parts[1][1] / "config.json")
    encoder = load_model(folder / parts[0][1], dtype)
    if not isinstance(encoder, Encoder) or encoder.head != "Model":
        raise CheckpointError(
            f"from_pretrained: the sentence model in {folder} needs an encoder without "
            f"a head; its config.json describes another model: "
            f"{type(encoder).__name__}."
        )
    model = SentenceModel(encoder, pooling, "Normalize" in kinds)
    model.folder = folder
    return model.eval()


def _parts(path: Path) -> list[tuple[str, str]]:
    """Return the last word of each module's class, and its folder."""
    try:
        listed = json.loads(path.read_text("utf-8"))
        parts = [(m["type"].rpartition(".")[2], m.get("path", "")) for m in listed]
        if any(Path(place).name != place for _, place in parts):
            raise ValueError("a path leads out of the folder")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"from_pretrained: {path} is not a list of modules: {error}."
        ) from error
    return parts


def _pooling(path: Path) -> str:
    config = Config(read_json(path), str(path), 0)
    if "pooling_mode" in config:
        return config.choice("pooling_mode", POOLINGS)
    others = [f"pooling_mode_{name}" for name in _OTHERS]
    wrong = [name for name in others if config.values.get(name)]
    chosen = [name for name, old in _OLDER.items() if config.values.get(old)]
    if wrong or len(chosen) != 1:
        raise config.refusal(
            (wrong or ["pooling_mode"])[0], f"one of {', '.join(POOLINGS)}"
        )
    return chosen[0]

# SPDX-License-Identifier: MIT
"""Rotary positions of pretrained models, with their factors for longer texts.

Su et al.: RoFormer (2021), equation 34.  Pair i of D features turns by the angle ``p *
base**(-2 i / D)`` at position p.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autocalc._ops.arranging.joining import cat
from autocalc._ops.attention.rotary import rotary_embedding
from autocalc._ops.creation.from_data import from_numpy
from autocalc._tensor import Tensor
from autocalc._tensor.dtypes import DType
from autocalc.models._pretrained.config import Config

KINDS = ("default", "linear", "llama3", "longrope")
#: The first table has so many positions; a longer text makes a longer one.
_FIRST = 256


class Rotary:
    """The tables of cosines and sines; they are made for as many positions as needed.

    Parameters
    ----------
    steps
        The angle of each pair of features from one position to the next.
    scale
        The factor of the cosines and sines.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.models._pretrained.rotary import Rotary, frequencies
    >>> rotary = Rotary(frequencies(8, 10000.0))
    >>> rotary.turn(ac.ones(1, 5, 2, 8), 0).shape
    autocalc.Size([1, 5, 2, 8])
    """

    def __init__(self, steps: Any, scale: float = 1.0) -> None:
        self.steps, self.scale = steps, scale
        self.features = 2 * len(steps)
        self.length = 0
        self.dtype: DType | None = None
        self.cos: Any = None
        self.sin: Any = None

    def reserve(self, length: int, dtype: DType) -> None:
        """Make tables for `length` positions, unless there are longer ones."""
        if length <= self.length and dtype is self.dtype:
            return
        self.length = max(_FIRST, 2 * self.length, length)
        self.dtype = dtype
        angles = np.arange(self.length)[:, None] * self.steps
        self.cos = self._table(np.cos(angles))
        self.sin = self._table(np.sin(angles))

    def _table(self, values: Any) -> Tensor:
        return from_numpy(np.float32(values * self.scale)).to(self.dtype)

    def turn(self, x: Tensor, start: int) -> Tensor:
        """Return x (B, S, H, D), its first features turned, from the place `start`."""
        stop = start + x.shape[1]
        self.reserve(stop, x.dtype)
        tables = self.cos[start:stop], self.sin[start:stop]
        if self.features == x.shape[3]:
            return rotary_embedding(x, *tables)
        turned = rotary_embedding(x[..., : self.features], *tables)
        return cat((turned, x[..., self.features :]), 3)


def frequencies(features: int, base: float) -> Any:
    """Return ``base**(-2 i / D)`` for each of the D / 2 pairs."""
    return base ** (np.arange(0, features, 2) / -features)


def rotary_of(config: Config, features: int, usual: float = 1.0) -> Rotary:
    """Return the rotary positions that a configuration describes.

    `usual` is the share of turned features, if the configuration does not say it.
    """
    # Newer files have one object; older ones have the base apart from the scaling.
    name = "rope_parameters" if "rope_parameters" in config else "rope_scaling"
    rope = config.part(name) if name in config else Config({}, config.place, 0)
    both = {**config.values, **rope.values}
    settings = Config(both, rope.place, config.tensors)
    base = settings.number("rope_theta", 10000.0)
    share = settings.number("partial_rotary_factor", usual)
    turned = int(features * share)
    if turned % 2 or not 0 < turned <= features:
        raise settings.refusal("partial_rotary_factor", "a share that gives pairs")
    # Older files call it `type`.
    kind = "rope_type" if "rope_type" in rope or "type" not in rope else "type"
    name = rope.choice(kind, KINDS, "default")
    steps = frequencies(turned, base)
    if name == "linear":
        return Rotary(steps / settings.number("factor"))
    if name == "llama3":
        return Rotary(_llama3(steps, settings))
    if name == "longrope":
        return _longrope(steps, settings)
    return Rotary(steps)


def _llama3(steps: Any, config: Config) -> Any:
    """Slow angles are divided by `factor`, fast ones stay, those between are mixed.

    Dubey et al.: The Llama 3 herd of models (2024), section 3.4.2, reaches long
    texts in this way.
    """
    factor = config.number("factor")
    low, high = config.number("low_freq_factor"), config.number("high_freq_factor")
    length = config.number("original_max_position_embeddings")
    if high <= low:
        raise config.refusal("high_freq_factor", f"above `low_freq_factor`, {low}")
    turns = length * steps / (2 * math.pi)  # full turns within the original length
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return steps * (kept + (1 - kept) / factor)


def _longrope(steps: Any, config: Config) -> Rotary:
    """Each angle is divided by a factor of its own (Ding et al.: LongRoPE, 2024).

    Texts within the original length have the short factors.  The context is limited to
    this length, as the factors of earlier positions would have to change beyond it.
    """
    factors: Any = config.values.get("short_factor")
    fits = isinstance(factors, list) and len(factors) == len(steps)
    if not fits or not all(type(f) in {int, float} and f > 0 for f in factors):
        raise config.refusal("short_factor", f"{len(steps)} positive numbers")
    length = config.number("original_max_position_embeddings")
    if "attention_factor" in config:
        return Rotary(steps / np.asarray(factors), config.number("attention_factor"))
    share = config.number("max_position_embeddings", length) / length
    factor = config.number("factor", share)
    scale = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(length))
    return Rotary(steps / np.asarray(factors), scale)

# SPDX-License-Identifier: MIT
"""Sample calls of attention and its backward kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels import xp as numpy_xp
from autocalc._kernels._legacy import _references_attention as references
from autocalc._kernels.samples import Make, int64
from autocalc._kernels.spec import Array, Sample

#: (B, S, T, H, G, D, E)
_SIZES = (
    (1, 1, 1, 1, 1, 1, 1),
    (2, 3, 3, 2, 2, 4, 4),
    (1, 5, 7, 4, 2, 3, 6),
    (2, 17, 33, 3, 1, 16, 9),
    (1, 65, 64, 2, 2, 32, 32),
    (1, 1, 40, 4, 4, 8, 8),
    (0, 3, 3, 2, 2, 4, 4),
    (2, 0, 3, 2, 2, 4, 4),
    (2, 3, 0, 2, 2, 4, 4),
)

Operands = tuple[Any, ...]


def _operands(make: Make, b: int, s: int, t: int, h: int, g: int, d: int, e: int,
              ) -> tuple[Array, Array, Array]:  # fmt: skip
    return make.normal(b, s, h, d), make.normal(b, t, g, d), make.normal(b, t, g, e)


def _calls(make: Make) -> Iterator[tuple[str, Operands, Operands]]:
    """Yield (label, q k v mask seed offset, attributes)."""
    none = (None, None, None)
    for sizes in _SIZES:
        scale = float(sizes[5]) ** -0.5
        qkv = _operands(make, *sizes)
        yield f"{sizes}", (*qkv, *none), (scale, "none", 0.0)
        for causal in ("upper_left", "lower_right"):
            yield f"{sizes}, {causal}", (*qkv, *none), (scale, causal, 0.0)
    qkv = _operands(make, 2, 6, 9, 4, 2, 8, 8)
    masks = {
        "booleans": make.mask(2, 4, 6, 9),
        "one row of booleans": make.mask(2, 1, 1, 9),
        "numbers": make.normal(1, 4, 6, 9),
        "nothing allowed": np.zeros((1, 1, 6, 1), bool),
    }
    for label, mask in masks.items():
        yield label, (*qkv, mask, None, None), (0.5, "none", 0.0)
        yield f"{label}, causal", (*qkv, mask, None, None), (0.5, "lower_right", 0.0)
    for p in (0.25, 1.0):
        counter = (None, int64(7), int64(11))
        yield f"dropout {p}", (*qkv, *counter), (0.5, "upper_left", p)
    steep = _operands(make, 1, 9, 9, 1, 1, 8, 8)
    yield "scores of hundreds", (steep[0] * 100, *steep[1:], *none), (1.0, "none", 0.0)
    large = _operands(make, 2, 130, 130, 4, 2, 32, 32)
    yield "large", (*large, *none), (32**-0.5, "lower_right", 0.0)


def attention(make: Make) -> Iterator[Sample]:
    for label, operands, attributes in _calls(make):
        yield Sample(label, operands, attributes, want=0b10)


def attention_backward(make: Make) -> Iterator[Sample]:
    for label, operands, attributes in _calls(make):
        q, v = operands[0], operands[2]
        with np.errstate(all="ignore"):
            out, lse = references.attention(numpy_xp, *operands, *attributes)
        g = make.normal(*q.shape[:3], v.shape[3])
        inputs = (g, *operands[:3], out, lse, *operands[3:])
        yield Sample(label, inputs, attributes, want=0b111)

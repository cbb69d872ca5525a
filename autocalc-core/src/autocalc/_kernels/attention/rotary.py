# SPDX-License-Identifier: MIT
"""Rotary embeddings: rotate pairs of features by the angles of their position.

Su et al.: RoFormer (2021), equation 34.  Feature i is rotated together with feature i +
D/2; with this order, vector registers hold features of one half.  The transpose of a
rotation is the rotation by the negative angle, so the kernel is its own backward
kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import Inputs, Limits, magnitude, ulp
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import composite
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import expect_ndim, expect_shape, float_dtype
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, Attributes, Meta, Sample
from autocalc.errors import ShapeError

rotary = composite(
    "rotary",
    "out ; x cos sin ; inverse:bool",
    "x [B, S, H, D] in halves (l, r), rotated at each position by its angles: (l cos - "
    "r sin, r cos + l sin), or by the negative angles; cos and sin [S, D/2].",
    alias=(("out", "x"),),
    defaults=(False,),
)


@rotary.rule
def _(x: Meta, cos: Meta, sin: Meta, inverse: bool) -> Meta:
    dtype = float_dtype("rotary", x, cos, sin)
    expect_ndim("rotary", "x", x, 4)
    places, features = x.shape[1], x.shape[3]
    if features % 2:
        raise ShapeError(
            f"rotary: `x` has shape {x.shape}; its {features} features are rotated in "
            "pairs, so their number must be even."
        )
    for word, meta in (("cos", cos), ("sin", sin)):
        expect_shape("rotary", word, meta, (places, features // 2))
    return Meta(x.shape, dtype)


@rotary.formula(lead="mul")
def _(xp: Any, x: Array, cos: Array, sin: Array, inverse: bool) -> Array:
    half = x.shape[3] // 2
    left, right = wide(xp, x[..., :half]), wide(xp, x[..., half:])
    line = (x.shape[1], 1, half)
    c, s = (wide(xp, a).reshape(line) for a in (cos, sin))
    s = -s if inverse else s
    turned = (left * c - right * s, right * c + left * s)
    return narrow(xp.concatenate(turned, axis=-1), x)


@rotary.budget("2 eps of the two products' sizes")
def _(inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float) -> Limits:
    x, cos, sin = map(magnitude, inputs)
    half = x.shape[3] // 2
    left, right, c, s = x[..., :half], x[..., half:], cos[:, None], sin[:, None]
    sizes = np.concatenate((left * c + right * s, right * c + left * s), axis=-1)
    return [2 * eps * sizes + ulp(expected[0], eps)]


@rotary.samples
def _(make: Make) -> Iterator[Sample]:
    shapes = (
        *((1, 3, 2, d) for d in (0, 2, 6, 16, 30, 32, 64, 66, 130)),
        (0, 3, 2, 4),
        (2, 0, 2, 4),
        (1, 1, 1, 2),
        (2, 65, 4, 64),
    )
    for shape in shapes:
        angles = make.normal(shape[1], shape[3] // 2)
        label = "large" if shape[1] > 60 else "some"
        for inverse in (False, True):
            x = make.normal(*shape)
            operands = (x, np.cos(angles), np.sin(angles))
            yield Sample(f"{label} {shape}, inverse={inverse}", operands, (inverse,))


rotary.work(flops_per_element=3)
rotary.benchmarks(
    Case("8x512x8x64", join(floats(8, 512, 8, 64), *[floats(512, 32)] * 2), (False,))
)

# SPDX-License-Identifier: MIT
"""Products of groups: PyTorch's values and gradients, which it has in float32 only."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("a", "b", "ends"),
    [
        ((8, 16), (3, 16, 8), (2, 4, 8)),
        ((3, 8, 16), (16, 8), (2, 2, 8)),
        ((8, 8), (8, 12), (1, 4, 8)),
        ((3, 4, 8), (3, 8, 4), None),
    ],
)
def test_products(a, b, ends):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape).astype(np.float32) for shape in (a, b)]
    found = []
    for m in (ac, torch):
        leaves = [m.tensor(x, requires_grad=True) for x in arrays]
        offs = None if ends is None else m.tensor(ends, dtype=m.int32)
        out = m.nn.functional.grouped_mm(*leaves, offs=offs)
        (out**2).sum().backward()
        found.append([out.detach(), *(x.grad for x in leaves)])
    for mine, theirs in zip(*found, strict=True):
        assert tuple(mine.shape) == tuple(theirs.shape)
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)

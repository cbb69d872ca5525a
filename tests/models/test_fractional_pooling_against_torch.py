# SPDX-License-Identifier: MIT
"""Fractional max pooling from the same draws: PyTorch's elements and gradients."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("trial", range(12))
def test_elements_places_and_gradients(trial, dtype):
    rng = np.random.default_rng(trial)
    dims = 2 + trial % 2
    planes = tuple(rng.integers(3, 12, dims).tolist())
    kernel = tuple(int(rng.integers(1, n)) for n in planes)
    sizes = tuple(
        int(rng.integers(1, n - k + 1)) for n, k in zip(planes, kernel, strict=True)
    )
    x = rng.normal(size=(3, 2, *planes)).astype(dtype)
    draws = rng.uniform(size=(3, 2, dims)).astype(dtype)
    found = []
    for m in (ac, torch):
        leaf = m.tensor(x, requires_grad=True)
        pool = getattr(m.nn.functional, f"fractional_max_pool{dims}d")
        out, places = pool(
            leaf, kernel, sizes, return_indices=True, _random_samples=m.tensor(draws)
        )
        (out**2).sum().backward()
        found.append([a.numpy() for a in (out.detach(), places, leaf.grad)])
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[0][2], found[1][2], rtol=1e-6)

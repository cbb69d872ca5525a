# SPDX-License-Identifier: MIT
"""The transforms of Winograd's error budgets are identities, for every basis vector."""

import numpy as np
import pytest

from autocalc._kernels.conv._geometry import WINOGRAD_2, WINOGRAD_4

pytestmark = pytest.mark.parametrize(
    "tile", [WINOGRAD_4, WINOGRAD_2], ids=["four", "two"]
)


def test_the_three_transforms_are_a_convolution(tile):
    """A product for each of the places, of everything with everything."""
    products = np.einsum("yk,kw,kd->ywd", tile.results, tile.taps, tile.data)
    #: [result, tap, element]: 1 where a result reads an element through a tap.
    reads = [[np.eye(tile.size)[y + w] for w in range(3)] for y in range(tile.out)]
    np.testing.assert_allclose(products, reads, rtol=0, atol=1e-15)


def test_transposed_they_are_its_weight_gradient(tile):
    """`G^T ((B^T d B) * (A y A^T)) G` correlates d with y, in two dimensions."""
    rng = np.random.default_rng(0)
    d, y = (rng.standard_normal((n, n)) for n in (tile.size, tile.out))
    places = (tile.data @ d @ tile.data.T) * (tile.results.T @ y @ tile.results)
    windows = np.lib.stride_tricks.sliding_window_view(d, y.shape)
    expected = np.einsum("ijkl,kl->ij", windows, y)
    np.testing.assert_allclose(tile.taps.T @ places @ tile.taps, expected, atol=1e-13)

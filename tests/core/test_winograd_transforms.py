# SPDX-License-Identifier: MIT
"""The transforms of Winograd's error budgets are identities, for every basis vector."""

import numpy as np

from autocalc._kernels._budgets_conv import _DATA, _RESULTS, _TAPS

#: [result, tap, element]: 1 where a result reads an element through a tap.
READS = np.array([[np.eye(6)[y + w] for w in range(3)] for y in range(4)])
#: A product for each of the six places, of everything with everything.
PRODUCTS = np.einsum("yk,kw,kd->ywd", _RESULTS, _TAPS, _DATA)


def test_the_three_transforms_are_a_convolution():
    np.testing.assert_allclose(PRODUCTS, READS, rtol=0, atol=1e-15)


def test_transposed_they_are_its_weight_gradient():
    """`G^T ((B^T d B) * (A y A^T)) G` correlates d with y, in two dimensions."""
    rng = np.random.default_rng(0)
    d, y = rng.standard_normal((6, 6)), rng.standard_normal((4, 4))
    places = (_DATA @ d @ _DATA.T) * (_RESULTS.T @ y @ _RESULTS)
    windows = np.lib.stride_tricks.sliding_window_view(d, (4, 4))
    expected = np.einsum("ijkl,kl->ij", windows, y)
    np.testing.assert_allclose(_TAPS.T @ places @ _TAPS, expected, atol=1e-13)

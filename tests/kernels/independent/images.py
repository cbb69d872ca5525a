# SPDX-License-Identifier: MIT
"""Images: turned by angles, averaged, and read between their pixels."""

from __future__ import annotations

import math

import numpy as np
from tests.kernels.independent.common import Case, gradients, normal
from tests.kernels.independent.elementwise import between


def _rotary():
    x, angle = normal(2, 3, 2, 4), normal(3, 2)
    for inverse in (False, True):
        turn = np.exp((-1j if inverse else 1j) * angle)[:, None, :]
        out = (x[..., :2] + 1j * x[..., 2:]) * turn
        out = np.concatenate([out.real, out.imag], axis=-1)
        yield Case((x, np.cos(angle), np.sin(angle)), (inverse,), (out,))


def _adaptive_avg_pool():
    x = normal(1, 2, 5, 4)
    out = np.empty((1, 2, 3, 2))
    for i, j in np.ndindex(3, 2):
        rows = slice(5 * i // 3, math.ceil(5 * (i + 1) / 3))
        out[..., i, j] = x[:, :, rows, 2 * j : 2 * j + 2].mean((2, 3))
    yield Case((x,), ((3, 2),), (out,))


def _pixel(plane, i, j, padding):
    """Return a pixel of a plane; outside of it what the padding says."""
    inside = 0 <= i < plane.shape[0] and 0 <= j < plane.shape[1]
    if padding == "zeros":
        return plane[i, j] if inside else 0.0
    return plane[between(i, 0, len(plane) - 1), between(j, 0, plane.shape[1] - 1)]


def _hat(mode, d):
    """Return the weight of a pixel at a distance."""
    d = abs(d)
    if mode == "bilinear":
        return max(1 - d, 0.0)
    if mode == "nearest":
        return float(d < 0.5)
    if d <= 1:
        return 1.25 * d**3 - 2.25 * d**2 + 1
    return -0.75 * (d**3 - 5 * d**2 + 8 * d - 4) if d < 2 else 0.0


def _place(c, n, padding, align):
    place = (c + 1) / 2 * (n - 1) if align else ((c + 1) * n - 1) / 2
    if padding == "reflection":
        low, high = (0, n - 1) if align else (-0.5, n - 0.5)
        while not low <= place <= high:
            place = 2 * low - place if place < low else 2 * high - place
    return place if padding == "zeros" else between(place, 0, n - 1)


def _grid_sample(x, grid, mode, padding, align):
    out = np.zeros((*x.shape[:2], *grid.shape[1:3]))
    height, width = x.shape[2:]
    for b, r, s in np.ndindex(*grid.shape[:3]):
        # Of cubic convolution each pixel is brought in by itself, not the place.
        of_place = "zeros" if mode == "bicubic" else padding
        px = _place(grid[b, r, s, 0], width, of_place, align)
        py = _place(grid[b, r, s, 1], height, of_place, align)
        for i in range(math.floor(py) - 1, math.floor(py) + 3):
            for j in range(math.floor(px) - 1, math.floor(px) + 3):
                weight = _hat(mode, py - i) * _hat(mode, px - j)
                for c in range(x.shape[1]):
                    out[b, c, r, s] += weight * _pixel(x[b, c], i, j, padding)
    return out


_SAMPLED = [
    (mode, padding, align)
    for mode, paddings in (
        ("bilinear", ("zeros", "border", "reflection")),
        ("nearest", ("zeros", "border", "reflection")),
        ("bicubic", ("zeros", "border")),
    )
    for padding in paddings
    for align in (False, True)
]


def _grid_samples():
    x, grid = normal(1, 2, 4, 3), 0.9 * normal(1, 2, 3, 2)
    for attributes in _SAMPLED:
        yield Case((x, grid), attributes, (_grid_sample(x, grid, *attributes),))


def _grid_sample_backward():
    for (x, grid), attributes, (out,), _ in _grid_samples():
        g = normal(*out.shape, seed=1)

        def forward(*a, attributes=attributes):
            return _grid_sample(*a, *attributes)

        found = gradients(forward, (x, grid), g)
        yield Case((g, x, grid), attributes, found)


CASES = {
    "rotary": _rotary,
    "adaptive_avg_pool": _adaptive_avg_pool,
    "grid_sample": _grid_samples,
    "grid_sample_backward": _grid_sample_backward,
}

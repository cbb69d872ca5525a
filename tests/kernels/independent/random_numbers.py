# SPDX-License-Identifier: MIT
"""Random numbers from the words of Philox, as integers."""

from __future__ import annotations

import cmath
import math

import numpy as np
from tests.kernels.independent.common import Case, normal

from autocalc._kernels.philox import philox_words


def words(count, bits):
    """Return the upper bits of words of 32 bits, or of pairs of them, as integers."""
    drawn = [int(w) for w in philox_words(7, 3, 2 * count)]
    if bits <= 32:
        return [w >> (32 - bits) for w in drawn[:count]]
    pairs = zip(drawn[::2], drawn[1::2], strict=True)
    return [(high << 32 | low) >> (64 - bits) for high, low in pairs]


STREAM = np.array(7), np.array(3)


def _dropout():
    a, p = normal(5, 8), 0.25
    kept = [w / 2**24 >= p for w in words(40, 24)]
    each = zip(a.ravel(), kept, strict=True)
    out = [x / (1 - p) if keep else 0.0 for x, keep in each]
    both = (np.reshape(out, a.shape), np.reshape(kept, a.shape))
    yield Case((a, *STREAM), (p,), both)


def _dropout_backward():
    ((a, *_), (p,), (out, mask), _) = next(_dropout())
    yield Case((a, mask), (p,), (out,))


def _uniform():
    out = [1.5 + 2 * w / 2**53 for w in words(8, 53)]
    yield Case(STREAM, (1.5, 3.5), (np.reshape(out, (4, 2)),), (4, 2))


def _one_normal(u, v):
    """Return the real part of a number in polar form (Box, Muller)."""
    return (math.sqrt(-2 * math.log(u)) * cmath.exp(2j * math.pi * v)).real


def _normals():
    u = [w / 2**53 for w in words(16, 53)]
    pairs = zip(u[::2], u[1::2], strict=True)
    out = [0.5 + 2 * _one_normal(a + 2.0**-53, b) for a, b in pairs]
    yield Case(STREAM, (0.5, 2.0), (np.reshape(out, (4, 2)),), (4, 2))


CASES = {
    "dropout": _dropout,
    "dropout_backward": _dropout_backward,
    "uniform": _uniform,
    "normal": _normals,
}

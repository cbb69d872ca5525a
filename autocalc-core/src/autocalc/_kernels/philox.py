# SPDX-License-Identifier: MIT
"""Philox4x32-10: random words from a key and a counter, in any order.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
Block `n` of the stream is a function of (seed, n) alone, so any kernel, thread or
replay that needs word `i` computes it directly and gets the same bits.
"""

from __future__ import annotations

import numpy as np

from autocalc._kernels.spec import Array

ROUNDS = 10
_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


def philox_blocks(seed: int, blocks: Array) -> Array:
    """Return the four 32-bit words of each block: ``(len(blocks), 4)`` uint64.

    The key is the seed's two halves (low, high), the counter is the block's number.
    """
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    c0, c1 = blocks & _LOW, blocks >> _32
    c2 = c3 = np.zeros_like(blocks)
    for _ in range(ROUNDS):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1 = (p1 >> _32) ^ c1 ^ np.uint64(k0), p1 & _LOW
        c2, c3 = (p0 >> _32) ^ c3 ^ np.uint64(k1), p0 & _LOW
        k0, k1 = k0 + _W0 & 0xFFFFFFFF, k1 + _W1 & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=-1)


def philox_words(seed: int, start: int, count: int) -> Array:
    """Return words ``start`` to ``start + count`` of the stream, as uint64."""
    first, last = start // 4, -(-(start + count) // 4)
    words = philox_blocks(seed, np.arange(first, last, dtype=np.uint64)).reshape(-1)
    return words[start - 4 * first :][:count]

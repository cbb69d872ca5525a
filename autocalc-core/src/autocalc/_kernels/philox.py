# SPDX-License-Identifier: MIT
"""Philox4x32-10 computes random words from a key and a counter, in any order.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
Block `n` of the stream depends only on (seed, n).  Any kernel, thread or replay can
therefore compute word `i` directly, and gets the same bits.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from autocalc._kernels.spec import Array

ROUNDS = 10
_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)

#: The most blocks that are computed as one Python integer.
FEW = 32


def philox_blocks(seed: int, blocks: Array) -> Array:
    """Return the four 32-bit words of each block: ``(len(blocks), 4)`` uint64.

    The key consists of the low and the high half of the seed.  The counter is the
    number of the block.
    """
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    c0, c1 = blocks & _LOW, blocks >> _32
    c2 = c3 = np.zeros_like(blocks)
    for _ in range(ROUNDS):
        p0, p1 = np.uint64(_M0) * c0, np.uint64(_M1) * c2
        c0, c1 = (p1 >> _32) ^ c1 ^ np.uint64(k0), p1 & _LOW
        c2, c3 = (p0 >> _32) ^ c3 ^ np.uint64(k1), p0 & _LOW
        k0, k1 = k0 + _W0 & 0xFFFFFFFF, k1 + _W1 & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=-1)


@lru_cache(FEW)
def _lanes(count: int) -> tuple[int, int]:
    """Return two integers whose 128-bit lanes hold 1, 1, ... and 0, 1, 2, ..."""
    ones = sum(1 << 128 * i for i in range(count))
    return ones, sum(i << 128 * i for i in range(count))


@lru_cache(64)
def _keys(seed: int, ones: int) -> tuple[tuple[int, int], ...]:
    """Return the two keys of each round, repeated in each lane."""
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    return tuple(
        [
            ((k0 + i * _W0 & 0xFFFFFFFF) * ones, (k1 + i * _W1 & 0xFFFFFFFF) * ones)
            for i in range(ROUNDS)
        ]
    )


def few_blocks(seed: int, first: int, count: int) -> Array:
    """Return the words of a few consecutive blocks, like `philox_blocks`, in 32 bits.

    Each block is a lane of one long integer; a lane is wide enough for the products.
    An operation on 4 blocks takes 0.04 us; with NumPy it takes 0.5 us.
    """
    ones, ramp = _lanes(count)
    low = ones * 0xFFFFFFFF
    c0, c1 = first * ones + ramp & low, first * ones + ramp >> 32 & low
    c2 = c3 = 0
    for k0, k1 in _keys(seed, ones):
        p0, p1 = _M0 * c0, _M1 * c2
        c0, c1 = (p1 >> 32 & low) ^ c1 ^ k0, p1 & low
        c2, c3 = (p0 >> 32 & low) ^ c3 ^ k1, p0 & low
    words = c0 | c1 << 32 | c2 << 64 | c3 << 96
    return np.frombuffer(words.to_bytes(16 * count, "little"), "<u4").reshape(-1, 4)


def philox_words(seed: int, start: int, count: int) -> Array:
    """Return words ``start`` to ``start + count`` of the stream, as uint64."""
    first, last = start // 4, -(-(start + count) // 4)
    if 0 < last - first <= FEW:
        words = few_blocks(seed, first, last - first).reshape(-1).astype(np.uint64)
    else:
        blocks = np.arange(first, last, dtype=np.uint64)
        words = philox_blocks(seed, blocks).reshape(-1)
    return words[start - 4 * first :][:count]

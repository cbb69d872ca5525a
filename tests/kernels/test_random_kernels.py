# SPDX-License-Identifier: MIT
"""Random numbers: the words of Philox, their elements, and their distributions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernel_table import load, philox_words

from autocalc._kernels.philox import FEW, few_blocks, philox_blocks

pytestmark = pytest.mark.core

KERNELS = load()


def scalar(value):
    return np.array(value, np.int64)


def draw(kernel, n, seed, offset, *attributes, dtype="f4"):
    out = np.empty(n, dtype)
    KERNELS[kernel](out, scalar(seed), scalar(offset), *attributes)
    return out


def words_of(c0, c1, c2, c3, k0, k1):
    """Philox4x32-10 as its paper writes it, in Python's integers."""
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (
            (p1 >> 32) ^ c1 ^ k0,
            p1 & 0xFFFFFFFF,
            (p0 >> 32) ^ c3 ^ k1,
            p0 & 0xFFFFFFFF,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [c0, c1, c2, c3]


def test_known_answers():
    """The published vectors: counter and key zero; and all ones for the oracle."""
    zeros = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert words_of(0, 0, 0, 0, 0, 0) == zeros
    ones = [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert words_of(*[0xFFFFFFFF] * 6) == ones
    assert philox_words(0, 0, 4).tolist() == zeros


@pytest.mark.parametrize("seed", [0, 1, 2**40 + 7, -1])
def test_key_and_counter(seed):
    block = 2**33 + 5
    expected = words_of(
        block & 0xFFFFFFFF,
        block >> 32,
        0,
        0,
        seed & 0xFFFFFFFF,
        seed >> 32 & 0xFFFFFFFF,
    )
    assert philox_blocks(seed, np.array([block], np.uint64)).tolist() == [expected]


@pytest.mark.parametrize("seed", [0, 5, 2**63 - 1, -2])
@pytest.mark.parametrize("first", [0, 2**32 - 2, 2**40 + 1, 2**61])
@pytest.mark.parametrize("count", [1, 3, FEW])
def test_few_blocks_are_the_same_as_one_integer(seed, first, count):
    blocks = np.arange(first, first + count, dtype=np.uint64)
    expected = philox_blocks(seed, blocks).tolist()
    assert few_blocks(seed, first, count).tolist() == expected


@pytest.mark.parametrize("start", [0, 3, 4 * FEW - 1])
@pytest.mark.parametrize("count", [0, 1, 4 * FEW - 3, 4 * FEW, 4 * FEW + 1, 500])
def test_words_are_the_same_for_few_and_many(start, count):
    whole = philox_words(9, 0, 1000)
    words = philox_words(9, start, count)
    assert words.dtype == np.uint64
    assert words.tolist() == whole[start : start + count].tolist()


def test_a_word_belongs_to_an_element_whatever_the_call():
    whole = draw("random_bits", 50, 7, 0, 31, dtype="i4")
    for offset in (1, 3, 4, 11):
        part = draw("random_bits", 20, 7, offset, 31, dtype="i4")
        assert part.tolist() == whole[offset : offset + 20].tolist()
    words = philox_words(7, 0, 50)
    assert whole.tolist() == (words >> np.uint64(1)).tolist()
    pairs = draw("random_bits", 25, 7, 0, 62, dtype="i8")
    joined = [(int(h) << 32 | int(w)) >> 2 for h, w in words.reshape(-1, 2)]
    assert pairs.tolist() == joined


def test_uniform_takes_24_or_53_bits():
    bits = draw("random_bits", 9, 3, 2, 24, dtype="i4")
    assert draw("uniform", 9, 3, 2, 0.0, 1.0).tolist() == (bits / 2**24).tolist()
    bits = draw("random_bits", 9, 3, 2, 53, dtype="i8")
    u = draw("uniform", 9, 3, 2, 0.0, 1.0, dtype="f8")
    assert u.tolist() == (bits / 2**53).tolist()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_distributions(dtype):
    u = draw("uniform", 100_000, 1, 0, -1.0, 3.0, dtype=dtype).astype("f8")
    assert u.min() >= -1
    assert u.max() < 3
    assert abs(u.mean() - 1) < 0.02
    assert abs(u.var() - 16 / 12) < 0.02
    z = draw("normal", 100_000, 1, 0, 2.0, 3.0, dtype=dtype).astype("f8")
    assert abs(z.mean() - 2) < 0.04
    assert abs(z.std() - 3) < 0.03
    assert abs(((z - 2) ** 3).mean() / 27) < 0.05
    assert abs(((z - 2) ** 4).mean() / 81 - 3) < 0.1


def test_normal_never_takes_the_logarithm_of_zero():
    """Its first number is u + 2**-24, so the largest radius is sqrt(2 * 24 * log 2)."""
    z = draw("normal", 1_000_000, 5, 0, 0.0, 1.0)
    assert np.isfinite(z).all()
    assert np.abs(z).max() <= np.sqrt(48 * np.log(2)) + 1e-6


def test_dropout_keeps_by_24_bits_for_both_dtypes():
    masks = []
    for dtype in ("f4", "f8"):
        a = np.ones(10_000, dtype)
        out, mask = np.empty_like(a), np.empty(a.shape, bool)
        KERNELS["dropout"](out, mask, a, scalar(4), scalar(1), 0.25)
        assert np.array_equal(out, np.where(mask, np.asarray(1 / 0.75, dtype), 0))
        assert abs(mask.mean() - 0.75) < 0.02
        masks.append(mask)
    bits = draw("random_bits", 10_000, 4, 1, 24, dtype="i4")
    assert np.array_equal(masks[0], bits >= 0.25 * 2**24)
    assert np.array_equal(*masks)

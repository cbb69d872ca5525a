# SPDX-License-Identifier: MIT
"""`interpolate` of bytes; PyTorch 2.13's results, bit for bit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import DTypeError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

#: Of a picture of 2 x 4 bytes, what PyTorch makes of it.
PICTURE = [[0, 255, 30, 80], [200, 10, 90, 255]]
EXPECTED = {
    ("nearest", False): [[0, 255, 30], [0, 255, 30], [200, 10, 90]],
    ("nearest-exact", False): [[0, 30, 80], [200, 90, 255], [200, 90, 255]],
    ("bilinear", False): [[42, 143, 72], [105, 97, 150], [168, 50, 228]],
    ("bilinear", True): [[76, 143, 65], [110, 97, 136], [143, 50, 206]],
    ("bicubic", False): [[30, 175, 55], [106, 90, 151], [182, 4, 247]],
    ("bicubic", True): [[71, 157, 44], [112, 94, 137], [153, 31, 230]],
}
KINDS = [*EXPECTED, ("bilinear corners", False), ("bicubic corners", False)]
SIZES = [
    {"size": (12, 5)},
    {"size": (32, 32)},
    {"size": (3, 17)},
    {"scale_factor": 2},
    {"scale_factor": (1.3, 0.7)},
]


def made(module, functional, image, kind, words):
    """Return what a library makes of an image, an array."""
    (mode, smooth), words = kind, dict(words)
    mode, _, corners = mode.partition(" ")
    if not mode.startswith("nearest"):
        words.update(align_corners=bool(corners), antialias=smooth)
    return functional.interpolate(module.from_numpy(image), mode=mode, **words)


def images():
    rng = np.random.default_rng(0)
    yield rng.integers(0, 256, (2, 3, 7, 9), dtype=np.uint8)
    yield rng.integers(0, 256, (1, 1, 9, 7), dtype=np.uint8)
    yield rng.integers(0, 256, (2, 7, 9, 6), dtype=np.uint8).transpose(0, 3, 1, 2)


@pytest.mark.parametrize("kind", EXPECTED, ids=str)
def test_a_picture(kind):
    image = np.array(PICTURE, np.uint8)[None, None]
    found = made(ac, F, image, kind, {"size": 3})
    assert found.dtype is ac.uint8
    assert found[0, 0].tolist() == EXPECTED[kind]


@pytest.mark.torch
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_against_pytorch(kind):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    for image, words in itertools.product(images(), SIZES):
        mine = made(ac, F, image, kind, words)
        theirs = made(torch, torch.nn.functional, image, kind, words)
        assert mine.tolist() == theirs.tolist()
        assert mine.stride() == theirs.stride()


@pytest.mark.parametrize("kind", [k for k in KINDS if "cubic" not in k[0]], ids=str)
def test_close_to_floats(kind):
    # bicubic sums leave the range of bytes, and are cut between columns and rows
    for image, words in itertools.product(images(), SIZES):
        found = made(ac, F, image, kind, words).float()
        exact = made(ac, F, image.astype(np.float32), kind, words)
        assert (found - exact).abs().max() <= 1.01


def test_lines_and_volumes():
    line = ac.tensor([[[3, 250]]], dtype=ac.uint8)
    assert F.interpolate(line, size=4).tolist() == [[[3, 3, 250, 250]]]
    volume = ac.ones(1, 1, 2, 2, 2, dtype=ac.uint8)
    assert F.interpolate(volume, scale_factor=2, mode="nearest-exact").shape[2] == 4


def test_the_same_size_is_new_memory():
    x = ac.ones(1, 1, 4, 4, dtype=ac.uint8)
    for mode in ("nearest", "bilinear"):
        y = F.interpolate(x, size=4, mode=mode)
        assert y.equal(x)
        assert y.data_ptr() != x.data_ptr()


def test_compiled():
    x = ac.arange(64).view(1, 1, 8, 8).to(ac.uint8)
    half = ac.compile(lambda x: F.interpolate(x, size=4, mode="bilinear"))
    for turn in range(3):
        y = x.roll(turn, 3)
        assert half(y).equal(F.interpolate(y, size=4, mode="bilinear"))


def test_what_takes_no_bytes():
    x = ac.ones(1, 1, 4, 4, dtype=ac.uint8)
    with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
        F.interpolate(x, size=2, mode="area")
    with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
        F.interpolate(x[0], size=2, mode="linear")
    with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
        F.interpolate(x.int(), size=2)

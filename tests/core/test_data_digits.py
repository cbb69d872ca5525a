# SPDX-License-Identifier: MIT
"""The embedded digits."""

from __future__ import annotations

import hashlib
from importlib import resources

import numpy as np
import pytest

import autocalc as ac
from autocalc.data import Digits, read_idx

SHA256 = "68aea062d35a127749050fa0e52dca09d6569ac08092c925610e0954e172dde2"
FOLDER = resources.files("autocalc.data") / "files"


def test_the_file_is_small_and_is_the_published_one():
    path = FOLDER / "digits-idx2-ubyte.gz"
    assert path.stat().st_size < 60_000
    table = read_idx(path)
    assert table.shape == (1797, 65)
    assert hashlib.sha256(table.tobytes()).hexdigest() == SHA256
    # The class counts that the data set's authors published.
    counts = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert np.bincount(table[:, 64]).tolist() == counts
    assert table[:, :64].max() == 16


def test_the_licence_and_the_source_lie_beside_it():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    for word in ("CC BY 4.0", "Alpaydin", "Kaynak", "10.24432/C50P49"):
        assert word in text


def test_the_split_covers_everything_once():
    train, test = Digits(), Digits(train=False)
    assert (len(train), len(test)) == (1437, 360)
    rows = [d.data.numpy().reshape(len(d), 64) for d in (train, test)]
    table = read_idx(FOLDER / "digits-idx2-ubyte.gz")[:, :64]
    merged = np.concatenate(rows)
    assert sorted(map(bytes, merged)) == sorted(map(bytes, table))
    assert np.bincount(test.targets.numpy()).min() >= 32


def test_samples_and_attributes_have_the_usual_forms():
    digits = Digits()
    image, label = digits[3]
    assert tuple(image.shape) == (1, 8, 8)
    assert image.numpy().dtype == np.float32
    assert isinstance(label, int)
    assert digits.data.numpy().dtype == np.uint8
    assert tuple(digits.data.shape) == (1437, 8, 8)
    assert digits.targets.numpy().dtype == np.int64
    assert digits.classes[7] == "7"
    assert repr(digits) == "Digits(1437 images of 8 x 8)"


def test_pixels_are_scaled_to_one():
    images, _ = Digits().take(np.arange(1437))
    assert images.numpy().min() == 0.0
    assert images.numpy().max() == 1.0


@pytest.mark.parametrize(
    "transform",
    [
        None,
        ac.data.transforms.Flatten(),
        ac.data.transforms.Normalize(0.3, 0.4),
        lambda image: image * 2,
    ],
)
def test_a_batch_holds_what_the_samples_hold(transform):
    digits = Digits(transform=transform, target_transform=lambda label: label + 1)
    images, labels = digits.take(np.array([5, 1, 5]))
    for row, index in enumerate([5, 1, 5]):
        image, label = digits[index]
        assert np.array_equal(images.numpy()[row], image.numpy())
        assert labels.numpy()[row] == label


def test_a_batch_may_be_changed():
    digits = Digits()
    images, labels = digits.take(np.array([0]))
    images.numpy()[:] = 5
    labels.numpy()[:] = 5
    assert digits[0][0].numpy().max() <= 1.0


def test_an_index_out_of_range():
    with pytest.raises(IndexError, match="Digits: index 360 is out of range"):
        Digits(train=False)[360]

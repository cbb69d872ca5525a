# SPDX-License-Identifier: MIT
"""MNIST and Fashion-MNIST: small stand-in files, and the real ones where they are."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from tests.dispatcher import config

import autocalc as ac
from autocalc.data import MNIST, DataLoader, FashionMNIST

NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")


def write(folder, name, array, pack=gzip.compress):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    folder.mkdir(parents=True, exist_ok=True)
    suffix = ".gz" if pack is gzip.compress else ""
    (folder / (name + suffix)).write_bytes(pack(header + array.tobytes()))


def write_training(folder, count=3, labels=None, pack=gzip.compress):
    images = np.arange(count * 784).astype(np.uint8).reshape(count, 28, 28)
    write(folder, NAMES[0], images, pack)
    labels = np.arange(count, dtype=np.uint8) if labels is None else labels
    write(folder, NAMES[1], labels, pack)


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """Point both folders of the settings into `tmp_path`."""
    monkeypatch.setenv("AUTOCALC_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("AUTOCALC_CACHE_DIR", str(tmp_path / "cache"))
    config.reload()
    yield tmp_path
    monkeypatch.undo()
    config.reload()


@pytest.mark.parametrize("place", ["", "mnist", "MNIST/raw"])
@pytest.mark.parametrize("pack", [gzip.compress, bytes], ids=["gzip", "plain"])
def test_files_are_found_in_root_and_below(tmp_path, place, pack):
    write_training(tmp_path / place, pack=pack)
    data = MNIST(tmp_path)
    image, label = data[2]
    assert (len(data), label) == (3, 2)
    assert tuple(image.shape) == (1, 28, 28)
    expected = np.arange(2 * 784, 3 * 784).astype(np.uint8) / np.float32(255)
    assert np.array_equal(image.numpy().ravel(), expected)


def test_files_are_found_by_the_environment(environment):
    write_training(environment / "cache" / "data" / "mnist", count=2)
    assert len(MNIST()) == 2
    write_training(environment / "data" / "mnist", count=4)
    assert len(MNIST()) == 4


def test_without_settings_the_users_cache_folder_is_used(environment, monkeypatch):
    monkeypatch.delenv("AUTOCALC_DATA_DIR")
    monkeypatch.delenv("AUTOCALC_CACHE_DIR")
    monkeypatch.setattr(
        "platformdirs.user_cache_path", lambda *_, **__: environment / "user"
    )
    config.reload()
    write_training(environment / "user" / "data" / "mnist", count=2)
    assert len(MNIST()) == 2


@pytest.mark.usefixtures("environment")
def test_missing_files_are_named_with_what_to_do():
    expected = (
        r"MNIST: t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz not found; "
        r"looked in .*data.mnist, .*cache.data.mnist. Pass `download=True`"
    )
    with pytest.raises(ac.errors.DataError, match=expected):
        MNIST(train=False)


@pytest.mark.usefixtures("environment")
def test_nothing_is_downloaded_unasked(monkeypatch):
    monkeypatch.setattr("urllib.request.urlopen", None)
    with pytest.raises(ac.errors.DataError, match="not found"):
        FashionMNIST()


def test_missing_files_are_downloaded_when_asked(environment, monkeypatch):
    brought = []

    def bring(file, mirrors, folder):
        brought.append((file.name, mirrors, folder))
        write_training(environment / "store", count=5)
        (environment / "store" / file.name).rename(folder / file.name)
        return folder / file.name

    folder = environment / "data" / "mnist"
    write_training(folder, count=5)
    (folder / (NAMES[0] + ".gz")).unlink()
    monkeypatch.setattr("autocalc.data._mnist.download", bring)
    assert len(MNIST(download=True)) == 5
    assert brought == [(NAMES[0] + ".gz", MNIST.mirrors, folder)]


def test_a_download_offline_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(MNIST, "mirrors", ("http://127.0.0.1:9/mnist",))
    with pytest.raises(ac.errors.DataError, match=r"could not be downloaded\."):
        MNIST(tmp_path, download=True)


def test_labels_that_do_not_fit_the_images(tmp_path):
    write_training(tmp_path, labels=np.zeros(2, np.uint8))
    with pytest.raises(ac.errors.DataError, match=r"3 images and labels of shape \(2"):
        MNIST(tmp_path)


def test_labels_out_of_range(tmp_path):
    write_training(tmp_path, labels=np.full(3, 10, np.uint8))
    with pytest.raises(ac.errors.DataError, match=": the label 10 was read, but"):
        MNIST(tmp_path)


def test_images_of_another_shape(tmp_path):
    write_training(tmp_path)
    write(tmp_path, NAMES[0], np.zeros((3, 28), np.uint8))
    with pytest.raises(ac.errors.DataError, match=r"images of shape \(3, 28\)"):
        MNIST(tmp_path)


# The real files, whose place AUTOCALC_DATA_DIR names.


def real_folder(cls):
    """Return the folder with the real files, or skip the test."""
    config.reload()
    folder = config.settings().data_dir
    if folder is None or not (folder / cls.name).is_dir():
        pytest.skip(f"AUTOCALC_DATA_DIR names no folder with {cls.name}")
    return folder / cls.name


@pytest.mark.data
@pytest.mark.parametrize(
    ("cls", "mean", "std"), [(MNIST, 0.1307, 0.3081), (FashionMNIST, 0.2860, 0.3530)]
)
def test_the_real_training_images(cls, mean, std):
    real_folder(cls)
    data = cls()
    pixels = data.data.numpy()
    assert pixels.shape == (60000, 28, 28)
    assert abs(pixels.mean() / 255 - mean) < 5e-5
    assert abs(pixels.std() / 255 - std) < 5e-5
    assert set(np.bincount(data.targets.numpy())) <= set(range(5400, 6800))


@pytest.mark.data
@pytest.mark.parametrize("cls", [MNIST, FashionMNIST])
def test_the_real_test_images_through_a_loader(cls):
    real_folder(cls)
    data = cls(train=False, transform=ac.data.transforms.Flatten())
    loader = DataLoader(data, batch_size=256, num_workers=1)
    batches = [(tuple(images.shape), len(labels)) for images, labels in loader]
    assert batches == [((256, 784), 256)] * 39 + [((16, 784), 16)]


@pytest.mark.data
@pytest.mark.parametrize(
    ("asked", "given"), [(MNIST, FashionMNIST), (FashionMNIST, MNIST)]
)
def test_the_other_data_sets_files_are_refused(asked, given):
    root = real_folder(given)
    with pytest.raises(ac.errors.DataError, match=f"belongs to {given.__name__}"):
        asked(root, train=False)

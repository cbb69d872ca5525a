# SPDX-License-Identifier: MIT
"""CIFAR-10: small stand-in files in the published format, and an archive of them."""

from __future__ import annotations

import hashlib
import io
import tarfile

import numpy as np
import pytest

import autocalc as ac
from autocalc.data import CIFAR10, DataLoader
from autocalc.data._download import RemoteFile

NAMES = [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]


def content(number, count=2):
    """Return a file of `count` records: label `number` + i, colours 10 apart."""
    labels = (number + np.arange(count, dtype=np.uint8)) % 10
    planes = np.repeat(np.arange(3, dtype=np.uint8) * 10 + number, 1024)
    return np.column_stack([labels, np.tile(planes, (count, 1))]).tobytes()


def write(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(NAMES):
        (folder / name).write_bytes(content(number))


@pytest.fixture
def archive(monkeypatch):
    """The bytes of an archive like the published one, known by its SHA-256."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as files:
        for number, name in enumerate(NAMES):
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = len(content(number))
            files.addfile(member, io.BytesIO(content(number)))
    whole = out.getvalue()
    known = RemoteFile(
        "cifar-10-binary.tar.gz", len(whole), hashlib.sha256(whole).hexdigest()
    )
    monkeypatch.setattr(CIFAR10, "archive", known)
    return whole


@pytest.mark.parametrize("below", ["", "cifar-10-batches-bin"])
def test_files_are_found_in_root_and_below(tmp_path, below):
    write(tmp_path / below)
    data = CIFAR10(tmp_path)
    image, label = data[3]
    assert (len(data), label, data.classes[label]) == (10, 2, "bird")
    assert image.shape == (3, 32, 32)
    assert [image[c, 31, 31].item() for c in range(3)] == [
        np.float32(value) / np.float32(255) for value in (1, 11, 21)
    ]
    assert data.data.shape == (10, 3, 32, 32)
    assert len(CIFAR10(tmp_path, train=False)) == 2


def test_a_batch_gives_what_the_samples_give(tmp_path):
    write(tmp_path)
    flip = ac.data.transforms.RandomHorizontalFlip(1.0)
    data = CIFAR10(tmp_path, transform=flip, target_transform=lambda label: -label)
    ((images, labels),) = DataLoader(data, batch_size=10)
    for index in (0, 9):
        image, label = data[index]
        assert np.array_equal(images[index].numpy(), image.numpy())
        assert labels[index].item() == label
    assert repr(data) == "CIFAR10(10 images of 32 x 32)"


def test_colours_are_normalised_each_by_their_own_numbers(tmp_path):
    write(tmp_path)
    mean, std = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
    data = CIFAR10(tmp_path, transform=ac.data.transforms.Normalize(mean, std))
    ((images, _),) = DataLoader(data, batch_size=10)
    assert images.shape == (10, 3, 32, 32)
    colours = [np.reshape(numbers, (3, 1, 1)) for numbers in (mean, std)]
    expected = (data.data.numpy() / 255 - colours[0]) / colours[1]
    assert np.allclose(images.numpy(), expected, rtol=0, atol=1e-6)
    for index, image in enumerate(images.numpy()):
        assert np.array_equal(data[index][0].numpy(), image)


def test_an_archive_that_is_there_is_checked_and_unpacked(tmp_path, archive):
    (tmp_path / CIFAR10.archive.name).write_bytes(archive)
    assert len(CIFAR10(tmp_path)) == 10
    (tmp_path / CIFAR10.archive.name).unlink()
    assert len(CIFAR10(tmp_path, train=False)) == 2  # all of it had been unpacked
    assert sorted(p.name for p in (tmp_path / CIFAR10.folder).iterdir()) == NAMES


def test_a_missing_archive_is_downloaded_when_asked(tmp_path, archive, monkeypatch):
    def bring(file, mirrors, folder):
        assert (file, mirrors) == (CIFAR10.archive, CIFAR10.mirrors)
        (folder / file.name).write_bytes(archive)
        return folder / file.name

    monkeypatch.setattr("autocalc.data._cifar.download", bring)
    assert len(CIFAR10(tmp_path, train=False, download=True)) == 2


def test_another_archive_is_refused(tmp_path, archive):
    (tmp_path / CIFAR10.archive.name).write_bytes(archive + b"!")
    message = "is not the published file: its SHA-256 digest is [0-9a-f]{64}, but"
    with pytest.raises(ac.errors.DataError, match=message):
        CIFAR10(tmp_path)


def test_an_archive_that_cannot_be_unpacked(tmp_path, monkeypatch):
    path = tmp_path / CIFAR10.archive.name
    path.write_bytes(b"no archive")
    digest = hashlib.sha256(b"no archive").hexdigest()
    monkeypatch.setattr(CIFAR10, "archive", RemoteFile(path.name, 10, digest))
    with pytest.raises(ac.errors.DataError, match=r"tar.gz cannot be unpacked \("):
        CIFAR10(tmp_path)


def test_missing_files_are_named_with_what_to_do(tmp_path):
    message = (
        r"neither data_batch_1.bin to data_batch_5.bin nor cifar-10-binary.tar.gz "
        r"found; looked in .*, and in cifar-10-batches-bin below. Pass `download=True`"
    )
    with pytest.raises(ac.errors.DataError, match=message):
        CIFAR10(tmp_path)


def test_a_download_offline_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(CIFAR10, "mirrors", ("http://127.0.0.1:9/kriz",))
    with pytest.raises(ac.errors.DataError, match=r"could not be downloaded\."):
        CIFAR10(tmp_path, download=True)


def test_a_file_of_another_length_is_refused(tmp_path):
    write(tmp_path)
    (tmp_path / NAMES[1]).write_bytes(b"x" * 3074)
    message = "has 3074 bytes; the size must be a multiple"
    with pytest.raises(ac.errors.DataError, match=message):
        CIFAR10(tmp_path)


def test_a_label_out_of_range_is_refused(tmp_path):
    write(tmp_path)
    (tmp_path / NAMES[5]).write_bytes(b"\x0a" + bytes(3072))
    with pytest.raises(ac.errors.DataError, match=": the label 10 was read, but"):
        CIFAR10(tmp_path, train=False)

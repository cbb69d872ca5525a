# SPDX-License-Identifier: MIT
"""`save` and `load` with file objects: the same bytes and the same checks."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import tempfile

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, CheckpointError, DTypeError

pytestmark = pytest.mark.core


def saved(value):
    file = io.BytesIO()
    ac.save(value, file)
    return file


def value():
    return {
        "w": ac.tensor([[1.0, 2.0]]),
        "t": ac.arange(6).reshape(2, 3).T,
        "zero": ac.tensor(True),
        "none": ac.zeros(0, 3, dtype=ac.int8),
        "n": 3,
    }


def same(a, b):
    assert list(a) == list(b)
    for key, x in a.items():
        if isinstance(x, ac.Tensor):
            assert x.dtype is b[key].dtype
            assert x.shape == b[key].shape
            assert x.tolist() == b[key].tolist()
        else:
            assert x == b[key]


def test_what_lies_in_a_buffer_is_a_file(tmp_path):
    path = tmp_path / "state"
    file = saved(value())
    path.write_bytes(file.getvalue())
    same(ac.load(path), value())
    ac.save(value(), path)
    file.seek(0)
    same(ac.load(file), value())
    with path.open("rb") as opened:
        same(ac.load(opened), value())


def test_what_is_loaded_can_be_written():
    file = saved(ac.zeros(3))
    file.seek(0)
    loaded = ac.load(file)
    loaded += 1
    assert loaded.tolist() == [1, 1, 1]


def test_a_file_is_written_and_read_from_where_it_stands():
    file = io.BytesIO(b"head")
    file.seek(4)
    ac.save(value(), file)
    assert file.getvalue().startswith(b"head")
    file.seek(4)
    same(ac.load(file), value())


@pytest.mark.parametrize("buffering", [0, -1])
def test_opened_files(tmp_path, buffering):
    path = tmp_path / "state"
    with path.open("wb", buffering=buffering) as file:
        ac.save(value(), file)
    with path.open("rb", buffering=buffering) as file:
        same(ac.load(file), value())
    with tempfile.NamedTemporaryFile() as file:
        ac.save(value(), file)
        file.seek(0)
        same(ac.load(file), value())


def test_compressed_files(tmp_path):
    with gzip.open(tmp_path / "state.gz", "wb") as file:
        ac.save(value(), file)
    with gzip.open(tmp_path / "state.gz", "rb") as file:
        same(ac.load(file), value())


def test_a_pipe_cannot_seek_and_need_not():
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as file:
        assert not file.seekable()
        ac.save(value(), file)
    with os.fdopen(reader, "rb") as file:
        same(ac.load(file), value())


def test_a_file_that_takes_parts():
    class Slow(io.RawIOBase):
        def __init__(self):
            self.content = b""

        def writable(self):
            return True

        def write(self, piece):
            self.content += bytes(piece[:100])
            return min(len(piece), 100)

    slow = Slow()
    ac.save(value(), slow)
    same(ac.load(io.BytesIO(slow.content)), value())


def test_a_file_that_is_not_ready():
    class Busy(io.RawIOBase):
        def writable(self):
            return True

        def readable(self):
            return True

        def write(self, piece):
            return None

        def read(self, size=-1):
            return None

    with pytest.raises(CheckpointError, match="Busy cannot be written: it is non"):
        ac.save(1, Busy())
    with pytest.raises(CheckpointError, match="Busy cannot be read: it is non"):
        ac.load(Busy())


def test_a_full_disk_is_said():
    class Full(io.BytesIO):
        def write(self, piece):
            raise OSError(28, "No space left on device")

    with pytest.raises(CheckpointError, match="the Full cannot be written: No space"):
        ac.save(1, Full())


def test_nothing_is_written_of_what_cannot_be_saved():
    file = io.BytesIO()
    with pytest.raises(DTypeError, match="is of type object"):
        ac.save({"w": ac.ones(2), "o": object()}, file)
    assert file.getvalue() == b""


@pytest.mark.parametrize("place", [0, 60, -1])
def test_a_changed_byte_is_found(place):
    content = bytearray(saved(value()).getvalue())
    content[place] ^= 1
    with pytest.raises(CheckpointError, match="the BytesIO"):
        ac.load(io.BytesIO(content))


def test_a_changed_number_says_both_digests():
    content = bytearray(saved({"w": ac.ones(4)}).getvalue())
    content[-1] ^= 1
    with pytest.raises(CheckpointError, match=r"the BytesIO .* its SHA-256 is"):
        ac.load(io.BytesIO(content))
    assert ac.load(io.BytesIO(content), verify=False)["w"][:3].tolist() == [1, 1, 1]


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: c + b"x"])
def test_other_lengths_are_found(change):
    content = change(saved(value()).getvalue())
    with pytest.raises(CheckpointError, match=r"\. It is incomplete, damaged or"):
        ac.load(io.BytesIO(content))
    with pytest.raises(CheckpointError, match=r"bytes\) is incomplete or not a"):
        ac.load(io.BytesIO(content), verify=False)


def test_a_pickle_is_never_loaded():
    file = io.BytesIO(pickle.dumps({"w": [1.0, 2.0]}))
    with pytest.raises(CheckpointError, match=r"bytes\) is incomplete or not a"):
        ac.load(file)


def test_at_the_end_there_is_nothing():
    with pytest.raises(CheckpointError, match=r"is at its end.*seek\(0\)"):
        ac.load(saved(1))


def test_text_files_are_named(tmp_path):
    with pytest.raises(DTypeError, match=r"save: .*StringIO.*is a text file.*'wb'"):
        ac.save(1, io.StringIO())
    with pytest.raises(DTypeError, match=r"load: .*StringIO.*is a text file.*'rb'"):
        ac.load(io.StringIO("x"))
    with (
        (tmp_path / "x").open("w") as file,
        pytest.raises(DTypeError, match="a text file"),
    ):
        ac.save(1, file)
    with tempfile.NamedTemporaryFile("w+") as file:
        with pytest.raises(DTypeError, match=r"save: .*a text file"):
            ac.save(1, file)
        with pytest.raises(DTypeError, match=r"load: .*a text file"):
            ac.load(file)


def test_closed_files_and_other_modes_are_named(tmp_path):
    file = io.BytesIO()
    file.close()
    for call in (lambda: ac.save(1, file), lambda: ac.load(file)):
        with pytest.raises(ArgumentError, match=r"BytesIO.* is closed"):
            call()
    path = tmp_path / "x"
    with (
        path.open("wb") as file,
        pytest.raises(ArgumentError, match=r"not open for reading; .*'rb'"),
    ):
        ac.load(file)
    with (
        path.open("rb") as file,
        pytest.raises(ArgumentError, match=r"not open for writing; .*'wb'"),
    ):
        ac.save(1, file)


@pytest.mark.parametrize("f", [None, 3, b"x", ac.ones(2), ["x"]])
def test_what_is_no_file_is_named(f):
    with pytest.raises(DTypeError, match=r"save: `f` is .* a path, or an open file"):
        ac.save(1, f)
    with pytest.raises(DTypeError, match=r"load: `f` is .* a path, or an open file"):
        ac.load(f)


def test_arguments_of_pytorch():
    content = saved({"w": ac.ones(2)}).getvalue()
    for location in (None, "cpu", ac.device("cpu"), lambda s, _: s, {"cuda:0": "cpu"}):
        loaded = ac.load(io.BytesIO(content), location, weights_only=True)
        assert loaded["w"].tolist() == [1, 1]
    with pytest.raises(ArgumentError, match="'cuda' is not available"):
        ac.load(io.BytesIO(content), map_location="cuda")
    with pytest.raises(DTypeError, match="`map_location` is 3; it must be a device"):
        ac.load(io.BytesIO(content), 3)
    with pytest.raises(ArgumentError, match="`weights_only` is 3"):
        ac.load(io.BytesIO(content), weights_only=3)
    with pytest.raises(ArgumentError, match="`verify` is 'no'"):
        ac.load(io.BytesIO(content), verify="no")

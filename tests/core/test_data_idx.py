# SPDX-License-Identifier: MIT
"""The IDX reader, and what it says of damaged files."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

import autocalc as ac
from autocalc.data import read_idx


def idx_bytes(array, code=0x08):
    sizes = struct.pack(f">{array.ndim}I", *array.shape)
    values = array.astype(array.dtype.newbyteorder(">")).tobytes()
    return bytes([0, 0, code, array.ndim]) + sizes + values


WHOLE = idx_bytes(np.arange(12, dtype=np.uint8).reshape(3, 2, 2))
PACKED = gzip.compress(WHOLE, mtime=0)  # a time would be in the names of tests


@pytest.mark.parametrize("pack", [gzip.compress, bytes], ids=["gzip", "plain"])
def test_a_whole_file(tmp_path, pack):
    path = tmp_path / "x"
    path.write_bytes(pack(WHOLE))
    array = read_idx(path)
    assert array.dtype == np.uint8
    assert array.tolist() == np.arange(12).reshape(3, 2, 2).tolist()
    array[0] = 9  # its own memory


@pytest.mark.parametrize(
    ("code", "dtype"),
    [
        (0x08, "u1"),
        (0x09, "i1"),
        (0x0B, "i2"),
        (0x0C, "i4"),
        (0x0D, "f4"),
        (0x0E, "f8"),
    ],
)
def test_every_type_comes_in_native_byte_order(tmp_path, code, dtype):
    values = np.array([[1, 2, 100]], dtype)
    (tmp_path / "x").write_bytes(idx_bytes(values, code))
    array = read_idx(tmp_path / "x")
    assert array.dtype == values.dtype
    assert array.dtype.isnative
    assert np.array_equal(array, values)


def test_an_empty_array(tmp_path):
    (tmp_path / "x").write_bytes(idx_bytes(np.zeros((0, 28, 28), np.uint8)))
    assert read_idx(tmp_path / "x").shape == (0, 28, 28)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"begins with bytes \(none\)"),
        (b"\x89PNG....", r"begins with bytes 89 50 4e 47; IDX begins with"),
        (b"\0\0\x07\x01\0\0\0\0", "begins with bytes 00 00 07 01"),
        (b"\0\0\x08\0", "begins with bytes 00 00 08 00"),
        (WHOLE[:9], "ends inside the sizes of its 3 dimensions"),
        (WHOLE[:-5], r"ends after 7 of the 12 bytes of \(3, 2, 2\)"),
        (WHOLE + b"\0", "goes on after the 12 bytes"),
        (PACKED[:-9], r"gzip data are damaged"),
        (PACKED[:12], r"gzip data are damaged"),
        (PACKED[:-6] + b"xxxxxx", r"gzip data are damaged \(CRC"),
        (PACKED + b"junk", "gzip data are damaged"),
        (
            bytes([0, 0, 8, 100]) + struct.pack(">100I", *[1] * 100) + b"x",
            "NumPy cannot make an array of",
        ),
        (
            bytes([0, 0, 8, 4]) + struct.pack(">4I", 0, *[2**32 - 1] * 3),
            "NumPy cannot make an array of",
        ),
        (b"\0\0\x08\x03" + b"\xff" * 12 + b"x", r"too small for the \d+ bytes of"),
    ],
)
def test_damaged_files_name_the_file_and_the_damage(tmp_path, content, message):
    path = tmp_path / "digits.gz"
    path.write_bytes(content)
    with pytest.raises(ac.errors.DataError, match=message) as caught:
        read_idx(path)
    assert str(path) in str(caught.value)
    assert "Download it again" in str(caught.value)

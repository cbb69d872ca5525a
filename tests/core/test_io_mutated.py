# SPDX-License-Identifier: MIT
"""Files that were changed: whatever the change, an error of AutoCalc names the file."""

from __future__ import annotations

import gzip
import io
import json
import re
import struct
from collections import OrderedDict

import numpy as np
import pytest
from safetensors.numpy import save as save_safetensors
from tests.core.test_data_idx import idx_bytes
from tests.core.test_torch_zip import archive, tensor

import autocalc as ac
from autocalc.errors import AutocalcError, CheckpointError, DataError

pytestmark = pytest.mark.core

ARRAYS = {
    "weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "mask": np.array([True, False, True]),
    "count": np.array(3, np.int64),
}


def own():
    file = io.BytesIO()
    state = ac.nn.Linear(2, 2).state_dict()
    ac.save({"model": state, "epoch": 3, "rates": (0.1, float("inf"))}, file)
    return file.getvalue()


def of_torch():
    value = OrderedDict(a=tensor(), b=[1, 2.5, "x", None, (True, {"k": tensor("1")})])
    numbers = np.arange(6, dtype=np.float32)
    return archive(value, {"0": numbers, "1": numbers})


def read_checked(path):
    return ac.load(path)


def read(path):
    return ac.load(path, verify=False)


def read_stream(path):
    with path.open("rb") as file:
        return ac.load(io.BytesIO(file.read()), verify=False)


def read_cifar(path):
    class Own(ac.data.CIFAR10):
        test_files = (path.name,)

    return Own(path.parent, train=False)[0]


IDX = idx_bytes(np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
CIFAR = (np.arange(2 * 3073) % 10).astype(np.uint8).tobytes()
#: A whole file, and what reads it.
FILES = {
    "own": (own(), read),
    "own, checked": (own(), read_checked),
    "own in a stream": (own(), read_stream),
    "safetensors": (save_safetensors(ARRAYS, {"by": "another"}), read),
    "safetensors in a stream": (save_safetensors(ARRAYS), read_stream),
    "torch": (of_torch(), read),
    "torch in a stream": (of_torch(), read_stream),
    "IDX": (IDX, ac.data.read_idx),
    "IDX, packed": (gzip.compress(IDX, mtime=0), ac.data.read_idx),
    "CIFAR": (CIFAR, read_cifar),
}


def reads_or_says(path, content, function):
    """Read a file: what is found is a value, or the error names the file."""
    path.write_bytes(content)
    name = "BytesIO" if function is read_stream else path.name
    try:
        function(path)
    except AutocalcError as error:
        assert name in str(error)  # noqa: PT017  of any of AutoCalc's errors


def mutations(content, seed, count=250):
    """Yield copies with bits turned, bytes replaced, cut out, doubled, put in."""
    rng = np.random.default_rng(seed)
    words = [b"\xff", b"\0" * 8, b"\xff" * 8, b'{"', b"[[[", b"\x80\x02}", b"PK\1\2"]
    for i in range(count):
        data = bytearray(content)
        for _ in range(1 + i % 3):
            at, stop = sorted(rng.integers(0, len(data), 2))
            stop = min(stop, at + 40)
            kind = rng.integers(6)
            if kind < 2:
                data[at] ^= 1 << rng.integers(8)
            elif kind == 2:
                data[at] = rng.integers(256)
            elif kind == 3:
                del data[at:stop]
            elif kind == 4:
                data[at:at] = data[at:stop]
            else:
                data[at:at] = words[rng.integers(len(words))]
            data = data or bytearray(content)
        yield bytes(data)


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file(name, tmp_path):
    content, function = FILES[name]
    for i, changed in enumerate(mutations(content, list(FILES).index(name))):
        reads_or_says(tmp_path / f"changed{i}", changed, function)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_short(name, tmp_path):
    content, function = FILES[name]
    for stop in range(0, min(len(content), 1500), 7):
        reads_or_says(tmp_path / f"short{stop}", content[:stop], function)


# ---- headers of safetensors ----------------------------------------------------------


def with_header(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


def tree_of(value):
    words = {"autocalc": json.dumps(value), "autocalc_version": "2"}
    return {"__metadata__": words, "a": entry()}


HEADERS = {
    "100 dimensions": {"a": entry(shape=[1] * 100, offsets=(0, 4))},
    "2^62 rows of nothing": {"a": entry(shape=[2**62, 0], offsets=(0, 0))},
    "2^63 rows of nothing": {"a": entry(shape=[2**63, 0], offsets=(0, 0))},
    "2^62 rows": {"a": entry(shape=[2**62], offsets=(0, 8))},
    "2^64 rows": {"a": entry(shape=[2**64], offsets=(0, 8))},
    "a negative size": {"a": entry(shape=[-1])},
    "a size in letters": {"a": entry(shape=["two"])},
    "an unknown dtype": {"a": entry("C64", (1,))},
    "no dtype": {"a": entry(3)},
    "no shape": {"a": {"dtype": "F32", "data_offsets": [0, 8]}},
    "no entry": {"a": 3},
    "a list": [1, 2],
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "other letters in a name": b'{"\xff": 3}',
    "offsets backwards": {"a": entry(offsets=(8, 0))},
    "offsets after the end": {"a": entry(offsets=(0, 1 << 60))},
    "metadata of numbers": {"__metadata__": {"a": 3}, "a": entry()},
    "metadata of nothing": {"__metadata__": None, "a": entry()},
    "metadata of a list": {"__metadata__": ["a"], "a": entry()},
    "a tree of an unknown kind": tree_of({"$": "what"}),
    "a tree without its tensor": tree_of({"$": "tensor", "name": "b"}),
    "a tree without a name": tree_of({"$": "tensor"}),
    "a name that is none": tree_of({"$": "tensor", "name": []}),
    "a tuple of nothing": tree_of({"$": "tuple"}),
    "a tuple of a number": tree_of({"$": "tuple", "of": 3}),
    "a dict of lists": tree_of({"$": "dict", "of": [[[], 1]]}),
    "a dict of triples": tree_of({"$": "dict", "of": [[1, 2, 3]]}),
    "a state without versions": tree_of({"$": "state_dict", "of": []}),
    "versions that are none": tree_of({"$": "state_dict", "of": [], "metadata": 3}),
    "a float of words": tree_of({"$": "float", "of": "many"}),
    "a float of nothing": tree_of({"$": "float", "of": None}),
    "a kind that is a list": tree_of({"$": []}),
    "a gradient of integers": {
        **tree_of({"$": "tensor", "name": "a", "requires_grad": True}),
        "a": entry("I32"),
    },
    "a deep tree": {
        "__metadata__": {"autocalc": "[" * 90000, "autocalc_version": "2"},
        "a": entry(),
    },
}


@pytest.mark.parametrize("function", [read, read_stream, read_checked])
@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_cannot_be(name, function, tmp_path):
    for count in (0, 4, 8):
        changed = with_header(HEADERS[name], bytes(count))
        reads_or_says(tmp_path / "odd", changed, function)


@pytest.mark.parametrize("function", [read, read_stream])
@pytest.mark.parametrize("shape", [[1] * 100, [2**62, 0]])
def test_a_shape_that_no_tensor_has(shape, function, tmp_path):
    path = tmp_path / "odd"
    end = 4 if shape[-1] else 0
    path.write_bytes(
        with_header({"far": entry(shape=shape, offsets=(0, end))}, bytes(end))
    )
    name = "BytesIO" if function is read_stream else re.escape(str(path))
    text = rf"load: tensor 'far' of .*{name} cannot be read as an array"
    with pytest.raises(CheckpointError, match=text):
        function(path)


@pytest.mark.parametrize("byte", [2, 3, 128, 255])
@pytest.mark.parametrize("function", [read, read_stream])
def test_booleans_that_are_not_0_or_1(byte, function, tmp_path):
    path = tmp_path / "odd"
    header = {"good": entry("BOOL", (2,), (0, 2)), "flags": entry("BOOL", (3,), (2, 5))}
    path.write_bytes(with_header(header, bytes([0, 1, 1, byte, 0])))
    name = "BytesIO" if function is read_stream else re.escape(str(path))
    text = rf"load: tensor 'flags' of .*{name} has booleans that are not 0 or 1"
    with pytest.raises(CheckpointError, match=text):
        function(path)


def test_booleans_of_0_and_1(tmp_path):
    path = tmp_path / "even"
    header = {
        "flags": entry("BOOL", (2, 2), (0, 4)),
        "none": entry("BOOL", (0,), (4, 4)),
    }
    path.write_bytes(with_header(header, bytes([0, 1, 1, 0])))
    assert ac.load(path)["flags"].tolist() == [[False, True], [True, False]]


# ---- archives ------------------------------------------------------------------------


def test_names_in_an_archive_that_are_no_text(tmp_path):
    content = bytearray(of_torch())
    at = content.rindex(b"archive/byteorder")
    content[at] = 0xFF
    central = content.rindex(b"PK\1\2", 0, at)
    content[central + 9] |= 0x08  # the name is said to be UTF-8
    path = tmp_path / "odd.pt"
    path.write_bytes(content)
    with pytest.raises(
        CheckpointError, match=rf"load: {path} looks like a file of torch"
    ):
        ac.load(path)


def test_idx_of_more_dimensions_than_arrays_have(tmp_path):
    path = tmp_path / "odd.idx"
    path.write_bytes(bytes([0, 0, 8, 200]) + struct.pack(">I", 1) * 200 + b"7")
    with pytest.raises(
        DataError, match=rf"read_idx: {path} .*NumPy cannot make an array"
    ):
        ac.data.read_idx(path)

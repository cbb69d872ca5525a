# SPDX-License-Identifier: MIT
"""Files in the cache that are no records: each is named and has no say."""

from __future__ import annotations

import json
import logging
import os
import socket
import stat
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.dispatcher import config, kept_files, records, tuning

import autocalc as ac
from autocalc.errors import ConfigError
from autocalc.plugin import DispatchKey
from autocalc.profiler import _peaks

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(sys.platform == "win32", reason="rights and pipes of POSIX"),
]

NOT_ROOT = "only the administrator can give files to others"


@pytest.fixture(autouse=True)
def cache(tmp_path, environment):
    environment(AUTOCALC_CACHE_DIR=str(tmp_path / "cache"))
    tuning.forget()
    yield tmp_path / "cache"
    tuning.forget()


def key():
    three = (np.dtype(np.float32),) * 3, ((256, 256),) * 3, ((1024, 4),) * 3
    return DispatchKey("gemm", three[0], (1.0, "none"), 0, *three[1:])


def tuned():
    """Write a record of tuning; return its file and what reads it."""
    path = tuning.write([tuning.measured(key(), "a product", {"one": 1e-3})])

    def read():
        tuning.forget()
        return tuning.known()

    return path, read


def self_tested():
    """Write the record of a self-test; return its file and what reads it."""
    path = records.folder() / "mine-0.json"
    records.keep(path, records.TrialRecord("mine", "some 1.0", "passed", calls=3))

    def read():
        records._kept.clear()
        return records.find(path)

    return path, read


def peaks():
    """Write a record of peaks; return its file and what reads it."""
    found = _peaks.Peaks("a CPU", 1, {"float32": 1e9}, ((1e4, 1e9),), {})
    _peaks._write(found)
    return _peaks.path_of_peaks(1), lambda: _peaks._read(1)


KINDS = {"tuning": tuned, "self-test": self_tested, "peaks": peaks}


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_written_is_read(kind):
    path, read = KINDS[kind]()
    assert read()
    assert [p.name for p in path.parent.iterdir()] == [path.name]
    path.unlink()
    assert not read()


@pytest.mark.parametrize("kind", KINDS)
def test_records_are_made_for_their_owner_to_write(kind, cache):
    before = os.umask(0)
    try:
        path, read = KINDS[kind]()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert read()


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def folder(path):
    path.unlink()
    path.mkdir()


def local_socket(path):
    path.unlink()
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    try:
        os.chdir(path.parent)  # a long path has no room in an address
        server.bind(path.name)
    finally:
        os.chdir(here)
        server.close()


def huge(path):
    with path.open("ab") as file:
        file.truncate(kept_files.MOST_BYTES + 1)


def link_to_a_pipe(path):
    path.unlink()
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to(path.with_name("pipe"))


def link_to_itself(path):
    path.unlink()
    path.symlink_to(path)


def text(content):
    return lambda path: path.write_bytes(content)


DEEP = b"[" * 100_000
#: What is put in the place of a record, and what is said of it.
SPOILT = {
    "pipe": (pipe, "it is not a file but a pipe"),
    "folder": (folder, "it is not a file but a folder"),
    "socket": (local_socket, "it cannot be read"),
    "huge": (huge, "bytes, more than"),
    "link to a pipe": (link_to_a_pipe, "it is not a file but a pipe"),
    "link to itself": (link_to_itself, "it cannot be read"),
    "nested": (text(DEEP), "it is nested too deeply"),
    "nested in a dict": (text(b'{"a":' * 100_000), "it is nested too deeply"),
    "nested and closed": (text(DEEP + b"]" * 100_000), "it is nested too deeply"),
    "empty": (text(b""), "it cannot be read"),
    "no text": (text(b"\xff\xfe{}"), "it cannot be read"),
    "a number": (text(b"1" * 5000), "it cannot be read"),
    "written to by others": (lambda p: p.chmod(0o646), r"other users can write"),
    "written to by a group": (lambda p: p.chmod(0o664), r"chmod go-w"),
}


@pytest.mark.parametrize("how", SPOILT)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_record_is_named_and_has_no_say(kind, how, caplog):
    path, read = KINDS[kind]()
    spoil, reason = SPOILT[how]
    spoil(path)
    with caplog.at_level(logging.WARNING, "autocalc"):
        assert not read()
    assert str(path) in caplog.text
    assert reason in caplog.text


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason=NOT_ROOT)
@pytest.mark.parametrize("kind", KINDS)
def test_a_record_of_another_user_has_no_say(kind, caplog):
    path, read = KINDS[kind]()
    os.chown(path, 12345, -1)
    with caplog.at_level(logging.WARNING, "autocalc"):
        assert not read()
    assert "it belongs to another user (number 12345)" in caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_to_a_record_of_ones_own_is_followed(kind, tmp_path):
    path, read = KINDS[kind]()
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert read()


#: Values that no entry can have.
WRONG = [None, "a", -1, 1e400, float("nan"), 10**400, [], {}, [[]], ["a"], {"a": None}]


def places(content, path=()):
    """Yield the path to every value in nested lists and dicts."""
    yield path
    items = content.items() if isinstance(content, dict) else enumerate(content)
    for name, value in items if isinstance(content, (dict, list)) else ():
        if isinstance(value, (dict, list)):
            yield from places(value, (*path, name))
        else:
            yield (*path, name)


def replaced(content, path, value):
    if not path:
        return value
    copy = dict(content) if isinstance(content, dict) else list(content)
    copy[path[0]] = replaced(content[path[0]], path[1:], value)
    return copy


@pytest.mark.parametrize("kind", KINDS)
def test_wrong_values_anywhere_in_a_record_are_no_error(kind):
    path, read = KINDS[kind]()
    content = json.loads(path.read_text())
    for place in places(content):
        for wrong in WRONG:
            path.write_text(json.dumps(replaced(content, place, wrong)))
            found = read()
            if kind == "tuning":
                nearest = tuning.nearest(key())
                assert nearest is None or nearest.fastest_first
            if kind == "self-test" and found is not None:
                assert found.text
                assert "add" not in found.wrong
            if kind == "peaks" and found is not None:
                assert found.flops_of("float32") is None or found.bandwidth_of(1e5) > 0


def test_a_program_starts_beside_a_pipe_in_the_place_of_a_record(cache):
    path, _ = tuned()
    pipe(path)
    tuning.forget()
    ac.kernels.reload()
    config.reload()
    assert (ac.ones(4, 4) @ ac.ones(4, 4)).sum().item() == 64
    assert "none; `autocalc tune` makes one" in str(ac.kernels.show())


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("nested", "does not contain a lock"),
        ("nested in a dict", "does not contain a lock"),
        ("pipe", "cannot be read: it is a pipe"),
        ("empty", "does not contain a lock"),
        ("no text", "cannot be read: 'utf-8' codec"),
    ],
)
def test_a_lock_that_is_none(tmp_path, how, reason):
    path = tmp_path / "lock.json"
    path.write_text("{}")
    SPOILT[how][0](path)
    with pytest.raises(ConfigError, match=rf"use_lock: .*lock\.json {reason}"):
        ac.kernels.use_lock(path)

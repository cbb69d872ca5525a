# SPDX-License-Identifier: MIT
"""Full disks, limits and folders that cannot be written to: found out before the work.

The folders are real: a small tmpfs where that may be mounted, a limit on the size of
files, and a file in the place of a folder, which stops even root.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import pytest

import autocalc as ac
from autocalc.cli import _room as room
from autocalc.data import _download as downloads
from autocalc.errors import CheckpointError, DataError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="disks of POSIX")

DIGITS = "train", "digits", "--epochs", "1"


def limited(nbytes, *words, cwd, **environment):
    """Run the command where no file may have more bytes; return the process."""
    program = (
        "import resource, autocalc.cli as c\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({nbytes}, {nbytes}))\n"
        "c.main()"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=cwd,
        env={**os.environ, **environment},
    )


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 KB, where this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no command to mount a disk")
    if done.returncode:
        pytest.skip("this user may not mount a disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


# ---- train ---------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--save", "--save-best"])
def test_a_limit_is_found_before_the_first_step(option, tmp_path):
    done = limited(20_000, *DIGITS, option, "m.safetensors", cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    match = rf"{option}: {tmp_path} cannot be written to: File too large. Free some"
    assert re.search(match, done.stderr), done.stderr
    assert "epoch" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_too_small_is_found_before_the_first_step(small_disk):
    done = limited(10**9, *DIGITS, "--save", "m.safetensors", cwd=small_disk)
    assert done.returncode == 2, done.stdout + done.stderr
    match = r"--save: .*disk has 0.\d MB free, and a file of \d.\d MB is to come. Free"
    assert re.search(match, done.stderr.replace("\n", " ")), done.stderr
    assert list(small_disk.iterdir()) == []


def test_a_full_disk_is_found_before_the_first_step(small_disk):
    with (small_disk / "filling").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    done = limited(10**9, *DIGITS, "--log", "log.jsonl", cwd=small_disk)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "cannot be written to: No space left on device. Free some" in done.stderr
    assert [path.name for path in small_disk.iterdir()] == ["filling"]


def test_a_disk_that_fills_meanwhile_leaves_the_old_file(small_disk):
    path = small_disk / "m.safetensors"
    ac.save(ac.ones(100), path)
    before = path.read_bytes()
    match = r"\. An existing file was not changed;"
    with pytest.raises(CheckpointError, match=match):
        ac.save(ac.ones(100_000), path)
    assert path.read_bytes() == before
    assert [p.name for p in small_disk.iterdir()] == ["m.safetensors"]


def test_what_fits_is_written(run):
    run(*DIGITS, "--save", "m.safetensors", "-q")
    assert [path.name for path in Path().iterdir()] == ["m.safetensors"]


# ---- tune ----------------------------------------------------------------------------


def test_tune_looks_at_its_cache_before_it_measures(run, tmp_path, monkeypatch):
    from autocalc import _config as config

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUTOCALC_CACHE_DIR", str(tmp_path / "file" / "cache"))
    config.reload()
    try:
        out = run("tune", "gemm", "--seconds", 60, code=1).output
    finally:
        monkeypatch.undo()
        config.reload()
    match = r"cannot be made: Not a directory; nothing was measured. Free some spa"
    assert re.search(match, out)
    assert "; nothing was measured. Free some space there, or set" in out
    assert "us" not in out.split("\n")[0].split()


def test_tune_on_a_full_disk(tmp_path):
    cache = tmp_path / "cache"
    done = limited(
        1000,
        "tune",
        "gemm",
        "--seconds",
        60,
        cwd=tmp_path,
        AUTOCALC_CACHE_DIR=str(cache),
    )
    assert done.returncode == 1, done.stdout
    assert "cannot be written to: File too large; nothing was measured" in done.stderr
    assert [p for p in cache.rglob("*") if p.is_file()] == []


# ---- downloads -----------------------------------------------------------------------


@pytest.mark.parametrize("says_so", [True, False])
def test_a_download_that_does_not_fit_tries_no_other_mirror(
    says_so, small_disk, tmp_path, monkeypatch
):
    content = bytes(200_000)
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror" / "big").write_bytes(content)
    file = downloads.RemoteFile("big", len(content), sha256(content).hexdigest())
    if not says_so:  # the disk fills while the file comes
        monkeypatch.setattr(downloads, "_check_room", lambda *_: None)
    mirrors = [(tmp_path / "mirror").as_uri()] * 2
    match = r"download: there is not enough space in"
    with pytest.raises(DataError, match=match):
        downloads.download(file, mirrors, small_disk, None)
    assert list(small_disk.iterdir()) == []
    assert downloads.download(file, mirrors, tmp_path / "room", None).is_file()


# ---- the check itself ----------------------------------------------------------------


def test_room_is_compared_with_what_is_free(tmp_path, monkeypatch):
    usage = SimpleNamespace(free=5_000_000)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda folder: usage)
    assert room.objection(tmp_path, 4_000_000) == ""
    why = room.objection(tmp_path, 6_000_000)
    assert why == f"{tmp_path} has 5.0 MB free, and a file of 6.0 MB is to come"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_rights(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    try:
        assert "cannot be written to: Permission denied" in room.objection(tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_no_limit_is_left_by_these_tests():
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY

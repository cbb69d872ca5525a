# SPDX-License-Identifier: MIT
"""Report the kernel and the sample if a run hangs or crashes.

The process itself cannot report this: a kernel in C holds the interpreter's lock, and
after a crash the interpreter no longer runs.  Each call is therefore noted in a small
shared file before it begins, which takes 2 us.  A second process watches the file and
reports for the first one.
"""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autocalc.testing.conformance._watcher import GRACE, HEAD, SIZE

#: The seconds that a sample may take; even large samples take milliseconds.
SAMPLE_SECONDS = 60.0


class _Board:
    """The shared file: the count of begins and ends of calls, and the current call."""

    def __init__(self, board: mmap.mmap) -> None:
        self._board = board
        self._turns = 0
        self._owner = os.getpid()

    def note(self, text: str) -> None:
        """Note the call that begins, or with an empty text, that the call ended."""
        if os.getpid() != self._owner:  # a child of the kit
            return
        said = text.encode()[: SIZE - HEAD.size]
        self._turns += 1
        self._board[HEAD.size : HEAD.size + len(said)] = said
        HEAD.pack_into(self._board, 0, self._turns, len(said))


_boards: list[_Board] = []


@contextmanager
def watched(seconds: float = SAMPLE_SECONDS) -> Iterator[None]:
    """Run the block while a second process watches its calls."""
    handle, name = tempfile.mkstemp(prefix="autocalc-conformance-")
    os.truncate(handle, SIZE)
    with mmap.mmap(handle, SIZE) as shared:
        os.close(handle)
        watcher = _start(name, seconds)
        try:
            with noting(shared):
                yield
        finally:
            _stop(watcher)


@contextmanager
def noting(shared: mmap.mmap) -> Iterator[None]:
    """Note the calls of this process in shared memory for another process."""
    _boards.append(_Board(shared))
    try:
        yield
    finally:
        _boards.pop()


def _start(name: str, seconds: float) -> subprocess.Popen[bytes]:
    script = str(Path(__file__).with_name("_watcher.py"))
    command = [sys.executable, "-S", script, name, str(seconds), str(os.getpid())]
    return subprocess.Popen(command, stdin=subprocess.PIPE)


def _stop(watcher: subprocess.Popen[bytes]) -> None:
    """End the watcher; a process forked by a kernel may hold its input open."""
    assert watcher.stdin is not None
    watcher.stdin.close()
    try:
        watcher.wait(GRACE)
    except subprocess.TimeoutExpired:
        watcher.kill()
        watcher.wait()


@contextmanager
def running(text: str) -> Iterator[None]:
    """Note that the block runs the call that `text` describes."""
    if not _boards:
        yield
        return
    board = _boards[-1]
    board.note(text)
    try:
        yield
    finally:
        board.note("")

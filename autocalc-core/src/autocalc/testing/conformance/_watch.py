# SPDX-License-Identifier: MIT
"""Says which kernel ran on which sample when a run hung or crashed.

Neither can be caught in the process itself: a kernel in C keeps the interpreter lock,
and after a crash there is no interpreter.  So a second process watches a small shared
file, where each call is noted before it begins (2 us), and speaks for the first.
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

#: Seconds that one sample may take: even large ones take milliseconds.
SAMPLE_SECONDS = 60.0


class _Board:
    """The shared file: how many times a call began or ended, and which one it was."""

    def __init__(self, board: mmap.mmap) -> None:
        self._board = board
        self._turns = 0
        self._owner = os.getpid()

    def note(self, text: str) -> None:
        """Write down which call begins, or, with no text, that it ended."""
        if os.getpid() != self._owner:  # a child that the kit itself waits for
            return
        said = text.encode()[: SIZE - HEAD.size]
        self._turns += 1
        self._board[HEAD.size : HEAD.size + len(said)] = said
        HEAD.pack_into(self._board, 0, self._turns, len(said))


_boards: list[_Board] = []


@contextmanager
def watched(seconds: float = SAMPLE_SECONDS) -> Iterator[None]:
    """Let a second process watch the calls in the block."""
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
    """Note the calls of this process in shared memory, for another one to read."""
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
    """End the watcher; a process that a kernel forked may hold its input open."""
    assert watcher.stdin is not None
    watcher.stdin.close()
    try:
        watcher.wait(GRACE)
    except subprocess.TimeoutExpired:
        watcher.kill()
        watcher.wait()


@contextmanager
def running(text: str) -> Iterator[None]:
    """Note that the call which `text` names runs in the block."""
    if not _boards:
        yield
        return
    board = _boards[-1]
    board.note(text)
    try:
        yield
    finally:
        board.note("")

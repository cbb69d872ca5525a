# SPDX-License-Identifier: MIT
"""The program of the process that watches a conformance run; see `_watch`.

It is started as ``python _watcher.py FILE SECONDS PID``.  It ends when its input is
closed; the system closes the input however the process PID ends.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import struct
import sys
import threading
import time

#: The number of turns so far, and the length of the text that follows; 0 between two
#: calls.
HEAD = struct.Struct("<QQ")
SIZE = 1024
#: The seconds between two checks, and the seconds that a process gets to end by itself.
PAUSE, GRACE = 0.1, 5.0


def main(name: str, seconds: str, pid: str) -> None:
    """Watch until the other process ends, by itself or because it hangs."""
    ended = threading.Event()
    threading.Thread(target=_wait_for_end, args=(ended,), daemon=True).start()
    with open(name, "rb") as file:  # noqa: PTH123  quick to start: no pathlib
        board = mmap.mmap(file.fileno(), SIZE, access=mmap.ACCESS_READ)
    with contextlib.suppress(OSError):  # Windows keeps open files
        os.unlink(name)  # noqa: PTH108
    text = _watch(board, ended, float(seconds))
    if ended.is_set():
        if text:
            _say(f"the process died while {text} ran.")
        return
    _say(
        f"{text} did not end within {float(seconds):g} s; the run is stopped. Allow "
        f"more with --sample-seconds, or leave the kernel out with -k 'not ...'."
    )
    os.kill(int(pid), signal.SIGABRT)  # pytest prints the traceback
    if not ended.wait(GRACE):
        os.kill(int(pid), getattr(signal, "SIGKILL", signal.SIGTERM))


def _wait_for_end(ended: threading.Event) -> None:
    sys.stdin.buffer.read()
    ended.set()


def _watch(board: mmap.mmap, ended: threading.Event, seconds: float) -> str:
    """Return the call that ran too long, or that ran when the process ended."""
    seen, since = -1, time.monotonic()
    while not ended.wait(PAUSE):
        turns, text = call_of(board)
        if turns != seen or not text:
            seen, since = turns, time.monotonic()
        elif time.monotonic() - since > seconds:
            break
    return call_of(board)[1]


def call_of(board: mmap.mmap) -> tuple[int, str]:
    """Return the number of turns and the running call, "" between two calls."""
    turns, length = HEAD.unpack_from(board)
    return turns, board[HEAD.size : HEAD.size + length].decode(errors="replace")


def _say(text: str) -> None:
    sys.stderr.write(f"\nconformance: {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])

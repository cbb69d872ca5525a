# SPDX-License-Identifier: MIT
"""Which processes the ranks are, and whether they have ended."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

#: Seconds within which all ranks must have ended, beyond a timeout.
SOON = 15


def pids_of(process, n):
    """Read which processes the ranks are, and wait until they are under way."""
    pids, reached = {}, False
    while len(pids) < n or not reached:
        line = process.stdout.readline()
        assert line, process.stderr.read()
        if line.startswith("VALUE "):
            rank, pid = json.loads(line[6:])
            pids[rank] = pid
        reached = reached or line.startswith("REACHED")
    return pids


def assert_ended(pids, within=5):
    """All ranks are gone, or were handed over as dead, soon."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        left = [pid for pid in pids.values() if is_alive(pid)]
        if not left:
            return
        time.sleep(0.05)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    pytest.fail(f"ranks are alive: {left}")


def is_alive(pid):
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
        return text.rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

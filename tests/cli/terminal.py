# SPDX-License-Identifier: MIT
"""A real terminal: commands run in a pseudo-terminal of some width."""

from __future__ import annotations

import os
import re
import struct
import sys
import time


def in_terminal(columns, *command, seconds=120):
    """Run a command in a terminal of so many columns; return what it showed."""
    import fcntl
    import pty
    import select
    import termios

    child, handle = pty.fork()
    if child == 0:
        # What a library set below Python, as readline does, is left out with it.
        left_out = {"COLUMNS", "LINES", "NO_COLOR"}
        environment = {k: v for k, v in os.environ.items() if k not in left_out}
        time.sleep(0.05)  # until the terminal has its size
        os.execvpe(command[0], command, {**environment, "TERM": "xterm"})
    size = struct.pack("HHHH", 50, columns, 0, 0)
    fcntl.ioctl(handle, termios.TIOCSWINSZ, size)
    shown, until = b"", time.monotonic() + seconds
    while time.monotonic() < until:
        if not select.select([handle], [], [], 1.0)[0]:
            continue
        try:
            part = os.read(handle, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(handle)
    _, status = os.waitpid(child, 0)
    text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode()
    assert os.waitstatus_to_exitcode(status) == 0, text
    return text.replace("\r\n", "\n")


def autocalc(columns, *words):
    """Run the command `autocalc` in a terminal."""
    return in_terminal(columns, sys.executable, "-m", "autocalc", *map(str, words))

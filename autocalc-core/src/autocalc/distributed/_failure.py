# SPDX-License-Identifier: MIT
"""An uncaught error ends the program on all ranks, and says whose it was."""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from autocalc.distributed._process_group import ProcessGroup

#: Seconds for the launcher to pass on what was printed, before it ends all ranks.
_TO_PRINT = 0.2

#: Seconds for MPI to end this rank, before it ends by itself.
_TO_ABORT = 5

#: What hooks were there before.
_before: list[Any] = []


def install(group: ProcessGroup) -> None:
    """Let an uncaught error, in any thread, end all ranks."""
    before, before_threads = sys.excepthook, threading.excepthook

    def hook(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        before(kind, error, trace)
        end_all(group, kind, error)

    def hook_of_threads(args: Any) -> None:
        before_threads(args)
        if args.exc_type is not SystemExit:
            end_all(group, args.exc_type, args.exc_value)

    _before[:] = [before, before_threads]
    sys.excepthook, threading.excepthook = hook, hook_of_threads


def uninstall() -> None:
    """Put back the hooks that were there before."""
    sys.excepthook, threading.excepthook = _before
    _before.clear()


def end_all(group: ProcessGroup, kind: type[BaseException], error: Any) -> None:
    """Say what ended this rank, and end all."""
    text = " ".join(str(error).split())
    sys.stderr.write(
        f"autocalc.distributed: rank {group.rank()} of {group.size()} ends all ranks: "
        f"{kind.__name__}: {text}\n"
    )
    sys.stdout.flush()
    sys.stderr.flush()
    time.sleep(_TO_PRINT)
    # MPI waits for its launcher, which it cannot reach where the network is down.
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(_TO_ABORT, exit=True, file=nowhere)
        group.control.Abort(1)

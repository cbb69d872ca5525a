# SPDX-License-Identifier: MIT
"""An uncaught error names its rank and ends the program on all ranks."""

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

#: Seconds that the launcher gets to forward the output, before all ranks end.
_TO_PRINT = 0.2

#: Seconds that MPI gets to end this rank; then the rank ends itself.
_TO_ABORT = 5

#: The hooks that were installed before.
_before: list[Any] = []


def install(group: ProcessGroup) -> None:
    """Install hooks that end all ranks after an uncaught error in any thread."""
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
    """Restore the hooks that were installed before."""
    sys.excepthook, threading.excepthook = _before
    _before.clear()


def end_all(group: ProcessGroup, kind: type[BaseException], error: Any) -> None:
    """Print the error that ended this rank, and end all ranks."""
    text = " ".join(str(error).split())
    sys.stderr.write(
        f"autocalc.distributed: rank {group.rank()} of {group.size()} ends all ranks: "
        f"{kind.__name__}: {text}\n"
    )
    sys.stdout.flush()
    sys.stderr.flush()
    time.sleep(_TO_PRINT)
    # MPI waits for its launcher; that takes forever if the network is down.
    with Path(os.devnull).open("w") as nowhere:
        faulthandler.dump_traceback_later(_TO_ABORT, exit=True, file=nowhere)
        group.control.Abort(1)

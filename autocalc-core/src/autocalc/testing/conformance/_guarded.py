# SPDX-License-Identifier: MIT
"""Run a check in a child process; if a kernel crashes, only one test fails.

The child is a fork, so that the expected results are computed only once, in the parent.
The child notes each call in shared memory before the call begins.  The parent then
knows which call ended the child.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO

from autocalc._dispatch.plugins.trial import ending_of
from autocalc._kernels.spec import DType, KernelSpec
from autocalc.testing.conformance._checks import Check, cases
from autocalc.testing.conformance._process import exit_code_of
from autocalc.testing.conformance._subject import Inapplicable, Subject
from autocalc.testing.conformance._watch import noting
from autocalc.testing.conformance._watcher import GRACE, PAUSE, SIZE, call_of

#: The counters of a subject.
COUNTERS = ("calls", "refusals", "worst")
#: The seconds between two tests whether a child has ended.
SHORT = 0.002


def can_guard(subject: Subject) -> bool:
    """Return whether checks of a set can run in forks of this process."""
    return hasattr(os, "fork") and subject.kernel_set.device == "cpu"


def guarded(check: Check, seconds: float) -> Check:
    """Return a check that runs in a child; each call may take at most `seconds`.

    It raises the error of the check, or `AssertionError` if the child crashes or hangs.
    """

    def run(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
        cases(spec, dtype)  # cached here for all children
        with mmap.mmap(-1, SIZE) as board, TemporaryFile() as report:
            child = os.fork()
            if child == 0:
                with noting(board):
                    _in_child(lambda: check(subject, spec, dtype), subject, report)
            code = _wait(child, board, seconds)
            _, text = call_of(board)
            report.seek(0)
            _tell(code, text or spec.name, seconds, report.read(), subject)

    return run


def _in_child(task: Callable[[], None], subject: Subject, report: IO[bytes]) -> None:
    """Run the task, write its result to the file, and end the process."""
    try:
        no_core_dump()
        outcome = _outcome(task)
        seen = {name: getattr(subject, name) for name in COUNTERS}
        report.write(pickle.dumps((outcome, seen)))
        report.flush()
    finally:
        os._exit(0)


def _outcome(task: Callable[[], None]) -> tuple[str, str]:
    try:
        task()
    except Inapplicable as reason:
        return "inapplicable", str(reason)
    except AssertionError as error:
        return "failed", str(error)
    except BaseException as error:
        return "failed", f"{type(error).__name__}: {error}"
    return "passed", ""


def _wait(child: int, board: mmap.mmap, seconds: float) -> int | None:
    """Return the child's exit code; None if a call took too long and it was ended."""
    seen, since = -1, time.monotonic()
    began = since
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        now = time.monotonic()
        turns, text = call_of(board)
        if turns != seen or not text:
            seen, since = turns, now
        elif now - since > seconds:
            os.kill(child, signal.SIGABRT)  # faulthandler prints the traceback
            exit_code_of(child, GRACE)
            return None
        time.sleep(SHORT if now - began < 1 else PAUSE)


def _tell(
    code: int | None, text: str, seconds: float, said: bytes, subject: Subject
) -> None:
    """Raise the error of the child, and add its counts."""
    if code is None:
        raise AssertionError(
            f"{text} did not end within {seconds:g} s; allow more with "
            f"--sample-seconds, or leave the kernel out with -k 'not ...'"
        )
    if code != 0 or not said:
        raise AssertionError(f"{text}: the kernel {ending_of(code)}")
    (verdict, reason), seen = pickle.loads(said)  # from this kit's own child
    for name, value in seen.items():
        setattr(subject, name, value)
    if verdict == "inapplicable":
        raise Inapplicable(reason)
    if verdict == "failed":
        raise AssertionError(reason)


def no_core_dump() -> None:
    """Switch off core dumps for crashes of kernels."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

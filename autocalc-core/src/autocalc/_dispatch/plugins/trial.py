# SPDX-License-Identifier: MIT
"""Runs the self-test of a kernel set in its own process, and judges its outcome.

The child process is `autocalc.testing._self_test`.  It writes to a file what it is
about to do, line by line.  However it ends, the last line shows what ended it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from autocalc._config import child_environment, logger
from autocalc._dispatch.plugins.records import TrialRecord

#: The seconds for the self-test once the child has started, and for its start.
LIMIT, START = 10.0, 60.0
#: The seconds after which a message says what takes so long.
NOTICE = 0.5
#: The seconds between two checks of the child.
PAUSE = 0.02

#: For each task: a text about what is tested, with a name and a package.
_TASKS = {
    "set": "the kernel set %s of %s",
    "import": "the import of the plugin %s of %s",
}
#: For each signal that ends a process: a text about what the process did.
_SIGNALS = {
    "SIGSEGV": "touched memory that is not there (SIGSEGV)",
    "SIGBUS": "touched memory that is not there (SIGBUS)",
    "SIGILL": "ran an instruction that this CPU does not have (SIGILL)",
    "SIGABRT": "aborted its process (SIGABRT)",
    "SIGFPE": "stopped at a floating-point or division error (SIGFPE)",
}
#: The same for exit codes on Windows.
_WINDOWS = {
    0xC0000005: "touched memory that is not there (access violation)",
    0xC000001D: "ran an instruction that this CPU does not have",
    0xC0000409: "aborted its process",
}


def run_trial(
    name: str, package: str, task: str = "set"
) -> tuple[TrialRecord, list[str]]:
    """Test a set or a plugin's import in a child; return a record and loaded files."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="autocalc-self-test-") as folder:
        report, errors = Path(folder, "report"), Path(folder, "errors")
        try:
            code = _run((name, package, task), report, errors)
        except OSError as error:
            return _untested(name, package, str(error)), []
        lines = list(_lines(report))
        said = errors.read_text(encoding="utf-8", errors="replace").strip()
    facts: dict[str, Any] = {}
    for line in lines:
        facts.update(line)
    fields = _judged(facts, code, said)
    seconds = round(time.monotonic() - began, 2)
    date = time.strftime("%Y-%m-%d")
    record = TrialRecord(name, package, seconds=seconds, date=date, **fields)
    return record, facts.get("files", [])


def _untested(name: str, package: str, why: str) -> TrialRecord:
    return TrialRecord(
        name, package, "untested", f"its self-test could not start: {why}"
    )


# ---- the child -----------------------------------------------------------------------


def _run(what: tuple[str, str, str], report: Path, errors: Path) -> int | None:
    """Return the child's exit code; None if it had to be killed."""
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("this program has no Python interpreter to start")
    child = (sys.executable, "-X", "faulthandler", "-W", "ignore", "-m")
    report.touch()
    with errors.open("wb") as said:
        process = subprocess.Popen(
            [*child, "autocalc.testing._self_test", str(report), *what],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=child_environment(),
            start_new_session=os.name == "posix",
        )
        try:
            return _wait(process, report, _TASKS[what[2]] % what[:2])
        finally:
            _end(process)


def _wait(process: subprocess.Popen[bytes], report: Path, what: str) -> int | None:
    """Wait until the time limit, which counts from the child's first line."""
    began, limit = time.monotonic(), START
    has_started = is_told = False
    while process.poll() is None:
        time.sleep(PAUSE)
        now = time.monotonic()
        if not has_started and report.stat().st_size:
            has_started, limit = True, now - began + LIMIT
        if not is_told and now - began > NOTICE:
            is_told = True
            logger("kernels").warning(
                "testing %s in a process of its own, once on this "
                "machine (at most %g s; AUTOCALC_GUARD=off trusts it)",
                what,
                LIMIT,
            )
        if now - began > limit:
            return None
    return process.returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the child and the processes that it started."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _lines(report: Path) -> Any:
    """Yield the child's notes, without a line that was incomplete when it died."""
    for line in report.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


# ---- the verdict ---------------------------------------------------------------------


def _judged(facts: dict[str, Any], code: int | None, said: str) -> dict[str, Any]:
    """Return the verdict and its reason, from the child's notes and its end."""
    if "fault" in facts:
        return _quarantined(facts["fault"], "")
    if not facts:
        ended = f"no word within {START:g} s" if code is None else f"exit code {code}"
        last = said.splitlines()[-1] if said else ended
        return {
            "verdict": "untested",
            "reason": f"its self-test could not start: {last}",
            "traceback": said,
        }
    if code != 0 or not {"passed", "unloadable"} & facts.keys():
        return _quarantined(f"{ending_of(code)} {facts['running']}", said)
    if "unloadable" in facts:
        return {
            "verdict": "unloadable",
            "reason": facts["unloadable"],
            "traceback": facts.get("traceback", ""),
        }
    return {"verdict": "passed", **facts["passed"]}


def _quarantined(what: str, said: str) -> dict[str, Any]:
    return {"verdict": "quarantined", "reason": f"it {what}", "traceback": said}


def ending_of(code: int | None) -> str:
    """Return a text about how a child ended too early."""
    if code is None:
        return f"did not end within {LIMIT:g} s"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return _SIGNALS.get(name, f"was ended by {name}")
    return _WINDOWS.get(code, f"ended its process with exit code {code}")

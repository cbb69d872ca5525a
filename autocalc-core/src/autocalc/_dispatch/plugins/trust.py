# SPDX-License-Identifier: MIT
"""Decides whether a kernel set may run in this process.

AutoCalc's own packages are trusted.  So are sets that do not come from an installed
package, because their code is already part of this program.  Any other package is
tested once in a separate process.  Its import and its hook are tested before they run
here for the first time, and each set is tested before its `load` runs.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from autocalc._config import logger, settings

#: What is tested: a set, or the import of the module that describes sets.
Task = Literal["set", "import"]

if TYPE_CHECKING:
    from autocalc._dispatch.plugins.records import TrialRecord

#: The distributions whose kernels are tested together with AutoCalc.
OWN = frozenset(
    {
        "autocalc-core",
        "autocalc-kernels-simd",
        "autocalc-kernels-blas",
        "autocalc-kernels-cuda",
    }
)

_state = threading.local()


def is_own(distribution: str) -> bool:
    """Return whether a distribution is one of AutoCalc's own."""
    return re.sub(r"[-_.]+", "-", distribution).lower() in OWN


@contextmanager
def trusting() -> Iterator[None]:
    """Trust every set that this thread loads in the block: it is being tested."""
    before = getattr(_state, "trusting", False)
    _state.trusting = True
    try:
        yield
    finally:
        _state.trusting = before


def examined(
    name: str, package: str, module: str, *, again: bool = False
) -> TrialRecord:
    """Return the result of a set's self-test; run the test if there is no record.

    `module` is named by the package's entry point.  `again` runs the test even if there
    is a record.
    """
    return _record(name, package, module, "set", again)


def imported(name: str, package: str, module: str) -> TrialRecord:
    """Return the result of a test of a plugin's import and hook, as `examined` does.

    A module without files is not tested.  Either there is nothing to import, or it is
    part of the program.
    """
    return _record(name, package, module, "import", again=False)


def _record(
    name: str, package: str, module: str, task: Task, again: bool
) -> TrialRecord:
    from autocalc._dispatch.plugins import records

    if not settings().guard or getattr(_state, "trusting", False):
        return records.TrialRecord(name, package, "trusted")
    files = records.code_files(module)
    if not files and task == "import":
        return records.TrialRecord(name, package, "trusted")
    key = name if task == "set" else f"{name}.{task}"
    path = records.path_of(key, package, files) if files else None
    found = None if path is None or again else records.find(path)
    if found is None:
        found = _tested(name, package, [str(file) for file in files], task)
        if path is not None and found.verdict != "untested":
            records.keep(path, found)
    return found


def _tested(name: str, package: str, files: list[str], task: Task) -> TrialRecord:
    from autocalc._dispatch.plugins.records import described
    from autocalc._dispatch.plugins.trial import run_trial

    before = described(files)  # files that change meanwhile are tested again
    record, loaded = run_trial(name, package, task)
    more = described(file for file in loaded if file not in files)
    record = replace(record, files=before + more)
    logger("kernels").info("self-test of %s of %s: %s", name, package, record.text)
    return record


def refusal_reason(record: TrialRecord) -> str:
    """Return why a set is not used; "" if it may be used."""
    if record.verdict == "quarantined":
        return (
            f"quarantined by its self-test: {record.reason}. `autocalc kernels "
            f"--forget {record.set}` lifts this and tests it once more; "
            f"AUTOCALC_GUARD=off trusts it"
        )
    if record.verdict == "untested":
        return f"{record.reason}. AUTOCALC_GUARD=off trusts it untested"
    return ""


def left_out_reason(record: TrialRecord, kernel: str) -> str:
    """Return why a kernel of a set is not used; "" if it may be used."""
    if kernel not in record.wrong:
        return ""
    return (
        f"wrong in the set's self-test: {record.wrong[kernel]}. `autocalc kernels "
        f"--forget {record.set}` tests it once more; AUTOCALC_GUARD=off trusts it"
    )

# SPDX-License-Identifier: MIT
"""A pytest plugin for PyTorch's own tests that writes each outcome to a file.

It leaves out the tests over databases of operators, and limits the time of each test. A
second run continues after the test in which the first run died.  With
``PYTORCH_TESTS_UNDER=autocalc``, ``import torch`` means AutoCalc.  PyTorch's helpers
(`torch.testing._internal`) are then PyTorch's files with the stand-ins of `stand_ins`.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

OUTCOMES = Path(os.environ["PYTORCH_TESTS_OUTCOMES"])
SECONDS = int(os.environ["PYTORCH_TESTS_SECONDS"])
#: The memory limit of a process in bytes; a test that needs more fails.
MEMORY = 8 << 30


class TooLongError(BaseException):
    """The time of a test is over; no test catches this error."""


def write(**line: Any) -> None:
    """Append a line to the file of outcomes."""
    with OUTCOMES.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def name_of(item: Any) -> str:
    """Return the name of a test, with PyTorch's names of modules and constraints."""
    name = str(item.nodeid).replace("_autocalc_nn_", "_nn_")
    return re.sub(r"(?<=e-)([a-z_]+)(?=-args)", _class_name, name)


def _class_name(match: re.Match[str]) -> str:
    """Return ``_GreaterThan`` for ``greater_than``."""
    return "_" + "".join(word.title() for word in match[1].split("_"))


def pytest_configure() -> None:
    """Limit the memory, and prepare PyTorch's helpers before test files need them."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    from tools.pytorch_tests import helpers

    helpers.prepare()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Let test files name what is absent."""
    from tools.pytorch_tests import helpers

    helpers.collecting(True)
    try:
        return (yield)
    finally:
        helpers.collecting(False)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out the tests that have an outcome from an earlier process."""
    from tools.pytorch_tests import helpers

    for test in {item.cls for item in items if getattr(item, "cls", None)}:
        helpers.mend(test)
    done = set()
    if OUTCOMES.exists():
        done = {json.loads(line)["test"] for line in OUTCOMES.open(encoding="utf-8")}
    config.hook.pytest_deselected(items=[x for x in items if name_of(x) in done])
    items[:] = [x for x in items if name_of(x) not in done]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Generator[None, Any, Any]:
    """Report that a test begins, and end it when its time is over."""
    from tools.pytorch_tests import helpers

    def stop(*_: Any) -> None:
        raise TooLongError

    write(test=name_of(item), outcome="started")
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    item.begun = time.perf_counter()
    try:
        return (yield)
    finally:
        signal.alarm(0)
        helpers.after_test()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, Any]:
    """Write the outcome of the setup, the test itself or its teardown."""
    report = yield
    error = call.excinfo
    if report.when == "call" or report.outcome != "passed":
        why = ""
        if error is not None and report.outcome != "passed":
            first = (str(error.value).strip() or "?").splitlines()[0]
            why = f"{error.typename}: {first[:300]}"
        write(
            test=name_of(item),
            outcome=report.outcome,
            why=why,
            seconds=round(time.perf_counter() - item.begun, 2),
            line=_line(error),
        )
    return report


def _line(error: Any) -> str:
    """Return the last line of a test file in the stack of an error."""
    if error is None:
        return ""
    lines = [x for x in error.traceback if "/test" in str(x.path).rpartition("/_")[0]]
    last = (lines or list(error.traceback))[-1]
    return f"{Path(last.path).name}:{last.lineno + 1}"

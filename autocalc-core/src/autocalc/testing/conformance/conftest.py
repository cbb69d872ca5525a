# SPDX-License-Identifier: MIT
"""Fixtures and parameters for the conformance tests of the set in ``--kernels``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import pytest

from autocalc._kernels.table import TABLE
from autocalc.errors import ConfigError
from autocalc.testing.conformance import CHECKS, Subject, applies
from autocalc.testing.conformance._halves import dtypes_of
from autocalc.testing.conformance._report import lines
from autocalc.testing.conformance._subject import chosen
from autocalc.testing.conformance._watch import SAMPLE_SECONDS, watched


def _subject(config: pytest.Config) -> Subject:
    try:
        return chosen(config.getoption("--kernels", default=None))
    except ConfigError as error:
        raise pytest.Collector.CollectError(str(error)) from error


@pytest.fixture(scope="session")
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Return the kernel set under test; another process watches its calls."""
    seconds = request.config.getoption("--sample-seconds", default=SAMPLE_SECONDS)
    with ExitStack() as stack:
        with _uncaptured(request.config):  # the watcher prints to the terminal
            stack.enter_context(watched(seconds))
        yield _subject(request.config)


def _uncaptured(config: pytest.Config) -> AbstractContextManager[None]:
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    if capture is None:
        return nullcontext()
    uncaptured: AbstractContextManager[None] = capture.global_and_fixture_disabled()
    return uncaptured


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for each check of each kernel and dtype."""
    if "check" in metafunc.fixturenames:
        subject = _subject(metafunc.config)
        metafunc.parametrize(
            ("spec", "dtype", "check"),
            [
                pytest.param(spec, dtype, check, id=f"{name}-{dtype}-{what}")
                for name, spec in TABLE.items()
                if name in subject.kernels
                for dtype in dtypes_of(spec, subject.kernels[name])
                for what, check in CHECKS.items()
                if applies(what, subject, spec)
            ],
        )
    elif "kernel" in metafunc.fixturenames:
        metafunc.parametrize("kernel", list(TABLE))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the worst errors."""
    if chosen.cache_info().currsize:
        terminalreporter.section("conformance")
        for line in lines(_subject(config)):
            terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which the set under test did not run at all."""
    if not chosen.cache_info().currsize or session.config.option.collectonly:
        return
    subject = _subject(session.config)
    if session.testscollected and not sum(subject.calls.values()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        session.config.get_terminal_writer().line(
            f"conformance: not one call of {subject.name} was made", red=True
        )

# SPDX-License-Identifier: MIT
"""What every test of core can rely on: seeded, and settings as they were."""

from __future__ import annotations

import multiprocessing
import threading
import types
from pathlib import Path

import pytest
from tests.dispatcher import config, discovery, eager

import autocalc as ac
from autocalc.plugin import hookimpl


@pytest.fixture
def environment(monkeypatch):
    """Set AUTOCALC_* variables for this test; the settings follow."""
    for name in [*config.VARIABLES, *config.OLD_NAMES, "OMP_NUM_THREADS"]:
        monkeypatch.delenv(name, raising=False)

    def set_variables(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        config.reload()
        ac.kernels.reload()

    yield set_variables
    monkeypatch.undo()
    config.reload()
    ac.kernels.reload()


@pytest.fixture
def definitions():
    """Run a function by the Python definitions alone."""

    def run(function, *args):
        eager.pause(run, True)
        try:
            return function(*args)
        finally:
            eager.pause(run, False)

    return run


@pytest.fixture
def install(monkeypatch):
    """Pretend that kernel packages are installed: ``install(name=module or sets)``.

    A value is a module, a list of kernel sets, or an error that the import raises.
    """

    class Point:
        dist = None

        def __init__(self, name, given):
            self.name, self.value, self.given = name, f"{name}_plugin", given

        def load(self):
            if isinstance(self.given, BaseException):
                raise self.given
            if isinstance(self.given, types.ModuleType):
                return self.given
            module = types.ModuleType(self.value)
            sets = self.given
            hook = sets if callable(sets) else lambda: sets
            hook.__name__ = "autocalc_kernel_sets"
            module.autocalc_kernel_sets = hookimpl(hook)
            return module

    def install(**packages):
        points = [Point(name, given) for name, given in packages.items()]
        monkeypatch.setattr(discovery, "_entry_points", lambda: points)
        ac.kernels.reload()
        return discovery.registry()

    yield install
    monkeypatch.undo()
    ac.kernels.reload()


@pytest.fixture
def no_worker_left():
    """After the test no worker of a loader lives, and no file is left open."""
    files = Path("/proc/self/fd")
    before = len(list(files.iterdir())) if files.is_dir() else 0
    yield
    assert multiprocessing.active_children() == []
    assert not [t for t in threading.enumerate() if t.name.startswith("autocalc-data")]
    if before:  # one more for the process that watches over those started afresh
        assert len(list(files.iterdir())) <= before + 1

# SPDX-License-Identifier: MIT
"""A library whose kernels run in another process.

That of NEON, under an emulator on other machines (`make test-neon`), and that of AVX2
with sanitizers, which this process could not load (`make test-native SANITIZE=...`).
"""

from __future__ import annotations

import functools
import importlib.util
import platform
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

from autocalc.testing.conformance import Subject, _determinism


def _load(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


remote = _load("remote.py")


def pytest_addoption(parser):
    parser.addoption("--served", metavar="FOLDER", help="where ctest/ was built")
    parser.addoption("--isa", default="neon", help="whose library of it is tested")


def build_of(config):
    """Return the folder of the build, or None: nothing here is then collected."""
    folder = config.getoption("--served", default=None)
    return folder and Path(folder)


def isa_of(config):
    return config.getoption("--isa")


def pytest_ignore_collect(collection_path, config):
    """Without a build there is nothing to test: these are no tests of `make test`."""
    return True if build_of(config) is None else None


def _start(config):
    build, isa = build_of(config), isa_of(config)
    command = [build / "kernel_server", build / "kernels" / f"kernels_{isa}.so"]
    if isa == "neon" and platform.machine() not in {"aarch64", "arm64"}:
        command[:0] = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
    return remote.Server([*command, f"autocalc_kernels_{isa}"])


#: Instead of seven numbers of threads: emulated, these are half of the time, and how
#: work is shared is the same source for all instruction sets.
THREADS = (1, 3)


def pytest_configure(config):
    if build_of(config) is not None:
        _determinism.THREADS = THREADS
    config.kernel_server = functools.lru_cache(maxsize=1)(lambda: _start(config))
    config.served_subject = functools.lru_cache(maxsize=1)(
        lambda: Subject(*remote.remote_set(config.kernel_server()))
    )


class ByKernel(LoadScopeScheduling):
    """The tests of a kernel in one process: what they share is computed once."""

    def _split_scope(self, nodeid):
        label = nodeid.partition("[")[2].rstrip("]")
        return label.split("-")[0] or nodeid


def pytest_xdist_make_scheduler(config, log):
    # Not by `--dist loadgroup`: with pytest 9.2 and xdist 3.8 it groups nothing.
    return None if build_of(config) is None else ByKernel(config, log)


@pytest.fixture(scope="session")
def subject(pytestconfig):
    """Return the set of the other process, which must end well when it is asked to."""
    yield pytestconfig.served_subject()
    assert pytestconfig.kernel_server().close() == 0


@pytest.fixture(scope="session")
def isa(pytestconfig):
    return isa_of(pytestconfig)


@pytest.fixture(scope="session")
def library(pytestconfig, isa):
    return build_of(pytestconfig) / "kernels" / f"kernels_{isa}.so"

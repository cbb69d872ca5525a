# SPDX-License-Identifier: MIT
"""The NEON library, run by an emulator on other machines: `make test-neon`."""

from __future__ import annotations

import functools
import importlib.util
import platform
from pathlib import Path

import pytest

from autocalc.testing.conformance import Subject


def _load(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


remote = _load("remote.py")


def pytest_addoption(parser):
    parser.addoption("--neon", metavar="FOLDER", help="where ctest/ was built for NEON")


def build_of(config):
    """Return the folder of the build, or None: nothing here is then collected."""
    folder = config.getoption("--neon", default=None)
    return folder and Path(folder)


def pytest_ignore_collect(collection_path, config):
    """Without a build there is nothing to test: these are no tests of `make test`."""
    return True if build_of(config) is None else None


def _start(config):
    build = build_of(config)
    command = [build / "kernel_server", build / "kernels" / "kernels_neon.so"]
    if platform.machine() not in {"aarch64", "arm64"}:
        command[:0] = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
    return remote.Server([*command, "autocalc_kernels_neon"])


def pytest_configure(config):
    config.neon_server = functools.lru_cache(maxsize=1)(lambda: _start(config))
    config.neon_subject = functools.lru_cache(maxsize=1)(
        lambda: Subject(*remote.remote_set(config.neon_server()))
    )


@pytest.fixture(scope="session")
def subject(pytestconfig):
    """Return the set of the other process, which must end well when it is told to."""
    yield pytestconfig.neon_subject()
    assert pytestconfig.neon_server().close() == 0


@pytest.fixture(scope="session")
def library(pytestconfig):
    return build_of(pytestconfig) / "kernels" / "kernels_neon.so"

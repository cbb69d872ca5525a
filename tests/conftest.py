# SPDX-License-Identifier: MIT
"""What holds for all tests: nothing measured chooses, names are always the same."""

from __future__ import annotations

import gc
import os
import re
import zlib

import pytest
from tests.dispatcher import PROCESS

import autocalc as ac
from autocalc._graph import _frozen

_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")


def pytest_addoption(parser):
    parser.addoption(
        "--part",
        metavar="K/N",
        help="run one test file of N (with --served, one kernel of N), drawn by name; "
        "K from 1 to N says which",
    )


def pytest_configure(config):
    """Let no record of `autocalc tune` choose the tests' kernels, but `--kernels`."""
    os.environ["AUTOCALC_TUNE"] = "off"
    choice = config.getoption("--kernels", default=None)
    if choice is not None:
        from tests.preferred import Preferred

        config.pluginmanager.register(Preferred(choice))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect without the garbage collector: all of a million objects stay alive."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config, items):
    """Refuse names with an address: workers must agree on what there is to run."""
    for item in items:
        if _ADDRESS.search(item.nodeid):
            message = f"{item.nodeid}: an address is in the name; give `ids`."
            raise pytest.UsageError(message)
    if part := config.getoption("--part"):
        _keep_part(config, items, *map(int, part.split("/")))


def _keep_part(config, items, which, parts):
    """Keep the tests of one part. A checksum is the same in all processes."""
    served = config.getoption("--served", default=None) is not None
    kept, left_out = [], []
    for item in items:
        file, _, test = item.nodeid.partition("::")
        kernel = test.partition("[")[2].partition("-")[0] if served else ""
        number = zlib.crc32((kernel or file).encode()) % parts + 1
        (kept if number == which else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


@pytest.fixture(scope="module", autouse=True)
def few_objects():
    """Let the collector pass over what earlier tests and pytest itself hold.

    They are a million objects.  A recording of `ac.compile` that uses memory of no
    tensor which the step names looks through all that the collector lists.
    """
    gc.collect()
    gc.freeze()
    _frozen.HOLDS_TENSORS = False


def pytest_runtest_teardown(item):
    """Let a worker of pytest-xdist forget its reports, which nobody reads there."""
    if hasattr(item.config, "workerinput"):
        item.config.pluginmanager.get_plugin("terminalreporter").stats.clear()


@pytest.fixture(autouse=True)
def fresh_start():
    """Seed the generator; afterwards put back what the process can choose."""
    ac.manual_seed(0)
    names = "_choices", "only", "locked", "deterministic"
    before = [getattr(PROCESS, name) for name in names]
    yield
    if [getattr(PROCESS, name) for name in names] != before:
        for name, value in zip(names, before, strict=True):
            setattr(PROCESS, name, value)
        PROCESS.forget()
    assert ac.is_grad_enabled(), "the test left gradients switched off"

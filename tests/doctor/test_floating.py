# SPDX-License-Identifier: MIT
"""Rounding and numbers close to zero: the default, and what a library may change."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from tests.doctor.checks import floating as checks
from tests.kernel_table import TABLE, adapt
from tests.kernels.test_kit_floating_point import state_bits
from tests.oracle import floating_point

import autocalc as ac
from autocalc.plugin import KernelSet


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(checks, "SIZE", 4096)
    monkeypatch.setattr(checks, "TURNS", 3)


def test_the_default_is_fine(machine):
    (found,) = checks.state(machine())
    assert (found.level, found.text) == (
        "ok",
        "rounds to nearest, keeps subnormal numbers",
    )


@pytest.mark.skipif(platform.machine() != "x86_64", reason="bits of MXCSR")
def test_a_thread_that_flushes_is_found_out(machine):
    """As a library built with -ffast-math leaves the thread that loaded it."""
    try:
        state_bits(0x8040)()
        (state,) = checks.state(machine())
        with ac.kernels.use("reference"):
            (found,) = checks.subnormals(machine())
    finally:
        floating_point.restore()
    assert state.level == found.level == "error"
    assert "subnormal results become zero, subnormal operands are read" in state.text
    assert found.text.startswith("reference lost 4096 of 4096 subnormal products")


def test_a_changed_state_is_an_error(machine, monkeypatch):
    def deviation():
        return "subnormal results become zero"

    monkeypatch.setattr(checks.floating_point, "deviation", deviation)
    (found,) = checks.state(machine())
    assert found.level == "error"
    assert "in this thread subnormal results become zero" in found.text
    assert "-ffast-math" in found.remedy


def test_the_installed_kernels_keep_subnormals(machine):
    (found,) = checks.subnormals(machine())
    assert found.level in {"ok", "note"}
    assert "keeps them; a product with them takes" in found.text


def test_a_set_that_loses_them_is_an_error(machine, install):
    plain = adapt(TABLE["mul"])

    def flushing(out, a, b):
        plain(out, a, b)
        out[np.abs(out) < np.finfo(np.float32).tiny] = 0

    sets = [KernelSet("flushing", family="x", load=lambda: {"mul": flushing}, rank=999)]
    install(mine=sets)
    (found,) = checks.subnormals(machine())
    assert found.level == "error"
    assert found.text.startswith("flushing lost 4096 of 4096 subnormal products")


@pytest.mark.parametrize(("ratio", "level"), [(1.5, "ok"), (40.0, "note")])
def test_the_cost_is_told(machine, monkeypatch, ratio, level):
    times = iter([ratio, 1.0])
    monkeypatch.setattr(checks, "_seconds", lambda a, b: next(times))
    (found,) = checks.subnormals(machine())
    assert found.level == level
    assert f"takes {ratio:.1f} times as long" in found.text
    assert ac.kernels.available()

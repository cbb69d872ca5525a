# SPDX-License-Identifier: MIT
"""What every test of core can rely on: seeded, and settings as they were."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import _config
from autocalc._dispatch._state import PROCESS


@pytest.fixture(autouse=True)
def fresh_start():
    """Seed the generator; afterwards put back what the process can choose."""
    ac.manual_seed(0)
    before = PROCESS._choices, PROCESS.only, PROCESS.deterministic
    yield
    after = PROCESS._choices, PROCESS.only, PROCESS.deterministic
    if after != before:
        PROCESS._choices, PROCESS.only, PROCESS.deterministic = before
        PROCESS.forget()
    assert ac.is_grad_enabled(), "the test left gradients switched off"


@pytest.fixture
def environment(monkeypatch):
    """Set AUTOCALC_* variables for this test; the settings follow."""
    for name in [*_config.VARIABLES, *_config.OLD_NAMES]:
        monkeypatch.delenv(name, raising=False)

    def set_variables(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(name, value)
        _config.reload()
        ac.kernels.reload()

    yield set_variables
    monkeypatch.undo()
    _config.reload()
    ac.kernels.reload()

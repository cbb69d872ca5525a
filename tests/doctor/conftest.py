# SPDX-License-Identifier: MIT
"""Machines that are made of files, and the fixtures of core."""

from __future__ import annotations

import pytest
from tests.cli.conftest import program, run
from tests.core.conftest import environment, install
from tests.doctor.checks import Machine

__all__ = ["environment", "install", "program", "run"]


@pytest.fixture
def machine(tmp_path):
    """Return a function that makes a machine of files: path to text."""

    def make(files=None):
        for path, text in (files or {}).items():
            place = tmp_path / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return Machine(tmp_path)

    return make

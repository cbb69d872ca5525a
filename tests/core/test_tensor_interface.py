# SPDX-License-Identifier: MIT
"""The types of `Tensor`'s methods are those of the methods that are attached to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import autocalc as ac

pytestmark = pytest.mark.core

TOOL = Path(__file__).parents[2] / "tools" / "tensor_interface.py"


def test_the_interface_is_up_to_date():
    command = [sys.executable, str(TOOL), "--check"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_method_stands_on_the_class_itself():
    assert "exp2" in vars(ac.Tensor)
    assert vars(ac.Tensor)["mul"] is ac.mul

# SPDX-License-Identifier: MIT
"""What `import autocalc` brings along, and what it leaves for later."""

from __future__ import annotations

import subprocess
import sys

import pytest

import autocalc as ac

pytestmark = pytest.mark.core

#: Of AutoCalc, of what it needs and of Python's library: 5 to 60 ms each.
LATE = (
    *(f"autocalc.{name}" for name in ("data", "models", "nn", "optim", "testing")),
    *("autocalc.utils", "autocalc.cli", "autocalc._dispatch.explain.explain"),
    "autocalc.diagnostics",
    *("autocalc.profiler", "rich"),
    *("pluggy", "archspec", "safetensors", "logging", "difflib"),
)


def output(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_import_leaves_for_later_what_takes_long():
    program = (
        "import sys, numpy; before = set(sys.modules); import autocalc; "
        f"print(sorted(set({LATE}) & (set(sys.modules) - before)))"
    )
    assert output(program) == "[]"


@pytest.mark.parametrize(
    "program",
    [
        "import autocalc as ac; print(ac.nn.Linear(1, 2).weight.numel())",
        "import autocalc.nn; print(autocalc.nn.Linear(1, 2).weight.numel())",
        "from autocalc import nn; print(nn.Linear(1, 2).weight.numel())",
        "from autocalc import *; print(nn.Linear(1, 2).weight.numel())",
    ],
)
def test_what_comes_later_is_there_in_every_spelling(program):
    assert output(program) == "2"


def test_everything_public_is_there():
    for module in (ac, ac.kernels, ac.autograd):
        assert set(module.__all__) <= set(dir(module))
        for name in module.__all__:
            assert name == "newaxis" or getattr(module, name) is not None


@pytest.mark.parametrize("module", [ac, ac.kernels])
def test_an_unknown_name_is_an_error(module):
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = module.nonsense

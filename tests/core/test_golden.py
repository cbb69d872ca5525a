# SPDX-License-Identifier: MIT
"""Names, kernels, keys and error texts are those of the golden lists."""

from __future__ import annotations

import difflib
import importlib.util
from pathlib import Path

import pytest

pytestmark = pytest.mark.core

GOLDEN = Path(__file__).parents[1] / "golden"


def _load():
    spec = importlib.util.spec_from_file_location("golden", GOLDEN / "lists.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["names", "kernels", "state_dict_keys", "errors"])
def test_golden_list(name):
    """After a change that is meant: `make golden`, and a line in CHANGES.md."""
    before = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    after = _load().lines(name)
    difference = list(difflib.unified_diff(before, after, "golden", "now", "", "", 0))
    assert not difference, "\n".join(difference[:60])

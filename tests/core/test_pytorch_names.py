# SPDX-License-Identifier: MIT
"""Every public name of PyTorch is there, absent on purpose, or still listed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="its names are what is asked for")
pytestmark = pytest.mark.torch

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import pytorch_names  # noqa: E402  # the tool is no package

LISTED = pytorch_names.ABSENT.read_text(encoding="utf-8").split()
#: The list may only get shorter: lower this with it.
MOST = 0


def test_no_name_is_absent_that_is_not_listed():
    absent = set(pytorch_names.absent_names())
    assert absent <= set(LISTED), "implement them, or give a reason in _absent/names.py"


def test_what_is_listed_is_absent():
    present = sorted(set(LISTED) - set(pytorch_names.absent_names()))
    assert not present, "remove them: tools/pytorch_names.py --write"


def test_the_list_does_not_grow():
    assert len(LISTED) == len(set(LISTED)) == MOST


def test_names_that_are_absent_on_purpose_are_pytorch_s():
    rows = {(place, name) for place, name, _ in pytorch_names.rows()}
    for ours in pytorch_names.PLACES.values():
        for name in pytorch_names.groups_by_name(ours):
            if (ours, name) not in rows:
                theirs = {b: a for a, b in pytorch_names.PLACES.items()}[ours]
                assert pytorch_names.is_module(theirs, name), name

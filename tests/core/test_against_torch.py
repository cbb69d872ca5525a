# SPDX-License-Identifier: MIT
"""The same lines run by AutoCalc and by PyTorch: values, dtypes, gradients, errors.

Where the two differ on purpose, the lines are in `different.txt`, and the difference
in the documentation's table.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
pytestmark = pytest.mark.torch

#: Blocks of lines that set `r`; `m` is the one or the other.
FOLDER = Path(__file__).parent / "against_torch"


def cases(name):
    """Return {title: lines} of blocks that empty lines separate."""
    text = (FOLDER / name).read_text(encoding="utf-8").strip()
    blocks = [block.split("\n", 1) for block in text.split("\n\n")]
    return {title.removeprefix("# "): lines for title, lines in blocks}


SAME, DIFFERENT = cases("same.txt"), cases("different.txt")


def result(module, lines):
    names = {"m": module, "np": np}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(lines, names)
    except Exception:  # that it is an error is the result; `match=` tests its words
        return "an error"
    return plain(names["r"])


def plain(value):
    if isinstance(value, (tuple, list)):
        return [plain(x) for x in value]
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        name = str(value.dtype).rpartition(".")[2]
        return name, tuple(value.shape), repr(value.tolist())
    return value


@pytest.mark.parametrize("title", SAME)
def test_the_same(title):
    lines = SAME[title]
    assert result(ac, lines) == result(torch, lines)


@pytest.mark.parametrize("title", DIFFERENT)
def test_differences_that_are_meant(title):
    lines = DIFFERENT[title]
    assert result(ac, lines) != result(torch, lines)

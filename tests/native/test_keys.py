# SPDX-License-Identifier: MIT
"""`key_of` in C: its arguments other than arrays.

That its keys tell operands apart is tested where AutoCalc's own way is.
"""

import sys

import numpy as np
import pytest
from tests.engine import native


@pytest.mark.parametrize(
    ("operand", "given"),
    [
        (1.5, "<class 'float'>"),
        ("text", "<class 'str'>"),
        ([[np.ones(2)]], "<class 'list'>"),
        (np.array(["text"]), r"dtype\('<U4'\)"),
        (np.array([object()]), r"dtype\('O'\)"),
        (np.zeros(2, "M8[s]"), r"dtype\('<M8\[s\]'\)"),
    ],
)
def test_other_operands_are_refused(operand, given):
    message = f"key_of: got an operand of {given}, but arrays of numbers, None and"
    with pytest.raises(TypeError, match=message):
        native.key_of(np.ones(2), operand)


def test_operands_are_not_kept():
    x = np.ones((2, 3))
    before = sys.getrefcount(x)
    keys = [native.key_of(x, [x, x], None) for _ in range(100)]
    assert sys.getrefcount(x) == before
    assert len(set(keys)) == 1

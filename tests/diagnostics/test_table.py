# SPDX-License-Identifier: MIT
"""How tables and flags print."""

from __future__ import annotations

import pytest

from autocalc._dispatch._callers import UserLine
from autocalc.diagnostics import Flag
from autocalc.diagnostics._table import (
    aligned,
    amount,
    place,
    plain,
    share,
    size,
    sizes,
)

pytestmark = pytest.mark.core


def test_columns_of_numbers_stand_to_the_right():
    text = aligned(("name", "n"), [("a", "1"), ("bcd", "22")])
    assert text == "name   n\n--------\na      1\nbcd   22"
    assert aligned(("a", "b"), []) == "a  b\n----"


def test_numbers_for_people():
    assert amount(12_345_678) == "12.35 M"
    assert amount(3e15) == "3000 T"
    assert size(512) == "512 B"
    assert size(3 * 2**20) == "3 MiB"
    assert size(5 * 2**40) == "5120 GiB"
    assert share(None) == ""
    assert share(0.125) == "12.5%"
    assert sizes(()) == "[]"
    assert sizes(None) == ""
    assert place(UserLine("/a/b.py", 3, "f")) == "b.py:3"
    assert place(None) == ""


def test_flags_print_in_one_line_and_are_plain_data():
    line = UserLine("/a/net.py", 7, "forward")
    flag = Flag("dead", "act", 1.0, 0.5, "Look.", "ReLU", line)
    assert str(flag) == "dead: act (ReLU) at net.py:7: 1, threshold 0.5. Look."
    assert plain(flag)["line"] == {
        "file": "/a/net.py",
        "number": 7,
        "function": "forward",
    }
    whole = Flag("dead", "", 1.0, 0.5, "Look.", "Net")
    assert str(whole) == "dead: Net: 1, threshold 0.5. Look."

# SPDX-License-Identifier: MIT
"""Curves in a terminal."""

from __future__ import annotations

import math

from autocalc.cli._curves import Curves, in_terminal


def curves(losses, kept=(), second=()):
    return Curves("mlp", "step", list(losses), list(kept), "test", "rate", list(second))


def test_a_falling_curve_falls():
    points = [(i, 100.0 - i) for i in range(100)]
    lines = in_terminal(curves(points), 60, True).splitlines()
    assert lines[0] == "mlp: loss (• mean of 20 steps, o test)"
    rows = lines[1:13]
    left = [row.find("•") for row in rows]
    assert left == sorted(left)
    assert left[0] == 10
    assert max(map(len, lines[1:])) <= 60
    assert rows[0].startswith("      100│")
    assert lines[13].startswith("         └──")
    assert lines[14].split() == ["0", "99", "step"]


def test_both_pictures_are_there():
    text = in_terminal(curves([(1, 2.0)], [(1, 1.0)], [(1, 0.1), (2, 0.2)]), 60, False)
    loss, rate = text.split("\n\n")
    assert "o" in loss.splitlines()[12]
    assert "." in loss.splitlines()[1]
    assert rate.startswith("rate\n")
    assert text.isascii()


def test_values_that_are_not_finite_are_left_out():
    text = in_terminal(curves([(1, math.nan)], [(1, 1.0), (2, math.inf)]), 60, True)
    assert text.count("o") == 3 + 1  # "loss", "of", "o test" and the one point
    assert "nothing that is finite" in in_terminal(curves([(1, math.nan)]), 60, True)

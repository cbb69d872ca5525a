# SPDX-License-Identifier: MIT
"""Curves as SVG: places, scales, legends, values that cannot be drawn."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import pytest

from autocalc._report._charts import Series, chart, fewer, smooth


def picture(*series, **options):
    """Return the SVG of curves as a tree; it must be well-formed."""
    text = chart("Loss", series, x="step", y="loss", **options)
    return ET.fromstring(re.search(r"<svg.*</svg>", text)[0])


def path_of(tree, place=0):
    """Return the points of a curve in the picture."""
    curves = [e for e in tree.iter("path") if "curve" in e.get("class")]
    numbers = re.findall(r"[\d.]+ [\d.]+", curves[place].get("d"))
    return [tuple(map(float, pair.split())) for pair in numbers]


def labels(tree):
    return [e.text for e in tree.iter("text")]


def test_points_lie_between_the_axes_and_in_order():
    points = path_of(picture(Series("a", [(1, 1.0), (2, 3.0), (3, 2.0)])))
    xs, ys = zip(*points, strict=True)
    assert xs == (50.0, 219.0, 388.0)
    assert ys[1] < ys[2] < ys[0]  # y grows downward in SVG
    assert all(24 <= y <= 212 for y in ys)


def test_a_wide_curve_has_a_log_scale():
    series = Series("a", [(0, 1.0), (1, 0.1), (2, 0.01)])
    points = path_of(picture(series, log=True))
    first, second, third = (y for _, y in points)
    assert second - first == pytest.approx(third - second, abs=0.2)
    assert {"1", "0.1", "0.01"} <= set(labels(picture(series, log=True)))
    near = Series("a", [(0, 1.0), (1, 0.9), (2, 0.8)])
    assert labels(picture(near, log=True)) == labels(picture(near))


def test_ticks_are_round():
    names = labels(picture(Series("a", [(0, 0.0), (100, 0.9)])))
    assert names[:5] == ["0", "0.2", "0.4", "0.6", "0.8"]
    assert names[5:] == ["0", "20", "40", "60", "80", "100", "step", "loss"]


@pytest.mark.parametrize("value", [0.0, 5.0, -3.0, 1e-9, 1e9])
def test_a_constant_has_a_picture(value):
    points = path_of(picture(Series("a", [(1, value), (2, value)])))
    assert points[0][1] == points[1][1]
    assert 24 < points[0][1] <= 212


def test_a_single_point_is_a_dot():
    tree = picture(Series("a", [(1, 2.0)]))
    assert len(list(tree.iter("circle"))) == 1


def test_the_legend_names_the_curves():
    text = chart("t", [Series("<train>", [(1, 1.0)]), Series("none", [])], x="x", y="y")
    assert "&lt;train&gt;</span>" in text
    assert "none" not in text


def test_values_that_are_not_finite_are_named_and_left_out():
    series = Series("train", [(1, 1.0), (2, math.nan), (3, math.inf), (4, 2.0)])
    text = chart("Loss", [series], x="step", y="loss")
    assert "train: 2 of 4 values are not finite; the first is nan at 2." in text
    assert len(path_of(picture(series))) == 2
    only = chart("Loss", [Series("train", [(1, math.nan)])], x="step", y="loss")
    assert "train: 1 of 1 values are not finite" in only
    assert "<svg" not in only


def test_no_curve_is_no_picture():
    assert chart("Loss", [Series("a", [])], x="x", y="y") == ""


def test_a_peak_of_one_step_stays():
    points = [(i, 0.0) for i in range(10_000)]
    points[5555] = (5555, 9.0)
    kept = fewer(points, 600)
    assert len(kept) <= 600
    assert (5555, 9.0) in kept
    assert kept == sorted(kept)
    assert fewer(points[:10], 600) == points[:10]


def test_smooth_is_the_mean_of_a_window():
    points = [(i, float(i)) for i in range(10)]
    assert smooth(points, 4)[9] == (9, 7.5)
    assert smooth(points, 4)[1] == (1, 0.5)

# SPDX-License-Identifier: MIT
"""Boxes in layers."""

from __future__ import annotations

import itertools

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import _drawing, tape

pytestmark = pytest.mark.core


def test_boxes_of_a_layer_do_not_overlap_and_edges_lead_down():
    model = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    boxes = tape(model(ac.randn(2, 3, 8)).sum(), model)._boxes()
    layers = _drawing.layered(boxes)
    places, width, height = _drawing.frames(layers)
    for layer in layers:
        frames = sorted(places[box.name] for box in layer)
        for left, right in itertools.pairwise(frames):
            assert left.x + left.width / 2 < right.x - right.width / 2
    for box in boxes:
        place = places[box.name]
        assert place.x - place.width / 2 >= 0
        assert place.x + place.width / 2 <= width
        assert place.y < height
        assert all(places[one].y < place.y for one in box.inputs)


def box(name, *inputs, leaf=False):
    return _drawing.Box(name, (name, ""), inputs, leaf)


def test_a_leaf_stands_right_above_who_uses_it():
    boxes = [
        box("x", leaf=True),
        box("w", leaf=True),
        box("a", "x"),
        box("b", "a", "w"),
    ]
    layers = [[one.name for one in layer] for layer in _drawing.layered(boxes)]
    assert [set(layer) for layer in layers] == [{"x"}, {"w", "a"}, {"b"}]


def test_boxes_lie_near_their_inputs():
    """Two chains side by side do not cross."""
    boxes = [box("a0"), box("b0"), box("b1", "b0"), box("a1", "a0"), box("a2", "a1")]
    layers = [[one.name[0] for one in layer] for layer in _drawing.layered(boxes)]
    assert layers == [["a", "b"], ["a", "b"], ["a"]]

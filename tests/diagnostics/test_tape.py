# SPDX-License-Identifier: MIT
"""The tape as a table and as a picture."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import _drawing, tape
from autocalc.errors import ArgumentError, DataError, DTypeError, GradError

pytestmark = pytest.mark.core


def loss():
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 2))
    return model, model(ac.randn(5, 4)).square().mean()


def test_operations_stand_in_the_order_of_recording():
    model, value = loss()
    found = tape(value, model)
    serials = [entry.serial for entry in found.entries]
    assert serials == sorted(serials)
    names = [entry.operator for entry in found.entries]
    assert names[0] == "linear"
    assert "layer_norm" in names
    first = found.entries[0]
    assert first.inputs[1:] == ("0.weight", "0.bias")
    assert first.input_shapes[0] == (5, 4)
    assert first.output_shape == (5, 8)
    assert first.fused
    assert first.kind == "composite"
    assert not found.entries[names.index("mul")].fused
    assert found.entries[1].inputs[0] == f"#{serials[0]}"
    assert set(found.leaves) == {name for name, _ in model.named_parameters()}
    assert len(found) == len(found.entries)


def test_arrays_that_several_keep_count_once():
    x = ac.ones(1000, requires_grad=True)
    y = x.exp()
    found = tape((y * y).sum())
    each = sum(entry.saved_bytes for entry in found.entries)
    assert found.saved_bytes == 4000
    assert each == 3 * 4000


def test_a_walk_frees_what_was_saved():
    x = ac.ones(10, requires_grad=True)
    value = (x * x).sum()
    value.backward()
    found = tape(value)
    assert found.entries[0].freed
    assert found.saved_bytes == 0
    assert "freed" in repr(found)


def test_lines_are_known_where_they_were_noted():
    x = ac.ones(2, requires_grad=True)
    with ac.autograd.set_detect_anomaly(True):
        value = (x * x).sum()
    assert tape(value).entries[0].line.file == __file__
    assert tape((x * x).sum()).entries[0].line is None


def test_outputs_of_operators_with_several_are_numbered():
    x = ac.randn(4, 3, requires_grad=True)
    values, _ = x.sort(0)
    a, b = x.split(2)
    found = tape([values.sum(), (a * b).sum()])
    assert found.dot()
    everything = [one for entry in found.entries for one in entry.inputs]
    assert "leaf0" in everything


def test_the_picture_is_svg_with_a_box_for_each(tmp_path):
    model, value = loss()
    found = tape(value, model)
    text = found.svg(tmp_path / "tape.svg")
    assert (tmp_path / "tape.svg").read_text() == text
    root = ET.fromstring(text)
    boxes = len(found.entries) + len(found.leaves)
    kinds = [one.tag.rpartition("}")[2] for one in root]
    assert kinds.count("rect") == boxes + 1  # and the ground
    edges = sum(bool(one) for entry in found.entries for one in entry.inputs)
    assert kinds.count("path") == edges
    assert found._repr_svg_() == text


def test_the_text_for_graphviz_quotes_names():
    x = ac.ones(2, requires_grad=True)
    text = tape((x * x).sum()).dot()
    assert text.startswith("digraph tape {")
    assert '"leaf0" -> "#' in text
    box = _drawing.Box('a"b', ('say "x"', ""), (), True)
    assert r'"a\"b" [label="say \"x\""' in _drawing.dot([box])


def test_what_is_wrong_is_refused(tmp_path):
    with pytest.raises(DTypeError, match="tape: `loss` is 3; give a tensor"):
        tape(3)
    with pytest.raises(GradError, match="tape: nothing was recorded: the loss has no"):
        tape(ac.ones(2))
    x = ac.ones(2, requires_grad=True)
    with pytest.raises(DTypeError, match="tape: `model` is a int"):
        tape((x * x).sum(), 3)
    with pytest.raises(DataError, match=r"tape\.svg: .* cannot be written"):
        tape((x * x).sum()).svg(tmp_path / "absent" / "tape.svg")
    with pytest.raises(DTypeError, match=r"tape\.svg: `path` is a int; give a path"):
        tape((x * x).sum()).svg(3)
    y = x
    for _ in range(1000):
        y = y + 1
    with pytest.raises(ArgumentError, match="boxes, and a picture can show at most"):
        tape(y.sum()).svg()

# SPDX-License-Identifier: MIT
"""A log as a picture."""

from __future__ import annotations

import sys

import pytest
from tests.diagnostics.training import net, train

from autocalc.diagnostics import plot, watch
from autocalc.errors import DataError, PluginError

pytestmark = pytest.mark.core


def test_the_picture_has_a_line_for_each_layer(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "steps.jsonl"
    train(watch(net(), log=path), 3)
    figure = plot(path, tmp_path / "steps.png")
    assert (tmp_path / "steps.png").read_bytes()[:4] == b"\x89PNG"
    lines = [len(axes.get_lines()) for axes in figure.axes]
    assert lines[0] == lines[1] == 4
    assert figure.axes[0].get_yscale() == "log"
    with pytest.raises(DataError, match=r"matplotlib writes .*png.*, not"):
        plot(path, tmp_path / "steps.xyz")
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(DataError, match=r"does not contain a step yet\."):
        plot(empty)


def test_a_missing_matplotlib_is_said(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PluginError, match=r"pip install autocalc-core\[plot\]"):
        plot(tmp_path / "steps.jsonl")

# SPDX-License-Identifier: MIT
"""Steps over time: every so manieth, logged."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import plot, read_log, watch
from autocalc.errors import ArgumentError, DataError, DTypeError

pytestmark = pytest.mark.core


def train(looking, steps, model=None):
    model = model or looking._model
    sgd = ac.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        with looking:
            sgd.zero_grad()
            model(ac.randn(8, 4)).square().mean().backward()
            sgd.step()


def net():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def test_each_step_that_is_looked_at_is_a_line(tmp_path):
    path = tmp_path / "steps.jsonl"
    looking = watch(net(), log=path, every=3)
    train(looking, 7)
    records = read_log(path)
    assert [record["step"] for record in records] == [0, 3, 6]
    assert records[0]["gradients"]["rows"][0]["name"] == "0.weight"
    assert 0 < records[0]["gradients"]["rows"][0]["update"] < 1
    assert {row["layer"] for row in records[0]["activations"]} == {"0", "1", "2"}
    assert looking.report.step == 6
    assert looking.steps == 7
    assert "update" in repr(looking)


def test_a_log_goes_on_where_it_ended_and_holds_nan(tmp_path):
    path = tmp_path / "steps.jsonl"
    model = net()
    model[2].bias.data.fill_(float("inf"))
    for _ in range(2):
        train(watch(model, log=str(path)), 1)
    records = read_log(path)
    assert [record["step"] for record in records] == [0, 0]
    assert any(f["kind"] == "nonfinite" for f in records[0]["flags"])
    with path.open("a") as file:
        file.write('{"step": ')  # being written
    assert len(read_log(path)) == 2


def test_a_step_that_fails_is_not_reported():
    looking = watch(net())
    with pytest.raises(ZeroDivisionError), looking:
        raise ZeroDivisionError
    assert looking.report is None
    assert repr(looking) == "watch: no step yet."
    assert not ac.is_anomaly_enabled()
    train(looking, 1)
    assert looking.report.step == 1


def test_wrong_logs_are_refused(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    with pytest.raises(DataError, match=r"line 1 of .*other.txt is no step of a log"):
        read_log(other)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_log(tmp_path / "absent")
    with pytest.raises(DTypeError, match="read_log: `path` is a int; give a path"):
        read_log(3)
    looking = watch(nn.Linear(4, 1), log=tmp_path / "absent" / "steps.jsonl")
    with pytest.raises(DataError, match="cannot be written: No such file"):
        train(looking, 1)


def test_what_is_wrong_is_refused():
    with pytest.raises(DTypeError, match="watch: `model` is a NoneType"):
        watch(None)
    with pytest.raises(DTypeError, match="watch: `log` is a int; give a path"):
        watch(net(), log=3)
    with pytest.raises(ArgumentError, match="watch: `every`=0; it must be 1 or more"):
        watch(net(), every=0)
    with pytest.raises(ArgumentError, match="watch: `update`=-1"):
        watch(net(), update=-1)
    looking = watch(net())
    wrong = pytest.raises(ArgumentError, match="watch: a step is in a step")
    with looking, wrong, looking:
        pass


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
    with pytest.raises(DataError, match="holds no step yet"):
        plot(empty)


def test_a_missing_matplotlib_is_said(monkeypatch, tmp_path):
    import sys

    from autocalc.errors import PluginError

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PluginError, match=r"pip install autocalc-core\[plot\]"):
        plot(tmp_path / "steps.jsonl")

# SPDX-License-Identifier: MIT
"""Steps over time: every so manieth, logged."""

from __future__ import annotations

import pytest
from tests.diagnostics.training import net, train

import autocalc as ac
from autocalc.diagnostics import read_log, watch
from autocalc.errors import ArgumentError, DTypeError

pytestmark = pytest.mark.core


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


def test_a_step_that_fails_is_not_reported():
    looking = watch(net())
    with pytest.raises(ZeroDivisionError), looking:
        raise ZeroDivisionError
    assert looking.report is None
    assert repr(looking) == "watch: no step yet."
    assert not ac.is_anomaly_enabled()
    train(looking, 1)
    assert looking.report.step == 1


def test_what_is_wrong_is_refused():
    with pytest.raises(DTypeError, match="watch: `model` is a NoneType"):
        watch(None)
    with pytest.raises(DTypeError, match="watch: `log` is a int; give a path"):
        watch(net(), log=3)
    with pytest.raises(ArgumentError, match="watch: `every` is 0; it must be 1 or"):
        watch(net(), every=0)
    with pytest.raises(ArgumentError, match="watch: `update` is -1"):
        watch(net(), update=-1)
    looking = watch(net())
    wrong = pytest.raises(ArgumentError, match="watch: the `with` block was")
    with looking, wrong, looking:
        pass

# SPDX-License-Identifier: MIT
"""A log of steps: lines of JSON."""

from __future__ import annotations

import pytest
from tests.diagnostics.training import net, train

from autocalc import nn
from autocalc.diagnostics import read_log, watch
from autocalc.errors import DataError, DTypeError

pytestmark = pytest.mark.core


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


def test_wrong_logs_are_refused(tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("hello\n")
    with pytest.raises(DataError, match=r"read_log: line 1 of .*other\.txt is not a"):
        read_log(other)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_log(tmp_path / "absent")
    with pytest.raises(DTypeError, match="read_log: `path` is a int; give a path"):
        read_log(3)
    looking = watch(nn.Linear(4, 1), log=tmp_path / "absent" / "steps.jsonl")
    with pytest.raises(DataError, match="cannot be written: No such file"):
        train(looking, 1)

# SPDX-License-Identifier: MIT
"""``autocalc bench``."""

import json

import pytest

from autocalc.cli import _bench
from autocalc.cli._bench import configs
from autocalc.models import TextConfig

TINY = ("--steps", 2, "--d-model", 16, "--batch-size", 2, "--seq-len", 8)
SMALL = ("--heads", 2, "--layers", 1)


def test_a_row_says_what_a_step_costs(run):
    lines = run("bench", "lm", *TINY, *SMALL).output.splitlines()
    assert lines[0].startswith("batch size 2, d model 16, ")
    assert lines[1].split()[:4] == ["seq", "heads", "layers", "parameters"]
    seq, heads, layers, _, ms, tokens, loss, hesitation = lines[2].split()
    assert (seq, heads, layers) == ("8", "2", "1")
    assert float(tokens.replace(",", "")) == pytest.approx(16e3 / float(ms), rel=0.05)
    assert float(hesitation) == pytest.approx(2.718281828 ** float(loss), rel=1e-2)
    assert len(lines) == 3


def test_a_sweep_has_a_row_for_every_combination(run, monkeypatch):
    sweep = {"seq_len": (4, 8), "heads": (1, 2), "layers": (1,)}
    monkeypatch.setattr(_bench, "SWEEP", sweep)
    out = run("bench", "lm", *TINY, "--sweep", "--json").output
    rows = [json.loads(line) for line in out.splitlines()]
    seen = [(row["seq_len"], row["heads"], row["layers"]) for row in rows]
    assert seen == [(4, 1, 1), (4, 2, 1), (8, 1, 1), (8, 2, 1)]
    assert all(row["milliseconds"] > 0 for row in rows)


def test_the_sweep_of_the_help_text():
    seen = list(configs(TextConfig(), sweep=True))
    assert len(seen) == 18
    assert {c.seq_len for c in seen} == {32, 128, 256}
    assert list(configs(TextConfig(), sweep=False)) == [TextConfig()]

# SPDX-License-Identifier: MIT
"""The rows of transforms run, and are the same for each peer."""

import sys
from types import SimpleNamespace

import pytest
from benchmarks.transforms import __main__ as command
from benchmarks.transforms import cases, with_jax

SHAPES = {
    "MLP 64": [(64, 128, 64), (64, 128), (64, 128, 128), (64, 128), (64, 10, 128),
               (64, 10)],
    "CNN": [(64, 8, 1, 3, 3), (64, 8), (64, 16, 8, 3, 3), (64, 16), (64, 10, 400),
            (64, 10)],
    "Hessian": [(20, 20)],
    "Laplacian": [(1000,)],
    "ensemble": [(16, 32, 10)],
}  # fmt: skip


def one(part):
    (name,) = [name for name in cases.CASES if part in name]
    return name


def shapes(found):
    values = found.values() if isinstance(found, dict) else [found]
    return [tuple(x.shape) for x in values]


@pytest.mark.parametrize("part", SHAPES)
def test_rows_of_transforms_run_eagerly_and_compiled(part):
    for peer in ("autocalc", "autocalc" + cases.COMPILED):
        assert shapes(cases.prepare(peer, one(part))()) == SHAPES[part]


@pytest.mark.parametrize("part", SHAPES)
def test_rows_of_transforms_run_under_jax(part):
    pytest.importorskip("jax")
    with_jax.start(1)
    found = with_jax.prepare(one(part))()
    leaves = found if isinstance(found, (dict, list)) else [found]
    assert len(leaves) > 0


def test_rows_of_transforms_are_compared(capsys, monkeypatch):
    peers = [SimpleNamespace(seconds=lambda *_, s=s: s) for s in (1e-3, 2e-3)]
    assert command.compare(*peers, one("Hessian"), rounds=3) == 2
    assert "1.00     2.00 ms   2.00x" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["transforms", "nothing"])
    with pytest.raises(SystemExit):
        command.main()
    assert "no row matches ['nothing']" in capsys.readouterr().err

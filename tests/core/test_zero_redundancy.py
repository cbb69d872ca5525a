# SPDX-License-Identifier: MIT
"""`ZeroRedundancyOptimizer` in one process: the inner optimizer."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError
from autocalc.optim import AdamW, ZeroRedundancyOptimizer


def trained(make):
    ac.manual_seed(0)
    layer = nn.Linear(3, 2)
    optimizer = make(layer.parameters())
    for _ in range(3):
        optimizer.zero_grad()
        layer(ac.ones(4, 3)).pow(2).sum().backward()
        optimizer.step()
    return layer, optimizer


def test_one_process_trains_as_the_inner_optimizer_does():
    one, inner = trained(lambda p: AdamW(p, lr=0.1))
    two, outer = trained(lambda p: ZeroRedundancyOptimizer(p, AdamW, lr=0.1))
    assert ac.equal(one.weight, two.weight)
    assert isinstance(outer.optim, AdamW)
    outer.consolidate_state_dict()
    state = outer.state_dict()
    assert state["param_groups"] == inner.state_dict()["param_groups"]
    outer.load_state_dict(state)
    assert len(outer.state) == 2
    outer.add_param_group({"params": [ac.ones(1, requires_grad=True)]})
    assert [len(g["params"]) for g in outer.param_groups] == [2, 1]
    loss = outer.step(lambda: 3)
    assert loss == 3


def test_a_part_of_the_state_is_not_taken_for_all(monkeypatch):
    _, outer = trained(lambda p: ZeroRedundancyOptimizer(p, AdamW))
    monkeypatch.setattr(outer, "_owners", [0, 1])
    text = r"\.state_dict: rank 0 has only a part of the state; call"
    with pytest.raises(ArgumentError, match=text):
        outer.state_dict()


def test_what_is_refused():
    weight = ac.ones(2, requires_grad=True)
    with pytest.raises(DTypeError, match=": `optimizer_class` is 3; give an"):
        ZeroRedundancyOptimizer([weight], 3)
    with pytest.raises(DTypeError, match="; give an optimizer class that updates"):
        ZeroRedundancyOptimizer([weight], ac.optim.LBFGS)
    outer = ZeroRedundancyOptimizer([weight], AdamW)
    with pytest.raises(ArgumentError, match="`to` is 2; ranks are 0 to 0"):
        outer.consolidate_state_dict(to=2)
    np.testing.assert_array_equal(weight.detach(), [1.0, 1.0])

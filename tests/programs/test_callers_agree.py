# SPDX-License-Identifier: MIT
"""The profiler, the diagnostics and compile name one call alike.

Each of them looks at the same program: a nested module squares and multiplies huge
numbers, so that results and gradients are infinite.
"""

from __future__ import annotations

import json

import pytest
from tests.diagnostics.marked import marked

import autocalc as ac
from autocalc import nn

#: Module, operator and phase of calls, and the mark of the user's line.
CALLS = {
    (("1.act", "square", "forward"), "squares"),
    (("1.act", "prod", "forward"), "products"),
    (("1.act", "prod", "backward"), "products"),
}


class Act(nn.Module):
    def forward(self, x):
        squares = x.square()  # squares
        return squares.sum() + x.prod(0).sum()  # products


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = Act()

    def forward(self, x):
        return self.act(x)


@pytest.fixture
def step():
    model = nn.Sequential(nn.Identity(), Block())
    x = ac.full((4, 3), 1e20, requires_grad=True)

    def run():
        x.grad = None
        loss = model(x)
        loss.backward()
        return loss.detach()

    return run


def in_the_model(module):
    return module.removeprefix("Sequential").removeprefix(".")


def test_diagnostics(step):
    with ac.diagnostics.find_nonfinite(stop=False) as found:
        step()
    seen = {((f.layer, f.operator, f.phase), f.line.number) for f in found.findings}
    assert seen >= {(call, marked(__file__, mark)) for call, mark in CALLS}


def test_compile(step):
    compiled = ac.compile(step, off=("elementwise_fusion",))
    for _ in range(3):
        compiled()
    (program,) = compiled.programs
    lines = [i.line for i in program.instructions]
    seen = {((in_the_model(x.module), *x.site), x.number) for x in lines}
    assert {call for call, _ in seen} >= {call for call, _ in CALLS}
    forward = {one for one in seen if one[0][2] == "forward"}
    assert forward >= {
        (call, marked(__file__, mark)) for call, mark in CALLS if "forward" in call
    }


def test_the_profiler(step, tmp_path):
    with ac.profiler.profile() as profile:
        step()
    profile.chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    seen = {
        (in_the_model(e["args"]["module"]), e["args"]["operator"], e["cat"])
        for e in events
        if "operator" in e["args"]
    }
    assert seen >= {
        (module, f"{operator} backward" if phase == "backward" else operator, phase)
        for (module, operator, phase), _ in CALLS
    }

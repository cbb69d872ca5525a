# SPDX-License-Identifier: MIT
"""What `gc.freeze` has put aside is found: programs freeze before they fork."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.core

SETUP = """
import gc
import autocalc as ac
from autocalc import nn

model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))
optimizer = ac.optim.Adam(model.parameters(), lr=0.1)
x = ac.rand(4, 8)

def make():
    scale = 2.0
    def power(y):
        return y**scale
    def change(value):
        nonlocal scale
        scale = value
    return lambda y: (power(y),), change

powers, change = make()

def step(x):
    loss = powers(model(x))[0].sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss

def gradients(x):
    model.zero_grad()
    loss = model(x).sum()
    loss.backward()
    return loss

gc.collect()
gc.freeze()
"""

CASES = {
    "a gradient that stays": """
compiled = ac.compile(gradients)
for _ in range(4):
    compiled(x)
    found = model[0].weight.grad.numpy()
    gradients(x)
    assert abs(found - model[0].weight.grad.numpy()).max() < 1e-4
""",
    "a parameter whose memory is another": """
compiled = ac.compile(step)
for _ in range(4):
    compiled(x)
model[0].weight.data = ac.ones(8, 8)
expected = float((model(x).detach() ** 2).sum())
assert abs(float(compiled(x)) - expected) < 1e-3 * expected
""",
    "a parameter with an alias that is made later": """
w = model[0].weight
alias = w.detach()
compiled = ac.compile(lambda y: (y @ w.T).sum())
with ac.no_grad():
    for _ in range(3):
        compiled(x)
    w.data = ac.ones(8, 8)
    assert abs(float(compiled(x)) - 8 * float(x.sum())) < 1e-3
""",
    "a variable of an enclosing function": """
compiled = ac.compile(lambda y: powers(y)[0])
with ac.no_grad():
    for _ in range(3):
        assert float(compiled(ac.tensor(3.0))) == 9
    change(3.0)
    assert abs(float(compiled(ac.tensor(3.0))) - 27) < 1e-4
""",
    "a tensor in a snapshot": """
rows = ac.memory.snapshot(limit=1000).rows
assert any(row.shape == (8, 8) and "weight" in row.name for row in rows), rows
""",
}


@pytest.mark.parametrize("what", CASES)
def test_it_is_found(what, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(SETUP + CASES[what])
    ran = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr

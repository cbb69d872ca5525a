# SPDX-License-Identifier: MIT
"""Calls of programs know their operator and their module."""

from __future__ import annotations

import gc
import weakref

from tests.compile.parts import Origin

import autocalc as ac
from autocalc import nn


def origins(compiled):
    """Return (kernel, operator, phase, module) of each instruction."""
    (program,) = compiled.programs
    found = []
    for i in program.instructions:
        assert isinstance(i.line, Origin)
        assert i.line.file == __file__
        found.append((i.name, i.line.site.operator, i.line.site.phase, i.line.module))
    return found


def test_forward_backward_and_optimizers():
    net = nn.Sequential(nn.Linear(8, 8), nn.Sequential(nn.Tanh(), nn.Linear(8, 2)))
    sgd = ac.optim.SGD(net.parameters(), lr=0.1)

    @ac.compile
    def step(x):
        sgd.zero_grad()
        loss = net(x).exp().sum()
        loss.backward()
        sgd.step()
        return loss.detach()

    x = ac.randn(4, 8)
    for _ in range(3):
        step(x)
    found = origins(step)
    assert ("linear", "linear", "forward", "Sequential.0") in found
    assert ("linear", "linear", "forward", "Sequential.1.1") in found
    assert ("tanh", "", "forward", "Sequential.1.0") in found
    assert ("linear_backward", "linear", "backward", "Sequential.1.1") in found
    assert ("linear_backward", "linear", "backward", "Sequential.0") in found
    assert [one[2:] for one in found if one[0] == "sgd"] == [("optimizer", "")]
    assert ("sum", "sum", "forward", "") in found


def test_two_models_of_one_class_and_one_that_is_no_part():
    one, two = nn.Linear(4, 4), nn.Linear(4, 4)

    @ac.compile
    def infer(x):
        return two(one(x))

    with ac.no_grad():
        for _ in range(3):
            infer(ac.ones(2, 4))
    assert [module for *_, module in origins(infer)] == ["Linear", "Linear #2"]


def test_the_sum_of_two_gradients():
    x = ac.ones(4, requires_grad=True)

    @ac.compile(off=("elementwise_fusion",))
    def gradient():
        x.grad = None
        y = x.exp()
        (y * y.sin()).sum().backward()

    for _ in range(3):
        gradient()
    sites = {(name, operator, phase) for name, operator, phase, _ in origins(gradient)}
    assert ("add", "gradient sum", "backward") in sites
    assert any(phase == "backward" and op == "mul" for _, op, phase in sites)


def test_a_recording_keeps_no_module():
    made = []

    @ac.compile(fallback=True)
    def step(x):
        layer = nn.ReLU()
        made.append(weakref.ref(layer))
        return layer(x)

    x = ac.ones(4)
    for _ in range(2):
        step(x)
    gc.collect()
    assert all(layer() is None for layer in made)

# SPDX-License-Identifier: MIT
"""Where a call comes from: line, modules, node."""

from __future__ import annotations

import pytest
from tests.diagnostics.marked import marked

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics import _places

pytestmark = pytest.mark.core


class Inner(nn.Module):
    def forward(self, x):
        self.place = _places.here()  # inner
        return x


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)


def test_the_running_modules_are_found_from_the_inside():
    model = Outer()
    model(ac.ones(2))
    place = model.inner.place
    assert place.modules == (model.inner, model)
    assert place.node is None
    assert (place.line.file, place.line.number) == (__file__, marked(__file__, "inner"))
    assert _places.here().modules == ()


def test_layers_are_named_in_the_given_model_or_the_outermost():
    model = nn.Sequential(Outer())
    outer, inner = model[0], model[0].inner
    assert _places.Layers(model).of((inner, outer, model)) == ("0.inner", "Inner")
    assert _places.Layers(outer).of((inner, outer, model)) == ("inner", "Inner")
    assert _places.Layers().of((inner, outer, model)) == ("0.inner", "Inner")
    assert _places.Layers(nn.Linear(1, 1)).of((inner, outer)) == ("inner", "Inner")
    assert _places.Layers().of((outer,)) == ("", "Outer")
    assert _places.Layers().of(()) == ("", "")


def test_modules_that_are_added_later_are_named():
    model = nn.Sequential(Outer())
    layers = _places.Layers(model)
    assert layers.of((model[0], model)) == ("0", "Outer")
    model.append(Inner())
    assert layers.of((model[1], model)) == ("1", "Inner")


@pytest.mark.parametrize("pair", [("a.b", "Linear"), ("", "Net"), ("", "")])
def test_texts_of_layers_can_be_taken_apart(pair):
    assert _places.layer_of_text(_places.layer_text(*pair)) == pair


def test_lines_know_their_layer_where_somebody_asks():
    from autocalc.diagnostics._calls import lines_noted

    x = ac.ones(2, requires_grad=True)
    model = nn.Sequential(nn.Tanh())
    with lines_noted(_places.Layers()):
        node = model(x).grad_fn
    assert node.line.layer == "0 (Tanh)"
    with ac.autograd.set_detect_anomaly(True):
        assert model(x).grad_fn.line.layer == ""

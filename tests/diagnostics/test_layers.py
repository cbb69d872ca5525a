# SPDX-License-Identifier: MIT
"""The names of layers."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.diagnostics._layers import Layers, layer_of_text, layer_text

pytestmark = pytest.mark.core


class Inner(nn.Module):
    def forward(self, x):
        return x


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)


def test_layers_are_named_in_the_given_model_or_the_outermost():
    model = nn.Sequential(Outer())
    outer, inner = model[0], model[0].inner
    assert Layers(model).of((inner, outer, model)) == ("0.inner", "Inner")
    assert Layers(outer).of((inner, outer, model)) == ("inner", "Inner")
    assert Layers().of((inner, outer, model)) == ("0.inner", "Inner")
    assert Layers(nn.Linear(1, 1)).of((inner, outer)) == ("inner", "Inner")
    assert Layers().of((outer,)) == ("", "Outer")
    assert Layers().of(()) == ("", "")


@pytest.mark.parametrize("pair", [("a.b", "Linear"), ("", "Net"), ("", "")])
def test_texts_of_layers_can_be_taken_apart(pair):
    assert layer_of_text(layer_text(*pair)) == pair


def test_lines_know_their_layer_where_somebody_asks():
    from autocalc.diagnostics._calls import lines_noted

    x = ac.ones(2, requires_grad=True)
    model = nn.Sequential(nn.Tanh())
    with lines_noted(Layers()):
        node = model(x).grad_fn
    assert node.line.layer == "0 (Tanh)"
    with ac.autograd.set_detect_anomaly(True):
        assert model(x).grad_fn.line.layer == ""

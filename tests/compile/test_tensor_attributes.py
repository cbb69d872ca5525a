# SPDX-License-Identifier: MIT
"""Attributes on tensors in compiled functions: read as they are, set by no replay."""

from __future__ import annotations

from typing import Any

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import CompileError


def test_an_argument_is_asked_anew_for_its_attribute():
    @ac.compile
    def step(x):
        return x * getattr(x, "scale", 1.0)

    plain, tagged, other = ac.ones(2), ac.ones(2), ac.ones(2)
    tagged.scale, other.scale = 3.0, 5.0
    for _ in range(4):
        assert step(plain).tolist() == [1.0, 1.0]
        assert step(tagged).tolist() == [3.0, 3.0]
        assert step(other).tolist() == [5.0, 5.0]
    tagged.scale = 7.0
    assert step(tagged).tolist() == [7.0, 7.0]
    plain.scale = 2.0
    assert step(plain).tolist() == [2.0, 2.0]


def set_on_the_result(x):
    y = x * 2
    y.made_of = "x"
    return y


@pytest.mark.filterwarnings("ignore::autocalc.errors.CompileWarning")
def test_what_the_function_sets_is_set_in_each_call():
    step = ac.compile(set_on_the_result, fallback=True)
    for _ in range(5):
        assert step(ac.ones(2)).made_of == "x"


def test_the_error_names_what_no_replay_would_set():
    step = ac.compile(set_on_the_result)
    text = "it changes the attributes 'made_of' of a result, a Python value"
    with pytest.raises(CompileError, match=text):
        [step(ac.ones(2)) for _ in range(5)]


def test_an_attribute_that_the_class_gets_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    t = ac.ones(3)
    step = ac.compile(lambda a: a * getattr(t, "rate_of_a_test", 2.0))
    for _ in range(4):
        assert step(ac.ones(3)).tolist() == [2.0, 2.0, 2.0]
    monkeypatch.setattr(ac.Tensor, "rate_of_a_test", 5.0, raising=False)
    assert step(ac.ones(3)).tolist() == [5.0, 5.0, 5.0]


def test_parametrized_tensors_that_are_computed_once() -> None:
    class Tripled(nn.Module):
        def forward(self, w: Any) -> Any:
            return w * 3

    layer: Any = nn.Linear(3, 3, bias=False).requires_grad_(False)
    layer.weight.fill_(1.0)
    nn.utils.parametrize.register_parametrization(layer, "weight", Tripled())
    step = ac.compile(layer)
    for _ in range(4):
        assert step(ac.ones(3)).tolist() == [9.0, 9.0, 9.0]
    with nn.utils.parametrize.cached():
        assert layer.weight.sum() == 27.0
        layer.parametrizations.weight.original.mul_(5.0)
        assert step(ac.ones(3)).tolist() == [9.0, 9.0, 9.0]
    assert step(ac.ones(3)).tolist() == [45.0, 45.0, 45.0]

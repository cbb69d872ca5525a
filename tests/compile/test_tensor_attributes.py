# SPDX-License-Identifier: MIT
"""Attributes on tensors in compiled functions: read as they are, set by no replay."""

from __future__ import annotations

import pytest

import autocalc as ac
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

# SPDX-License-Identifier: MIT
"""`random`: the process's generator, and blocks that draw from it unseen."""

from __future__ import annotations

import contextlib

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError

pytestmark = pytest.mark.core


def test_the_functions_are_those_of_the_top_level():
    for name in set(ac.random.__all__) - {"fork_rng"}:
        assert getattr(ac.random, name) is getattr(ac, name)
    assert ac.random.manual_seed(5) is ac.default_generator
    assert ac.random.initial_seed() == 5


def test_a_block_draws_unseen():
    ac.manual_seed(1)
    expected = [ac.rand(2).tolist(), ac.rand(2).tolist()]
    ac.manual_seed(1)
    found = [ac.rand(2).tolist()]
    with ac.random.fork_rng():
        assert ac.rand(2).tolist() == expected[1]
        ac.manual_seed(9)
        assert ac.initial_seed() == 9
    assert ac.initial_seed() == 1
    found.append(ac.rand(2).tolist())
    assert found == expected


def test_the_state_comes_back_after_an_error_and_behind_a_function():
    before = ac.get_rng_state().tolist()
    with contextlib.suppress(ZeroDivisionError), ac.random.fork_rng(devices=[]):
        ac.rand(3)
        assert 1 / 0
    assert ac.get_rng_state().tolist() == before

    @ac.random.fork_rng()
    def drawn():
        return ac.rand(3).tolist()

    assert drawn() == drawn()
    assert ac.get_rng_state().tolist() == before


def test_a_block_that_is_seen():
    before = ac.get_rng_state().tolist()
    with ac.random.fork_rng(enabled=False):
        ac.rand(3)
    assert ac.get_rng_state().tolist() != before


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"devices": [0]}, r"fork_rng: `devices` is \[0\]; the CPU is the only device"),
        ({"devices": 3}, "fork_rng: `devices` is 3"),
        ({"enabled": "x"}, "fork_rng: `enabled` is 'x'; it must be True or False"),
    ],
)
def test_what_is_refused(words, text):
    before = ac.get_rng_state().tolist()
    with pytest.raises(ArgumentError, match=text), ac.random.fork_rng(**words):
        pass
    assert ac.get_rng_state().tolist() == before


@pytest.mark.torch
def test_the_names_are_pytorch_s():
    torch = pytest.importorskip("torch", reason="its names are what is asked for")
    theirs = {n for n in torch.random.__all__ if not n.startswith("thread_safe")}
    assert theirs <= set(ac.random.__all__)
    for m in (torch, ac):
        m.manual_seed(3)
        first = m.rand(3)
        m.manual_seed(3)
        with m.random.fork_rng(None, True):
            m.rand(7)
        assert m.equal(m.rand(3), first)

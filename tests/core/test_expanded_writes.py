# SPDX-License-Identifier: MIT
"""Writes into what `expand` made, where no two elements are one place in memory."""

from __future__ import annotations

import copy

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError

pytestmark = pytest.mark.core


def nothing_overlaps():
    return ac.arange(4).expand(1, -1)


def fill(x):
    x[:] = 5


def add(x):
    x += 5


WRITES = {
    "copy_": (lambda x: x.copy_(ac.ones(4)), [1, 1, 1, 1]),
    "zero_": (lambda x: x.zero_(), [0, 0, 0, 0]),
    "fill_": (lambda x: x.fill_(2), [2, 2, 2, 2]),
    "mul_": (lambda x: x.mul_(2), [0, 2, 4, 6]),
    "iadd": (add, [5, 6, 7, 8]),
    "setitem": (fill, [5, 5, 5, 5]),
    "part": (lambda x: x[0, 1:3].zero_(), [0, 0, 0, 3]),
    "view": (lambda x: x.view(4)[0].fill_(7), [7, 1, 2, 3]),
    "masked": (lambda x: x.masked_fill_(x > 1, 9), [0, 1, 9, 9]),
    "indices": (lambda x: x.index_fill_(1, ac.tensor([0]), 9), [9, 1, 2, 3]),
    "clamp_": (lambda x: x.clamp_(1, 2), [1, 1, 2, 2]),
    "random_": (lambda x: x.random_(3, 4), [3, 3, 3, 3]),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write(name):
    write, expected = WRITES[name]
    x = nothing_overlaps()
    write(x)
    assert x.flatten().tolist() == expected


def test_the_base_is_written():
    x = ac.zeros(3)
    x.expand(1, 3).copy_(ac.ones(3))
    assert x.tolist() == [1.0, 1.0, 1.0]


def module():
    found = nn.Module()
    found.register_buffer("positions", nothing_overlaps())
    return found


@pytest.mark.parametrize("make", [module, lambda: copy.deepcopy(module())])
def test_a_buffer_is_loaded(make):
    loaded = make()
    loaded.load_state_dict({"positions": ac.tensor([[3, 2, 1, 0]])})
    assert loaded.positions.tolist() == [[3, 2, 1, 0]]


def test_what_overlaps_is_refused():
    x = ac.arange(2).expand(3, -1)
    with pytest.raises(ArgumentError, match="is expanded or has overlapping"):
        x.copy_(ac.ones(2))

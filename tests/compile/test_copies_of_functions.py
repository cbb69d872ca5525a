# SPDX-License-Identifier: MIT
"""Copies of compiled functions, and of modules that have one."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import autocalc as ac
from autocalc import nn

COPIES = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
KINDS = ["copy", "deepcopy", "pickle"]


def doubled(x: ac.Tensor) -> ac.Tensor:
    return x * 2


def called(function: Any, calls: int = 4) -> list[Any]:
    with ac.no_grad():
        return [function(ac.ones(2, 3)).tolist() for _ in range(calls)][-1]


class Net(nn.Module):
    """A module with compiled parts, of which one is the module itself."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.fast = ac.compile(self.layer)
        self.method = ac.compile(self.scaled)
        self.itself = ac.compile(self)

    def scaled(self, x: ac.Tensor) -> ac.Tensor:
        return self.layer(x) * 10

    def forward(self, x: ac.Tensor) -> ac.Tensor:
        return self.fast(x) + self.method(x)


@pytest.mark.parametrize("make", COPIES, ids=KINDS)
@pytest.mark.parametrize("recorded", [False, True])
def test_a_copy_of_a_function_records_for_itself(
    make: Callable[[Any], Any], recorded: bool
) -> None:
    double = ac.compile(doubled, check=2, exact=True)
    if recorded:
        called(double)
    other = make(double)
    assert other.programs == []
    assert called(other) == called(double) == [[2.0] * 3] * 2
    assert len(other.programs) == len(double.programs) == 1
    assert other.__wrapped__ is doubled
    assert other._options() == double._options()


def test_a_deep_copy_of_a_compiled_module_has_parameters_of_its_own() -> None:
    layer = ac.compile(nn.Linear(3, 2))
    before = called(layer)
    other = copy.deepcopy(layer)
    assert called(other) == before
    nn.init.zeros_(other.weight)
    nn.init.ones_(other.bias)
    assert called(other) == [[1.0, 1.0]] * 2
    assert called(layer) == before
    assert called(copy.copy(layer)) == before


def test_a_deep_copy_of_a_module_with_compiled_parts_uses_its_own() -> None:
    net = Net()
    before = called(net), called(net.itself)
    other = copy.deepcopy(net)
    assert other.itself._function is other
    assert other.fast._function is other.layer
    nn.init.zeros_(other.layer.weight)
    nn.init.ones_(other.layer.bias)
    for run in (other, other.itself):
        assert called(run) == [[11.0, 11.0]] * 2
    assert (called(net), called(net.itself)) == before


def test_an_average_of_a_model_with_compiled_parts() -> None:
    net = Net()
    averaged = ac.optim.swa_utils.AveragedModel(net)
    averaged.update_parameters(net)
    assert called(averaged) == called(net)

# SPDX-License-Identifier: MIT
"""What is computed of parameters alone runs only when they have changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compile.parts import is_exported

import autocalc as ac
from autocalc import nn

x = ac.randn(1, 3, 8, 8)


def network() -> nn.Module:
    ac.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(144, 2),
    )
    for norm in (model[1],):
        norm.running_mean.uniform_()
        norm.running_var.uniform_(1, 2)
    return model.eval()


def ready(model: Any, **options: Any) -> Any:
    run = ac.compile(ac.no_grad()(model.forward), **options)
    for _ in range(3):
        run(x)
    assert len(run.programs) == 1
    return run


def test_a_batch_norm_is_folded_once() -> None:
    model = network()
    run = ready(model)
    names = [i.name for i in run.programs[0].instructions]
    assert not {"rsqrt", "batch_norm_running"} & set(names)
    assert run.programs[0].program.prologue
    close(run(x), model(x))


def close(one: Any, two: Any) -> None:
    np.testing.assert_allclose(one.detach(), two.detach(), rtol=1e-4, atol=1e-5)


def changes() -> dict[str, Callable[[Any], Any]]:
    def in_place(weight: Any) -> None:
        with ac.no_grad():
            weight.mul_(2)

    def data(weight: Any) -> None:
        weight.data.mul_(2)

    def numpy(weight: Any) -> None:
        weight.detach().numpy()[...] *= 2

    def storage(weight: Any) -> None:
        weight.storage().copy_((weight.detach() * 2).storage())

    def memory(weight: Any) -> None:
        np.asarray(weight.untyped_storage()).view(np.float32)[...] *= 2

    def replaced(weight: Any) -> None:
        weight.data = weight.detach() * 2

    return {k: v for k, v in locals().items() if callable(v)}


@pytest.mark.parametrize("name", changes())
def test_a_change_of_a_parameter_is_seen(name: str) -> None:
    model = network()
    run = ready(model)
    before = run(x).tolist()
    for parameter in (model[0].weight, model[1].weight, model[1].running_var):
        changes()[name](parameter)
        found = run(x)
        assert found.tolist() != before
        close(found, model(x))


def test_memory_that_numpy_has_is_read_at_each_replay() -> None:
    model = network()
    array = model[1].running_mean.numpy()
    run = ready(model)
    for value in (0.5, 1.5):
        array[...] = value
        close(run(x), model(x))


def test_saving_a_model_gives_no_memory_away(tmp_path: Path) -> None:
    model = network()
    ac.save(model.state_dict(), tmp_path / "model.ac")
    assert not any(map(is_exported, model.parameters()))


def test_a_step_that_writes_its_parameters_has_none() -> None:
    layer = nn.Linear(3, 2)
    sgd = ac.optim.SGD(layer.parameters(), lr=0.1)

    def step(a: ac.Tensor) -> ac.Tensor:
        sgd.zero_grad()
        loss = (a @ layer.weight.t().contiguous()).square().mean()
        loss.backward()
        sgd.step()
        return loss

    run = ac.compile(step)
    for _ in range(4):
        run(ac.ones(5, 3))
    assert not run.programs[0].program.prologue

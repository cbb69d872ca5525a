# SPDX-License-Identifier: MIT
"""Products read transposed copies of weights that stay, where a set asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.compile.passes import Compiled, ask_for_transposed, transposed_weights

import autocalc as ac
from autocalc import nn
from autocalc.plugin import DispatchKey

PASS = "transposed_weights"

x = ac.randn(5, 48, generator=ac.Generator().manual_seed(0))


@pytest.fixture
def asking(monkeypatch: pytest.MonkeyPatch) -> list[DispatchKey]:
    """Let every set ask for transposed weights; return the keys of its calls."""
    return ask_for_transposed(monkeypatch)


def network() -> nn.Module:
    ac.manual_seed(0)
    return nn.Sequential(nn.Linear(48, 64), nn.GELU(), nn.Linear(64, 32)).eval()


def ready(function: Any, *given: Any, **options: Any) -> Compiled:
    """Return a compiled function without gradients that has a program."""
    run = Compiled(ac.no_grad()(function), **options)
    for _ in range(3):
        run(*(given or (x,)))
    assert len(run.programs) == 1
    return run


def weights(run: Compiled) -> list[tuple[int, ...]]:
    """Return the strides of the products' weights, in elements."""
    (program,) = run.programs
    products = [i for i in program.instructions if i.name in transposed_weights.AXES]
    found: list[Any] = [i.inputs[1] for i in products]
    return [tuple(s // v.dtype.itemsize for s in v.strides) for v in found]


def near(a: Any, b: Any) -> None:
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-5)


def test_weights_are_copied_once(asking: list[DispatchKey]) -> None:
    model = network()
    run, without = ready(model.forward), ready(model.forward, off=(PASS,))
    assert weights(without) == [(48, 1), (64, 1)]
    assert weights(run) == [(1, 64), (1, 32)]
    assert [i.name for i in run.programs[0].program.prologue] == ["copy", "copy"]
    near(run(x), without(x))
    key = asking[0]
    assert key.shapes is not None
    assert (key.kernel, key.shapes[0], key.shapes[3]) == ("linear", (5, 64), (64, 48))


def test_products_with_a_transposed_parameter_are_taken(asking: Any) -> None:
    ac.manual_seed(0)
    weight = nn.Parameter(ac.randn(64, 48))
    module = nn.Module()
    module.weight = weight
    module.forward = lambda a: ac.relu(a @ module.weight.t())
    run = ready(module)
    assert weights(run) == [(64, 1)]
    near(run(x), ac.relu(x @ weight.t()).detach())


def test_what_lies_across_already_stays(asking: Any) -> None:
    module = nn.Module()
    module.weight = nn.Parameter(ac.randn(48, 64))
    module.forward = lambda a: a @ module.weight
    run = ready(module)
    assert not run.programs[0].program.prologue


def test_one_copy_serves_two_products(asking: Any) -> None:
    layer = nn.Linear(48, 48)
    run = ready(lambda a: layer(ac.tanh(layer(a))))
    assert len(run.programs[0].program.prologue) == 1
    assert weights(run) == [(1, 48)] * 2


def test_a_folded_norm_is_transposed_behind_the_folding(asking: Any) -> None:
    model = nn.Sequential(nn.Linear(48, 64), nn.BatchNorm1d(64)).eval()
    model[1].running_var.uniform_(1, 2)
    run = ready(model.forward)
    assert weights(run) == [(1, 64)]
    near(run(x), model(x).detach())
    with ac.no_grad():
        model[1].weight.mul_(3)
    near(run(x), model(x).detach())


def test_no_more_bytes_than_allowed(asking: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(transposed_weights, "MAX_BYTES", 48 * 64 * 4)
    run = ready(network().forward)
    assert weights(run) == [(1, 64), (64, 1)]


def test_a_set_that_does_not_ask_keeps_its_weights() -> None:
    big = ac.randn(300, 48)
    run = ready(network().forward, big)
    assert weights(run) == [(48, 1), (64, 1)]


def test_exact_leaves_it_out(asking: Any) -> None:
    run = ac.compile(ac.no_grad()(network().forward), exact=True)
    for _ in range(3):
        run(x)
    assert weights(run) == [(48, 1), (64, 1)]
    assert not asking


def changes() -> dict[str, Callable[[Any], Any]]:
    def in_place(weight: Any) -> None:
        with ac.no_grad():
            weight.mul_(2)

    def copied(weight: Any) -> None:
        with ac.no_grad():
            weight.copy_(ac.ones(weight.shape))

    def data(weight: Any) -> None:
        weight.data.mul_(2)

    def numpy(weight: Any) -> None:
        weight.detach().numpy()[...] *= 2

    def dlpack(weight: Any) -> None:
        np.from_dlpack(weight.detach())[...] *= 2

    def replaced(weight: Any) -> None:
        weight.data = weight.detach() * 2

    return {k: v for k, v in locals().items() if callable(v)}


@pytest.mark.parametrize("name", changes())
def test_a_change_of_a_weight_is_seen(name: str, asking: Any) -> None:
    model = network()
    run = ready(model.forward)
    before = run(x).tolist()
    for _ in range(2):  # memory that was given away is copied at each replay
        changes()[name](model[0].weight)
        near(run(x), model(x).detach())
        assert run(x).tolist() != before


def test_loading_a_state_is_seen(asking: Any) -> None:
    model, other = network(), network()
    with ac.no_grad():
        other[0].weight.mul_(-1)
    run = ready(model.forward)
    model.load_state_dict(other.state_dict())
    near(run(x), other(x).detach())


def test_training_keeps_its_weights(asking: Any) -> None:
    model = network().train()
    sgd = ac.optim.SGD(model.parameters(), lr=0.1)

    def step(a: ac.Tensor) -> ac.Tensor:
        sgd.zero_grad()
        loss = model(a).square().mean()
        loss.backward()
        sgd.step()
        return loss

    run = Compiled(step)
    for _ in range(4):
        run(x)
    assert weights(run) == [(48, 1), (64, 1)]


def test_memory_that_numpy_has_stays_as_it_lies(asking: Any) -> None:
    model = network()
    array = model[0].weight.detach().numpy()
    run = ready(model.forward)
    assert weights(run) == [(48, 1), (1, 32)]
    array[...] *= 2
    near(run(x), model(x).detach())


def test_a_norm_of_memory_that_numpy_has_stays_too(asking: Any) -> None:
    model = nn.Sequential(nn.Linear(48, 64), nn.BatchNorm1d(64)).eval()
    scale = model[1].weight.detach().numpy()
    run = ready(model.forward)
    assert weights(run) == [(48, 1)]
    scale[...] *= 2
    near(run(x), model(x).detach())

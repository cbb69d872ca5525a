# SPDX-License-Identifier: MIT
"""Parameters, buffers, gradients and optimizers are shared with eager code."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import autocalc as ac
from autocalc import nn, optim
from autocalc.errors import KernelIndexError
from autocalc.nn import functional as F

STEPS = 9


def data(*shape: int, seed: int = 5) -> list[ac.Tensor]:
    g = ac.Generator().manual_seed(seed)
    return [ac.randn(*shape, generator=g) for _ in range(STEPS)]


def state_of(*things: Any) -> list[Any]:
    """Return all numbers that modules, optimizers and tensors hold."""
    found: list[Any] = []
    for thing in things:
        if isinstance(thing, nn.Module):
            found += [x.tolist() for x in thing.state_dict().values()]
            found += [p.grad if p.grad is None else p.grad.tolist()
                      for p in thing.parameters()]  # fmt: skip
        elif isinstance(thing, optim.Optimizer):
            for values in thing.state_dict()["state"].values():
                found += [v.tolist() for v in values.values()]
        else:
            found.append(thing.tolist())
    return found


def same(
    make: Callable[[], tuple[Callable[..., Any], list[Any]]], **data_of: Any
) -> Any:
    """Run a step eagerly and compiled; everything it leaves must be equal."""
    batches = data(*data_of.get("shape", (4, 3)))
    kept = []
    for compiled in (False, True):
        ac.manual_seed(7)
        step, things = make()
        run = ac.compile(step, exact=True) if compiled else step
        results = [run(x) for x in batches]
        values = [r.tolist() for r in results if r is not None]
        kept.append((values, state_of(*things)))
    assert kept[0] == kept[1]
    assert len(run.programs) >= 1
    return run


def trainer(model: nn.Module, optimizer: Any) -> Callable[[ac.Tensor], ac.Tensor]:
    """Return a step: the mean square of a model's results, gradients, an update."""

    def step(x: ac.Tensor) -> ac.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    return step


def test_gradient_clipping_and_a_schedule() -> None:
    def make() -> Any:
        model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
        adam = optim.AdamW(model.parameters(), lr=0.1)

        def step(x: ac.Tensor) -> ac.Tensor:
            adam.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            adam.step()
            return loss

        return step, [model, adam]

    same(make)


def test_batch_norm_statistics_live_on() -> None:
    def make() -> Any:
        model = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU())
        sgd = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        return trainer(model, sgd), [model, sgd]

    same(make)


def test_gradients_add_up_over_micro_batches() -> None:
    def make() -> Any:
        model = nn.Linear(3, 2)
        sgd = optim.SGD(model.parameters(), lr=0.1)

        def step(x: ac.Tensor) -> None:
            sgd.zero_grad()
            for part in x.chunk(2):
                (model(part).square().mean() / 2).backward()
            sgd.step()

        return step, [model]

    same(make)


def test_gradients_add_up_over_calls() -> None:
    def make() -> Any:
        model = nn.Linear(3, 2)

        def step(x: ac.Tensor) -> ac.Tensor:
            loss = model(x).square().mean()
            loss.backward()
            return loss

        return step, [model]

    same(make)


def test_a_step_that_clears_gradients_at_its_end() -> None:
    def make() -> Any:
        model = nn.Linear(3, 2)
        sgd = optim.SGD(model.parameters(), lr=0.1)

        def step(x: ac.Tensor) -> ac.Tensor:
            loss = model(x).square().mean()
            loss.backward()
            sgd.step()
            sgd.zero_grad()
            return loss

        return step, [model, sgd]

    same(make)


def test_two_optimizers_take_turns() -> None:
    def make() -> Any:
        maker, judge = nn.Linear(3, 3), nn.Linear(3, 1)
        first = optim.Adam(maker.parameters(), lr=0.01)
        second = optim.Adam(judge.parameters(), lr=0.02)

        def step(x: ac.Tensor) -> tuple[ac.Tensor, ac.Tensor]:
            second.zero_grad()
            fake = maker(x)
            of_judge = F.softplus(judge(fake.detach())).mean() - judge(x).mean()
            of_judge.backward()
            second.step()
            first.zero_grad()
            of_maker = F.softplus(-judge(maker(x))).mean()
            of_maker.backward()
            first.step()
            return ac.stack([of_judge.detach(), of_maker.detach()])

        return step, [maker, judge, first, second]

    same(make)


def test_a_moving_average_of_the_weights() -> None:
    def make() -> Any:
        model, average = nn.Linear(3, 2), nn.Linear(3, 2)
        sgd = optim.SGD(model.parameters(), lr=0.1)

        train = trainer(model, sgd)

        def step(x: ac.Tensor) -> ac.Tensor:
            loss = train(x)
            with ac.no_grad():
                for a, p in zip(average.parameters(), model.parameters(), strict=True):
                    a.lerp_(p, 0.1)
            return loss

        return step, [model, average]

    same(make)


def test_an_lstm_and_dropout() -> None:
    def make() -> Any:
        model = nn.LSTM(3, 5, num_layers=2, dropout=0.3, batch_first=True)
        adam = optim.Adam(model.parameters(), lr=0.01)

        def step(x: ac.Tensor) -> ac.Tensor:
            adam.zero_grad()
            out, _ = model(x)
            loss = out.square().mean()
            loss.backward()
            adam.step()
            return loss

        return step, [model, adam]

    same(make, shape=(2, 4, 3))


def test_a_transformer_layer() -> None:
    def make() -> Any:
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
        adam = optim.AdamW(layer.parameters(), lr=0.01)

        return trainer(layer, adam), [layer, adam]

    same(make, shape=(2, 4, 8))


def test_a_convolutional_network() -> None:
    def make() -> Any:
        model = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 3),
        )  # fmt: skip
        sgd = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        return trainer(model, sgd), [model, sgd]

    same(make, shape=(2, 2, 4, 4))


def test_in_place_writes_to_tensors_of_the_program() -> None:
    def make() -> Any:
        total = ac.zeros(4, 3)
        table = ac.zeros(2, 4, 3)

        def step(x: ac.Tensor) -> ac.Tensor:
            y = x * 2
            y += 1
            y[1:3].mul_(3)
            total.add_(y)
            table[1].copy_(y)
            return y.t()

        return step, [total, table]

    same(make)


def test_an_argument_is_written() -> None:
    run = ac.compile(lambda x: x.add_(1))
    for value in range(5):
        x = ac.full((3,), float(value))
        cell = x._cell()
        assert run(x) is x
        assert x.tolist() == [value + 1.0] * 3
        assert cell.count == 1


def test_results_that_are_views_of_parameters_follow_them() -> None:
    w = ac.ones(2, 3)
    run = ac.compile(lambda x: (w.t(), x + 1))
    for i in range(5):
        view, _ = run(ac.zeros(1))
        w.fill_(float(i))
        assert view.tolist() == [[float(i)] * 2] * 3


def test_compiled_and_eager_steps_take_turns() -> None:
    kept = []
    for compiled in (False, True):
        ac.manual_seed(3)
        model = nn.Linear(3, 2)
        adam = optim.Adam(model.parameters(), lr=0.1)
        step = trainer(model, adam)
        fast = ac.compile(step)
        for i, x in enumerate(data(4, 3) * 2):
            (fast if compiled and i % 3 else step)(x)
        kept.append(state_of(model, adam))
    assert kept[0] == kept[1]


def changes() -> dict[str, Callable[[Any, Any], Any]]:
    def load(model: Any, adam: Any) -> None:
        model.load_state_dict({k: v * 0.5 for k, v in model.state_dict().items()})

    def copy(model: Any, adam: Any) -> None:
        with ac.no_grad():
            model.weight.copy_(ac.ones(2, 3))

    def data_of(model: Any, adam: Any) -> None:
        model.weight.data = ac.ones(2, 3) * 0.25

    def optimizer(model: Any, adam: Any) -> None:
        saved = adam.state_dict()
        saved["state"][0]["exp_avg"] = saved["state"][0]["exp_avg"] * 2
        adam.load_state_dict(saved)

    def rate(model: Any, adam: Any) -> None:
        adam.param_groups[0]["lr"] = 0.5

    def beta(model: Any, adam: Any) -> None:
        adam.param_groups[0]["betas"] = (0.5, 0.9)

    def parameter(model: Any, adam: Any) -> None:
        model.weight = nn.Parameter(ac.ones(2, 3))
        adam.param_groups[0]["params"][0] = model.weight

    def frozen(model: Any, adam: Any) -> None:
        model.bias.requires_grad_(False)
        model.bias.grad = None

    def gradient(model: Any, adam: Any) -> None:
        model.weight.grad = None

    def hook(model: Any, adam: Any) -> None:
        model.weight.register_hook(lambda g: g * 2)

    def module_hook(model: Any, adam: Any) -> None:
        model.register_forward_hook(lambda m, i, out: out * 2)

    return {k: v for k, v in locals().items() if callable(v)}


@pytest.mark.parametrize("name", changes())
def test_a_change_from_outside_is_seen(name: str) -> None:
    kept = []
    for compiled in (False, True):
        ac.manual_seed(3)
        model = nn.Linear(3, 2)
        adam = optim.Adam(model.parameters(), lr=0.1)
        step = trainer(model, adam)
        run = ac.compile(step) if compiled else step
        for i, x in enumerate(data(4, 3)):
            if i == 6:
                changes()[name](model, adam)
            run(x)
        kept.append(state_of(model, adam))
    assert kept[0] == kept[1]


def test_a_gradient_that_somebody_holds_is_not_written_again() -> None:
    model = nn.Linear(3, 2)
    run = ac.compile(trainer(model, optim.SGD(model.parameters(), lr=0.1)))
    held = []
    for x in data(4, 3):
        run(x)
        held.append((model.weight.grad, model.weight.grad.tolist()))
    assert all(grad.tolist() == values for grad, values in held)


def test_the_choice_of_kernels_is_part_of_the_signature() -> None:
    run = ac.compile(lambda x: (x * 2).exp())
    x = ac.ones(3)
    for _ in range(3):
        run(x)
    with ac.kernels.use("reference"):
        for _ in range(3):
            run(x)
    chosen = [{i.chosen for i in p.instructions} for p in run.programs]
    assert {"reference"} in chosen
    assert len(chosen) == 2


def test_replays_are_counted() -> None:
    run = ac.compile(lambda x: (x * 2).exp())
    x = ac.ones(3)
    with ac.kernels.count() as calls:
        for _ in range(6):
            run(x)
    assert {kernel: n for (kernel, _), n in calls.items()} == {"mul": 6, "exp": 6}


def test_memory_that_python_fills_is_kept() -> None:
    table = ac.randn(5, 3)

    def step(x: ac.Tensor) -> tuple[ac.Tensor, ac.Tensor]:
        return table[ac.arange(4)] + x, ac.arange(3)

    run = ac.compile(step)
    for x in data(4, 3):
        for got, wanted in zip(run(x), step(x), strict=True):
            assert got.tolist() == wanted.tolist()


def test_arguments_that_share_memory() -> None:
    run = ac.compile(lambda a, b: a * 2 + b)
    for x in data(4, 6):
        a, b = x[:, :-1], x[:, 1:]
        assert run(a, b).tolist() == (a * 2 + b).tolist()
    for x in data(4, 6):
        a, b = x[:, :-1], (x + 1)[:, 1:]
        assert run(a, b).tolist() == (a * 2 + b).tolist()


def test_the_default_dtype_is_part_of_the_signature() -> None:
    run = ac.compile(lambda: ac.zeros(3) + 1)
    for _ in range(4):
        run()
    ac.set_default_dtype(ac.float64)
    try:
        dtypes = [run().dtype for _ in range(4)]
    finally:
        ac.set_default_dtype(ac.float32)
    assert dtypes == [ac.float64] * 4
    assert run().dtype is ac.float32


def test_a_label_out_of_range_is_named_and_the_next_replay_is_right() -> None:
    table = nn.Embedding(4, 3)
    run = ac.compile(ac.no_grad()(lambda i: table(i) + 1))
    good = ac.tensor([1, 2])
    for _ in range(4):
        run(good)
    with pytest.raises(KernelIndexError, match="`indices` holds 9 at element 1"):
        run(ac.tensor([1, 9]))
    assert run(good).tolist() == (table(good) + 1).tolist()


def test_threads_take_turns() -> None:
    run = ac.compile(lambda x: (x * 2).exp().sum())
    inputs = [ac.full((50,), i / 10) for i in range(8)]
    for x in inputs[:3]:
        run(x)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda x: run(x).item(), inputs * 20))
    assert results == [(x * 2).exp().sum().item() for x in inputs] * 20


def test_random_states_that_are_put_back() -> None:
    def make() -> Any:
        layer = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2))
        sgd = optim.SGD(layer.parameters(), lr=0.1)

        def step(x: ac.Tensor) -> ac.Tensor:
            sgd.zero_grad()
            y = ac.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
            with ac.random.fork_rng():
                y = y + ac.rand(2)
            loss = (y + ac.rand(2)).square().mean()
            loss.backward()
            sgd.step()
            return loss

        return step, [layer]

    same(make)


def test_a_seed_inside_is_set_by_each_replay() -> None:
    def step(x: ac.Tensor) -> ac.Tensor:
        ac.manual_seed(3)
        own = ac.Generator().manual_seed(5)
        return x + ac.rand(3) + ac.rand(3, generator=own) * ac.rand(3)

    run = ac.compile(step)
    x = ac.ones(3)
    for _ in range(5):
        wanted = step(x).tolist()
        assert run(x).tolist() == wanted

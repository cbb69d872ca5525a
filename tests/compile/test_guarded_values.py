# SPDX-License-Identifier: MIT
"""A compiled step's inputs that are no arguments: rates, hooks, draws, gradients."""

from __future__ import annotations

import logging
import math
import os
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import CompileError

x = ac.tensor([1.0, 2.0, 3.0])


def follows_eager(step: Any, change: Callable[[], object], count: int = 3) -> Any:
    """Check that a compiled step sees what changes between its calls."""
    run = ac.compile(step)
    for _ in range(3):
        assert run(x).tolist() == step(x).tolist()
    for _ in range(count):
        change()
        for _ in range(2):
            assert run(x).tolist() == step(x).tolist()
    return run


# ---- learning rates ------------------------------------------------------------------


def update(p: Any, lr: float, decay: float) -> None:
    p.add_(p.grad, alpha=-lr)


def scaled_update(p: Any, lr: float, decay: float) -> None:
    p.sub_(p.grad * lr)


def decayed_update(p: Any, lr: float, decay: float) -> None:
    p.mul_(1 - lr * decay)
    p.sub_(p.grad, alpha=lr)


@pytest.mark.parametrize("rule", [update, scaled_update, decayed_update])
def test_a_step_that_reads_its_learning_rate_itself(rule: Any) -> None:
    def trained(compiled: bool) -> tuple[Any, list[Any]]:
        w = ac.ones(3, requires_grad=True)
        sgd = ac.optim.SGD([w], lr=0.1, weight_decay=0.01)
        scheduler = ac.optim.lr_scheduler.ExponentialLR(sgd, 0.9)

        def step(a: ac.Tensor) -> ac.Tensor:
            sgd.zero_grad()
            loss = (w * a - 1).square().sum()
            loss.backward()
            group = sgd.param_groups[0]
            with ac.no_grad():
                rule(w, group["lr"], group["weight_decay"])
            return loss

        run: Any = ac.compile(step) if compiled else step
        weights = []
        for _ in range(12):
            run(x)
            scheduler.step()
            weights.append(w.tolist())
        return run, weights

    run, have = trained(True)
    want = trained(False)[1]
    np.testing.assert_allclose(have, want, rtol=1e-5)
    assert len(run.programs) <= 2


def test_a_rate_of_a_scheduler() -> None:
    w = ac.ones(3, requires_grad=True)
    sgd = ac.optim.SGD([w], lr=0.5)
    scheduler = ac.optim.lr_scheduler.ExponentialLR(sgd, 0.5)
    follows_eager(lambda a: a * scheduler.get_last_lr()[0], scheduler.step)


def test_a_rate_set_inside_the_step_is_refused() -> None:
    w = ac.ones(3, requires_grad=True)
    sgd = ac.optim.SGD([w], lr=0.5)

    def step(a: ac.Tensor, t: int) -> None:
        sgd.param_groups[0]["lr"] = 0.5 / (t + 1)
        (w * a).sum().backward()
        sgd.step()
        sgd.zero_grad()

    run = ac.compile(step)
    with pytest.raises(CompileError, match=r"changes sgd\.param_groups\[0\].*\.py:\d+"):
        list(map(run, [x] * 9, range(9)))


# ---- numbers that decide -------------------------------------------------------------

DECISIONS: dict[str, Callable[[ac.Tensor, float], ac.Tensor]] = {
    "if": lambda a, k: a * k if k > 0.5 else a - k,
    "max": lambda a, k: a * max(k, 0.5),
    "min": lambda a, k: a * min(k, 0.5) + k,
    "round": lambda a, k: a * round(k, 1),
    "int": lambda a, k: a * k + int(k * 10),
    "bool": lambda a, k: a * k if k else a.exp(),
    "equal": lambda a, k: a * k if k == 0.25 else a + k,
    "chain": lambda a, k: a * k if 0.2 < k < 0.6 else a + k,
    "text": lambda a, k: a * k + len(f"{k}"),
    "key": lambda a, k: a * k + {0.5: 1.0, 0.25: 2.0}.get(k, 3.0),
    "computed": lambda a, k: a * k if 1 - k > 0.5 else a + k,
    "floor": lambda a, k: a * k + k // 0.3,
    "numpy": lambda a, k: a * k if np.floor(k * 10) > 4 else a + k,
}
VALUES = [0.7, 0.8, 0.9, 0.25, 0.3, 0.0, 0.0, 0.5, 0.55, 0.1, 0.95, 0.25]


@pytest.mark.parametrize("name", DECISIONS)
@pytest.mark.parametrize("place", ["argument", "nested argument", "variable", "global"])
def test_a_number_that_also_decides(name: str, place: str) -> None:
    decide = DECISIONS[name]
    k = VALUES[0]
    there: dict[str, Any] = {"decide": decide, "k": k}
    exec("def step(a):\n    return decide(a, k)", there)
    steps: dict[str, Any] = {
        "argument": decide,
        "nested argument": lambda a, cfg: decide(a, cfg["k"][0]),
        "variable": lambda a: decide(a, k),
        "global": there["step"],
    }
    run = ac.compile(steps[place])
    for k in VALUES:
        there["k"] = k
        given = {"argument": (k,), "nested argument": ({"k": [k]},)}.get(place, ())
        try:
            found = run(x, *given)
        except CompileError as error:
            assert "value differs" in str(error)  # noqa: PT017  it may be refused
            return
        np.testing.assert_allclose(found.numpy(), decide(x, k).numpy(), rtol=1e-6)


def test_a_program_holds_where_the_decision_is_the_same() -> None:
    run: Any = ac.compile(lambda a, k: a * k if k > 0.5 else a - k)
    for k in (0.7, 0.8, 0.9, 0.1, 0.2, 0.3, 0.75, 0.25):
        run(x, k)
    assert len(run.programs) == 2


# ---- hooks, draws, iterators ---------------------------------------------------------


def test_a_hook_that_is_removed() -> None:
    layer = nn.Identity()
    handle: Any = layer.register_forward_hook(lambda _, args, out: out * 2)
    follows_eager(lambda a: layer(a) + 1, handle.remove, 1)


def test_a_hook_of_a_module_of_ones_own_that_is_removed() -> None:
    class Net(nn.Module):
        def forward(self, a: ac.Tensor) -> ac.Tensor:
            return a + 1

    net = Net()
    handle: Any = net.register_forward_pre_hook(lambda _, args: (args[0] * 2,))
    follows_eager(net, handle.remove, 1)


def test_a_draw_of_numpy_is_refused() -> None:
    draw = np.random.rand
    run = ac.compile(lambda a: a * 2 if draw() > -1 else a)
    with pytest.raises(
        CompileError, match=r"random numbers that .* draw with AutoCalc"
    ):
        list(map(run, [x] * 4))


generator = np.random.default_rng(0)


def test_a_draw_of_a_generator_of_numpy_is_refused() -> None:
    run = ac.compile(lambda a: a * 2 if generator.random() > -1 else a)
    with pytest.raises(CompileError, match=r"random numbers that generator draws"):
        list(map(run, [x] * 4))


@pytest.mark.parametrize(
    "draw",
    [random.random, lambda: random.choice([1, 2, 3]), lambda: random.randint(0, 3)],
)
def test_a_draw_of_python_is_refused_with_its_line(draw: Any) -> None:
    run = ac.compile(lambda a: a * 2 if draw() > -1 else a)
    with pytest.raises(
        CompileError, match=r"random numbers that .* draw with .*\.py:\d+"
    ):
        list(map(run, [x] * 4))


def test_an_iterator_that_is_taken_from_is_refused() -> None:
    scales: Iterator[float] = iter([2.0] * 9)
    run = ac.compile(lambda a: a * next(scales))
    with pytest.raises(CompileError, match="scales, from which it takes elements"):
        list(map(run, [x] * 4))


# ---- tensors that are asked, arrays --------------------------------------------------


def test_a_tensor_that_is_asked_whether_it_requires_a_gradient() -> None:
    p = ac.ones(2)
    follows_eager(
        lambda a: a * 2 if p.requires_grad else a.exp(),
        lambda: p.requires_grad_(not p.requires_grad),
    )


def test_a_tensor_that_is_asked_for_its_gradient() -> None:
    p = ac.ones(2, requires_grad=True)

    def change() -> None:
        p.grad = ac.ones(2) if p.grad is None else None

    follows_eager(lambda a: a * 2 if p.grad is None else a.exp(), change)


def test_a_tensor_that_is_asked_for_its_size() -> None:
    p = ac.ones(2)

    def change() -> None:
        p.data = ac.ones(len(p) + 1)

    follows_eager(lambda a: a * len(p) + p.shape[0], change)


ARRAYS: dict[str, Callable[[ac.Tensor, Any], ac.Tensor]] = {
    "a number of it": lambda a, b: a * float(b[0]),
    "an item": lambda a, b: a * b.item(1),
    "a tensor": lambda a, b: a * ac.tensor(b),
    "an index": lambda a, b: a[b.astype(int)],
    "a decision": lambda a, b: a * 2 if b.sum() > 1 else a.exp(),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_that_changes(name: str) -> None:
    b = np.array([0.0, 1.0, 0.0])
    use = ARRAYS[name]

    def change() -> None:
        b[:] = (b + 1) % 3

    follows_eager(lambda a: use(a, b), change)


def test_an_array_whose_memory_the_step_uses_is_no_reason_to_record_again() -> None:
    b = np.zeros(3, np.float32)
    run: Any = ac.compile(lambda a: a + ac.from_numpy(b))
    for i in range(9):
        b[:] = i
        assert run(x).tolist() == (x + i).tolist()
    assert (len(run.programs), run._replays) == (1, 7)


def test_a_list_that_becomes_a_tensor() -> None:
    values = [[1.0, 2.0, 3.0]]
    follows_eager(
        lambda a: a * ac.tensor(values)[0],
        lambda: values[0].__setitem__(0, values[0][0] + 1),
    )


# ---- settings ------------------------------------------------------------------------


def test_a_setting_that_is_asked() -> None:
    before = ac.get_num_threads()
    try:
        follows_eager(
            lambda a: a * ac.get_num_threads(),
            lambda: ac.set_num_threads(before + 1),
            1,
        )
    finally:
        ac.set_num_threads(before)


def test_the_mode_of_a_module_that_does_not_run() -> None:
    layer = nn.Linear(3, 3)
    follows_eager(
        lambda a: a * 2 if layer.training else a.exp(),
        lambda: layer.train(not layer.training),
    )


def test_the_mode_of_a_module_of_ones_own() -> None:
    class Net(nn.Module):
        def forward(self, a: ac.Tensor) -> ac.Tensor:
            return a * 2 if self.training else a.exp()

    net = Net()
    follows_eager(net, lambda: net.train(not net.training))


def test_the_gradient_mode_that_is_asked() -> None:
    run = ac.compile(lambda a: a * 2 if ac.is_grad_enabled() else a.exp())
    for _ in range(4):
        assert run(x).tolist() == (x * 2).tolist()
        with ac.no_grad():
            assert run(x).tolist() == x.exp().tolist()


def test_the_default_dtype() -> None:
    run = ac.compile(lambda a: ac.ones(3) * 2)
    try:
        for dtype in (ac.float32, ac.float64) * 4:
            ac.set_default_dtype(dtype)
            assert run(x).dtype is dtype
    finally:
        ac.set_default_dtype(ac.float32)


# ---- what is no reason to record again -----------------------------------------------


def test_what_the_step_does_not_read_may_change() -> None:
    class Trainer:
        scale = 2.0

        def __init__(self) -> None:
            self.calls, self.log = 0, {"last": [0]}

        def step(self, a: ac.Tensor) -> ac.Tensor:
            return a * self.scale

    trainer = Trainer()
    run: Any = ac.compile(trainer.step)
    for i in range(9):
        run(x)
        trainer.calls += 1
        trainer.log["last"].append(i)
    assert (len(run.programs), run._replays) == (1, 7)


def test_a_number_in_a_container_is_an_input() -> None:
    cfg = {"loss": {"w": [0.5, 1.0]}}

    def step(a: ac.Tensor) -> ac.Tensor:
        return a * cfg["loss"]["w"][0]

    run: Any = ac.compile(step)
    for i in range(12):
        cfg["loss"]["w"][0] = 0.5 + i
        assert run(x).tolist() == step(x).tolist()
    assert len(run.programs) == 1


def test_containers_that_the_step_makes_are_not_guarded() -> None:
    class Output:
        loss: Any = None

        def __init__(self) -> None:
            self.parts: list[ac.Tensor] = []

    def add(output: Output, parts: list[ac.Tensor], a: ac.Tensor) -> None:
        output.parts.append(a)
        output.loss = a
        parts.append(a * 2)

    def step(a: ac.Tensor) -> tuple[list[ac.Tensor], list[ac.Tensor]]:
        output, parts = Output(), []  # type: ignore[var-annotated]  # as programs have it
        for i in range(3):
            add(output, parts, a * i)
        return parts, output.parts

    run: Any = ac.compile(step)
    for _ in range(5):
        for found, expected in zip(run(x), step(x), strict=True):
            assert [t.tolist() for t in found] == [t.tolist() for t in expected]
    assert (len(run.programs), run._replays) == (1, 3)


def test_an_object_that_only_an_inner_function_sees_and_changes_is_refused() -> None:
    class Counter:
        count = 0

    counters = {"one": Counter()}.values()

    def counted(counter: Counter, a: ac.Tensor) -> ac.Tensor:
        counter.count += 1
        return a * 2

    run = ac.compile(lambda a: counted(max(counters, key=id), a))
    with pytest.raises(CompileError, match=r"it changes .*count.*\.py:\d+"):
        list(map(run, [x] * 4))


def test_what_libraries_keep_for_themselves_is_no_effect() -> None:
    log = logging.getLogger("autocalc.tests")
    log.propagate = False  # pytest keeps records in a list of its own
    kept: dict[Any, ac.Tensor] = {}

    def step(a: ac.Tensor) -> ac.Tensor:
        log.debug("a step of %s", a.shape)
        if a.shape not in kept:
            kept[a.shape] = ac.ones(3) * 3
        return a * kept[a.shape] * math.pi

    run: Any = ac.compile(step)
    for _ in range(6):
        assert run(x).tolist() == step(x).tolist()
    assert (len(run.programs), run._replays) == (1, 3)


def test_a_variable_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(a: ac.Tensor) -> ac.Tensor:
        return a * float(os.environ.get("SCALE_OF_TESTS", "2"))

    scales = iter(("3", "5", "7"))
    follows_eager(step, lambda: monkeypatch.setenv("SCALE_OF_TESTS", next(scales)))

# SPDX-License-Identifier: MIT
"""Replays in C and in Python: the same bits, the same memory, the same errors."""

from __future__ import annotations

import gc
import itertools
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.compile.parts import Bookkeeping, PythonExecutor
from tests.compile.parts import replay as _replay

import autocalc as ac
from autocalc import nn, optim
from autocalc.nn import functional as F

#: What runs a program, and what does the rest: of the SIMD kernels or of core.
WAYS = ("native", "Python bookkeeping", "Python")
RECORDINGS = 3


@pytest.fixture(params=WAYS)
def way(request: Any, monkeypatch: Any) -> str:
    choose(request.param, monkeypatch)
    return str(request.param)


def choose(way: str, monkeypatch: Any) -> None:
    """Leave out what is in C."""
    if way != "native":
        monkeypatch.setattr(_replay, "bookkeeping", Bookkeeping)
    if way == "Python":
        monkeypatch.setattr(_replay, "native_executor", None)


def normal(*shape: int, seed: int = 5) -> ac.Tensor:
    return ac.randn(*shape, generator=ac.Generator().manual_seed(seed))


def perceptron() -> nn.Module:
    ac.manual_seed(3)
    return nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))


def training(model: nn.Module) -> Callable[..., ac.Tensor]:
    sgd = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(x: ac.Tensor, y: ac.Tensor) -> ac.Tensor:
        sgd.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        sgd.step()
        return loss

    return step


def batch(seed: int = 1) -> tuple[ac.Tensor, ac.Tensor]:
    g = ac.Generator().manual_seed(seed)
    return ac.randn(8, 12, generator=g), ac.randint(0, 4, (8,), generator=g)


def warmed(step: Callable[..., Any], *args: Any) -> Any:
    """Return the compiled function with a program for such arguments."""
    run = ac.compile(step)
    for _ in range(RECORDINGS):
        run(*args)
    assert len(run.programs) == 1
    return run


# ---- the same bits


def convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.GELU(), nn.MaxPool2d(2),
        nn.Dropout(0.2), nn.Flatten(), nn.Linear(8 * 16, 4),
    )  # fmt: skip


#: A model, the shape of its input, and an optimizer.
PROGRAMS: dict[str, tuple[Callable[[], Any], tuple[int, ...], Callable[..., Any]]] = {
    "perceptron": (perceptron, (8, 12), optim.SGD),
    "convolutions": (convolutions, (2, 3, 8, 8), optim.AdamW),
    "transformer": (
        lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (2, 5, 16),
        optim.Adam),
    "lstm": (lambda: nn.LSTM(6, 8, batch_first=True), (2, 4, 6), optim.RMSprop),
    "lion": (perceptron, (8, 12), optim.Lion),
}  # fmt: skip


def trained(name: str) -> list[bytes]:
    """Train; return the bits of results, parameters, buffers and gradients."""
    make, shape, optimizer_of = PROGRAMS[name]
    ac.manual_seed(11)
    model = make()
    optimizer = optimizer_of(model.parameters(), lr=0.01)

    def step(x: ac.Tensor) -> ac.Tensor:
        optimizer.zero_grad()
        out = model(x)
        loss = (out[0] if isinstance(out, tuple) else out).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    run: Any = ac.compile(step)
    losses = [run(normal(*shape, seed=i)) for i in range(7)]
    assert len(run.programs) == 1
    assert run._replays >= 4
    seen = [*losses, *model.state_dict().values()]
    seen += [p.grad for p in model.parameters()]
    return [x.detach().numpy().tobytes() for x in seen]


@pytest.mark.parametrize("name", PROGRAMS)
def test_all_ways_leave_the_same_bits(name: str) -> None:
    kept = []
    for way in WAYS:
        with pytest.MonkeyPatch.context() as patch:
            choose(way, patch)
            kept.append(trained(name))
    assert kept[0] == kept[1] == kept[2]


def test_the_engines_executor_runs_where_there_is_an_engine() -> None:
    from tests.engine import native

    run = warmed(training(perceptron()), *batch())
    held = gc.get_referents(run.programs[0]._replay._around)
    assert any(isinstance(x, native.Executor) for x in held)


def test_without_one_programs_run_in_python(monkeypatch: Any) -> None:
    monkeypatch.setattr(_replay, "native_executor", None)
    with ac.kernels.use("reference", only=True):
        run = warmed(lambda x: x.relu() * 2, normal(3, 4))
        around = run.programs[0]._replay._around
        assert isinstance(around, Bookkeeping)
        assert isinstance(around._executor, PythonExecutor)
        assert run(ac.tensor([[-1.0, 2.0, 3.0, 4.0]] * 3)).tolist()[0] == [0, 4, 6, 8]


# ---- memory


def test_replays_allocate_nothing(way: str) -> None:
    x, y = normal(64, 128), ac.randint(0, 4, (64,))
    model = nn.Sequential(nn.Linear(128, 256), nn.ReLU(), nn.Linear(256, 4))
    run = warmed(training(model), x, y)
    with ac.serial():  # a worker that first has a part takes its scratch then
        for _ in range(3):
            loss = run(x, y)
        before = ac.memory.stats().get("allocations")
        for _ in range(1000):
            loss = run(x, y)
        assert ac.memory.stats().get("allocations") == before
    assert loss.item() < 2


def least_growth(measure: Callable[[], int], replay: Callable[[], None]) -> int:
    """Return by how much memory grows from one round to the next, at the least.

    A leak shows in each round; a table of the interpreter that is made larger, in one.
    """
    seen = []
    for _ in range(7):
        replay()
        gc.collect()
        seen.append(measure())
    return min(b - a for a, b in itertools.pairwise(seen))


def test_many_replays_take_no_memory(way: str) -> None:
    x, y = batch()
    run = warmed(training(perceptron()), x, y)

    def replay() -> None:
        for _ in range(600):
            run(x, y)

    tracemalloc.start()
    try:
        grown = least_growth(lambda: tracemalloc.get_traced_memory()[0], replay)
    finally:
        tracemalloc.stop()
    # An object has 16 bytes at least; tables of NumPy's own grow by some 1,000 a round.
    assert grown < 600 * 16


@pytest.mark.slow
def test_ten_thousand_replays_take_no_memory(way: str) -> None:
    resource = pytest.importorskip("resource")
    x, y = batch()
    run = warmed(training(perceptron()), x, y)

    def replay() -> None:
        for _ in range(2_500):
            run(x, y)

    def measure() -> int:
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    assert least_growth(measure, replay) < 40, "KB in 2,500 replays"


def test_results_that_are_held_stay_as_they_are(way: str) -> None:
    run = warmed(lambda x: x * 2, normal(400))
    kept = [run(ac.full((400,), float(i))) for i in range(6)]
    assert [k[0].item() for k in kept] == [0, 2, 4, 6, 8, 10]
    assert len({k.data_ptr() for k in kept}) == 6


def test_the_last_result_can_be_held_without_new_memory(way: str) -> None:
    run = warmed(lambda x: x * 2, normal(400))
    seen = set()
    for i in range(10):
        last = run(ac.full((400,), float(i)))
        seen.add(last.data_ptr())
        assert last[399].item() == 2 * i
    assert len(seen) == 2


def test_a_state_that_is_fed_back(way: str) -> None:
    run = warmed(lambda h: h * 0.5 + 1, normal(300))
    eager = h = ac.full((300,), 8.0)
    for _ in range(12):
        h, eager = run(h), eager * 0.5 + 1
        assert h.tolist() == eager.tolist()


def test_views_and_copies_of_results_hold_them(way: str) -> None:
    run = warmed(lambda x: x * 2, normal(4, 100))
    row = run(ac.full((4, 100), 1.0))[1]
    array = run(ac.full((4, 100), 2.0)).numpy()
    for i in range(3, 8):
        run(ac.full((4, 100), float(i)))
    assert row[0].item() == 2
    assert array[3, 99] == 4


def test_gradients_that_are_held_stay_as_they_are(way: str) -> None:
    model = nn.Linear(3, 2)

    def step(x: ac.Tensor) -> None:
        model.zero_grad()
        model(x).sum().backward()

    run = warmed(step, normal(4, 3))
    kept = []
    for i in range(5):
        run(ac.full((4, 3), float(i)))
        kept.append(model.weight.grad)
    assert [g[0, 0].item() for g in kept] == [0, 4, 8, 12, 16]
    array = model.bias.grad.numpy()
    last = model.bias.grad.data_ptr()
    run(ac.full((8, 3), 1.0)[:4])
    assert array.tolist() == [4, 4]
    assert model.bias.grad.data_ptr() != last


def test_gradients_that_nobody_holds_keep_their_memory(way: str) -> None:
    run = warmed(training(model := perceptron()), *batch())
    run(*batch())
    first = [(p.grad.data_ptr(), id(p.grad)) for p in model.parameters()]
    for seed in range(5):
        run(*batch(seed))
        assert [(p.grad.data_ptr(), id(p.grad)) for p in model.parameters()] == first


# ---- tensors that change


def test_a_parameter_in_other_memory_is_followed(way: str) -> None:
    model = nn.Linear(3, 2, bias=False)
    run = warmed(model, normal(4, 3))
    ones = ac.ones(4, 3)
    before = weakref.ref(model.weight._array)
    for value in (2.0, 3.0):
        model.weight.data = ac.full((2, 3), value)
        assert run(ones).tolist() == [[3 * value] * 2] * 4
    gc.collect()
    assert before() is None, "the program holds memory that it no longer uses"


def test_a_parameter_of_another_form_leads_to_another_program(way: str) -> None:
    model = nn.Linear(3, 2, bias=False)
    with ac.no_grad():
        run = warmed(model, normal(4, 3))
        ones = ac.ones(4, 3)
        model.weight.data = ac.arange(6.0).reshape(3, 2).T
        for _ in range(4):
            assert run(ones).tolist() == [[6.0, 9.0]] * 4


def test_arguments_of_one_shape_in_any_memory(way: str) -> None:
    run = warmed(lambda x: x.relu() + 1, normal(5))
    block = ac.arange(-10.0, 10.0)
    for i in range(15):
        part = block[i : i + 5]
        assert run(part).tolist() == (part.relu() + 1).tolist()


def test_results_that_are_arguments_or_views_of_them(way: str) -> None:
    run = warmed(lambda x: (x, x + 1, x[2:]), normal(5))
    for i in range(4):
        x = ac.arange(5.0) + i
        same, more, tail = run(x)
        assert same is x
        assert more[0].item() == i + 1
        assert tail.tolist() == [i + 2, i + 3, i + 4]
        assert tail.data_ptr() == x[2:].data_ptr()


def test_writes_are_counted(way: str) -> None:
    buffer = ac.zeros(3)

    def step(x: ac.Tensor) -> ac.Tensor:
        buffer.add_(x)
        return buffer * 2

    run = warmed(step, normal(3))
    w = ac.ones(3, requires_grad=True)
    used = (w * buffer).sum()
    run(normal(3))
    with pytest.raises(RuntimeError, match="changed in place"):
        used.backward()


# ---- errors and threads


def test_a_kernel_refuses_a_value_as_it_does_eagerly(way: str) -> None:
    model = perceptron()
    step = training(model)
    x, y = batch()
    run = warmed(step, x, y)
    wrong = y.clone()
    wrong[3] = 9
    with pytest.raises(IndexError) as eager:
        training(perceptron())(x, wrong)
    with pytest.raises(IndexError) as replayed:
        run(x, wrong)
    assert str(replayed.value) == str(eager.value)
    assert "holds 9 at element 3" in str(eager.value)
    before = run._replays
    assert np.isfinite(run(x, y).item())
    assert run._replays == before + 1


def test_a_failing_replay_holds_no_more_than_others(way: str) -> None:
    x, y = batch()
    run = warmed(training(perceptron()), x, y)
    wrong = y.clone()
    wrong[0] = -7
    run(x, y)

    def failing() -> None:
        for _ in range(200):
            with pytest.raises(IndexError):
                run(x, wrong)
            run(x, y)

    tracemalloc.start()
    try:
        grown = least_growth(lambda: tracemalloc.get_traced_memory()[0], failing)
    finally:
        tracemalloc.stop()
    assert grown < 200 * 16, "each failure leaves something"


def test_threads_wait_for_each_other(way: str) -> None:
    run = warmed(lambda x: (x @ x).relu() * 2, normal(96, 96))
    inputs = [normal(96, 96, seed=i) for i in range(4)]
    expected = [((x @ x).relu() * 2).numpy() for x in inputs]
    wrong: list[bool] = []

    def work(i: int) -> None:
        for _ in range(100):
            wrong.extend(run(inputs[i]).numpy().ravel() != expected[i].ravel())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 4 * 100 * 96 * 96
    assert not any(wrong)


def test_a_program_is_freed_with_its_function(way: str) -> None:
    model = perceptron()
    run = warmed(training(model), *batch())
    gone = weakref.ref(run)
    parameter = weakref.ref(model.get_parameter("0.weight"))
    model.step = run
    del run, model
    gc.collect()
    assert gone() is None
    assert parameter() is None

# SPDX-License-Identifier: MIT
"""`ac.compile`: arguments, modules, what programs show."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import pytest
from tests.compile.passes import APART

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, CompileError, CompileWarning, DTypeError


def step(x: ac.Tensor) -> ac.Tensor:
    return (x * 2 + 1).exp().sum()


def ready(function: Any, *args: Any, **options: Any) -> Any:
    """Return a compiled function that has a program."""
    run = ac.compile(function, **options)
    for _ in range(3):
        run(*args)
    assert len(run.programs) == 1
    return run


x = ac.arange(6.0).reshape(2, 3)


class Dead:
    pass


def test_a_dead_proxy_of_somebody_is_no_hindrance() -> None:
    proxy = weakref.proxy(Dead())
    assert len(ready(step, x).programs) == 1
    with pytest.raises(ReferenceError, match="no longer exists"):
        isinstance(proxy, ac.Tensor)


def test_a_decorator_with_and_without_arguments() -> None:
    @ac.compile
    def one(a: ac.Tensor) -> ac.Tensor:
        """Add one."""
        return a + 1

    @ac.compile(fallback=True)
    def two(a: ac.Tensor) -> ac.Tensor:
        return a + 2

    for _ in range(4):
        assert one(x).tolist() == (x + 1).tolist()
        assert two(x).tolist() == (x + 2).tolist()
    assert one.__doc__ == "Add one."
    assert one.__name__ == "one"


def test_a_module_keeps_its_attributes() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    run = ac.compile(model)
    with ac.no_grad():
        for _ in range(4):
            assert run(x).tolist() == model(x).tolist()
    assert [p.shape for p in run.parameters()] == [(4, 3), (4,)]
    run.eval()
    assert not model.training


def test_a_method_is_bound() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.scale = 3.0

        @ac.compile
        def run(self, a: ac.Tensor) -> ac.Tensor:
            return a * self.scale

    trainer = Trainer()
    for _ in range(4):
        assert trainer.run(x).tolist() == (x * 3).tolist()


def test_disable_returns_the_function() -> None:
    assert ac.compile(step, disable=True) is step


def test_arguments_of_pytorch_are_taken() -> None:
    run = ac.compile(step, fullgraph=True, dynamic=False, backend="inductor", mode="x")
    assert run(x).item() == step(x).item()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fallback": 3}, ArgumentError, "compile: `fallback` is 3; it must be True"),
        ({"check": -1}, ArgumentError, "`check` is -1; it must be 0 or more"),
        ({"limit": -5}, ArgumentError, "`limit` is -5; it must be 0 or more bytes"),
        ({"off": "fast"}, ArgumentError, "compile: there is no pass 'fast'; the"),
        ({"dynamic": "x"}, ArgumentError, "`dynamic` is 'x'; it must be True or False"),
    ],
)
def test_impossible_arguments(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ac.compile(step, **options)


def test_what_is_no_function() -> None:
    with pytest.raises(DTypeError, match="`model` is a int; it must be a function or"):
        ac.compile(3)


def test_a_program_prints_as_a_table() -> None:
    lines = str(ready(step, x, off=APART).programs[0]).splitlines()
    assert lines[0].split() == [
        *("kernel", "by", "results", "operands", "bytes", "FLOPs", "from")
    ]
    assert [line.split()[1] for line in lines[1:5]] == ["mul", "add", "exp", "sum"]
    assert "2x3" in lines[1]


def test_the_memory_of_a_program_is_known_before_it_runs(tmp_path: Path) -> None:
    memory = ready(step, x, off=APART).programs[0].memory
    assert memory.peak == memory.lower_bound == 64
    assert len(memory.table().splitlines()) == 4
    pytest.importorskip("matplotlib")
    memory.plot(tmp_path / "memory.svg")
    assert "instruction" in (tmp_path / "memory.svg").read_text()


def test_results_are_never_written_again() -> None:
    run = ready(step, x)
    results = [run(x * i) for i in range(4)]
    assert [r.item() for r in results] == [step(x * i).item() for i in range(4)]


def test_results_hold_no_history() -> None:
    w = ac.ones(3, requires_grad=True)

    def train(a: ac.Tensor) -> ac.Tensor:
        loss = (a * w).sum()
        loss.backward()
        w.grad = None
        return loss

    assert not ready(train, x)(x).requires_grad


def test_another_shape_is_another_program() -> None:
    run = ready(step, x)
    for _ in range(3):
        run(x[:1])
    assert len(run.programs) == 2


def test_calls_inside_a_compiled_function_are_part_of_it() -> None:
    inner = ac.compile(step)
    run = ready(lambda a: inner(a) + 1, x, off=APART)
    assert [i.name for i in run.programs[0].instructions] == [
        *("mul", "add", "exp", "sum", "add")
    ]
    assert not inner.programs


def test_check_compares_with_eager_code() -> None:
    layer = nn.Linear(3, 2)
    sgd = ac.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)

    def train(a: ac.Tensor) -> ac.Tensor:
        sgd.zero_grad()
        loss = nn.functional.dropout(layer(a), 0.5).square().mean()
        loss.backward()
        sgd.step()
        return loss

    run = ac.compile(train, check=2)
    for _ in range(9):
        run(x)
    assert len(run.programs) == 1
    run._function = lambda a: train(a) * 1.5
    with pytest.raises(CompileError, match=r"differs from eager code: result 0 is off"):
        run(x), run(x)


def test_exact_replays_have_the_bits_of_eager_code() -> None:
    kept = []
    for exact in (None, True):
        ac.manual_seed(0)
        model = nn.Sequential(
            nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.GELU(), nn.Flatten(),
            nn.Linear(288, 16), nn.GELU(), nn.Linear(16, 2),
        )  # fmt: skip
        sgd = ac.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

        def train(a: ac.Tensor, model: nn.Module = model, sgd: Any = sgd) -> ac.Tensor:
            sgd.zero_grad()
            loss = model(a).square().mean() + model(a * 2).mean()
            loss.backward()
            sgd.step()
            return loss

        run = train if exact is None else ac.compile(train, exact=exact)
        kept.append([run(ac.randn(4, 3, 8, 8)).item() for _ in range(8)])
    assert kept[0] == kept[1]


def test_a_profiler_stays_on() -> None:
    import cProfile

    profiler = cProfile.Profile()
    run = ac.compile(step)
    profiler.enable()
    for _ in range(3):
        run(x)
    ac.ones(3).tolist()
    profiler.disable()
    assert any("tolist" in str(entry.code) for entry in profiler.getstats())


def test_a_limit_of_memory_refuses_with_the_numbers() -> None:
    run = ac.compile(step, limit=64)
    for _ in range(3):
        run(x)
    assert run.programs[0].memory.peak == 64
    run = ac.compile(step, limit=63)
    run(x)
    message = (
        r"temporaries need 64 bytes, `limit` is 63; 64 are reached by recomputation. "
        r"At least 64 live at one time: 24 of .*at test_public.py:.* a limit of 64 or"
    )
    with pytest.raises(CompileError, match=message):
        run(x)
    run = ac.compile(step, limit=63, fallback=True)
    run(x)
    with pytest.warns(CompileWarning, match=message):
        run(x)
    assert run(x).item() == step(x).item()

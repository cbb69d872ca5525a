# SPDX-License-Identifier: MIT
"""What is cheap is made again under a limit: less memory, the same bits."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.compile.parts import DEPTH, lives, occupancy, plan
from tests.compile.passes import Make, eager, names, recomputation, run, same

import autocalc as ac
from autocalc import nn, optim
from autocalc.errors import CompileError, CompileWarning
from autocalc.nn import functional as F

PASS = "recomputation"


def step_of(model: nn.Module, *shape: int) -> Callable[[], Any]:
    """Return a training step that draws its own images or sequences."""
    sgd = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def step() -> Any:
        sgd.zero_grad()
        loss = model(ac.randn(*shape)).square().mean()
        loss.backward()
        sgd.step()
        return loss, *(p.detach().clone() for p in model.parameters())

    return step


def perceptron() -> Callable[[], Any]:
    layers = [nn.Sequential(nn.Linear(32, 32), nn.SiLU()) for _ in range(6)]
    return step_of(nn.Sequential(*layers), 200, 32)


def transformer(dropout: float = 0.0) -> Callable[[], Any]:
    layer = nn.TransformerEncoderLayer(16, 2, 64, dropout, "gelu", batch_first=True)
    twin = nn.TransformerEncoderLayer(16, 2, 64, dropout, "gelu", batch_first=True)
    return step_of(nn.Sequential(layer, twin), 4, 24, 16)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(4, 4, 3, padding=1) for _ in range(4)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(4) for _ in range(4)])

    def forward(self, x: Any) -> Any:
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = x + F.relu(norm(conv(x)))
        return x


def residual() -> Callable[[], Any]:
    return step_of(Residual(), 4, 4, 12, 12)


def peak(step: Any) -> int:
    (program,) = step.programs
    found: int = program.memory.peak
    return found


def again(step: Any) -> list[str]:
    """Return the kernels that run a second time."""
    (program,) = step.programs
    return [i.name for i in program.instructions if i.recomputed]


def under(make: Make, share: float, **words: Any) -> Any:
    """Check results under a limit, a share of the peak; return both functions."""
    want, full = run(make, **words)
    limit = int(share * peak(full))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        have, less = run(make, limit=limit, **words)
    same(want, have)
    assert peak(less) <= limit
    return full, less


@pytest.mark.parametrize("share", [0.9, 0.75, 0.6])
@pytest.mark.parametrize("make", [perceptron, transformer, residual])
def test_results_keep_their_bits(make: Make, share: float) -> None:
    full, less = under(make, share, off=())
    assert again(less)
    assert not again(full)
    assert len(names(less)) == len(names(full)) + len(again(less))


@pytest.mark.parametrize("make", [perceptron, transformer, residual])
def test_exact_programs_have_the_bits_of_eager_code(make: Make) -> None:
    off = ("accumulate", "epilogues", "norm_epilogues")
    _, full = run(make, off=off)
    have, less = run(make, off=off, limit=int(0.8 * peak(full)))
    same(eager(make), have)
    assert again(less)


def test_a_limit_that_is_kept_changes_nothing() -> None:
    _, full = run(perceptron)
    _, same_program = run(perceptron, limit=peak(full))
    assert names(same_program) == names(full)


def test_it_can_be_left_out() -> None:
    _, full = run(perceptron)
    message = r"need ([\d,]+) bytes, `limit` is [\d,]+; \1 are reached by recomputation"
    with pytest.raises(CompileError, match=message):
        run(perceptron, limit=peak(full) - 64, off=(PASS,))


def test_a_limit_below_what_is_reached_is_refused_with_the_numbers() -> None:
    message = (
        r"need ([\d,]+) bytes, `limit` is 1,000; [\d,]+ are reached by recomputation. "
        r"At least [\d,]+ live at one time: [\d,]+ of \w+ at .*py:\d+, .*of others. Use"
    )
    with pytest.raises(CompileError, match=message):
        run(perceptron, limit=1000)


def test_the_activation_of_a_product_is_made_of_its_operand() -> None:
    pytest.importorskip("autocalc_kernels_simd")
    _, less = under(transformer, 0.75, off=())
    assert "gelu" in again(less)
    lines = str(less.programs[0]).splitlines()
    assert any("recomputed: linear + gelu" in line for line in lines)


def test_products_come_last_and_with_a_warning() -> None:
    def make() -> Any:
        w = [ac.randn(32, 32, requires_grad=True) for _ in range(6)]
        x = ac.randn(400, 32)

        def step() -> Any:
            y = x
            for one in w:
                y = y @ one
            grads = ac.autograd.grad(y.square().mean(), w)
            return tuple(grads)

        return step

    want, full = run(make)
    with pytest.warns(
        CompileWarning, match=r"computes \d products a second time \(gemm\).*GFLOP"
    ):
        have, less = run(make, limit=int(0.8 * peak(full)))
    same(want, have)
    assert set(again(less)) == {"gemm"}


@pytest.mark.parametrize("share", [0.85, 0.7, 0.55])
def test_random_numbers_are_those_of_the_first_draw(share: float) -> None:
    _, less = under(lambda: transformer(0.3), share, off=())
    cells = {}
    for i in less.programs[0].instructions:
        if "dropout" in i.name and len(i.inputs) == 3:  # with a seed and an offset
            mask = cells.setdefault(i.inputs[1:], i.outputs[1])
            assert (i.outputs[1] != mask) == i.recomputed


def crowded(first: Callable[[Any], Any], *, writes: bool = False) -> Make:
    """Return a function that reads `first(x)` before and after the peak of memory."""

    def make() -> Any:
        x, z = ac.randn(1000), ac.randn(1000)

        def step() -> Any:
            y = first(x)
            total = (y + 1.0).sum()
            if writes:
                x.mul_(0.5)
            crowd = (z.cos() * z.erf()).sum()
            return total, crowd, (y * 2.0).sum()

        return step

    return make


@pytest.mark.parametrize(
    ("first", "calls"),
    [
        (ac.exp, ["exp"]),
        (lambda x: F.dropout(x, 0.5), ["dropout"]),
        (lambda x: x + ac.rand(1000), ["uniform", "add"]),
        (lambda x: x.exp().tanh().sin(), ["exp", "tanh", "sin"]),
        (lambda x: F.softmax(x.reshape(10, 100), 1), ["softmax"]),
        (lambda x: F.layer_norm(x.double(), (1000,)), ["copy", "layer_norm"]),
    ],
)
def test_a_value_is_made_of_what_is_there(first: Any, calls: list[str]) -> None:
    make = crowded(first)
    want, full = run(make)
    have, less = run(make, limit=peak(full) - 64)
    same(want, have)
    assert again(less) == calls


def test_what_was_written_since_is_not_read_again() -> None:
    make = crowded(ac.exp, writes=True)
    _, full = run(make)
    with pytest.raises(CompileError, match="are reached by recomputation"):
        run(make, limit=peak(full) - 64)


def test_long_chains_are_left() -> None:
    def first(x: Any) -> Any:
        for _ in range(DEPTH + 1):
            x = x.exp().sin()
        return x

    _, full = run(crowded(first))
    with pytest.raises(CompileError, match="are reached by recomputation"):
        run(crowded(first), limit=peak(full) - 64)


def test_the_table_marks_what_runs_again() -> None:
    _, less = under(perceptron, 0.8)
    lines = str(less.programs[0]).splitlines()
    assert sum(line.endswith("recomputed") for line in lines) == len(again(less))


def test_occupancy_is_what_the_plan_must_hold() -> None:
    for make in (perceptron, transformer, residual):
        _, step = run(make)
        program = step.programs[0].program
        places = plan(program)
        assert max(occupancy(program, lives(program))) == places.bound


def test_the_cheapest_for_its_bytes_is_taken() -> None:
    def make() -> Any:
        x = ac.randn(1000)

        def step() -> Any:
            cheap, costly = x + 1.0, x.erf()
            first = (cheap * costly).sum()
            y = (x.sin() * x.cos() - x.tanh()).sum()
            return first, y, (cheap - costly).sum()

        return step

    _, full = run(make)
    _, less = run(make, limit=peak(full) - 64)
    assert again(less) == ["add"]


def test_without_a_limit_the_program_is_the_same_object() -> None:
    _, step = run(perceptron)
    program = step.programs[0].program
    assert recomputation.run(program) is program
    assert program.needed is None


def test_the_report_tells_what_was_needed() -> None:
    full, less = under(residual, 0.75)
    assert less.programs[0].memory.needed == peak(full)
    assert full.programs[0].memory.needed == peak(full)
    assert np.isclose(peak(less) / peak(full), 0.75, atol=0.1)

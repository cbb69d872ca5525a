# SPDX-License-Identifier: MIT
"""Compiled programs under a profile: instruction by instruction, the same bits."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc._compile._replay import Replay


def test_each_instruction_is_a_call_and_the_program_is_the_same(training):
    for _ in range(3):
        training.compiled()
    (program,) = training.compiled.programs
    with ac.profiler.profile() as prof:
        for _ in range(4):
            training.compiled()
    assert training.compiled.programs == [program]
    assert len(prof.steps) == 3
    ran = [row for row in prof.table(limit=None).rows if row.calls]
    assert sum(row.calls for row in ran) == 3 * len(program.instructions)
    whole = sum(row.self_time + row.python for row in prof.table().rows)
    assert whole == pytest.approx(sum(prof.steps), rel=1e-6)
    (step,) = [r for r in prof.table("module").rows if r.name.startswith("compiled")]
    assert step.total == pytest.approx(whole, rel=0.2)


def test_operators_and_modules_are_those_of_the_recording(training):
    for _ in range(3):
        training.compiled()
    with ac.profiler.profile() as prof:
        for _ in range(3):
            training.compiled()
    operators = {row.name for row in prof.table("operator").rows}
    assert operators >= {"linear", "linear backward", "gelu backward"}
    found = {
        (key.place.label, key.site.name(key.kernel.label))
        for key in prof._ended.sums
        if key.kernel is not None
    }
    assert ("Net.block.0", "linear") in found
    assert ("Net.out", "linear backward") in found
    assert ("Net.block.1", "gelu backward") in found
    assert (next(n for n, op in found if op == "adamw optimizer")).startswith(
        "compiled"
    )
    rows = {row.name: row for row in prof.table("module").rows}
    assert rows["Net.block"].total >= rows["Net.block.0"].total > 0
    parts = rows["Net.block"].total + rows["Net.out"].total
    assert rows["Net"].total == pytest.approx(parts)
    # What a replay does before its first instruction is nobody's but its own.
    others = sum(r.python for n, r in rows.items() if n.startswith("Net"))
    assert next(r for n, r in rows.items() if n.startswith("compiled")).python > others


def test_work_is_that_of_the_instructions(training):
    from tests.compile.parts import work_of

    for _ in range(3):
        training.compiled()
    (program,) = training.compiled.programs
    with ac.profiler.profile(warmup=0) as prof:
        training.compiled()
    flops = sum(
        key.kernel.work.flops * sums.calls
        for key, sums in prof._ended.sums.items()
        if key.kernel is not None
    )
    assert flops == sum(work_of(i).flops for i in program.instructions) > 0


def test_losses_before_during_and_after_are_those_without_a_profile(training):
    ac.manual_seed(5)
    plain = type(training)()
    expected = [plain.compiled().item() for _ in range(12)]
    ac.manual_seed(5)
    other = type(training)()
    losses = [other.compiled().item() for _ in range(4)]
    with ac.profiler.profile():
        losses += [other.compiled().item() for _ in range(4)]
    losses += [other.compiled().item() for _ in range(4)]
    assert losses == expected
    for a, b in zip(plain.net.parameters(), other.net.parameters(), strict=True):
        assert ac.equal(a, b)
        assert ac.equal(a.grad, b.grad)


def test_what_is_compiled_within_is_compiled_as_ever(training):
    with ac.profiler.profile() as prof:
        for _ in range(5):
            training.compiled()
    (program,) = training.compiled.programs
    other = type(training)()
    for _ in range(3):
        other.compiled()
    (expected,) = other.compiled.programs
    assert [i.name for i in program.instructions] == [
        i.name for i in expected.instructions
    ]
    recordings = [i.native is None for i in program.instructions]
    assert recordings == [i.native is None for i in expected.instructions]
    training.compiled()
    assert training.compiled.programs == [program]
    assert len(prof.steps) >= 1


def test_arguments_results_and_replaced_parameters_are_followed(training):
    net = training.net
    infer = ac.compile(lambda x: net(x).softmax(1))
    xs = [ac.randn(16, 32) for _ in range(6)]
    with ac.no_grad():
        expected = [net(x).softmax(1) for x in xs]
        found = [infer(x) for x in xs[:3]]
        with ac.profiler.profile():
            found += [infer(x) for x in xs[3:]]
        for a, b in zip(found, expected, strict=True):
            assert ac.allclose(a, b, atol=1e-6)
        net.out.weight.data = net.out.weight.data * 2
        with ac.profiler.profile():
            assert ac.allclose(infer(xs[0]), net(xs[0]).softmax(1), atol=1e-6)
        assert ac.allclose(infer(xs[1]), net(xs[1]).softmax(1), atol=1e-6)


def test_callbacks_are_called_once_in_each_replay():
    seen = []

    @ac.compile
    def step(x):
        y = x * 2
        ac.callback(lambda t: seen.append(t.tolist()), y)
        return y + 1

    for i in range(3):
        step(ac.full((2,), i))
    seen.clear()
    with ac.profiler.profile(warmup=0) as prof:
        y = step(ac.full((2,), 7))
    assert seen == [[14, 14]]
    assert y.tolist() == [15, 15]
    assert "callback" in {row.name for row in prof.table().rows}


def test_an_error_in_a_replay_leaves_it_usable():
    @ac.compile
    def loss(logits, labels):
        return ac.nn.functional.cross_entropy(logits, labels)

    logits, labels = ac.randn(4, 3), ac.tensor([0, 1, 2, 0])
    expected = [loss(logits, labels) for _ in range(3)][-1]
    run = Replay.run
    with ac.profiler.profile():
        with pytest.raises(IndexError):
            loss(logits, ac.tensor([0, 1, 9, 0]))
        assert loss(logits, labels).item() == expected.item()
    assert Replay.run is run
    assert loss(logits, labels).item() == expected.item()

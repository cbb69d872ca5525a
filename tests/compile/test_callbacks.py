# SPDX-License-Identifier: MIT
"""Callbacks: functions of the user's that run between the kernels of a replay."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.compile.test_replay import WAYS, choose

import autocalc as ac
from autocalc import nn, optim
from autocalc.errors import CompileError
from autocalc.nn import functional as F

STEPS = 7


@pytest.fixture(params=WAYS, autouse=True)
def way(request: Any, monkeypatch: Any) -> str:
    choose(request.param, monkeypatch)
    return str(request.param)


def normal(*shape: int, seed: int = 5) -> ac.Tensor:
    return ac.randn(*shape, generator=ac.Generator().manual_seed(seed))


def calls(step: Callable[..., Any], *shape: int) -> list[Any]:
    """Return what a step of one tensor gives from call to call."""
    return [step(normal(*shape, seed=i)).tolist() for i in range(STEPS)]


def both(make: Callable[[], Any], *shape: int, **words: Any) -> Any:
    """Check that a step gives the same eagerly and compiled; return it compiled."""
    want = calls(make(), *shape)
    run: Any = ac.compile(make(), **words)
    assert calls(run, *shape) == want
    assert len(run.programs) == 1
    assert run._replays >= STEPS - 3
    return run


# ---- training in parallel


class Network:
    """Adds the gradients of another process, at once or in a thread."""

    def __init__(self, model: nn.Module, threads: bool) -> None:
        self.others = {id(p): ac.full(p.shape, 0.01 * i)
                       for i, p in enumerate(model.parameters())}  # fmt: skip
        self.threads = threads
        self.at_work: list[threading.Thread] = []
        self.events: list[str] = []
        self.may_end = threading.Event()

    def start(self, name: str, others: list[ac.Tensor], *grads: ac.Tensor) -> None:
        self.events.append(f"start {name}")

        def add() -> None:
            if self.threads:
                self.may_end.wait(5)
            for grad, other in zip(grads, others, strict=True):
                grad.add_(other)

        if not self.threads:
            add()
            return
        worker = threading.Thread(target=add)
        worker.start()
        self.at_work.append(worker)

    def wait(self) -> None:
        self.events.append("wait")
        self.may_end.set()
        for worker in self.at_work:
            worker.join()
        self.at_work.clear()
        self.may_end.clear()


def parallel(network_of: Callable[[nn.Module], Network]) -> tuple[Any, Any, Network]:
    """Return a model, its step with two buckets of gradients, and the network."""
    ac.manual_seed(3)
    model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 4))
    sgd = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    network = network_of(model)
    for name, layer in (("last", model[2]), ("first", model[0])):
        bucket = list(layer.parameters())
        others = [network.others[id(p)] for p in bucket]
        missing: list[Any] = []

        def hook(param: Any, name: Any, bucket: Any, others: Any, missing: Any) -> None:
            missing.append(param)
            if len(missing) == len(bucket):
                missing.clear()
                grads = [p.grad for p in bucket]
                start = partial(network.start, name, others)
                ac.callback(start, *grads, mutates=grads)

        for param in bucket:
            words = {"name": name, "bucket": bucket, "others": others}
            one = partial(hook, missing=missing, **words)
            param.register_post_accumulate_grad_hook(one)

    def step(x: ac.Tensor) -> ac.Tensor:
        sgd.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        ac.callback(network.wait, mutates=[p.grad for p in model.parameters()])
        sgd.step()
        return loss

    return model, step, network


@pytest.mark.parametrize("threads", [False, True])
def test_two_buckets_of_gradients_are_reduced_in_hooks(threads: bool) -> None:
    one, eager, _ = parallel(lambda m: Network(m, threads))
    two, step, network = parallel(lambda m: Network(m, threads))
    run: Any = ac.compile(step, exact=True)
    assert calls(run, 8, 12) == calls(eager, 8, 12)
    assert len(run.programs) == 1
    assert network.events == ["start last", "start first", "wait"] * STEPS
    for p, q in zip(one.parameters(), two.parameters(), strict=True):
        assert p.tolist() == q.tolist()
        assert p.grad.tolist() == q.grad.tolist()


def test_communication_begins_while_backward_goes_on() -> None:
    _, step, _ = parallel(lambda m: Network(m, False))
    run: Any = ac.compile(step)
    calls(run, 8, 12)
    (program,) = run.programs
    names = [i.name for i in program.instructions]
    first = names.index("callback")
    assert names[first - 1] in {"linear_backward", "linear_relu_backward"}
    assert "linear_backward" in names[first + 1 :]


# ---- what a callback is given


def test_it_sees_values_that_are_complete_at_its_place() -> None:
    seen: list[Any] = []

    def make() -> Any:
        def step(x: ac.Tensor) -> ac.Tensor:
            y = x * 2
            ac.callback(lambda a, b: seen.append([a.tolist(), b.tolist()]), x, y)
            y += 1
            ac.callback(lambda a: seen.append(a.tolist()), y)
            return y.exp()

        return step

    want = calls(make(), 3)
    eager, seen[:] = list(seen), []
    run: Any = ac.compile(make())
    assert calls(run, 3) == want
    assert seen == eager
    assert len(run.programs) == 1


def test_what_it_writes_is_read_by_later_instructions() -> None:
    def triple(a: ac.Tensor) -> None:
        a.mul_(3)

    def make() -> Any:
        state = ac.zeros(4)

        def step(x: ac.Tensor) -> ac.Tensor:
            y = x.exp()
            z = y + 1
            ac.callback(triple, y, mutates=y)
            ac.callback(lambda a, b: a.add_(b), state, y, mutates=(state,))
            return y * 2 + z + y.exp() + state

        return step

    both(make, 4)


def test_it_fills_what_is_empty_and_changes_what_python_filled() -> None:
    def fill(out: ac.Tensor, numbers: ac.Tensor, x: ac.Tensor) -> None:
        out.copy_(x * 3)
        numbers.add_(1)

    def make() -> Any:
        def step(x: ac.Tensor) -> ac.Tensor:
            out, numbers = ac.empty(3), ac.tensor([1.0, 2.0, 3.0])
            before = numbers * 2
            ac.callback(fill, out, numbers, x, mutates=[out, numbers])
            return out + numbers + before + ac.empty_like(out).copy_(out)

        return step

    both(make, 3)


def test_what_it_writes_can_be_returned() -> None:
    def make() -> Any:
        def step(x: ac.Tensor) -> ac.Tensor:
            y = ac.empty(3)
            ac.callback(lambda a, b: a.copy_(b), y, x, mutates=y)
            return y

        return step

    run = both(make, 3)
    first, second = run(normal(3, seed=1)), run(normal(3, seed=2))
    assert first.tolist() == normal(3, seed=1).tolist()
    assert second.tolist() == normal(3, seed=2).tolist()


def test_parameters_come_as_themselves_and_others_without_history() -> None:
    weight = nn.Parameter(normal(3))
    seen: list[Any] = []

    def look(w: Any, y: Any) -> None:
        seen.append((w is weight, y.requires_grad, ac.is_grad_enabled()))

    def step(x: ac.Tensor) -> ac.Tensor:
        weight.grad = None
        y = weight * x
        ac.callback(look, weight, y)
        y.sum().backward()
        return y.detach()

    run = ac.compile(step)
    calls(run, 3)
    assert len(run.programs) == 1
    assert seen == [(True, False, False)] * STEPS


def test_many_tensors_are_given_at_once() -> None:
    counts: list[int] = []

    def step(x: ac.Tensor) -> ac.Tensor:
        parts = [x * i for i in range(100)]
        ac.callback(lambda *some: counts.append(len(some)), *parts)
        return parts[-1]

    run = ac.compile(step)
    calls(run, 3)
    assert len(run.programs) == 1
    assert counts == [100] * STEPS


def test_module_hooks_call_back() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    means: list[float] = []

    def note(y: ac.Tensor) -> None:
        means.append(y.mean().item())

    def hook(module: Any, given: Any, out: Any) -> None:
        ac.callback(note, out)

    model[0].register_forward_hook(hook)
    run = ac.compile(model)
    x = normal(2, 3)
    with ac.no_grad():
        for _ in range(5):
            run(x)
        assert means == [F.linear(x, model[0].weight, model[0].bias).mean().item()] * 5
    assert len(run.programs) == 1


def test_passes_leave_what_callbacks_see() -> None:
    seen: list[Any] = []

    def make() -> Any:
        ac.manual_seed(3)
        w, v = nn.Parameter(ac.randn(6, 6)), nn.Parameter(ac.randn(6, 6))
        b = nn.Parameter(ac.randn(6))

        def step(x: ac.Tensor) -> ac.Tensor:
            w.grad = v.grad = b.grad = None
            h = F.linear(x, w, b)
            ac.callback(lambda h: seen.append(h.tolist()), h)
            y = F.linear(F.linear(h.relu(), w), v).exp() * 0.1 + h
            ac.callback(lambda y: y.clamp_(-1, 1), y.detach(), mutates=y.detach())
            total = ac.zeros(6, 6)
            for a in (w, v):
                total += a.matmul(a).detach()
                ac.callback(lambda t: seen.append(t.tolist()), total)
            y.sum().backward()
            grads = [p.grad for p in (w, v, b)]
            ac.callback(lambda *g: seen.append([x.tolist() for x in g]), *grads)
            return total

        return step

    want = calls(make(), 4, 6)
    eager, seen[:] = list(seen), []
    run: Any = ac.compile(make())
    np.testing.assert_allclose(calls(run, 4, 6), want, rtol=1e-4, atol=1e-5)
    assert len(run.programs) == 1
    assert len(seen) == len(eager) == 4 * STEPS
    for have, wanted in zip(seen, eager, strict=True):
        flat = (np.concatenate([np.ravel(x) for x in some]) for some in (have, wanted))
        np.testing.assert_allclose(*flat, rtol=2e-4, atol=1e-4)


# ---- memory


def test_what_is_kept_stays_as_it_is() -> None:
    kept: list[ac.Tensor] = []

    def keep(y: ac.Tensor) -> None:
        kept.append(y)

    def step(x: ac.Tensor) -> ac.Tensor:
        y = x * 2
        ac.callback(keep, y)
        return (y + 1).exp() * 3

    run: Any = ac.compile(step)
    calls(run, 4)
    assert len(run.programs) == 1
    for i, y in enumerate(kept):
        assert y.tolist() == (normal(4, seed=i) * 2).tolist()
    assert len({y.data_ptr() for y in kept}) == STEPS


def test_what_is_not_kept_is_freed_and_its_memory_used_again() -> None:
    seen: list[Any] = []
    places: set[int] = set()

    def look(y: ac.Tensor) -> None:
        seen.append(weakref.ref(y))
        places.add(y.data_ptr())

    def step(x: ac.Tensor) -> ac.Tensor:
        y = x * 2
        ac.callback(look, y)
        return y.sum()

    run = ac.compile(step)
    calls(run, 1000)
    places.clear()
    calls(run, 1000)
    assert [one() for one in seen] == [None] * len(seen)
    assert len(places) == 1
    (program,) = run.programs
    assert program.memory.results == 4000 + 4


def test_a_program_that_is_dropped_drops_its_callback() -> None:
    class Note:
        def __call__(self, y: ac.Tensor) -> None:
            self.y = y

    note = Note()
    gone, count = weakref.ref(note), ac.live_node_count()

    def step(x: ac.Tensor, note: Note = note) -> ac.Tensor:
        y = x * 2
        ac.callback(note, y)
        return y + 1

    run: Any = ac.compile(step)
    calls(run, 3)
    del run, step, note
    gc.collect()
    assert gone() is None
    assert ac.live_node_count() == count


def test_what_the_function_keeps_is_still_an_error() -> None:
    class Holder:
        y: Any

    holder = Holder()

    def step(x: ac.Tensor) -> ac.Tensor:
        y = x * 2
        ac.callback(lambda y: None, y)
        vars(holder).update(y=y)
        return y.sum()

    run = ac.compile(step)
    with pytest.raises(CompileError, match=r"a tensor of shape \(3,\) that it makes"):
        calls(run, 3)


# ---- errors in it


def test_an_error_ends_the_step_and_the_next_call_replays() -> None:
    model = nn.Linear(3, 2)
    sgd = optim.SGD(model.parameters(), lr=0.1)
    fail: list[str] = []

    def check(grad: ac.Tensor) -> None:
        if fail:
            raise ValueError(fail.pop())

    def step(x: ac.Tensor) -> ac.Tensor:
        sgd.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        ac.callback(check, model.weight.grad)
        sgd.step()
        return loss

    run: Any = ac.compile(step)
    x = normal(4, 3)
    for _ in range(4):
        run(x)
    before = model.weight.tolist()
    fail.append("the other process is gone")
    with pytest.raises(ValueError, match="the other process is gone"):
        run(x)
    assert model.weight.tolist() == before
    assert model.weight.grad is None
    assert model.bias.grad is None
    replays = run._replays
    have = run(x).item()
    assert run._replays == replays + 1
    with ac.no_grad():
        weight = ac.tensor(before)
        bias = model.bias + 0.1 * model.bias.grad
        want = F.linear(x, weight, bias).square().sum().item()
    assert have == pytest.approx(want, rel=1e-5)


def test_an_error_while_it_is_recorded_is_the_callers() -> None:
    def broken(y: ac.Tensor) -> None:
        raise KeyError("no such rank")

    def step(x: ac.Tensor) -> ac.Tensor:
        ac.callback(broken, x)
        return x * 2

    run = ac.compile(step)
    for _ in range(3):
        with pytest.raises(KeyError, match="no such rank"):
            run(normal(3))
    assert run.programs == []


def test_a_program_does_not_run_within_itself() -> None:
    again: list[bool] = []
    x = normal(3)

    def call_again(y: ac.Tensor) -> None:
        if again:
            again.clear()
            with ac.enable_grad():
                run(normal(3))

    def step(x: ac.Tensor) -> ac.Tensor:
        y = x * 2
        ac.callback(call_again, y)
        return y

    run: Any = ac.compile(step)
    for _ in range(4):
        run(x)
    again.append(True)
    with pytest.raises(CompileError, match="compile: this program is at work"):
        run(x)
    assert run(x).tolist() == (x * 2).tolist()


def test_it_may_run_other_compiled_functions_and_draw() -> None:
    other: Any = ac.compile(lambda y: (y * 3).exp())

    def make() -> Any:
        ac.manual_seed(7)

        def fill(out: ac.Tensor, y: ac.Tensor) -> None:
            out.copy_(other(y) + ac.rand(3))

        def step(x: ac.Tensor) -> ac.Tensor:
            out = ac.empty(3)
            ac.callback(fill, out, x * 2, mutates=out)
            return out + ac.rand(3)

        return step

    want = calls(make(), 3)
    run: Any = ac.compile(make())
    np.testing.assert_allclose(calls(run, 3), want, rtol=1e-6)
    assert len(run.programs) == 1

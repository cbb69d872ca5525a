# SPDX-License-Identifier: MIT
"""Numbers, attributes, globals and closures of a compiled function: none is frozen."""

from __future__ import annotations

import gc
import math
from typing import Any

import pytest
from tests.compile.passes import Compiled

import autocalc as ac
from autocalc import nn
from autocalc.errors import CompileError, CompileWarning

beta = 1.0


def repeated(run: Any, *args: Any, count: int = 8) -> None:
    for _ in range(count):
        run(*args)


x = ac.tensor([1.0, 2.0, 3.0])


def test_a_number_among_the_arguments_is_an_input() -> None:
    run: Any = Compiled(lambda a, t: a * t + 1.0)
    steps = [0.5, 1.0, 2.0, -3.0, 0.25, 7.0]
    for t in steps:
        assert run(x, t).tolist() == (x * t + 1.0).tolist()
    assert len(run.programs) == 1


def test_a_keyword_number_is_an_input() -> None:
    run: Any = Compiled(lambda a, *, t: (a - t).exp())
    for t in (0.5, 1.5, 2.5, 3.5):
        assert run(x, t=t).tolist() == (x - t).exp().tolist()
    assert len(run.programs) == 1


def test_a_number_that_shapes_depend_on_leads_to_another_program() -> None:
    run: Any = Compiled(lambda a, n: a[:n].sum())
    for n in (1, 1, 1, 2, 2, 2, 1, 2):
        assert run(x, n).item() == x[:n].sum().item()
    assert len(run.programs) == 2


def test_numbers_that_take_turns_have_a_program_each() -> None:
    run: Any = Compiled(lambda a, flag: a * 2 if flag > 0 else a.exp())
    for flag in (0.0, 1.0) * 4:
        expected = x * 2 if flag > 0 else x.exp()
        assert run(x, flag).tolist() == expected.tolist()
    assert len(run.programs) == 2


def test_a_number_computed_of_an_argument_is_an_input() -> None:
    run: Any = Compiled(lambda a, t: a * (1 - t * 0.5) + -t)
    for t in map(float, range(9)):
        assert run(x, t).tolist() == (x * (1 - t * 0.5) + -t).tolist()
    assert len(run.programs) == 1


def test_a_number_derived_in_another_way_is_refused_with_its_line() -> None:
    run: Any = Compiled(lambda a, t: a * math.sin(t))
    calls = map(run, [x] * 9, map(float, range(9)))
    with pytest.raises(CompileError, match=r"differs from call to call .*math\.sin"):
        list(calls)


collections = 0


def count_collections(*_: Any) -> None:
    global collections
    collections += 1


def test_what_runs_at_collections_of_garbage_is_not_the_functions() -> None:
    def step(a: ac.Tensor) -> ac.Tensor:
        gc.collect()
        return a * 2

    gc.callbacks.append(count_collections)
    try:
        run: Any = Compiled(step)
        repeated(run, x, count=4)
    finally:
        gc.callbacks.remove(count_collections)
    assert collections > 0
    assert len(run.programs) == 1


def test_a_global_number_is_an_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def scaled(a: ac.Tensor) -> ac.Tensor:
        return a * beta

    run: Any = Compiled(scaled)
    for value in (1.0, 2.0, 3.0, 4.0, 5.0):
        monkeypatch.setitem(globals(), "beta", value)
        assert run(x).tolist() == (x * value).tolist()
    assert len(run.programs) == 1


def test_a_variable_of_the_enclosing_function_is_an_input() -> None:
    scale = 1.0

    def scaled(a: ac.Tensor) -> ac.Tensor:
        return a * scale

    run: Any = Compiled(scaled)
    for scale in (1.0, 2.0, 3.0, 4.0, 5.0):
        assert run(x).tolist() == (x * scale).tolist()


def test_an_attribute_that_changes_a_shape_leads_to_another_program() -> None:
    class Settings:
        def __init__(self) -> None:
            self.count = 2

    settings = Settings()

    def head(a: ac.Tensor) -> ac.Tensor:
        return a[: settings.count] * 2

    run: Any = Compiled(head)
    for count in (2, 2, 2, 2, 3, 3, 3, 3, 2):
        settings.count = count
        assert run(x).tolist() == (x[:count] * 2).tolist()
    assert len(run.programs) == 2


def test_a_word_in_a_dict_leads_to_another_program() -> None:
    settings = {"kind": "relu"}

    def act(a: ac.Tensor) -> ac.Tensor:
        return a.relu() if settings["kind"] == "relu" else a.tanh()

    run: Any = Compiled(act)
    for kind in ("relu", "relu", "relu", "tanh", "tanh", "tanh", "relu"):
        settings["kind"] = kind
        assert run(x).tolist() == getattr(x, kind)().tolist()


def test_training_and_evaluation_are_two_programs() -> None:
    layer = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    run: Any = Compiled(ac.no_grad()(layer.forward))
    for _ in range(4):
        layer.train()
        run(x)
        layer.eval()
        assert run(x).tolist() == layer(x).tolist()
    layer.train()
    assert run(x).tolist() != run(x).tolist()


def test_a_layer_that_is_replaced_is_seen() -> None:
    model = nn.Sequential(nn.Linear(3, 2))
    run: Any = Compiled(ac.no_grad()(model.forward))
    for _ in range(3):
        run(x)
    model[0] = nn.Linear(3, 2)
    assert run(x).tolist() == model(x).tolist()


def test_reading_a_value_is_refused_with_its_line() -> None:
    def step(a: ac.Tensor) -> float:
        return a.sum().item()

    with pytest.raises(
        CompileError, match=r"item: the value of a tensor is read .*in step: `return"
    ):
        Compiled(step)(x)


@pytest.mark.parametrize("read", ["tolist", "numpy", "__bool__", "__float__"])
def test_every_way_to_read_a_value_is_refused(read: str) -> None:
    with pytest.raises(CompileError, match=": the value of a tensor is read while"):
        Compiled(lambda a: getattr(a.sum(), read)())(x)


def test_shapes_that_depend_on_values_are_refused() -> None:
    with pytest.raises(CompileError, match=": the value of a tensor is read while"):
        Compiled(lambda a: a[a > 1])(x)


def test_a_function_that_cannot_be_replayed_runs_eagerly_if_asked() -> None:
    run: Any = Compiled(lambda a: a * a.sum().item(), fallback=True)
    with pytest.warns(
        CompileWarning, match="cannot be replayed: item: .* runs eagerly"
    ):
        assert run(x).tolist() == [6.0, 12.0, 18.0]
    assert run(x * 2).tolist() == [24.0, 48.0, 72.0]
    assert not run.programs


def test_a_counter_is_an_effect_that_is_refused() -> None:
    count = 0

    def step(a: ac.Tensor) -> ac.Tensor:
        nonlocal count
        count += 1
        return a * 2

    run: Any = Compiled(step)
    with pytest.raises(CompileError, match=r"it changes count, .* `count \+= 1`"):
        repeated(run, x)


def test_a_list_of_losses_is_refused() -> None:
    losses: list[ac.Tensor] = []

    def step(a: ac.Tensor) -> None:
        losses.append(a.sum())

    run: Any = Compiled(step)
    with pytest.raises(CompileError, match="that it makes is kept when it returns"):
        repeated(run, x)


def test_a_list_that_grows_is_an_effect() -> None:
    sizes: list[int] = []

    def step(a: ac.Tensor) -> ac.Tensor:
        sizes.append(a.numel())
        return a * 2

    with pytest.raises(CompileError, match="changes sizes, a Python value"):
        repeated(Compiled(step), x)


def test_a_variable_that_only_inner_functions_use_is_looked_at_if_they_run() -> None:
    scale = 1.0

    def step(a: ac.Tensor) -> ac.Tensor:
        def scaled(t: ac.Tensor) -> ac.Tensor:
            return t * scale

        return scaled(a)

    run: Any = Compiled(step)
    for scale in (1.0, 2.0, 3.0, 4.0, 5.0):
        assert run(x).tolist() == (x * scale).tolist()
    assert len(run.programs) == 1


def test_what_python_fills_starts_anew_in_each_call() -> None:
    def added(a: ac.Tensor) -> list[ac.Tensor]:
        t = ac.tensor([1.0, 2.0, 3.0])
        before = t * 2
        t.add_(a)
        return [t, before]

    def written_in_part(a: ac.Tensor) -> list[ac.Tensor]:
        t = ac.tensor([1.0, 2.0, 3.0])
        t[0] = a[1]
        return [t, t.exp()]

    for step in (added, written_in_part):
        run: Any = Compiled(step)
        for i in range(6):
            have, want = run(x * i), step(x * i)
            assert [t.tolist() for t in have] == [t.tolist() for t in want]
        assert len(run.programs) == 1


def test_a_graph_that_outlives_the_function_is_refused() -> None:
    w = ac.tensor([1.0, 2.0, 3.0], requires_grad=True)
    run: Any = Compiled(lambda a: (a * w).exp().sum())
    with pytest.raises(CompileError, match=r"run backward inside, or record no"):
        repeated(run, x)


def test_print_is_reported_once() -> None:
    def step(a: ac.Tensor) -> ac.Tensor:
        print("step")
        return a * 2

    run: Any = Compiled(step)
    with pytest.warns(
        CompileWarning, match="prints text, or writes .* only while the function is"
    ):
        run(x)
    for _ in range(4):
        assert run(x).tolist() == [2.0, 4.0, 6.0]


def test_an_error_of_the_function_passes_through_and_nothing_is_kept() -> None:
    def step(a: ac.Tensor, fail: bool) -> ac.Tensor:
        if fail:
            raise ValueError("mine")
        return a * 2

    run: Any = Compiled(step)
    with pytest.raises(ValueError, match="mine"):
        run(x, True)
    for _ in range(4):
        assert run(x, False).tolist() == [2.0, 4.0, 6.0]


def test_objects_that_the_function_makes_are_not_held() -> None:
    class Output:
        def __init__(self, logits: ac.Tensor) -> None:
            self.logits = logits

    def total(output: Output) -> ac.Tensor:
        return output.logits.sum()

    def step(a: ac.Tensor) -> ac.Tensor:
        parts = [a * i for i in range(3)]
        largest = max(range(3), key=lambda i: parts[i].shape[0])
        return total(Output(a * 2)) + sum(parts[j] for j in range(largest + 1)).sum()

    run: Any = Compiled(step)
    for _ in range(4):
        assert run(x).item() == step(x).item()
    assert len(run.programs) == 1


@pytest.mark.parametrize("parameter", [False, True])
def test_views_that_come_and_go_are_not_what_owns_memory(parameter: bool) -> None:
    w = ac.ones(3, 3, requires_grad=parameter)
    run: Any = Compiled(lambda x: (x @ w).detach())
    seen: list[Any] = []
    gc.collect()  # which puts `w` after new views in the collector's list
    for count in range(5):
        seen[:] = [w.detach()[count % 2 :], w[1:]]
        assert run(x).tolist() == (x @ w).tolist()
    assert (len(run.programs), run._replays) == (1, 3)


def test_code_without_a_file_is_guarded() -> None:
    """That of `python -c` has the name "<string>", as what `exec` runs."""
    there = {"scale": 2.0}
    exec("def scaled(x):\n    return x * scale", there)
    compiled = ac.compile(there["scaled"])
    x = ac.ones(2)
    for _ in range(4):
        assert compiled(x).tolist() == [2.0, 2.0]
    there["scale"] = 3.0
    assert compiled(x).tolist() == [3.0, 3.0]

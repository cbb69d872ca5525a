# SPDX-License-Identifier: MIT
"""Functions that run the same kernels for the same shapes, whatever the elements."""

from __future__ import annotations

import numpy as np
import pytest
from tests.core.eager_programs import Program
from tests.core.traced_calls import CALLS, Data
from tests.dispatcher import PROCESS, eager
from tests.operator_table import traced

import autocalc as ac

F = ac.nn.functional

#: Without the engine, Python runs the short programs of some functions.
IN_PYTHON = eager.calls is None

#: As often, and a bit more, a call runs in full before it is recorded.
OFTEN = 34


def seen(call, data) -> list[str]:
    """Return what can be seen of the results of a call, or of its error."""
    ac.manual_seed(3)
    try:
        result = call(data)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    found = result if isinstance(result, tuple) else (result,)
    describe = Program(0).describe
    return [
        type(result).__name__,
        *map(describe, found),
        str(ac.random.get_rng_state()),
    ]


@pytest.fixture(autouse=True)
def _empty_table():
    """Begin with a new table: one that other tests have filled is emptied in a call."""
    if PROCESS.remembered is not None:
        PROCESS.remembered = {}


def programs_of(function) -> list[object]:
    """Return what is kept of the calls of a function: short programs, or None."""
    kept = PROCESS.remembered or {}
    if IN_PYTHON:  # which keeps numbers of calls, too
        of = getattr(function, "__wrapped__", None)
        return [x for key, x in kept.items() if key[0] is of and not isinstance(x, int)]
    place = id(function)
    return [x for key, x in kept.items() if int.from_bytes(key[:8], "little") == place]


def programs(name: str) -> list[object]:
    """Return the same of a function by its name."""
    return programs_of(traced.FUNCTIONS[name])


def is_replayed(function) -> bool:
    """Return whether Python runs the short programs of a function."""
    return getattr(function, "__globals__", None) is vars(traced)


#: Recipes write floats, and read no element of a mask.
WITHOUT_PROGRAM = {"_inplace.gcd_", "_inplace.lcm_", "_inplace.masked_scatter_"}
if IN_PYTHON:  # takes no constants, which are read-only
    WITHOUT_PROGRAM.add("quantiles._of_shares")

#: Those whose short programs run here.
RUN = [
    name for name in CALLS if not IN_PYTHON or is_replayed(traced.FUNCTIONS.get(name))
]


@pytest.mark.parametrize("name", RUN)
def test_a_program_does_what_the_function_does_with_any_elements(name, definitions):
    call, made = CALLS[name], name in WITHOUT_PROGRAM
    for seed in range(4 * OFTEN):  # the engine counts calls roughly
        assert seen(call, Data("usual", seed)) == definitions(
            seen, call, Data("usual", seed)
        )
        made = made or any(program is not None for program in programs(name))
        if made and seed >= OFTEN:
            break
    assert made, "none was made"
    for kind in ("usual", "equal", "wild", "wild", "wild"):
        for seed in range(5):
            found = seen(call, Data(kind, seed))
            assert found == definitions(seen, call, Data(kind, seed)), (kind, seed)


VIEWS = [
    *("view.reshape", "view._reshape_method", "view.view", "view._view_method"),
    *("view.flatten", "view.squeeze", "view.unsqueeze", "view.permute", "view.t"),
    *("view._permute_method", "view.transpose", "broadcasting._expand_method"),
]


def history_of(x) -> list[object]:
    """Return the nodes that lead from a tensor to a leaf."""
    found, edge = [], x._edge
    while hasattr(edge, "edges"):
        found.append((edge.op, edge.attributes, edge.shapes, edge.dtype))
        (edge,) = edge.edges
    return [*found, edge.__class__, x._view and x._view[1]]


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_what_leads_to_a_gradient_are_recorded(name, half, definitions):
    def viewed(factor: float) -> tuple[object, ...]:
        d = Data("usual", 0)
        d.a = (d.a.half() if half else d.a).requires_grad_()
        result = CALLS[name](d)
        history = history_of(result)
        (result.float() * factor).sum().backward()
        with ac.no_grad():
            assert CALLS[name](d)._edge is None
        return history, d.a.grad.tolist(), str(d.a.grad.dtype)

    for factor in range(OFTEN):
        assert viewed(factor) == definitions(viewed, factor)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("name", [*VIEWS, "its own shape", "diagonal.diagonal"])
def test_views_may_be_written_where_those_of_definitions_may(name, first, definitions):
    call = CALLS.get(name, lambda d: d.a.expand(4, 4))

    def may_be_written(tensor: bool) -> bool:
        d = Data("usual", 0)
        for x in (d.a, d.x):
            x._array.flags.writeable = tensor
        return call(d)._array.flags.writeable

    for tensor in (*[first] * (OFTEN + 2), not first):
        assert may_be_written(tensor) == definitions(may_be_written, tensor)


# ---- what no program is made of, and what needs another one -------------------------


def learnt(function, *args) -> int:
    """Call a function often; return how many programs its own calls have."""
    for _ in range(OFTEN):
        function(*args)
    return sum(program is not None for program in programs_of(function))


@pytest.fixture
def declared(monkeypatch):
    """Declare a function for this test alone."""
    monkeypatch.setattr(traced, "FUNCTIONS", {})
    return traced.traced


def ones(*shape: int) -> ac.Tensor:
    return ac.from_numpy(np.ones(shape, "f4"))


LOOKS = {
    "item": lambda x: x * x.sum().item(),
    "bool": lambda x: x + 1 if (x > 0).all() else x - 1,
    "int": lambda x: x * int(x._array[0, 0]),
    "tolist": lambda x: ac.tensor(x.tolist()) + x,
    "numpy": lambda x: ac.from_numpy(x.numpy() + 1) * x,
    "a number that was converted": lambda x: x * float(x.half().sum()),
    "loop": lambda x: ac.stack([ac.tensor(float(row.sum())) for row in x]),
}


@pytest.mark.parametrize("how", LOOKS)
def test_no_program_is_made_where_elements_are_looked_at(how, declared):
    function = declared(LOOKS[how])
    assert learnt(function, ones(5, 3)) == 0
    for value in (1.0, 3.0, -2.0):
        x = ones(5, 3) * value
        assert function(x).tolist() == LOOKS[how](x).tolist()


def test_no_program_is_made_of_what_writes_another_tensor(declared):
    def add_twice(x, total):
        total.add_(x).add_(x)
        return x + 1

    total = ones(2)
    function = declared(add_twice)
    assert learnt(function, ones(2), total) == 0
    assert total.tolist() == [1 + 2 * OFTEN] * 2


def test_a_number_counts_with_its_class_and_sign(declared):
    seen = []

    def function(x, *given):
        seen.append(given)
        return x + 1

    call = declared(function)
    x = ones(3)
    numbers = (1, 1.0, True, 0.0, -0.0, (1,), [1], (1.0,), None, "1", slice(1))
    for given in numbers:
        learnt(call, x, given)
    assert [repr(one) for (one,) in seen[:: OFTEN - 2]] == [repr(n) for n in numbers]


def test_what_needs_a_gradient_is_recorded_in_the_graph():
    x = ones(4, 4)
    assert learnt(F.softshrink, x)
    w = ones(4, 4).requires_grad_()
    F.softshrink(w).sum().backward()
    assert w.grad.tolist() == [[1.0] * 4] * 4
    with ac.no_grad():
        assert F.softshrink(w).requires_grad is False


def test_tensors_that_share_memory_are_told_apart(declared):
    def function(x, y):
        return x[1:] * 10 + y

    call = declared(function)
    x = ac.arange(4.0)
    assert learnt(call, x, x[1:]) == 1
    assert call(x, x[1:]).tolist() == [11.0, 22.0, 33.0]
    assert call(x, ones(3)).tolist() == [11.0, 21.0, 31.0]
    assert learnt(call, x[:3], x[:2]) == 2
    assert call(x[:3], ones(2)).tolist() == [11.0, 21.0]


def test_one_tensor_given_twice_is_another_call_than_two(declared):
    call = declared(lambda x, y: x * 2 + y)
    x, y = ones(3), ones(3) * 5
    assert learnt(call, x, x) == 1
    assert call(x, y).tolist() == [7.0] * 3
    assert call(y, x).tolist() == [11.0] * 3


def test_an_error_of_a_kernel_is_that_of_the_function():
    x, index = ones(4, 4), ac.zeros((4, 4), dtype=ac.int64)
    assert learnt(ac.gather, x, 1, index)
    with pytest.raises(ac.errors.KernelDataError) as expected:
        ac.gather.__wrapped__(x, 1, index + 9)
    with pytest.raises(ac.errors.KernelDataError) as found:
        ac.gather(x, 1, index + 9)
    assert str(found.value) == str(expected.value)


def test_what_is_written_may_be_given_by_name(monkeypatch):
    monkeypatch.setattr(traced, "FUNCTIONS", {})
    double = traced.traced(lambda x: x.mul_(2), writes=True)
    x = ones(2)
    for _ in range(OFTEN):
        assert double(x=x) is x
    assert x.tolist() == [2.0**OFTEN] * 2


def test_what_may_not_be_written_is_an_error_as_ever(monkeypatch):
    monkeypatch.setattr(traced, "FUNCTIONS", {})
    double = traced.traced(lambda x: x.mul_(2), writes=True)
    x = ones(2)
    for _ in range(OFTEN):
        double(x)
    leaf = ones(2).requires_grad_()
    with pytest.raises(ac.errors.GradError, match="requires"):
        double(leaf)
    assert leaf.tolist() == [1.0, 1.0]
    assert x.tolist() == [2.0**OFTEN] * 2


def test_a_write_that_overlaps_what_is_read_is_no_program(monkeypatch):
    monkeypatch.setattr(traced, "FUNCTIONS", {})
    add = traced.traced(lambda x, y: x.add_(y), writes=True)
    line = ac.arange(6.0)
    for _ in range(OFTEN):
        add(ones(3), ones(3))
    add(line[:3], line[1:4])
    assert line.tolist() == [1.0, 3.0, 5.0, 3.0, 4.0, 5.0]


def test_other_kernels_need_another_program():
    x = ones(4, 4)
    learnt(F.softshrink, x)
    with ac.kernels.use("reference", only=True):
        assert F.softshrink(x).tolist() == [[0.5] * 4] * 4
    assert programs("thresholds.softshrink")
    PROCESS.forget()
    assert not programs("thresholds.softshrink")


def test_the_default_dtype_belongs_to_the_call():
    learnt(ac.eye, 3)
    ac.set_default_dtype(ac.float64)
    try:
        assert ac.eye(3).dtype is ac.float64
    finally:
        ac.set_default_dtype(ac.float32)
    assert ac.eye(3).dtype is ac.float32


def test_a_view_is_known_to_its_base(declared):
    turned = declared(lambda x: x.T[1:])
    x = ones(4, 4)
    assert learnt(turned, x) == 1
    with ac.no_grad():
        turned(x).mul_(2)
        x[:, 0] = 2.0
    w = ones(4, 4).requires_grad_()
    y = w * 1
    turned(y).mul_(3)
    (y[:, 0] * 2).sum().backward(retain_graph=True)
    y.sum().backward()
    assert x.tolist() == [[2.0] * 4] * 4
    assert w.grad.tolist() == [[3.0] * 4] * 4


def test_programs_are_bounded(declared):
    function = declared(lambda x, n: x + n)
    x = ones(1)
    sizes = []
    for n in range(4200):
        for _ in range(OFTEN):
            function(x, float(n))
        sizes.append(len(PROCESS.remembered))
    assert max(sizes) == 4096
    assert sizes[-1] < 200


def test_every_function_is_called_here():
    own = {n for n, f in traced.FUNCTIONS.items() if f.__module__[:9] == "autocalc."}
    assert set(CALLS) == own


@pytest.mark.parametrize(
    ("draw", "bad", "told"),
    [
        (ac.bernoulli, [0.5, 1.5], "between 0.5 and 1.5; they must"),
        (ac.bernoulli, [0.5, np.nan], "between nan and nan; they must"),
        (lambda x: ac.multinomial(x, 2, True), [1.0, -1.0], "between -1 and 1; they"),
        (lambda x: ac.multinomial(x, 2, True), [np.inf, 1.0], "between 1 and inf; th"),
        (lambda x: ac.multinomial(x, 2, True), [0.0, 0.0], "a row has 0 weights above"),
        (lambda x: ac.multinomial(x, 2), [0.0, 1.0], "a row has 1 weights above 0; to"),
    ],
)
def test_a_program_draws_nothing_where_what_it_requires_does_not_hold(draw, bad, told):
    good, bad = ac.tensor([0.25, 0.5]), ac.tensor(bad)
    ac.manual_seed(1)
    for _ in range(OFTEN):
        draw(good)
    before = ac.random.get_rng_state()
    with pytest.raises(ac.errors.ArgumentError, match=told):
        draw(bad)
    assert ac.equal(ac.random.get_rng_state(), before)
    drawn = draw(good)
    ac.random.set_rng_state(before)
    assert ac.equal(draw(good), drawn)


@pytest.mark.parametrize("draw", [ac.bernoulli, lambda x: ac.multinomial(x, 2, True)])
def test_what_is_required_is_checked_in_each_replay(draw):
    chances, compiled = ac.tensor([0.25, 0.5]), ac.compile(draw)
    for _ in range(6):
        compiled(chances)
    for bad in (ac.tensor([-0.25, 0.5]), ac.tensor([0.25, np.nan])):
        with pytest.raises(ac.errors.ArgumentError, match="the probabilities are"):
            compiled(bad)
    compiled(chances)

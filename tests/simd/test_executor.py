# SPDX-License-Identifier: MIT
"""Executors of programs: the one in C against the one in Python that defines it."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest
from tests.compile.parts import ExecutorCall, PythonExecutor
from tests.engine import native

from autocalc.errors import CompileError, KernelDataError

F4 = np.dtype("float32")


@pytest.fixture(params=["native", "python"])
def executor(request):
    return native.Executor if request.param == "native" else PythonExecutor


def memory(*values, dtype=F4):
    return np.array(values, dtype)


def places_of(*roots):
    return {slot: (root, 0) for slot, root in enumerate(roots)}


def call(kernels, name, arguments, slots, *, native=True):
    kernel = kernels[name]
    form = kernel.native if native else None
    return ExecutorCall(kernel, form, tuple(arguments), tuple(slots))


def forbidden(*_):
    raise AssertionError("the C form should have run")


# ---- calls


def test_calls_run_in_order(executor, kernels):
    x, y, z = memory(1, -2, 3), np.empty(3, F4), np.empty(3, F4)
    calls = [
        call(kernels, "relu", [y, x], [1, 0]),
        call(kernels, "mul", [z, y, y], [2, 1, 1]),
    ]
    executor(calls, places_of(x, y, z)).run()
    assert z.tolist() == [1, 0, 9]


def test_a_call_of_more_dimensions_than_the_c_form_has(executor, kernels):
    x, y = np.ones((1,) * 9, F4), np.empty((1,) * 9, F4)
    with pytest.raises(ValueError, match="9 dimensions, but at most 8"):
        executor([call(kernels, "relu", [y, x], [1, 0])], places_of(x, y)).run()
    seen = []
    one = ExecutorCall(lambda *args: seen.append(args), None, (y, x), (1, 0))
    executor([one], places_of(x, y)).run()
    assert seen[0][0].shape == y.shape


def test_the_c_form_runs_in_place_of_the_function(kernels):
    x, y = memory(1, -2), np.empty(2, F4)
    one = ExecutorCall(forbidden, kernels["relu"].native, (y, x), (1, 0))
    native.Executor([one], places_of(x, y)).run()
    assert y.tolist() == [1, 0]


def test_calls_without_a_c_form_run_between_the_others(executor, kernels):
    x, y, z = memory(1, -2, 3), np.empty(3, F4), np.empty(3, F4)
    seen = []

    def double(out, a, factor):
        np.multiply(a, factor, out=out)

    calls = [
        call(kernels, "relu", [y, x], [1, 0]),
        ExecutorCall(double, None, (z, y, 2.0), (2, 1)),
        ExecutorCall(lambda: seen.append(z.tolist()), None, (), ()),
        call(kernels, "add", [y, z, x], [1, 2, 0]),
    ]
    executor(calls, places_of(x, y, z)).run()
    assert seen == [[2, 0, 6]]
    assert y.tolist() == [3, -2, 9]


def test_elementwise_inputs_are_broadcast(executor, kernels):
    x, row, y = (
        np.arange(6, dtype=F4).reshape(2, 3),
        memory(1, 2, 3),
        np.empty((2, 3), F4),
    )
    one = call(kernels, "add", [y, x, row], [2, 0, 1])
    executor([one], places_of(x, row, y)).run()
    assert (y == x + row).all()


def test_operands_may_be_absent_or_lists(executor, kernels):
    a, b, other, half = memory(1, 2), memory(3), memory(7), np.array(0.5, F4)
    scaled = call(kernels, "scale", [[a, b], half], [(0, 1), 2])
    running = executor([scaled], places_of(a, b, half))
    running.run()
    assert (a.tolist(), b.tolist()) == ([0.5, 1], [1.5])
    running.move(1, other, 0)
    running.run()
    assert (a.tolist(), b.tolist(), other.tolist()) == ([0.25, 0.5], [1.5], [3.5])
    x, w, y = np.ones((2, 3), F4), np.ones((4, 3), F4), np.empty((2, 4), F4)
    plain = call(
        kernels, "linear", [y, None, x, w, None, "none"], [2, None, 0, 1, None]
    )
    executor([plain], places_of(x, w, y)).run()
    assert (y == 3).all()


def test_both_leave_the_same_bits(kernels, rng):
    x, w, b = (rng.standard_normal(s).astype(F4) for s in ((32, 64), (48, 64), (48,)))
    kept = []
    for make in (native.Executor, PythonExecutor):
        h, y = np.empty((32, 48), F4), np.empty((32, 48), F4)
        calls = [
            call(kernels, "linear", [h, None, x, w, b, "none"], [3, None, 0, 1, 2]),
            call(kernels, "tanh", [y, h], [4, 3]),
        ]
        make(calls, places_of(x, w, b, h, y)).run()
        kept.append(y.tobytes())
    assert kept[0] == kept[1]


# ---- other memory


def test_a_slot_moves(executor, kernels):
    block = np.arange(10, dtype=F4)
    x, y = memory(-1, 1), np.empty(2, F4)
    running = executor([call(kernels, "relu", [y, x], [1, 0])], places_of(x, y))
    running.move(0, block, 8)
    running.run()
    assert y.tolist() == [2, 3]
    other = np.empty(4, F4)
    running.move(1, other, 4)
    running.run()
    assert other[1:3].tolist() == [2, 3]


def test_operands_keep_their_distance_in_the_slot(executor, kernels):
    block, out = np.arange(-3, 3, dtype=F4), np.empty(2, F4)
    tail = block[4:]
    places = {0: (block, 8), 1: (out, 0)}
    running = executor([call(kernels, "relu", [out, tail], [1, 0])], places)
    running.run()
    assert out.tolist() == [1, 2]
    running.move(0, np.arange(10, 20, dtype=F4), 4)
    running.run()
    assert out.tolist() == [13, 14]


def test_arrays_of_python_kernels_move_as_well(executor):
    x, y, z = memory(1, 2), np.empty(2, F4), memory(5, 6, 7)

    def join(out, parts):
        np.add(parts[0], parts[1], out=out)

    one = ExecutorCall(join, None, (y, [x, x]), (1, (0, 2)))
    running = executor([one], {0: (x, 0), 1: (y, 0), 2: (x, 0)})
    running.move(2, z, 4)
    running.run()
    assert y.tolist() == [7, 9]


def test_memory_is_held_while_it_is_used_and_no_longer(executor, kernels):
    class Traced(np.ndarray):
        pass

    def traced(*values):
        return memory(*values).view(Traced).copy()

    y = np.empty(2, F4)
    x = traced(1, 2)
    one = call(kernels, "relu", [y, np.asarray(x)], [1, 0])
    running = executor([one], places_of(x, y))
    gone = weakref.ref(x)
    del x, one
    gc.collect()
    assert gone() is not None
    running.run()
    other = traced(3, 4)
    running.move(0, other, 0)
    assert gone() is None
    gone = weakref.ref(other)
    del other
    running.run()
    assert y.tolist() == [3, 4]
    del running
    assert gone() is None


def test_cycles_through_an_executor_are_collected(executor):
    class Owner:
        pass

    def cycle():
        owner = Owner()
        owner.executor = executor([ExecutorCall(lambda: owner, None, (), ())], {})
        return weakref.ref(owner)

    gone = cycle()
    gc.collect()
    assert gone() is None


def test_memory_that_a_kernel_cannot_use_is_refused_as_by_its_entry(kernels):
    x, y = memory(1, 2), np.empty(2, F4)
    running = native.Executor([call(kernels, "relu", [y, x], [1, 0])], places_of(x, y))
    odd = np.zeros(3, F4)
    with pytest.raises(ValueError, match="relu: the elements of `a` are not aligned"):
        running.move(0, odd, 1)
    fixed = np.zeros(2, F4)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="relu: output `out` is read-only"):
        running.move(1, fixed, 0)
    running.move(0, fixed, 0)
    running.run()
    assert y.tolist() == [0, 0]


# ---- errors


def test_a_failing_call_ends_the_run_with_its_own_error(executor, kernels):
    weight = np.ones((3, 2), F4)
    indices, out, after = np.array([0, 7]), np.empty((2, 2), F4), np.zeros((2, 2), F4)
    calls = [
        call(kernels, "embedding", [out, weight, indices], [2, 0, 1]),
        call(kernels, "relu", [after, weight[:2]], [3, 0]),
    ]
    running = executor(calls, places_of(weight, indices, out, after))
    with pytest.raises(KernelDataError) as eager:
        kernels["embedding"](out, weight, indices)
    with pytest.raises(KernelDataError) as replayed:
        running.run()
    assert str(replayed.value) == str(eager.value)
    assert "holds 7 at element 1" in str(eager.value)
    assert not after.any()
    indices[1] = 2
    running.run()
    assert after.all()


def test_an_error_of_python_ends_the_run(executor):
    done = []

    def fail():
        raise KeyError("mine")

    calls = [ExecutorCall(f, None, (), ()) for f in (fail, lambda: done.append(1))]
    running = executor(calls, {})
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            running.run()
    assert not done


@pytest.mark.parametrize(
    ("one", "error", "message"),
    [
        ((forbidden, object(), (), ()), TypeError, "a capsule named"),
        ((forbidden, None), TypeError, "but \\(function, native, arguments, slots\\)"),
        ((forbidden, None, (np.ones(2),), (5,)), KeyError, "slot 5 has no place"),
        ((forbidden, None, ([np.ones(2)],), ((),)), TypeError, "has other slots"),
        ((forbidden, None, (3,), (0,)), TypeError, "an operand is no array"),
    ],
    ids=["capsule", "short", "slot", "list", "operand"],
)
def test_what_is_no_call_is_refused(one, error, message):
    with pytest.raises(error, match=message):
        native.Executor([one], {0: (np.ones(2), 0)})


def test_arguments_are_checked_as_by_the_entry(kernels):
    x, y = np.ones(3, F4), np.ones(2, F4)
    relu = kernels["relu"]
    with pytest.raises(ValueError, match="does not broadcast to the output's shape"):
        native.Executor([ExecutorCall(relu, relu.native, (y, x), (0, 0))], places_of(x))
    with pytest.raises(TypeError, match="relu takes 2 arguments"):
        native.Executor([ExecutorCall(relu, relu.native, (y,), (0,))], places_of(x))
    with pytest.raises(TypeError, match="1 slots are given for 2 operands"):
        native.Executor([ExecutorCall(relu, relu.native, (y, y), (0,))], places_of(x))


# ---- threads


def test_a_program_at_work_is_not_entered_again(executor):
    inside, go_on = threading.Event(), threading.Event()

    def wait():
        inside.set()
        assert go_on.wait(20)

    x = np.ones(2)
    running = executor([ExecutorCall(wait, None, (), ())], places_of(x))
    thread = threading.Thread(target=running.run)
    thread.start()
    assert inside.wait(20)
    for attempt in (running.run, lambda: running.move(0, x, 0)):
        with pytest.raises(CompileError, match="compile: this program is at work"):
            attempt()
    go_on.set()
    thread.join()
    running.run()
    running.move(0, x, 0)


def test_a_program_that_runs_itself_says_so(executor):
    def again():
        running.run()

    running = executor([ExecutorCall(again, None, (), ())], {})
    with pytest.raises(CompileError, match="further up in this one"):
        running.run()


def test_long_runs_leave_the_interpreter_to_other_threads(kernels):
    a, out = np.ones((512, 512), F4), np.empty((512, 512), F4)
    one = call(
        kernels, "linear", [out, None, a, a, None, "none"], [1, None, 0, 0, None]
    )
    running = native.Executor([one] * 50, places_of(a, out))
    count, stop = [0], threading.Event()

    def work():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        before = count[0]
        running.run()
        during = count[0] - before
    finally:
        stop.set()
        thread.join()
    assert during > 10

# SPDX-License-Identifier: MIT
"""`ac.profiler.profile`: what it sees, that it adds up, and that it leaves no trace."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from tests.dispatcher import current
from tests.kernel_table import TABLE, Make
from tests.operator_table import OPS

import autocalc as ac
from autocalc import errors
from autocalc.profiler._rows import NO_KERNEL, OUTSIDE


def names(prof, by):
    return {row.name: row for row in prof.table(by).rows}


def operand(x):
    """Return an operand as an array: samples have NumPy's scalars among them."""
    if isinstance(x, (list, tuple)):
        return [np.asarray(one) for one in x]
    return None if x is None else np.asarray(x)


def fail_within(prof, training):
    call = ac.nn.Module.__call__
    with prof:
        training.step()
        assert ac.nn.Module.__call__ is not call
        raise ZeroDivisionError


def profiled(training, steps=4, **settings):
    with ac.profiler.profile(**settings) as prof:
        for _ in range(steps):
            training.step()
            prof.step()
    return prof


def test_kernels_operators_and_modules_of_a_training_step(training):
    prof = profiled(training)
    assert len(prof.steps) == 3
    kernels = names(prof, "kernel")
    assert {"adamw", "cross_entropy", "gelu"} <= set(kernels)
    assert kernels["adamw"].calls == 3
    operators = names(prof, "operator")
    assert {"linear", "linear backward", "gelu", "gelu backward"} <= set(operators)
    assert {"adamw optimizer", "cross_entropy"} <= set(operators)
    modules = names(prof, "module")
    assert {"Net", "Net.block", "Net.block.0", "Net.block.1", "Net.out"} <= set(modules)


@pytest.mark.parametrize("by", ["kernel", "operator", "module"])
def test_the_times_of_all_rows_add_up_to_the_steps(training, by):
    prof = profiled(training)
    rows = prof.table(by, limit=None).rows
    times = sum(row.self_time + row.python for row in rows)
    assert times == pytest.approx(sum(prof.steps), rel=1e-6)
    assert sum(row.share for row in rows) == pytest.approx(1)


def test_kernels_are_those_that_are_counted(training):
    training.step()
    with ac.kernels.count() as counted:
        training.step()
    prof = profiled(training, 2)
    for row in prof.table(limit=None).rows:
        if row.name != NO_KERNEL:
            expected = sum(n for (name, _), n in counted.items() if name == row.name)
            assert row.calls == expected, row.name


def test_backward_is_ascribed_to_the_module_that_recorded_it(training):
    with ac.profiler.profile() as prof:
        loss = training.net(training.x).sum()
        loss.backward()
    calls = {
        (key.place.label, key.site.name(key.kernel.label))
        for key in prof._ended.sums
        if key.kernel is not None
    }
    assert ("Net.block.1", "gelu backward") in calls
    assert ("Net.out", "linear backward") in calls
    assert ("Net.block.0", "linear backward") in calls


def test_sums_of_gradients_have_a_name_of_their_own():
    x = ac.ones(64, requires_grad=True)
    with ac.profiler.profile() as prof:
        y = x.exp()
        (y * y.sin()).sum().backward()
        _ = x.detach() + 1
    operators = names(prof, "operator")
    assert operators["gradient sum"].calls == 1
    assert operators["add"].calls == 1


def test_results_are_those_without_a_profile(training):
    ac.manual_seed(3)
    plain = type(training)()
    expected = [plain.step().item() for _ in range(3)]
    ac.manual_seed(3)
    other = type(training)()
    with ac.profiler.profile():
        assert [other.step().item() for _ in range(3)] == expected


def test_nothing_is_left_behind(training):
    before = current().selection, [op.rule for op in OPS]
    call, step = ac.nn.Module.__call__, ac.optim.Optimizer.step
    prof = ac.profiler.profile()
    with pytest.raises(ZeroDivisionError):
        fail_within(prof, training)
    assert current().selection is before[0]
    assert [op.rule for op in OPS] == before[1]
    assert ac.nn.Module.__call__ is call
    assert ac.optim.Optimizer.step is step
    assert len(prof.steps) == 1  # what it saw is there


def test_a_choice_of_kernels_within_is_seen_and_obeyed(training):
    with ac.profiler.profile() as prof, ac.kernels.use("reference"):
        training.step()
    rows = prof.table().rows
    assert {row.chosen for row in rows if row.name != NO_KERNEL} == {"reference"}


def test_a_profile_around_a_count_and_within_one(training):
    training.step()  # which makes the optimizer's state
    with ac.kernels.count() as outer, ac.profiler.profile() as prof:
        training.step()
        with ac.kernels.count() as inner:
            training.step()
    assert sum(outer.values()) == 2 * sum(inner.values())
    rows = prof.table(limit=None).rows
    assert sum(row.calls for row in rows) == sum(inner.values())


def test_other_threads_are_not_recorded(training):
    other = type(training)()
    with ac.profiler.profile() as prof:
        thread = threading.Thread(target=other.step)
        thread.start()
        thread.join()
    assert list(names(prof, "kernel")) == [NO_KERNEL]


def test_steps_end_with_the_optimizers_unless_they_are_marked(training):
    with ac.profiler.profile() as prof:
        for _ in range(3):
            training.step()
    assert len(prof.steps) == 2


def test_it_stops_after_the_steps_that_are_wanted(training):
    with ac.profiler.profile(warmup=2, steps=3) as prof:
        for _ in range(8):
            training.step()
    assert len(prof.steps) == 3
    assert not prof.is_full


def test_it_stops_when_there_is_no_room(training):
    with ac.profiler.profile(max_events=30) as prof:
        for _ in range(8):
            training.step()
    assert prof.is_full
    assert "stopped to record after 30 calls" in str(prof.table())


def test_the_programs_own_marks(training):
    ac.profiler.step()  # nobody listens
    with ac.profiler.profile() as prof:
        for _ in range(3):
            training.step()
            training.step()
            ac.profiler.step()
    assert len(prof.steps) == 2
    assert names(prof, "kernel")["adamw"].calls == 4


def test_checkpoints_and_second_derivatives(training):
    x = ac.randn(4, 32, requires_grad=True)
    with ac.profiler.profile() as prof:
        y = ac.utils.checkpoint.checkpoint(training.net, x, use_reentrant=False)
        (g,) = ac.autograd.grad(y.sum(), x, create_graph=True)
        (g * g).sum().backward()
    assert "Net.out" in names(prof, "module")


@pytest.mark.parametrize("name", sorted(TABLE))
def test_the_work_of_every_kernel_is_known(name):
    """Every sample of every kernel can be described: by its spec, as it is called."""
    from tests.dispatcher import arrays

    spec = TABLE[name]
    samples = list(spec.samples(Make(spec.dtypes[0], 0)))[:3]
    with ac.profiler.profile() as prof, ac.kernels.use("reference"):
        for sample in samples:
            free = {}
            if spec.free:
                free = {"shape": sample.shape, "dtype": spec.dtypes[0]}
            inputs = map(operand, sample.inputs)
            getattr(arrays, name)(*inputs, *sample.attributes, **free)
    seen = [key.kernel for key in prof._ended.sums if key.kernel is not None]
    assert name in {kernel.name for kernel in seen}
    assert all(kernel.work.flops >= 0 and kernel.work.bytes >= 0 for kernel in seen)


# ---- errors --------------------------------------------------------------------------


def test_one_profile_at_a_time():
    with (
        ac.profiler.profile(),
        pytest.raises(errors.ConfigError, match="another profile is running;"),
        ac.profiler.profile(),
    ):
        pass


def test_no_profile_within_what_is_compiled():
    @ac.compile
    def step(x):
        with ac.profiler.profile():
            return x + 1

    with pytest.raises(errors.ConfigError, match=r"ac\.compile is recording this"):
        step(ac.ones(2))


def test_results_come_when_it_is_over():
    prof = ac.profiler.profile()
    with prof, pytest.raises(errors.ConfigError, match="no results before the end"):
        prof.table()
    with pytest.raises(errors.ConfigError, match=r"profile\.step: the profile is"):
        prof.step()
    with pytest.raises(errors.ConfigError, match="profile: this profile has"), prof:
        pass


def test_wrong_arguments():
    with pytest.raises(errors.ArgumentError, match=r"`warmup` is -1; it must be 0"):
        ac.profiler.profile(warmup=-1)
    with pytest.raises(errors.ArgumentError, match=r"`steps` is 0; it must be 1"):
        ac.profiler.profile(steps=0)
    with pytest.raises(errors.DTypeError, match="`max_events` is 'x'"):
        ac.profiler.profile(max_events="x")
    with ac.profiler.profile() as prof:
        pass
    with pytest.raises(errors.ArgumentError, match=r"`by` is 'line'; it must be one"):
        prof.table("line")
    with pytest.raises(errors.ArgumentError, match="`limit` is 0"):
        prof.table(limit=0)
    for write in (prof.html, prof.chrome_trace, prof.roofline):
        with pytest.raises(errors.DTypeError, match="must be a file's name"):
            write(3)
    with pytest.raises(errors.DTypeError, match="`title` is 3"):
        prof.html("a.html", title=3)
    with pytest.raises(errors.ArgumentError, match="`quiet` is 1"):
        ac.profiler.measure_peaks(quiet=1)


def test_what_is_outside_of_modules():
    with ac.profiler.profile() as prof:
        _ = ac.ones(4) + 1
    assert set(names(prof, "module")) == {OUTSIDE}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_halves_are_floats_of_half_the_bytes(dtype):
    """Whether a set takes them itself or is given float32 for them."""

    def work_of(dtype):
        x = ac.ones((64, 32), dtype=dtype)
        with ac.profiler.profile() as prof:
            _ = x @ x.t() + ac.ones((64, 64), dtype=dtype)
        kernels = [key.kernel for key in prof._ended.sums if key.kernel is not None]
        return {one.name: one for one in kernels}

    wide, half = work_of(ac.float32), work_of(getattr(ac, dtype))
    for name in ("gemm", "add"):
        assert half[name].work.flops == wide[name].work.flops
        computed_in = half[name].dtype
        share = {dtype: 0.5, "float32": 1.0}[computed_in]
        assert half[name].work.bytes == share * wide[name].work.bytes

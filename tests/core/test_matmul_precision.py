# SPDX-License-Identifier: MIT
"""Kernel sets that are less exact than float32 run where the user allows it, only."""

from __future__ import annotations

import gc
import threading

import pytest
from tests.dispatcher import precision as _precision
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc.errors import ArgumentError, CompileError, KernelError, PluginWarning
from autocalc.plugin import KernelImpl, KernelSet, float32_matmul_precision


@pytest.fixture(autouse=True)
def put_back():
    yield
    ac.set_float32_matmul_precision("highest")


def rough(name, share, **options):
    """Make a set whose products are larger by a share, so that one sees which ran."""

    def gemm(out, pre, a, b, bias, *attributes):
        adapt(TABLE["gemm"])(out, pre, a, b, bias, *attributes)
        out *= 1 + share

    impls = {"gemm": KernelImpl(gemm)}
    return KernelSet(name, family=name, load=lambda: impls, decomposes=False, **options)


@pytest.fixture
def sets(install):
    return install(
        rough=[
            rough("exact", 0.0, rank=400),
            rough("two", 1.0, rank=500, precision="high"),
            rough("one", 2.0, rank=600, precision="medium"),
        ]
    )


A = ac.ones(2, 2)

#: What a sum of two ones is multiplied by, by precision.
FACTORS = {"highest": 1.0, "high": 2.0, "medium": 3.0}

#: There and back again.
WALK = ("highest", "high", "medium", "high", "highest", "medium", "highest")


def product():
    return (A @ A)[0, 0].item() / 2


def test_the_setting_decides_who_runs(sets):
    for precision in WALK:
        ac.set_float32_matmul_precision(precision)
        assert product() == FACTORS[precision]
        assert (A @ A)[1, 1].item() / 2 == FACTORS[precision]  # by what is remembered


def test_decisions_of_a_precision_are_kept(sets):
    from tests.dispatcher import PROCESS

    seen = {}
    for precision in WALK:
        ac.set_float32_matmul_precision(precision)
        product()
        tables = seen.setdefault(precision, PROCESS.tables)
        assert PROCESS.tables is tables
    assert len({id(tables) for tables in seen.values()}) == 3


def test_every_selection_follows(sets):
    with ac.kernels.use("exact"):
        ac.set_float32_matmul_precision("high")
        assert product() == 1.0  # the user's choice goes first
    assert product() == 2.0
    with ac.kernels.count() as calls:
        ac.set_float32_matmul_precision("highest")
        assert product() == 1.0
        ac.set_float32_matmul_precision("medium")
        assert product() == 3.0
    assert {name for kernel, name in calls if kernel == "gemm"} == {"exact", "one"}


def test_a_choice_made_before_the_setting_changed_is_put_back_with_the_new_one(sets):
    assert product() == 1.0
    choice = ac.kernels.use("exact")
    ac.set_float32_matmul_precision("high")
    with choice:
        assert product() == 1.0
    assert product() == 2.0
    ac.set_float32_matmul_precision("highest")
    assert product() == 1.0


def test_other_threads_follow(sets):
    seen, go, done = [], threading.Event(), threading.Event()

    def work():
        seen.append(product())
        done.set()
        go.wait(10)
        seen.append(product())

    thread = threading.Thread(target=work)
    thread.start()
    done.wait(10)
    ac.set_float32_matmul_precision("high")
    go.set()
    thread.join()
    assert seen == [1.0, 2.0]


def test_selections_that_are_gone_are_not_told(sets):
    with ac.kernels.use("exact"):
        product()
    gc.collect()
    before = len(_precision._followers)
    for _ in range(5):
        with ac.kernels.use("exact"):
            product()
    gc.collect()
    assert len(_precision._followers) == before


def test_to_choose_a_set_does_not_allow_it(sets):
    with ac.kernels.use("two"):
        assert product() == 1.0
        text = str(ac.kernels.explain("gemm", A, A))
        assert "two (rank 500, chosen as 'two'): refused: ac.set_float32_mat" in text
        ac.set_float32_matmul_precision("medium")
        assert product() == 2.0


def test_explain_and_show_tell_it(sets):
    found = ac.kernels.explain("gemm", A, A)
    assert found.chosen == "exact"
    reason = "ac.set_float32_matmul_precision('high') would allow it, and 'highest' is"
    assert reason in str(found)
    assert f"two (500) refuses it: {reason} set" in found.why
    shown = {line.name: line.info for line in ac.kernels.show().sets}
    assert shown["two"]["precision"].startswith("high; does not run, as ac.set_float32")
    assert "precision" not in shown["exact"]
    ac.set_float32_matmul_precision("high")
    assert ac.kernels.explain("gemm", A, A).chosen == "two"
    shown = {line.name: line.info for line in ac.kernels.show().sets}
    assert shown["two"]["precision"].startswith("high; runs, as ac.set_float32")
    assert shown["one"]["precision"].startswith("medium; does not run")


def test_compiled_functions_have_programs_for_each_precision(sets):
    @ac.compile
    def step(x):
        return ac.relu(x @ x)

    for precision in (*WALK, *WALK):
        ac.set_float32_matmul_precision(precision)
        for _ in range(3):
            assert step(A)[0, 0].item() / 2 == FACTORS[precision]
    assert len(step.programs) == 3  # those of before are replayed again


def test_the_setting_is_not_for_compiled_functions(sets):
    @ac.compile
    def step(x):
        ac.set_float32_matmul_precision("high")
        return x @ x

    with pytest.raises(CompileError, match=r"while ac\.compile records.*Call it out"):
        step(A)
    assert ac.get_float32_matmul_precision() == "highest"
    ac.set_float32_matmul_precision("high")  # then it changes nothing
    for _ in range(3):
        assert step(A)[0, 0].item() == 4.0


def test_a_lock_holds_the_decisions_of_the_precision_that_is_set(sets):
    with ac.kernels.use():
        product()
        ac.set_float32_matmul_precision("high")
        product()
        rough_lock = ac.kernels.lock()
        ac.set_float32_matmul_precision("highest")
        exact_lock = ac.kernels.lock()
    assert "two" in rough_lock.decisions.values()
    assert "two" not in exact_lock.decisions.values()
    with ac.kernels.use_lock(exact_lock):
        ac.set_float32_matmul_precision("high")
        assert product() == 1.0
        ac.set_float32_matmul_precision("highest")
    with (
        ac.kernels.use_lock(rough_lock),
        pytest.raises(KernelError, match="runs this call, but this set refuses it:"),
    ):
        product()


def test_a_gpus_switch_leaves_the_cpu_alone(sets):
    ac.backends.cuda.matmul.allow_tf32 = True
    assert float32_matmul_precision() == "high"  # what a GPU's kernels ask
    assert ac.backends.cuda.matmul.allow_tf32
    assert product() == 1.0
    ac.set_float32_matmul_precision("highest")
    assert float32_matmul_precision() == "highest"
    ac.set_float32_matmul_precision("medium")
    ac.backends.cuda.matmul.allow_tf32 = True
    assert float32_matmul_precision() == "medium"
    assert product() == 3.0
    ac.backends.cuda.matmul.allow_tf32 = False
    assert product() == 1.0


def test_a_block_puts_the_precision_back(sets):
    with _precision.matmul_precision("medium"):
        assert product() == 3.0
    assert product() == 1.0
    with (
        pytest.raises(ArgumentError, match=r"is not 'highest', 'high' or 'medium'\."),
        _precision.matmul_precision("medium"),
    ):
        ac.set_float32_matmul_precision("low")
    assert product() == 1.0


@pytest.mark.parametrize("precision", ["low", None, 3])
def test_other_words_are_refused(precision):
    with pytest.raises(ArgumentError, match="is not 'highest', 'high' or"):
        ac.set_float32_matmul_precision(precision)


def test_a_set_says_one_of_three_words(install):
    with pytest.warns(PluginWarning, match=r"`precision` is 'low'; use highest, high"):
        install(bad=[rough("bad", 0.0, precision="low")])
    assert "bad" not in ac.kernels.available()

# SPDX-License-Identifier: MIT
"""The benchmarks of asv run, on the kernel sets that their rows name."""

import inspect
import math

import pytest
from benchmarks import bench_gemm, common, smoke
from benchmarks.common import ALL, ROWS, THREADS, KernelRows, Products, owners
from benchmarks.small import calls, creation, views
from benchmarks.small.operands import Operands
from tests.kernel_table import TABLE

import autocalc as ac

CLASSES = smoke.classes()
SMALL = {**calls.ROWS, **calls.WALKS, **creation.ROWS, **views.ROWS}
AREAS = {
    *("attention", "conv", "elementwise", "gemm", "import", "memory", "norms"),
    *("optimizers", "overhead", "recurrent", "reductions", "steps", "writes"),
}
OF_KERNELS = {
    name: kind for name, kind in CLASSES.items() if issubclass(kind, KernelRows)
}


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    """Take each figure once; leave ranks and threads as they were."""
    monkeypatch.setattr(common, "ROUNDS", 1)
    monkeypatch.setattr(common, "ROUND_SECONDS", 0.0)
    yield
    ac.kernels.use()
    ac.set_num_threads(ALL)


@pytest.mark.parametrize("name", CLASSES)
def test_rows_run_on_the_set_that_they_name(name):
    assert list(smoke.problems(CLASSES[name])) == []


def test_there_is_a_file_for_each_area():
    assert {name.partition(".")[0] for name in CLASSES} == {f"bench_{a}" for a in AREAS}


@pytest.mark.parametrize("row", SMALL)
def test_rows_of_small_calls_run(row):
    SMALL[row](Operands())


@pytest.mark.parametrize("name", OF_KERNELS)
def test_rates_are_of_the_unit_that_the_kernel_has(name):
    kind = OF_KERNELS[name]
    by_products = TABLE[kind.kernel].lead == "gemm"
    assert issubclass(kind, Products) is by_products
    unit = "GFLOP/s" if by_products else "GB/s"
    figure = kind.track_gflops if by_products else kind.track_gbytes
    assert figure.unit == unit


def test_every_figure_has_a_unit():
    for kind in CLASSES.values():
        for name in smoke.methods(kind):
            if name.startswith("track_"):
                assert getattr(kind, name).unit


def test_what_classes_have_in_common_is_no_benchmark():
    kinds = [kind for _, kind in inspect.getmembers(common, inspect.isclass)]
    found = [k for k in kinds if smoke.methods(k) and not inspect.isabstract(k)]
    assert found == []


def test_parameters_are_the_sets_that_have_the_kernel():
    for kind in OF_KERNELS.values():
        names, operands, threads = kind.params
        assert names == owners(kind.kernel)
        assert "reference" in names
        assert operands
        assert threads == THREADS
    narrow = [name for name in ac.kernels.available() if name.startswith("blas-")]
    for name in narrow:
        assert name not in owners("exp")
        assert name in owners("gemm")
        assert name in owners("linear")  # by its lead


def test_the_share_of_the_peak_is_one_or_not_a_number(monkeypatch):
    one, best = bench_gemm.Gemm(), owners("gemm")[0]
    one.setup(best, "64x64x64", "1")
    assert 0 < one.track_share_of_peak(best, "64x64x64", "1") < 400
    monkeypatch.setattr(common, "peak_program", lambda kernels: None)
    assert math.isnan(one.track_share_of_peak(best, "64x64x64", "1"))


def test_rows_run_on_the_threads_that_they_name():
    one, best = bench_gemm.Gemm(), owners("gemm")[0]
    for threads, count in (("1", 1), ("all", ALL)):
        one.setup(best, "64x64x64", threads)
        assert ac.get_num_threads() == count
    ac.set_num_threads(1)
    one.teardown()
    assert ac.get_num_threads() == ALL


# ---- the smoke run finds what it looks for -------------------------------------------


class OnReference:
    """A row under one name, run on whatever is chosen."""

    params = (("reference",),)
    param_names = ("kernels",)

    def time_add(self, kernels):
        ac.ones(2) + 1


class Skipped(OnReference):
    def setup(self, kernels):
        raise NotImplementedError


class Empty(OnReference):
    params = ((),)


class OfNoNumber(OnReference):
    param_names = ("row",)

    def track_text(self, row):
        return "fast"


class Idle(OnReference):
    def time_add(self, kernels):
        """Call no kernel."""


def test_a_row_that_runs_on_another_set_is_found():
    best = ac.kernels.available()[0]
    if best == "reference":
        pytest.skip("there is no other set here")
    (problem,) = smoke.problems(OnReference)
    assert problem.startswith("OnReference.time_add('reference',): reference did not")
    with ac.kernels.use("reference"):
        assert list(smoke.problems(OnReference)) == []


def test_a_set_that_runs_beside_the_named_one_is_found():
    assert smoke._wrong("a", {"a", "reference"}) == ""
    assert smoke._wrong("a", {"a", "b"}) == "b ran as well"


def test_a_class_of_which_nothing_runs_is_found():
    (problem,) = smoke.problems(Skipped)
    assert problem == "Skipped: nothing ran on reference"
    assert list(smoke.problems(Empty)) == ["Empty has no rows"]
    (problem,) = smoke.problems(Idle)
    assert problem.endswith("reference did not run, but nothing")


def test_a_figure_that_is_no_number_is_an_error():
    with pytest.raises(TypeError, match="track_text returned 'fast', no number"):
        list(smoke.problems(OfNoNumber))


def test_a_set_that_lacks_a_kernel_is_skipped():
    narrow = [name for name in ac.kernels.available() if name.startswith("blas-")]
    if not narrow:
        pytest.skip("every set here has additions")
    one = common.OnEachSet
    ac.kernels.use(narrow[0], only=True)
    with pytest.raises(NotImplementedError, match="runs no add here: reference does"):
        one.check_that_it_runs(narrow[0], lambda: ac.ones(2) + 1, {"add"})


def test_rows_are_those_of_the_table_of_kernels():
    for kind in OF_KERNELS.values():
        for operands in kind.params[1]:
            assert f"{kind.kernel} {operands}" in ROWS

# SPDX-License-Identifier: MIT
"""``autocalc tune`` and ``autocalc bench kernels``: times of kernel sets in turn."""

from __future__ import annotations

import json

import pytest
from tests.dispatcher import config, discovery, tuning
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc._kernels import benchmarks
from autocalc.cli import _timing
from autocalc.cli._timing import TimedRow, seconds_of
from autocalc.plugin import KernelImpl, KernelSet

SMALL = {
    row.name: row
    for row in benchmarks.ROWS.values()
    if row.name in {"gemm 17x33x65", "add 4 Ki", "exp 4 Ki"}
}


def rival(name, rank):
    """A set with the reference's product."""
    kernels = {"gemm": KernelImpl(adapt(TABLE["gemm"]))}
    return KernelSet(name, family=name, load=lambda: kernels, rank=rank)


@pytest.fixture
def vendors(tmp_path, monkeypatch):
    """Let two sets with a product of their own be all that is installed."""
    monkeypatch.setenv("AUTOCALC_TUNE", "read")
    monkeypatch.setenv("AUTOCALC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(_timing, "ROWS", SMALL)
    plain = discovery.Registry.add_plugin

    def add_plugin(self, plugin, load, module=""):
        plain(self, plugin, load, module)
        if plugin.name == "reference":
            for name, rank in (("swift", 9000), ("plodding", 8000)):
                made = discovery.Plugin(name, name, "1.0")
                self._add_set(made, rival(name, rank), "")

    monkeypatch.setattr(discovery.Registry, "add_plugin", add_plugin)
    monkeypatch.setattr(discovery, "_entry_points", list)
    config.reload()
    ac.kernels.reload()
    yield
    monkeypatch.undo()
    config.reload()
    ac.kernels.reload()


def test_what_is_measured_is_kept_and_chooses(run, vendors, monkeypatch):
    times = {"swift": 2e-3, "plodding": 1e-3}
    monkeypatch.setattr("autocalc.cli._tune.seconds_of", lambda *_: times)
    output = run("tune").output
    assert "gemm 17x33x65: plodding 1000 us, swift 2.00x" in output
    assert "Chosen for 1 calls" in output
    assert "threads: plodding 1." in output
    (one,) = tuning.known()
    assert (one.kernel, one.seconds) == ("gemm", times)
    explained = run("explain", "gemm", "17x65", "65x33").output
    assert "plodding (rank 8000, measured 1000 us at 17x33x65)" in explained
    assert "1 calls measured" in run("kernels").output
    assert "ranks choose again" in run("tune", "--forget").output
    assert tuning.known() == ()
    assert "none; `autocalc tune` makes one" in run("kernels").output


def test_kernels_that_are_not_measured_anew_keep_their_times(run, vendors):
    run("tune", "--seconds", 0.01)
    assert len(tuning.known()) == 1
    assert "Nothing to measure" in run("tune", "add").output
    assert len(tuning.known()) == 1


def test_a_kernel_without_rows_is_refused(run):
    output = run("tune", "gem", code=2).output
    assert "is not a kernel that is timed." in output


def test_times_are_medians_of_turns_that_alternate(vendors, monkeypatch):
    turns = []

    def turn(call, name):
        values = iter([3.0, 1.0, 2.0])

        def seconds():
            turns.append(name)
            return next(values)

        return seconds

    monkeypatch.setattr(_timing, "_turn", turn)
    monkeypatch.setattr(_timing, "MOST_TURNS", 3)
    call = TimedRow(SMALL["gemm 17x33x65"])
    assert seconds_of(call, ["swift", "plodding"], 1) == {"swift": 2, "plodding": 2}
    assert turns == ["swift", "plodding"] * 3


def test_a_turn_runs_the_set_it_names(vendors):
    call = TimedRow(SMALL["gemm 17x33x65"])
    assert call.sets() == ["swift", "plodding", "reference"]
    with ac.kernels.count() as calls:
        times = seconds_of(call, ["plodding", "reference"], 0)
    assert {name for _, name in calls} == {"plodding", "reference"}
    assert all(0 < seconds < 1 for seconds in times.values())


def test_a_line_shows_a_set_beside_the_next_of_another_family(run, vendors):
    lines = run("bench", "kernels", "gemm", "--seconds", 0.01).output.splitlines()
    kernel, operands, name, _, unit, rate, per_second, ratio, against = lines[2].split()
    assert (kernel, operands, name) == ("gemm", "17x33x65", "swift")
    assert against == "plodding"
    assert unit in {"us", "ms"}
    assert per_second == "GFLOP/s"
    assert float(rate) > 0
    assert 0.01 < float(ratio) < 100


def test_lines_for_programs(run, vendors):
    words = ["--kernels", "plodding", "--against", "reference", "--seconds", 0.01]
    line = json.loads(run("bench", "kernels", "--json", *words).stdout)
    assert line["rival"] == "reference"
    assert line["ratio"] == pytest.approx(line["rival_seconds"] / line["seconds"])
    assert line["rate"] == pytest.approx(2e-9 * 17 * 33 * 65 / line["seconds"])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_rows_of_other_dtypes(run, vendors, dtype):
    words = ["--kernels", "reference", "--dtype", dtype, "--seconds", 0.01]
    output = run("bench", "kernels", "--json", *words).output
    lines = {line["kernel"]: line for line in map(json.loads, output.splitlines())}
    assert {line["dtype"] for line in lines.values()} == {dtype}
    moved = lines["add"]["rate"] * lines["add"]["seconds"] * 1e9
    assert moved == pytest.approx(3 * 4096 * (4 if dtype == "float32" else 2))
    flops = lines["gemm"]["rate"] * lines["gemm"]["seconds"] * 1e9
    assert flops == pytest.approx(2 * 17 * 33 * 65)


def test_rows_without_floats_are_left_out_of_other_dtypes(run):
    words = ["bitwise_and", "--dtype", "bfloat16"]
    output = run("bench", "kernels", *words, code=1).output
    assert "nothing was measured: bitwise_and" in output
    assert "no operand is of float32" in output


#: The first row of each kernel, which is its smallest.
FIRST = {row.kernel: row for row in reversed(benchmarks.ROWS.values())}


@pytest.mark.parametrize("kernel", sorted(FIRST))
def test_every_kernel_can_be_timed_in_bfloat16(kernel):
    row = FIRST[kernel]
    call = TimedRow(row, ac.bfloat16)
    if call.is_of_dtype:
        assert "reference" in call.sets()
        assert 0 < call.work <= row.work(benchmarks.arguments(row))


def test_a_set_is_not_its_own_rival(run, vendors):
    words = ["bench", "kernels", "--kernels", "swift", "--against"]
    output = run(*words, "swift", code=2).output
    assert "is the set that is measured; name another set to compare with." in output
    assert (
        "there is no kernel set or family 'fast'" in run(*words, "fast", code=2).output
    )


def test_each_call_is_measured_on_its_best_set(run, vendors):
    """The best set of all need not have every kernel."""
    output = run("bench", "kernels", "--json", "--seconds", 0.01).output
    lines = [json.loads(line) for line in output.splitlines()]
    sets = {line["kernel"]: (line["set"], line["rival"]) for line in lines}
    assert sets == {
        "gemm": ("swift", "plodding"),
        "add": ("reference", None),
        "exp": ("reference", None),
    }


def test_the_set_measured_against_a_rival_is_of_another_family(run, vendors):
    words = ["gemm", "--json", "--seconds", 0.01, "--against", "swift"]
    line = json.loads(run("bench", "kernels", *words).output)
    assert (line["set"], line["rival"]) == ("plodding", "swift")


def test_a_call_that_one_set_alone_takes_is_shown(run, vendors):
    lines = run("bench", "kernels", "add", "--seconds", 0.01).output.splitlines()
    assert lines[2].endswith("no other set")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            ["--kernels", "swift"],
            "add 4 Ki: swift does not take it: has no such kernel",
        ),
        (
            ["--against", "swift"],
            "add 4 Ki: swift does not take it: has no such kernel",
        ),
        (
            ["--against", "reference"],
            "add 4 Ki: no set of another family than reference",
        ),
    ],
)
def test_a_table_without_rows_is_an_error(run, vendors, words, reason):
    output = run("bench", "kernels", "add", *words, code=1).output
    assert f"nothing was measured: {reason}" in output
    assert "operands" not in output


def test_calls_that_are_left_out_are_counted(run, vendors):
    words = ["--kernels", "swift", "--seconds", 0.01]
    output = run("bench", "kernels", *words).output
    assert "2 calls left out; add 4 Ki: swift does not take it" in output

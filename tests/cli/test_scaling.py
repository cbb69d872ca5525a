# SPDX-License-Identifier: MIT
"""``autocalc bench scaling``."""

import json
import time

import pytest

import autocalc as ac
from autocalc.cli import _bench_scaling, _scaling_steps
from autocalc.cli._scaling import Point, hand_off, job_recorder, measured, predicted

MS = 1_000_000


class Pool:
    """A pool whose jobs are known: one of 64 tasks, one that nobody can share."""

    def __init__(self):
        self.threads, self.asked = 0, []

    def record_jobs(self, threads):
        """Note for how many threads jobs are cut."""
        self.threads = threads
        self.asked.append(threads)

    def job_records(self):
        """Return a job of 64 ms and one of 5 ms."""
        n = self.threads
        return [(64, [64 * MS // n] * n, 0), (1, [5 * MS], 0)]

    def hand_off_ns(self, jobs):
        """Return 3 us."""
        return 3000


def test_a_prediction_is_the_critical_path():
    pool = Pool()
    (point,) = predicted(lambda: None, pool, [16], 1e-3)
    # the serial part is next to nothing; 4 levels of 1 ms wake 16 threads, once
    assert point.seconds == pytest.approx(0.004 + 0.005 + 0.004, abs=1e-3)
    assert (point.threads, point.predicted, point.jobs) == (16, True, 2)
    assert point.alone == pytest.approx(0.064 + 0.005, abs=1e-3)
    assert point.speed_up == point.alone / point.seconds
    assert pool.asked[-1] == 0  # recorded no longer
    assert set(pool.asked) == {16, 8, 0}


def test_recording_ends_where_the_work_fails():
    pool = Pool()
    with pytest.raises(ZeroDivisionError):
        predicted(lambda: 1 / 0, pool, [8], 0.0)
    assert pool.asked[-1] == 0


def test_what_runs_outside_of_jobs_is_serial():
    (point,) = predicted(lambda: time.sleep(0.02), Pool(), [64], 0.0)
    assert point.serial >= 0.02
    assert point.seconds >= 0.02 + 0.006


def test_serial_share_is_amdahls():
    for share in (0.0, 0.1, 1.0):
        many = Point(8, share + (1 - share) / 8, alone=1.0)
        assert many.serial_share == pytest.approx(share)


def test_numbers_of_threads_take_turns_and_the_budget_stays():
    before, seen = ac.get_num_threads(), []

    def work():
        seen.append(ac.get_num_threads())

    points = measured(work, (1, 2), 0.01)
    assert [p.threads for p in points] == [1, 2]
    assert all(p.seconds > 0 for p in points)
    assert {1, 2} <= set(seen)
    assert ac.get_num_threads() == before


def test_the_hand_off_is_measured_where_there_are_cores():
    assert hand_off(Pool(), 8) == pytest.approx(1e-6)  # 3 us, 3 levels
    assert hand_off(Pool(), 1) > 0


@pytest.fixture
def small(monkeypatch):
    """Leave one small kernel, and no steps."""
    a = ac.randn(40, 40)
    monkeypatch.setattr(_bench_scaling, "STEPS", {})
    monkeypatch.setattr(
        _bench_scaling, "kernels", lambda names: {"product": lambda: lambda: a @ a}
    )


def test_a_table_of_what_was_measured_and_predicted(run, small, monkeypatch):
    monkeypatch.setattr(_bench_scaling, "job_recorder", Pool)
    words = ("bench", "scaling", "--threads", "1,2", "--predict", "16", "--seconds")
    lines = run(*words, 0.01).output.splitlines()
    assert lines[2:4] == ["product", "  threads        ms  speed-up  efficiency"]
    assert [line.split()[0] for line in lines[4:7]] == ["1", "2", "16"]
    assert lines[6].split()[1] == "*"
    assert "2 jobs" in lines[6]
    assert "serial share by Amdahl's law, from 2 threads" in lines[7]
    assert "* predicted, not measured" in lines[8]


def test_json_and_no_predictions(run, small):
    words = ("bench", "scaling", "--threads", "1", "--predict", "", "--json")
    (line,) = run(*words, "--seconds", 0.01).output.splitlines()
    read = json.loads(line)
    assert read["name"] == "product"
    assert [p["threads"] for p in read["points"]] == [1]


def test_a_set_without_records_is_told(run, small, monkeypatch):
    monkeypatch.setattr(_bench_scaling, "job_recorder", lambda: None)
    result = run("bench", "scaling", "--threads", "1", "--seconds", 0.01)
    assert "No kernel set in use records its jobs" in result.output + result.stderr


@pytest.mark.parametrize("text", ["0", "two", "5000", "1,-3"])
def test_numbers_that_are_none_are_refused(run, text):
    result = run("bench", "scaling", "--predict", text, code=2)
    assert "must be numbers from 1 to 1024" in result.output + result.stderr


def test_a_plot_of_another_kind_is_refused(run):
    result = run("bench", "scaling", "--plot", "x.gif", code=2)
    assert "x.gif must end with .png, .svg or .pdf" in result.output + result.stderr


def test_a_plot(run, small, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(_bench_scaling, "job_recorder", Pool)
    path = tmp_path / "scaling.svg"
    run("bench", "scaling", "--threads", "1,2", "--seconds", 0.01, "--plot", path)
    text = path.read_text()
    assert "speed-up" in text or "<path" in text
    assert path.stat().st_size > 1000


def test_the_steps_train():
    step = _scaling_steps.STEPS["step: MLP 784-512-256-10, batch 128"]()
    first = step().item()
    for _ in range(20):
        last = step().item()
    assert last < first


def test_kernels_that_are_named_are_timed_in_all_cases():
    found = _scaling_steps.kernels(("softmax",))
    assert found
    assert all(name.startswith("softmax ") for name in found)
    next(iter(found.values()))()()


def test_recorders_are_pools_with_records():
    found = job_recorder()
    assert found is None or callable(found.record_jobs)

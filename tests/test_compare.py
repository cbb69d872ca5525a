# SPDX-License-Identifier: MIT
"""`make compare`: all take turns, ratios are of the right sides, the table is kept."""

import math
import subprocess
import sys

import pytest
from benchmarks import compare
from benchmarks.peers import ROOT

import autocalc as ac

STEP, SMALL = "MLP step 64-128-10, batch 64", "a * b, 16 elements, recorded"
PRODUCT = "gemm 64x64x64"


class Peer:
    """Answers seconds, and notes when it was asked."""

    def __init__(self, name, seconds, log):
        self.title, self._seconds, self._log = f"{name} 1.0", seconds, log

    def seconds(self, case, calls):
        self._log.append((self.title.split()[0], case))
        return self._seconds.get(case, math.nan)


def peers(log):
    seconds = {
        compare.EAGER: {STEP: 2e-4, SMALL: 1e-6, PRODUCT: 1e-5},
        compare.REPLAYED: {STEP: 1e-4, SMALL: 1e-6, PRODUCT: 1e-5},
        "torch": {STEP: 6e-4, SMALL: 3e-6, PRODUCT: 2e-5},
        "jax": {STEP: 2e-4},
    }
    return {name: Peer(name, found, log) for name, found in seconds.items()}


def test_pytorch_is_beside_eager_code_and_jax_beside_compiled():
    found = compare.measure(STEP, peers([]), rounds=3)
    assert found.faster == {"torch": pytest.approx(3.0), "jax": pytest.approx(2.0)}


def test_all_take_turns_in_every_round():
    log = []
    compare.measure(STEP, peers(log), rounds=2)
    turn = ["autocalc", "autocalc+compile", "torch", "jax"]
    assert [name for name, _ in log] == turn * 3  # once to warm up


def test_only_steps_are_compiled_and_absent_cases_have_no_figure():
    found = compare.measure(SMALL, peers([]), rounds=2)
    assert set(found.seconds) == {"autocalc", "torch"}
    assert set(found.faster) == {"torch"}


def test_the_table_has_a_column_for_each_that_is_installed():
    results = [compare.measure(case, peers([]), 2) for case in (STEP, PRODUCT)]
    cells = compare.table(results, list(peers([])))
    assert cells.titles == [
        *("case", "", "eager", "compiled", "PyTorch", "JAX", "x PyTorch", "x JAX")
    ]
    step, product = cells.rows
    assert step[1:] == ["us", "200.00", "100.00", "600.00", "200.00", "3.00", "2.00"]
    assert product[1:] == ["GFLOP/s", "52.43", "-", "26.21", "-", "2.00", "-"]
    alone = compare.table(results, [compare.EAGER, compare.REPLAYED])
    assert alone.titles == ["case", "", "eager", "compiled"]


def test_means_say_which_side_they_are_of():
    results = [compare.measure(case, peers([]), 2) for case in (STEP, PRODUCT)]
    eager, compiled = compare.means(results)
    assert eager.startswith("eager against PyTorch: 2.45 times as fast")
    assert compiled == (
        "compiled against JAX: 2.00 times as fast (geometric mean of 1 cases)"
    )


def test_settings_name_versions_and_what_is_missing():
    lines = list(compare.settings({compare.EAGER: "autocalc 0.1"}, 2, 15))
    text = "\n".join(lines)
    assert "2 threads, 15 rounds" in text
    assert ", ".join(ac.kernels.available()) in text
    assert "eager: autocalc 0.1" in text
    assert "PyTorch: not installed" in text
    assert "JAX: not installed" in text
    assert "OMP_PROC_BIND=true" in text


def test_all_cases_but_the_zoo_are_compared_unless_some_are_named():
    assert STEP in compare.selected([])
    assert not set(compare.selected([])) & set(compare.ZOO)
    assert compare.selected(["step 64-128"]) == [STEP]


def test_an_unknown_case_is_an_error_that_names_all(capsys):
    with pytest.raises(SystemExit):
        compare.main(["nothing like it"])
    assert f"no case matches; there are: {next(iter(compare.CASES))}" in (
        capsys.readouterr().err
    )


def test_the_command_prints_its_table_and_writes_it(tmp_path):
    out = tmp_path / "new" / "table.md"
    words = ["--rounds", "1", "--threads", "1", "--out", str(out), STEP]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.compare", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert f"The table is in {out}" in run.stdout
    text = out.read_text(encoding="utf-8")
    assert f"\n| {STEP} | us | " in text
    assert f"- eager: autocalc {ac.__version__}\n" in text

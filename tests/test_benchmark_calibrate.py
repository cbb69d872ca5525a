# SPDX-License-Identifier: MIT
"""Costs of plans, fitted to timings."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.calibrate import fit
from benchmarks.calibrate.__main__ import tuning
from benchmarks.calibrate.rows import Measured, Size, Way

TRUE = {"a_share": 0.8, "per_line": 12.0, "per_weight": 3.0}
BUILT_IN = {"a_share": 0.95, "per_line": 20.0, "per_weight": 1.0}


def ways(noise: float = 0.0) -> list[Way]:
    """Two ways to each of some shapes, in times that follow from `TRUE`."""
    draw = np.random.default_rng(1)
    found = []
    for i, (work, many) in enumerate(
        itertools.product((1e4, 3e4, 1e5), (1, 4, 16, 64))
    ):
        kinds = {"lines": {"a_share": work, "per_line": work / many}}
        kinds["weights"] = {"a_share": work, "per_weight": 200.0 * many}
        for name, amounts in kinds.items():
            exact = Way("family", f"{i}", name, 1.0, False, amounts).estimate(TRUE)
            steps = exact * (1 + noise * draw.uniform(-1, 1))
            found.append(Way("family", f"{i}", name, steps, False, amounts))
    return found


def test_an_estimate_adds_up_its_costs_and_divides_by_shares():
    way = Way("f", "s", "n", 1.0, False, {"a_share": 80.0, "per_line": 2.0})
    assert way.estimate(TRUE) == pytest.approx(80 / 0.8 + 24)


def test_exact_times_give_the_exact_costs():
    assert fit.fitted(ways(), BUILT_IN) == pytest.approx(TRUE, rel=1e-6)


def test_an_outlier_moves_the_costs_little():
    rows = ways()
    rows[3] = rows[3]._replace(steps=3 * rows[3].steps)
    assert fit.fitted(rows, BUILT_IN) == pytest.approx(TRUE, rel=0.1)


def test_a_share_is_at_most_one():
    rows = [way._replace(steps=way.steps * 0.7) for way in ways()]
    assert fit.fitted(rows, BUILT_IN)["a_share"] <= 1


def test_a_cost_of_which_the_ways_say_nothing_keeps_its_value():
    built_in = {**BUILT_IN, "elsewhere": 5.0}
    assert fit.fitted(ways(), built_in)["elsewhere"] == 5.0


def test_tuned_costs_give_away_less_than_others():
    rows = ways(noise=0.1)
    wrong = {**BUILT_IN, "per_line": 0.1}
    before = np.mean(fit.losses(rows, wrong))
    after = np.mean(fit.losses(rows, fit.tuned(rows, wrong)))
    assert before > 1.2
    assert after < 1.02


def test_costs_of_one_half_of_the_shapes_choose_well_for_the_other():
    found = fit.crossed_losses(ways(), {**BUILT_IN, "per_line": 0.1})
    assert len(found) == 12
    assert np.mean(found) < 1.02


def test_dot_products_end_where_the_product_is_faster():
    rows = [
        Way("dots", f"{m}x8x8", name, steps, False, {})
        for m, dots in ((2, 1.0), (3, 2.0), (4, 5.0), (5, 3.0))
        for name, steps in (("dots", dots), ("product", 4.0))
    ]
    assert fit.most_dot_rows(rows) == 3


def test_a_size_changes_for_a_clear_gain_alone():
    def rows(half: float) -> list[Size]:
        return [Size("s", "x", 8, 1.0), Size("s", "x", 16, half)]

    assert fit.best_size(rows(0.9), 8) == (16, 0.9)
    assert fit.best_size(rows(0.995), 8) == (8, 1.0)


def test_the_programs_lines_are_read():
    found = Measured()
    found.add("cost a_share 0.9")
    found.add("way conv 1x2 planes 100 1 a_share=90 per_line=2")
    found.add("size strided_results 1x2 4096 50")
    assert found.costs == {"a_share": 0.9}
    expected = {"a_share": 90.0, "per_line": 2.0}
    assert found.ways == [Way("conv", "1x2", "planes", 100.0, True, expected)]
    assert found.sizes == [Size("strided_results", "1x2", 4096, 50.0)]
    with pytest.raises(ValueError, match="the program printed 'other 1'"):
        found.add("other 1")


def test_lines_for_the_source_hold_what_differs():
    built_in = {"patch_line": 17.0, "most_dot_rows": 12.0, "patch_share": 0.95}
    here = {"patch_line": 9.5, "most_dot_rows": 8.0, "patch_share": 0.94}
    assert tuning("avx512", built_in, here) == (
        "struct Costs : DefaultCosts {\n"
        "    static constexpr double patch_line = 9.5;\n"
        "    static constexpr int64_t most_dot_rows = 8;\n"
        "};\n"
    )
    assert tuning("avx2", built_in, built_in) == (
        "// avx2: no cost differs by more than 10%.\n"
    )


@pytest.mark.slow
def test_the_command_prints_costs_and_what_choices_give_away(tmp_path):
    pytest.importorskip("autocalc_kernels_simd")
    written = tmp_path / "tuning.txt"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "benchmarks.calibrate",
            "--rounds",
            "1",
            "--write",
            written,
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for word in ("filter_channel", "strided_results", "conv_dx_nhwc", "winograd"):
        assert word in done.stdout
    assert "given away by costs" in done.stdout
    assert written.read_text(encoding="utf-8").endswith(("};\n", ".\n"))


def test_rounds_have_to_be_some():
    pytest.importorskip("autocalc_kernels_simd")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.calibrate", "--rounds", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--rounds must be at least 1, not 0" in done.stderr

# SPDX-License-Identifier: MIT
"""`compare_kernels`: which set is off, by how much, where, and how to see it again."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from tests.kernel_table import TABLE, adapt

import autocalc as ac
from autocalc.errors import ArgumentError, ConfigError, DTypeError
from autocalc.plugin import KernelImpl, KernelSet
from autocalc.testing import compare_kernels

REFERENCE = {name: adapt(TABLE[name]) for name in ("gelu_backward", "neg", "exp")}


def planted(install, **kernels):
    install(mine=[KernelSet("mine", family="mine", load=lambda: kernels)])


def off_by_a_thousandth(out, g, a, approximate):
    REFERENCE["gelu_backward"](out, g, a, approximate)
    out *= 1 + 1e-3


def blind_to_strides(out, a):
    flat = np.lib.stride_tricks.as_strided(a, (a.size,), (a.itemsize,))
    out[...] = -flat.reshape(a.shape)


def an_element_too_far(out, a):
    REFERENCE["neg"](out, a)
    flat = np.lib.stride_tricks.as_strided(out, (out.size + 1,), (out.itemsize,))
    flat[-1] = 7


def test_right_kernels_are_within_their_budget():
    found = compare_kernels("exp", sets=["reference"], dtypes=["float32"])
    assert found.failures == ()
    assert {row.set for row in found.rows} == {"reference"}
    assert 0.4 < max(row.ulp for row in found.rows) <= 0.5
    assert all(row.share <= 0.25 for row in found.rows)


def test_the_error_is_in_units_in_the_last_place(install):
    def exp(out, a):
        REFERENCE["exp"](out, a)
        out[...] = np.nextafter(out, np.float32(np.inf))

    planted(install, exp=exp)
    found = compare_kernels("exp", sets=["mine"], dtypes=[ac.float32], samples=["n=33"])
    assert 1.0 <= max(row.ulp for row in found.rows) <= 1.5
    assert len(found.rows) == 2  # contiguous and not


def test_a_gradient_that_is_a_little_off(install):
    planted(install, gelu_backward=off_by_a_thousandth)
    found = compare_kernels("gelu_backward", dtypes=["float32"], samples=4)
    assert {row.set for row in found.failures} == {"mine"}
    assert {row.kernel for row in found.failures} == {"gelu_backward"}
    row = next(r for r in found.failures if r.shapes == "1000 1000")
    assert row.ulp > 1000
    assert "ULP), allowed" in row.problem
    assert "gelu_backward of mine (float32) on " in str(found)
    assert "operands 1000 1000" in str(found)


def test_strides_that_a_kernel_ignores(install):
    planted(install, neg=blind_to_strides)
    found = compare_kernels("neg", sets=["mine"], dtypes=["float32"])
    assert found.failures
    assert all(row.layouts != ("contiguous",) for row in found.failures)
    assert any(row.layouts == ("contiguous",) for row in found.rows)


def test_a_write_behind_the_output(install):
    planted(install, neg=an_element_too_far)
    found = compare_kernels("neg", sets=["mine"], samples=["n=7"], dtypes=["float32"])
    row = found.failures[0]
    assert (row.kernel, row.set, row.shapes) == ("neg", "mine", "7")
    assert row.problem == "the kernel wrote outside its operands"


def test_errors_and_refusals(install):
    def broken(out, a):
        raise ValueError("not today")

    def no_doubles(key):
        return "no float64" if key.dtypes[1] == np.float64 else None

    planted(install, neg=KernelImpl(broken, supports=no_doubles))
    found = compare_kernels("neg", samples=["n=7"], dtypes=["float32", "float64"])
    assert found.failures[0].problem == "the kernel raised ValueError: not today"
    by_kernel = [line.split() for line in found.table("kernel").splitlines()]
    column = by_kernel[0].index("mine")
    assert by_kernel[1][column] == "!nan"
    assert by_kernel[2][column] == "-"


def test_what_is_not_used_is_said(install):
    planted(install, frobnicate=off_by_a_thousandth)
    with pytest.warns(ac.errors.PluginWarning):
        found = compare_kernels("neg", samples=1)
    assert "not used: mine: frobnicate: no kernel of this name" in str(found)


def test_the_table_has_a_row_for_each_shape(install):
    planted(install, neg=REFERENCE["neg"])
    found = compare_kernels("neg", sets=["mine", "reference"], dtypes=["float32"])
    lines = found.table().splitlines()
    assert lines[0].split() == ["kernel", "dtype", "operands", "mine", "reference"]
    assert len(lines) - 1 == len({row.shapes for row in found.rows})
    assert lines[-1].split()[-2:] == ["0.00", "0.00"]
    assert len(found.table("kernel").splitlines()) == 2


def test_the_worst_cases_become_a_script(install, tmp_path):
    script = tmp_path / "worst.py"
    planted(install, neg=blind_to_strides)
    found = compare_kernels("neg", sets=["mine"], dtypes=["float32"])
    found.save(script)
    worst = found.worst()[0]
    text = script.read_text()
    assert f"('neg', 'mine', 'float32', {worst.sample!r}, {worst.layouts!r})" in text
    scope = {"__name__": "worst"}
    with pytest.raises(SystemExit, match="1"):
        exec(compile(text, script, "exec"), scope)
    assert str(scope["found"].failures[0]) == str(worst)


def test_the_script_of_right_kernels_ends_well(tmp_path):
    script = tmp_path / "worst.py"
    compare_kernels("exp", sets=["reference"], samples=2, dtypes=["float32"]).save(
        script
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "exp of reference (float32) on " in done.stdout


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"sets": "simd"}, ArgumentError, r"`sets` is 'simd'; give a list, \['simd'\]"),
        ({"sets": ["refrence"]}, ConfigError, "Did you mean 'reference'"),
        ({"dtypes": ["float7"]}, DTypeError, "dtype float7 is not supported"),
        ({"samples": 0}, ArgumentError, "compare_kernels: `samples` is 0; give"),
        ({"samples": True}, ArgumentError, "`samples` is True"),
        ({"samples": ["n=999"]}, ArgumentError, "has a sample 'n=999'"),
        ({"layouts": ["padded"]}, ArgumentError, "give a list of lists of the words"),
        ({"layouts": [["upside down"]]}, ArgumentError, "contiguous, offset, strided"),
        ({"layouts": []}, ArgumentError, r"`layouts` is \[\]"),
    ],
)
def test_wrong_arguments(options, error, match):
    with pytest.raises(error, match=match):
        compare_kernels("neg", **{"sets": ["reference"], **options})


def test_an_unknown_kernel():
    with pytest.raises(ConfigError, match=r"there is no kernel 'gelu_backwards'"):
        compare_kernels("gelu_backwards")


def test_a_table_by_nothing_known():
    found = compare_kernels("neg", sets=["reference"], samples=1)
    with pytest.raises(ArgumentError, match="`by` is 'set'; use 'shapes' or 'kernel'"):
        found.table("set")

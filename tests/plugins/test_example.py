# SPDX-License-Identifier: MIT
"""The documentation's example package: built, run and proved as its README says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.kernel_table import TABLE

pytestmark = pytest.mark.core

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
README = EXAMPLES / "autocalc-kernels-example" / "README.md"


def test_its_readme_runs(install, python):
    readme = README.read_text()
    (block,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    program = block + (
        "import json\n"
        "report = str(ac.kernels.show())\n"
        "print(json.dumps([report, [[*key, n] for key, n in calls.items()]]))\n"
    )
    report, calls = python(program, install("example"))
    assert re.search(r"example +rank 10 +2 kernels +autocalc-kernels-example", report)
    assert calls == [["relu", "example", 1]]


def test_it_refuses_what_it_does_not_take(install, python):
    program = """
import json
import autocalc as ac

a = ac.ones(3, dtype=ac.float64)
with ac.kernels.use("example"), ac.kernels.count() as calls:
    a.relu()
    why = str(ac.kernels.explain("relu", a))
print(json.dumps([[name for _, name in calls], why]))
"""
    ran, why = python(program, install("example"))
    assert ran != ["example"]
    assert re.search(r"example .*refused: does not take this dtype", why)


def test_it_conforms(install, conformance):
    finished = conformance("example", install("example"))
    assert finished.returncode == 0, finished.stdout[-3000:]
    assert f"example: 2 of {len(TABLE)} kernels" in finished.stdout
    assert re.search(r"rms_norm +float32 +\d+ calls", finished.stdout)


def test_its_c_form_runs_in_compiled_programs(install, python):
    program = """
import json
import numpy as np
import autocalc as ac
from autocalc_kernels_example import _native
import autocalc._native
from autocalc._kernels.kernel_set import ExecutorCall

def forbidden(*_):
    raise AssertionError

x, y = np.float32([-1, 2]), np.empty(2, "f4")
call = ExecutorCall(forbidden, _native.kernels["relu"].native, (y, x), (1, 0))
autocalc._native.Executor([call], {0: (x, 0), 1: (y, 0)}).run()
a = ac.randn(30, 40)
with ac.kernels.use("example"):
    run = ac.compile(lambda a: a.relu() * 2)
    for _ in range(4):
        same = (run(a) == a.relu() * 2).all().item()
    steps = run.programs[0].instructions
    chosen = [(i.name, i.chosen, i.native is not None) for i in steps]
print(json.dumps([y.tolist(), same, chosen]))
"""
    pytest.importorskip("autocalc._native")
    values, same, chosen = python(program, install("example"))
    assert values == [0, 2]
    assert same
    assert ["relu", "example", True] in chosen


def test_it_gives_the_same_bits_for_any_thread_count(install, python):
    program = """
import json
import numpy as np
from autocalc._dispatch.selection.arrays import arrays
import autocalc as ac

x = np.random.default_rng(0).normal(size=(1000, 77)).astype("f4")
found = set()
with ac.kernels.use("example"):
    for threads in (1, 2, 3):
        ac.set_num_threads(threads)
        out, rstd = arrays.rms_norm(x, None, 1e-6, want=2)
        found.add((out.tobytes(), rstd.tobytes()))
print(json.dumps(len(found)))
"""
    assert python(program, install("example")) == 1

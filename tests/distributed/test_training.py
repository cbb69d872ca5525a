# SPDX-License-Identifier: MIT
"""n ranks with parts of a batch train as one process with the whole batch."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from tests.distributed.launch import PROGRAMS, Result, environment, needs_mpi, run_well

#: Relative differences of losses over 50 steps.
TOLERANCES = {"float64": 1e-10, "float32": 1e-5}

pytestmark = [needs_mpi, pytest.mark.mpi]

STEPS = 50
WAYS = [
    {"network": network, "dtype": dtype, "steps": STEPS, **more}
    for network, dtype, more in [
        ("charlm", "float64", {}),
        ("charlm", "float32", {"views": True}),
        ("cnn", "float64", {"deterministic": True}),
        ("cnn", "float32", {"compile": True}),
        ("cnn-norm", "float64", {}),
        ("cnn-norm", "float32", {"views": True, "deterministic": True}),
        ("charlm", "float64", {"compile": True, "deterministic": True, "steps": 8}),
    ]
]
ACCUMULATING = {"network": "charlm", "dtype": "float64", "steps": 6, "accumulate": True}


@pytest.fixture(scope="module")
def alone():
    """What one process, which knows nothing of MPI, makes of the whole batch."""
    ways = [*WAYS, {**ACCUMULATING, "accumulate": False}]
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "train.py"), json.dumps(ways)],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return Result(0, done.stdout, done.stderr).values()[0]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_ranks_train_as_one_process_does(n, alone):
    ways = {1: WAYS[1:4], 2: WAYS, 3: [*WAYS, ACCUMULATING], 4: WAYS[:6]}[n]
    told = run_well(n, "train.py", json.dumps(ways))
    assert list(told) == list(range(n))
    for rank in range(1, n):
        assert told[rank] == told[0]
    known = [*WAYS, ACCUMULATING]
    for way, found in zip(ways, told[0], strict=True):
        expected = alone[known.index(way)]
        tolerance = TOLERANCES[way["dtype"]]
        np.testing.assert_allclose(
            found[:-1], expected[:-1], rtol=tolerance, err_msg=str(way)
        )
        assert way["steps"] < STEPS or expected[-2] < 0.9 * expected[0], way


def test_in_deterministic_mode_runs_have_the_same_bits():
    ways = [way for way in WAYS if way.get("deterministic")]
    ways = [{**way, "steps": 4} for way in ways[:2]]
    runs = [run_well(3, "train.py", json.dumps(ways))[0] for _ in range(2)]
    assert runs[0] == runs[1]

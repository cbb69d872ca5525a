# SPDX-License-Identifier: MIT
"""Every model of `autocalc train` on ranks: the losses of one process."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.distributed.launch import PROGRAMS, Result, environment, needs_mpi, run_well

pytestmark = [needs_mpi, pytest.mark.mpi]

#: Relative differences of float32 losses; sums over ranks come between the layers of
#: a network with batch norm, and rounding grows from layer to layer.
USUAL, NORMED = 2e-5, 2e-3

#: Two of 360 test images may be close calls; the half is for rounding.
FEW = 2.5 / 360


@pytest.fixture(scope="module")
def alone():
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "recipes.py")],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return Result(0, done.stdout, done.stderr).values()[0]


def test_every_recipe_trains_on_ranks_as_in_one_process(alone):
    told = run_well(3, "recipes.py")
    for rank in (1, 2):
        assert told[rank] == told[0]
    assert told[0].keys() == alone.keys()
    for name, found in told[0].items():
        tolerance = NORMED if name == "resnet" else USUAL
        expected = alone[name]
        if not name.startswith("text"):
            assert found.pop() == pytest.approx(expected.pop(), abs=FEW), name
        assert found == pytest.approx(expected, rel=tolerance), name

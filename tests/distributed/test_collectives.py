# SPDX-License-Identifier: MIT
"""Collectives and messages on several ranks: see `programs/collectives.py`."""

from __future__ import annotations

import pytest
from tests.distributed.launch import needs_mpi, run_well

pytestmark = [needs_mpi, pytest.mark.mpi]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_collective_gives_what_numpy_makes_of_all_tensors(n):
    told = run_well(n, "collectives.py")
    assert told == {r: {"rank": r, "size": n, "local": r} for r in range(n)}


def test_compared_calls_that_agree_run():
    assert run_well(2, "collectives.py", AUTOCALC_DISTRIBUTED_DEBUG="detail")

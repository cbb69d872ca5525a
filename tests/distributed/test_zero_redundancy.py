# SPDX-License-Identifier: MIT
"""`ZeroRedundancyOptimizer` on ranks: see `programs/zero.py`."""

from __future__ import annotations

import pytest
from tests.distributed.launch import needs_mpi, run_well

pytestmark = [needs_mpi, pytest.mark.mpi]


def test_ranks_keep_a_share_of_the_state_and_train_all_the_same(tmp_path):
    told = run_well(3, "zero.py", tmp_path / "x")
    whole = told[0][0]
    shares = [share for _, share in told.values()]
    assert sum(shares) == whole
    assert max(shares) < 0.4 * whole
    run_well(2, "zero.py", tmp_path / "x")

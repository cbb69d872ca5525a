# SPDX-License-Identifier: MIT
"""`ZeroRedundancyOptimizer` on ranks: see `programs/zero.py` and `memory.py`."""

from __future__ import annotations

import sys

import pytest
from tests.distributed.launch import needs_mpi, run_well

pytestmark = [needs_mpi, pytest.mark.mpi]

#: Bytes by which resident memory may differ from what is predicted: 32 MiB of
#: parameters need 64 MiB of state on one rank and 16 MiB on each of four.
NEAR = 4 * 2**20


def test_ranks_keep_a_share_of_the_state_and_train_all_the_same(tmp_path):
    told = run_well(3, "zero.py", tmp_path / "x")
    whole = told[0][0]
    shares = [share for _, share in told.values()]
    assert sum(shares) == whole
    assert max(shares) < 0.4 * whole
    run_well(2, "zero.py", tmp_path / "x")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("n", "kind"), [(4, "whole"), (1, "zero"), (2, "zero"), (4, "zero")]
)
def test_resident_memory_grows_by_what_is_predicted(n, kind):
    """AdamW keeps two numbers for each parameter that is a rank's own."""
    for whole, kept, grown in run_well(n, "memory.py", kind).values():
        assert kept == (whole if kind == "whole" else whole / n)
        assert grown == pytest.approx(2 * kept, abs=NEAR)

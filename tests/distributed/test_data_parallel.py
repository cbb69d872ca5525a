# SPDX-License-Identifier: MIT
"""`DistributedDataParallel` on several ranks: see `programs/ddp.py`."""

from __future__ import annotations

import pytest
from tests.distributed.launch import needs_mpi, run_well

pytestmark = [needs_mpi, pytest.mark.mpi]


@pytest.mark.parametrize("n", [2, 3])
def test_what_distributed_data_parallel_promises(n):
    assert run_well(n, "ddp.py") == dict.fromkeys(range(n), n)

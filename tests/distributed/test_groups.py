# SPDX-License-Identifier: MIT
"""Groups of some ranks, and objects: see `programs/groups.py`."""

from __future__ import annotations

import pytest
from tests.distributed.launch import needs_mpi, run, run_well

pytestmark = [needs_mpi, pytest.mark.mpi]


@pytest.mark.parametrize("debug", ["off", "detail"])
def test_groups_and_objects(debug):
    told = run_well(4, "groups.py", AUTOCALC_DISTRIBUTED_DEBUG=debug)
    assert told == {r: r for r in range(4)}


def test_ranks_that_ask_for_different_groups_are_told(tmp_path):
    result = run(3, "failing.py", "group", tmp_path / "x", 60)
    assert result.code != 0
    text = (
        "new_group: the ranks have made different calls. Rank 0: new_group([0]); "
        "rank 1: new_group([1]). All ranks must call it with the same `ranks`"
    )
    assert text in result.err

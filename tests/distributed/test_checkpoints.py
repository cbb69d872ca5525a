# SPDX-License-Identifier: MIT
"""A checkpoint of one rank goes on: bit for bit on as many ranks, and on others."""

from __future__ import annotations

import numpy as np
import pytest
from tests.distributed.launch import needs_mpi, run_well

pytestmark = [needs_mpi, pytest.mark.mpi]


def test_a_run_goes_on_bit_for_bit_on_as_many_ranks(tmp_path):
    told = run_well(2, "resume.py", tmp_path / "x", 0.5, "begin")
    whole, before, behind = told[0]
    assert told[1] == told[0]
    assert before + behind == whole


def test_a_checkpoint_goes_on_on_another_number_of_ranks(tmp_path):
    whole, *_ = run_well(2, "resume.py", tmp_path / "x", 0, "begin")[0]
    for n in (1, 3):
        (behind,) = run_well(n, "resume.py", tmp_path / "x", 0, "go on")[0]
        np.testing.assert_allclose(behind, whole[4:], rtol=1e-10)

# SPDX-License-Identifier: MIT
"""Calls that passes make are held to the shapes that their kernels write."""

from __future__ import annotations

import numpy as np
import pytest
from tests.compile.parts import View, instruction
from tests.kernel_table import TABLE


def view(slot: int, *shape: int) -> View:
    """Return a row-major view of floats."""
    dtype = np.dtype(np.float32)
    strides = np.empty(shape, dtype).strides
    return View(slot, 0, shape, strides, dtype)


def test_a_result_of_another_shape_is_refused() -> None:
    """A kernel would write where the program has something else."""
    inputs = view(0, 2, 3), view(1, 4, 3), None
    spec = TABLE["linear"]
    with pytest.raises(
        AssertionError,
        match=r"reserves memory of shape \(4, 2\) for `linear`, whose result has",
    ):
        instruction(spec, (view(2, 4, 2), None), inputs, ("none",), ())

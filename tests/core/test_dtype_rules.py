# SPDX-License-Identifier: MIT
"""The dtypes of results, over all dtypes and kinds of operands, are PyTorch's.

`against_torch/dtypes.txt` has PyTorch's answers, so that this holds without it; where
it is installed, the file is compared with it.
"""

from __future__ import annotations

import pytest
from tests.core.dtype_cases import expected, rows_of
from tests.core.dtype_operations import OPERATIONS

import autocalc as ac

EXPECTED = expected()


@pytest.mark.core
@pytest.mark.parametrize("name", OPERATIONS)
def test_dtypes(name):
    rows = rows_of(ac, name)
    assert rows == {title: EXPECTED[title] for title in rows}


@pytest.mark.torch
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_file_is_what_pytorch_does(name):
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    rows = rows_of(torch, name)
    assert rows == {title: EXPECTED[title] for title in rows}


def test_the_file_has_nothing_else():
    titles = {title for name in OPERATIONS for title in _titles(name)}
    assert titles == set(EXPECTED)
    assert len(titles) > 800


def _titles(name):
    from tests.core.dtype_cases import kinds_of

    return [f"{name} ({', '.join(kinds)})" for kinds in kinds_of(name)]

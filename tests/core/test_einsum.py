# SPDX-License-Identifier: MIT
"""`einsum` with numbers in the place of letters."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.errors import ArgumentError


def test_numbers_for_letters():
    a, b = ac.rand(2, 3), ac.rand(3, 4)
    expected = (a @ b).tolist()
    assert ac.einsum(a, [0, 1], b, [1, 2], [0, 2]).tolist() == expected
    assert ac.einsum(a, [0, 1], b, [1, 2]).tolist() == expected
    assert ac.einsum(a, [..., 1], b, [1, 51], [..., 51]).tolist() == expected
    for labels in ([0, 52], "ab", [0, "b"]):
        with pytest.raises(ArgumentError, match=r"einsum: the labels .* are not"):
            ac.einsum(a, labels)

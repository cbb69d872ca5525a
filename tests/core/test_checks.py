# SPDX-License-Identifier: MIT
"""Python values that functions take, and what is said of others."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc._tensor.checks import as_int, integers, number, one_of, sequence, short
from autocalc.errors import ArgumentError, DTypeError

pytestmark = pytest.mark.core


def test_what_counts_as_integers_and_numbers():
    assert as_int("f", "n", np.int8(3)) == as_int("f", "n", ac.tensor(3)) == 3
    assert integers("f", "n", 3) == integers("f", "n", [np.int64(3)]) == (3,)
    assert integers("f", "n", [0, ac.tensor(1)]) == (0, 1)
    assert (
        number("f", "p", ac.tensor([0.5])) == number("f", "p", np.float32(0.5)) == 0.5
    )
    assert number("f", "p", 10**400) == math.inf
    assert sequence("f", "xs", (1, "a")) == [1, "a"]


@pytest.mark.parametrize(
    ("error", "match", "call"),
    [
        (
            DTypeError,
            r"f: `n` is 0\.5; it must be an int",
            lambda: as_int("f", "n", 0.5),
        ),
        (ArgumentError, "does not fit into int64", lambda: as_int("f", "n", 2**63)),
        (
            DTypeError,
            "`n` is 'ab'; it must be an int",
            lambda: integers("f", "n", "ab"),
        ),
        (
            DTypeError,
            "`n` is None; it must be an int",
            lambda: integers("f", "n", [None]),
        ),
        (
            DTypeError,
            r"`p` is \(1,\); .* this tuple is",
            lambda: number("f", "p", (1,)),
        ),
        (DTypeError, "must be one number", lambda: number("f", "p", ac.ones(2))),
        (DTypeError, "must be one number", lambda: number("f", "p", 1j)),
        (DTypeError, "which a float is not", lambda: sequence("f", "xs", 1.0)),
        (
            ArgumentError,
            "`m`=3; use 'a' or 'b'",
            lambda: one_of("f", "m", 3, ("a", "b")),
        ),
    ],
)
def test_errors(error, match, call):
    with pytest.raises(error, match=match):
        call()


def test_long_values_are_cut():
    assert len(short("x" * 99)) == 60
    assert short([1, 2]) == "[1, 2]"

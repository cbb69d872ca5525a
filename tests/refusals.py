# SPDX-License-Identifier: MIT
"""Tables of calls that are refused, as text."""

from __future__ import annotations

import builtins
import re
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from autocalc import errors

_ROW = re.compile(r"(.+?) -> (\w+(?:Error|Warning)): (.*)")


def refusals(table: str, names: dict[str, Any]) -> Callable[..., None]:
    """Return a test: each call of a table raises an error with a text.

    A row is ``call -> ErrorName: pattern``; lines that are indented go on with it.

    Parameters
    ----------
    table
        The rows.
    names
        What the calls use: the globals of the module.
    """
    rows = re.split(r"\n(?=\S)", textwrap.dedent(table).strip())
    found = [_ROW.fullmatch(" ".join(row.split())) for row in rows]
    assert all(found), f"no call with an error: {rows[found.index(None)]}"

    @pytest.mark.parametrize(
        ("call", "error", "pattern"),
        [row.groups() for row in found],
        ids=[row[1] for row in found],
    )
    def test(call: str, error: str, pattern: str) -> None:
        kind = getattr(errors, error, None) or getattr(builtins, error)
        with pytest.raises(kind, match=pattern):
            eval(call, names)

    return test

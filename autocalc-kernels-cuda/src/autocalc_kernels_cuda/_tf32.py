# SPDX-License-Identifier: MIT
"""Whether products of float32 may be taken of TF32: 10 bits of each number, not 23.

Tensor cores multiply these many times as fast, and results keep about 3 digits.  No
kernel does so unless the user has asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_allowed = False


def allowed() -> bool:
    """Return whether TF32 was asked for."""
    return _allowed


def allow(on: bool) -> None:
    """Take products of float32 of TF32 from now on, or no longer."""
    global _allowed
    _allowed = bool(on)


@contextmanager
def tf32(on: bool = True) -> Iterator[None]:
    """Allow TF32 inside a ``with`` block, or forbid it."""
    before = _allowed
    allow(on)
    try:
        yield
    finally:
        allow(before)

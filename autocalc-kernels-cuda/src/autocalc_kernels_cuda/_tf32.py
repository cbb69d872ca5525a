# SPDX-License-Identifier: MIT
"""Whether products of float32 may be taken of TF32: 10 bits of each number, not 23.

Tensor cores multiply these many times as fast, and results keep about 3 digits.  No
kernel does so unless the user has asked for it: by
``ac.set_float32_matmul_precision("high")``, or here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autocalc.plugin import float32_matmul_precision

#: None: as `ac.set_float32_matmul_precision` says.
_allowed: bool | None = None


def allowed() -> bool:
    """Return whether TF32 was asked for."""
    if _allowed is None:
        return float32_matmul_precision() != "highest"
    return _allowed


@contextmanager
def tf32(on: bool = True) -> Iterator[None]:
    """Allow TF32 inside a ``with`` block, or forbid it, whatever is set elsewhere."""
    global _allowed
    before, _allowed = _allowed, on
    try:
        yield
    finally:
        _allowed = before

# SPDX-License-Identifier: MIT
"""How precisely products of float32 are to be taken, where a device has a choice.

CPUs have none: their products are always in full precision.
"""

from __future__ import annotations

#: "high" and "medium" allow TF32 or something like it.
_precision = "highest"


def float32_matmul_precision() -> str:
    """Return "highest", or what `ac.set_float32_matmul_precision` was given.

    A kernel set whose device can multiply float32 less precisely asks it at each call,
    and does so for "high" and "medium" alone.

    Examples
    --------
    >>> from autocalc.plugin import float32_matmul_precision
    >>> float32_matmul_precision()
    'highest'
    """
    return _precision


def choose_matmul_precision(precision: str) -> None:
    """Keep what the user has asked for."""
    global _precision
    _precision = precision

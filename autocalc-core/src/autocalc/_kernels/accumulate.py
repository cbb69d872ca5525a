# SPDX-License-Identifier: MIT
"""Outputs that can be added into: what an output held, and what is added to it."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.spec import Array


def plus(into: Array | None, value: Array) -> Array:
    """Return `value`, added to what the output held if it is added into."""
    return value if into is None else into + value


def plus_in(k: Any, into: Array | None, value: Array) -> Array:
    """Return the same in primitives."""
    return value if into is None else k.add(into, value)

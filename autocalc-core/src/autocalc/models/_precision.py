# SPDX-License-Identifier: MIT
"""The precision of a training's products."""

from __future__ import annotations

from autocalc.amp import autocast

#: The precisions of trainings: float32 throughout, or products in bfloat16.
PRECISIONS = ("float32", "bf16")


def under(precision: str) -> autocast:
    """Return the context in which models of this precision run."""
    return autocast("cpu", enabled=precision == "bf16")

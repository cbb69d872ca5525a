# SPDX-License-Identifier: MIT
"""Numbers as JSON, which has no infinity and no NaN, and as readable text."""

from __future__ import annotations

import math
from typing import Any

#: The texts are those of the JSON format of protocol buffers.
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json(value: Any) -> Any:
    """Return a value for `json.dumps`; non-finite numbers become strings."""
    if isinstance(value, dict):
        return {str(key): to_json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return "NaN"
        return "Infinity" if value > 0 else "-Infinity"
    return value


def number_of(value: Any) -> float | None:
    """Return the number that `to_json` wrote, or None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value)
    return _NOT_FINITE.get(value) if isinstance(value, str) else None


def shown(value: float) -> str:
    """Return a number with about four digits: ``0.1234``, ``1,234``, ``1.2e-05``."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}" if abs(value) < 1e7 else f"{value:.3g}"
    return f"{value:.4g}"


def short(value: float) -> str:
    """Return a short number for an axis: ``0.05``, ``20k``, ``-7M``."""
    for size, unit in ((1e6, "M"), (1e4, "k")):
        if size <= abs(value) < 1e9:
            return f"{value / (1e6 if unit == 'M' else 1e3):.4g}{unit}"
    return shown(value)

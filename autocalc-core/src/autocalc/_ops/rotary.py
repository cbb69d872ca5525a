# SPDX-License-Identifier: MIT
"""Rotary positions; the gradient is turned back."""

from __future__ import annotations

from typing import Any

from autocalc._ops._op import nary

# Inputs x, cos, sin.  The tables have no gradient here.
rotary = nary("rotary", saves="cos:x sin:x")


@rotary.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    cos, sin = n.saved
    return k.rotary(g, cos, sin, not n.attributes[0]), None, None

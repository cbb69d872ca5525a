# SPDX-License-Identifier: MIT
"""Backward rules for float16 and bfloat16 compute in float32 and round once.

A rule of several kernels would otherwise round after each of them.  It receives the
incoming gradients and the saved arrays in float32.  Only its results are rounded.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.upcast import FLOAT32, HALVES
from autocalc._graph._node import Node, Partial
from autocalc._graph._packed import Packed

#: The classes of sequences that hold saved arrays.
_SEQUENCES = (tuple, list, Packed)


class WideNode:
    """A node as it appears to a rule that computes in float32."""

    __slots__ = ("attributes", "dtype", "needs", "node", "saved", "shapes")

    def __init__(self, k: Any, n: Any) -> None:
        self.node = n if isinstance(n, Node) else n.node
        self.needs = n.needs
        self.saved = _widened(k, n.saved)
        self.shapes = n.shapes
        self.dtype = FLOAT32 if n.dtype in HALVES else n.dtype
        self.attributes = n.attributes


def rule_in_float32(k: Any, n: Any, g: Any) -> Any:
    """Apply the rule of a node in half precision.

    Three kinds of rules run as they are: views and casts, which have no kernel; users'
    functions; and rules with one kernel for each gradient.
    """
    node = n if isinstance(n, Node) else n.node
    rule = node.op.rule
    if node.op.spec is None or node.op.rounds_once(n):
        return rule(k, n, g)
    several = g if g.__class__ is tuple else (g,)
    half = next(k.dtype(one) for one in several if one is not None)
    wide = [None if one is None else k.cast(one, FLOAT32) for one in several]
    found = rule(k, WideNode(k, n), tuple(wide) if g.__class__ is tuple else wide[0])

    def rounded(x: Any) -> Any:
        if x is None or x.__class__ is Partial or k.dtype(x) != FLOAT32:
            return x
        handed = [given for given, one in zip(several, wide, strict=True) if one is x]
        return handed[0] if handed else k.cast(x, half)

    if found.__class__ is not tuple:
        return rounded(found)
    wide_ones = node.op.wide_inputs(n)
    return tuple([x if i in wide_ones else rounded(x) for i, x in enumerate(found)])


def _widened(k: Any, x: Any) -> Any:
    """Return saved arrays, converted to float32 if they were narrower."""
    if x.__class__ in _SEQUENCES:
        return tuple([_widened(k, one) for one in x])
    narrow = getattr(x, "dtype", None) is not None and k.dtype(x) in HALVES
    return k.cast(x, FLOAT32) if narrow else x

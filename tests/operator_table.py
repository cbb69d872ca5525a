# SPDX-License-Identifier: MIT
"""What tests take of the operators: all of them by name, their rules and methods."""

from __future__ import annotations

from autocalc._graph._node import FREED, Node, Version
from autocalc._ops._operator import short_calls, traced, traced_composites
from autocalc._ops._operator.factories import OPERATORS
from autocalc._ops._operator.method import IN_PLACE, METHODS, method
from autocalc._ops._operator.rules import OPS, _no_rule
from autocalc._ops.in_place import _inplace

__all__ = [
    "FREED",
    "IN_PLACE",
    "METHODS",
    "OPERATORS",
    "OPS",
    "Node",
    "Version",
    "_inplace",
    "_no_rule",
    "method",
    "short_calls",
    "traced",
    "traced_composites",
]

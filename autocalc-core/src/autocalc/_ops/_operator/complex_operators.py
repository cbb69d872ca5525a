# SPDX-License-Identifier: MIT
"""Operators on complex tensors: calls that are never the engine's.

The tables of decisions have no entry for a complex dtype alone, so every call with
complex numbers reaches the Python definition of its operator, which calls `on_complex`.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from numpy import ndarray

from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.complex_calls import complex_of
from autocalc._dispatch.selection.state import current
from autocalc._graph._node import Node
from autocalc._ops._operator.rules import Op, Rule, conjugated
from autocalc._tensor import Tensor, make


def op_for(op: Op, *arrays: Any) -> Op:
    """Return the operator of a node for these arrays: its twin if one is complex."""
    for a in arrays:  # half the time of `complex_of`
        if a.__class__ is ndarray:
            if a.dtype.kind == "c":
                return op.over_complex
        elif a is not None and complex_of(a) is not None:
            return op.over_complex
    return op


def on_complex(general: KernelCall, op: Op, tensors: tuple[Any, ...]) -> Tensor:
    """Run an elementwise operator on complex tensors of one dtype, and record it."""
    operands = tuple([x._array for x in tensors])
    result: Any = make(general(*operands), None)
    edges = tuple([x._edge for x in tensors])
    if edges.count(None) == len(edges) or not current().grad:
        return result  # type: ignore[no-any-return]  # a Tensor
    saved: Any = ()
    versions: Any = ()
    if op.saves is not None:
        saved, versions = op.saves(edges, (result, *tensors))
    shapes = tuple([a.shape for a in operands])
    dtype = operands[0].dtype
    node = Node(op.over_complex, edges, saved, versions, shapes, dtype, ())
    result._edge = node
    return result  # type: ignore[no-any-return]  # a Tensor


def holomorphic_vjp(operator: Any) -> Callable[[Rule], Rule]:
    """Return a decorator like `complex_vjp`, for a rule that multiplies by f'(z)."""

    def declare(rule: Rule) -> Rule:
        operator.op.complex_rule = conjugated(SimpleNamespace(rule=rule))
        return rule

    return declare


def complex_vjp(operator: Any) -> Callable[[Rule], Rule]:
    """Return a decorator that declares the rule of an operator for complex operands."""

    def declare(rule: Rule) -> Rule:
        operator.op.complex_rule = rule
        return rule

    return declare

# SPDX-License-Identifier: MIT
"""The forward derivative of an operator from its backward rule.

The rule returns g(v) = J^T v, which is linear in the cotangent v.  Its derivative with
respect to v is J^T, and a backward pass through the recorded rule, from g to v,
multiplies a tangent t by J.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.engine.eager import accelerated
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.state import enter, leave
from autocalc._dispatch.selection.upcast import FLOAT_KINDS
from autocalc._forward.calls import DECLINED, Call
from autocalc._graph._halves import rule_in_float32
from autocalc._graph._node import FREED, Leaf, Node, Partial
from autocalc._graph._walk import Walk, check_saved
from autocalc._ops._operator.factories import OPERATORS
from autocalc._ops._operator.rules import Op, _no_rule
from autocalc._ops._tensors import tensors
from autocalc._ops.views import slicing
from autocalc._tensor import Tensor, make

_run = accelerated(
    "backward_pass", Walk.run, Partial, FREED, check_saved, arrays, rule_in_float32
)


def rule_applies(op: Op) -> bool:
    """Return whether an operator has a backward rule."""
    return op.rule is not _no_rule


def transposed(call: Call) -> Any:
    """Return the tangents of all outputs of an operator."""
    op = OPERATORS[call.spec.name].op
    if any(call.is_float(i) for i in range(len(call.dtypes)) if i not in op.kept):
        return DECLINED  # what the rule of another node has saved needs a tangent, too
    token = enter(grad=True, autocast=None)
    try:
        seeds = [_seed(call, i) for i in op.kept]
        cotangents = seeds[0] if op.n_outputs == 1 else tuple(seeds)
        found = op.rule(tensors, _node(call, op), cotangents)
        gradients = found if isinstance(found, (tuple, list)) else (found,)
        ends, directions = [], []
        for i, (g, t) in enumerate(zip(gradients, call.tangents, strict=True)):
            end = _whole(g, call.inputs[i]) if t is not None else None
            if end is not None and end._edge is not None:
                ends.append(end)
                directions.append(make(arrays.expand(t, end.shape), None))
    finally:
        leave(token)
    tangents: list[Any] = [None] * len(call.dtypes)
    if ends:
        for i, tangent in zip(op.kept, products(ends, seeds, directions), strict=True):
            tangents[i] = tangent
    return tangents


def _seed(call: Call, i: int) -> Tensor | None:
    """Return a cotangent of zero of output `i`; only its history matters."""
    y = call.results[i]
    if y is None or arrays.dtype(y).kind not in FLOAT_KINDS:
        return None
    zeros = arrays.expand(arrays.constant(0, y), y.shape)
    return make(zeros, Leaf(y.shape))


def _node(call: Call, op: Op) -> Any:
    """Return the node of the call, with saved tensors that have no history."""
    edges: list[Any] = [None if t is None else _WANTED for t in call.tangents]
    operands = (*call.results, *call.inputs)
    kept: list[Any] = []
    for place, users in op.saves.places if op.saves is not None else ():
        x = operands[place]
        wanted = x is not None and any(edges[i] is not None for i in users)
        kept.append(make(x, None) if wanted else None)
    shapes = tuple([() if x is None else x.shape for x in call.inputs])
    dtype = next(y for y in call.results if y is not None).dtype
    return Node(op, tuple(edges), tuple(kept), (), shapes, dtype, call.attributes)


_WANTED = Leaf(())


def _whole(g: Any, x: Any) -> Tensor | None:
    if isinstance(g, Partial):
        return slicing.placed(g.value, x.shape, g.index)
    return g  # type: ignore[no-any-return]  # a Tensor or None


def _no_hooks(_: Any, g: Any) -> Any:
    return g


def products(ends: list[Any], seeds: list[Any], directions: list[Any]) -> list[Any]:
    """Return the derivative of `ends` along `directions`, for each seed."""
    walk = Walk(arrays, keep=False, hooked=_no_hooks)
    values = [t._array for t in directions]
    token = enter(grad=False, autocast=None)
    try:
        _run(walk, [end._edge for end in ends], values, ())
    finally:
        leave(token)
    arrived = [None if v is None else walk.leaves.get(v._edge) for v in seeds]
    return [None if one is None else one[1] for one in arrived]

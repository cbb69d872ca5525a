# SPDX-License-Identifier: MIT
"""The forward rules of kernels, most of them derived.

- The Jacobian of an elementwise kernel is diagonal, so it is its own transpose: its
  backward rule, applied to the tangent in place of the cotangent, gives the tangent.
- A kernel that is linear in an operand is applied to that operand's tangent.
- The backward rule of any other operator is a linear function of the cotangent v, and
  its derivative with respect to v is the Jacobian (`transposed.py`).
- Without an operator, the decomposition runs on dual arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.selection.arrays import arrays
from autocalc._forward.calls import DECLINED, Call, Rule, ways
from autocalc._forward.transposed import rule_applies, transposed
from autocalc._graph._node import Leaf, Node
from autocalc._kernels.spec import KernelSpec
from autocalc._ops._operator.factories import OPERATORS
from autocalc._ops._operator.rules import Op

#: Composites whose backward rule also has the limits at which the derivatives of their
#: parts are not finite.
_WITH_LIMITS = frozenset({"logsumexp", "min", "norm", "std", "var"})

#: The outputs that rules which are written here need, as bit masks.
_NEEDED = {"adaptive_max_pool": 2, "layer_norm": 6, "max_pool": 2, "rms_norm": 2}

#: The rules that are written here, by the names of kernels.
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the forward rule of some kernels."""

    def decorate(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return decorate


def _op_of(spec: KernelSpec) -> Op | None:
    operator = OPERATORS.get(spec.name)
    return operator.op if operator is not None and rule_applies(operator.op) else None


def rule_of(spec: KernelSpec) -> Rule | None:
    """Return the forward rule of a kernel, or None for its decomposition."""
    found = RULES.get(spec.name)
    if found is not None or _op_of(spec) is None:
        return found
    if spec.elementwise:
        return _elementwise
    whole = spec.kind != "composite" or spec.name in _WITH_LIMITS
    return transposed if whole else None


def saved(spec: KernelSpec) -> int:
    """Return the mask of outputs that the rule of a kernel needs."""
    if spec.name in _NEEDED:
        return _NEEDED[spec.name]
    op = _op_of(spec)
    return 0 if op is None or op.saves is None else op.saves.outputs


ways.rule_of, ways.saved = rule_of, saved

# ---- elementwise ---------------------------------------------------------------------

#: In place of the history of an input whose tangent is wanted.
_WANTED = Leaf(())


def _elementwise(call: Call) -> Any:
    """Apply the backward rule to each tangent, repeated to the shape of the result."""
    op = OPERATORS[call.spec.name].op
    total: Any = None
    for i, tangent in enumerate(call.tangents):
        if tangent is None:
            continue
        g = tangent
        if g.shape != call.shape:
            g = arrays.expand(g, call.shape)
        found = op.rule(arrays, _node(call, op, i), g)
        term = found[i] if isinstance(found, (tuple, list)) else found
        if term is not None:
            total = term if total is None else arrays.add(total, term)
    return [total]


def _node(call: Call, op: Op, i: int) -> Any:
    """Return a node that wants the gradient of input `i` in the result's shape."""
    n = len(call.inputs)
    edges = (*(None,) * i, _WANTED, *(None,) * (n - i - 1))
    operands: Any = None
    kept: list[Any] = []
    for place, users in op.saves.places if op.saves is not None else ():
        operands = operands or (*call.results, *call.inputs)
        kept.append(operands[place] if i in users else None)
    dtype = call.inputs[i].dtype
    shapes: Any = (call.shape,) * n
    return Node(op, edges, tuple(kept), (), shapes, dtype, call.attributes)


@rule("copy")
def _copy(call: Call) -> Any:
    """Copy the tangent, with the same conversion."""
    return [arrays.cast(call.tangents[0], host_dtype(call.dtypes[0]))]


@rule("fill")
def _fill(call: Call) -> Any:
    """Repeat the tangent of the number."""
    return [arrays.expand(call.tangents[0], call.shape)]


@rule("round", "sign", "heaviside", "floor_divide")
def _steps(call: Call) -> Any:
    """Return nothing: the derivative of a step is zero."""
    return [None] * len(call.dtypes)


@rule("relu_backward", "hardtanh_backward", "leaky_relu_backward")
def _passed(call: Call) -> Any:
    """Let the tangent of the cotangent pass where the cotangent passes."""
    t = call.tangents[0]
    if t is None:
        return [None]
    t = t if t.shape == call.shape else arrays.expand(t, call.shape)
    return [getattr(arrays, call.spec.name)(t, *call.inputs[1:], *call.attributes)]


@rule("tanh_backward")
def _tanh_backward(call: Call) -> Any:
    """Differentiate g (1 - y^2)."""
    (g, y), (dg, dy) = call.inputs, call.tangents
    total = None if dg is None else arrays.tanh_backward(dg, y)
    if dy is not None:
        term = arrays.mul(arrays.mul(g, dy), arrays.mul(y, arrays.constant(-2, y)))
        total = term if total is None else arrays.add(total, term)
    return [total]


@rule("sigmoid_backward")
def _sigmoid_backward(call: Call) -> Any:
    """Differentiate g y (1 - y)."""
    (g, y), (dg, dy) = call.inputs, call.tangents
    total = None if dg is None else arrays.sigmoid_backward(dg, y)
    if dy is not None:
        slope = arrays.add(arrays.mul(y, arrays.constant(-2, y)), arrays.constant(1, y))
        term = arrays.mul(arrays.mul(g, dy), slope)
        total = term if total is None else arrays.add(total, term)
    return [total]


# ---- linear --------------------------------------------------------------------------


class Linear(NamedTuple):
    """Operands in which a kernel is linear, all together.

    Attributes
    ----------
    operands
        The positions of the operands.
    without
        The positions of operands that are added, and left out here.
    outputs
        The outputs that depend on them; by default all.
    """

    operands: tuple[int, ...]
    without: tuple[int, ...] = ()
    outputs: int = -1


_FIRST = (Linear((0,)),)
_ADDED_AT = (Linear((0, 2)),)
_PRODUCT = (Linear((0, 2)), Linear((1,), (2,)))

#: For kernels that are linear in some of their operands: the groups of these.
LINEAR: dict[str, tuple[Linear, ...]] = {
    **dict.fromkeys(
        (
            *("adaptive_avg_pool", "adaptive_avg_pool_backward", "avg_pool"),
            *("avg_pool_backward", "cumsum", "dropout_backward", "embedding"),
            *("embedding_backward", "fold", "gather", "index_select"),
            *("max_pool_backward", "mean", "resample", "resample_backward", "sum"),
            "unfold",
        ),
        _FIRST,
    ),
    **dict.fromkeys(("index_add", "index_copy", "scatter", "scatter_add"), _ADDED_AT),
    **dict.fromkeys(("conv", "conv_dx", "linear"), _PRODUCT),
    "conv_dweight": (Linear((0,)), Linear((1,), outputs=1)),
    "linear_backward": (
        Linear((0,)), Linear((1,), outputs=2), Linear((2,), outputs=1),
    ),
    "rotary": (Linear((0,)), Linear((1, 2))),
}  # fmt: skip


@rule(*LINEAR)
def _linear(call: Call) -> Any:
    """Apply the kernel to the tangents of each group, and add the results."""
    if call.spec.name == "linear" and call.attributes != ("none",):
        return transposed(call)
    totals: list[Any] = [None] * len(call.dtypes)
    for group in LINEAR[call.spec.name]:
        if all(call.tangents[i] is None for i in group.operands):
            continue
        for i, found in enumerate(_applied(call, group)):
            if found is not None and group.outputs >> i & 1:
                known = totals[i]
                totals[i] = found if known is None else arrays.add(known, found)
    return totals


def _applied(call: Call, group: Linear) -> list[Any]:
    """Return what a kernel makes of the tangents of a group."""
    operands = list(call.inputs)
    for i in group.without:
        operands[i] = None
    for i in group.operands:
        if operands[i] is None:
            continue
        tangent = call.tangents[i]
        if tangent is None and not call.spec.inputs[i].optional:
            tangent = call.zeros(i)
        operands[i] = tangent
    return _only(call, group.outputs).run(*operands, *call.attributes)


def _only(call: Call, outputs: int) -> Call:
    """Return the call with the outputs that depend on a group of operands."""
    if call.want & outputs == call.want:
        return call
    part: Any = object.__new__(Call)
    part.spec, part.dtypes, part.shape = call.spec, call.dtypes, call.shape
    part.want = call.want & outputs
    return part  # type: ignore[no-any-return]  # a Call


# ---- products and norms --------------------------------------------------------------


@rule("gemm")
def _gemm(call: Call) -> Any:
    """Apply the product rule; the bias is added to one of the products."""
    alpha, beta, activation = call.attributes
    if activation != "none" or call.want != 1:
        return DECLINED
    a, b, _ = call.inputs
    da, db, dbias = call.tangents
    total: Any = None
    for x, y in ((da, b), (a, db)):
        if x is None or y is None:
            continue
        line = dbias if total is None else None
        found = arrays.gemm(x, y, line, alpha, beta, "none")[0]
        total = found if total is None else arrays.add(total, found)
    if total is None:  # only the bias has a tangent
        line = arrays.mul(dbias, arrays.constant(beta, dbias))
        total = arrays.expand(line, call.shape)
    return [total, None]


@rule("softmax")
def _softmax(call: Call) -> Any:
    """Apply the backward kernel: the Jacobian of softmax is symmetric."""
    return [
        arrays.softmax_backward(call.tangents[0], call.results[0], *call.attributes)
    ]


@rule("log_softmax")
def _log_softmax(call: Call) -> Any:
    """Subtract the mean of the tangent, weighted by the probabilities."""
    (t, *_), (y, *_), (axis,) = call.tangents, call.results, call.attributes
    mean = arrays.sum(arrays.mul(arrays.exp(y), t), (axis % max(t.ndim, 1),), True)
    return [arrays.sub(t, mean)]


@rule("rms_norm")
def _rms_norm(call: Call) -> Any:
    """Differentiate y = x r w, where r is the reciprocal root of the mean square."""
    x, weight = call.inputs
    dx, dweight = call.tangents
    r = _column(call.results[1], x)
    rows = arrays.mul(x, r)
    total = dr = None
    if dx is not None:
        scaled = arrays.mul(dx, r)
        slope = arrays.mean(arrays.mul(rows, scaled), (x.ndim - 1,), True)
        dr = _slope_of_root(call, 1, slope)
        total = arrays.sub(scaled, arrays.mul(rows, slope))
        if weight is not None:
            total = arrays.mul(total, weight)
    if dweight is not None:
        term = arrays.mul(rows, dweight)
        total = term if total is None else arrays.add(total, term)
    return [total, dr]


@rule("layer_norm")
def _layer_norm(call: Call) -> Any:
    """Differentiate y = (x - mean) r w + b, where r is the reciprocal deviation."""
    (x, weight, _), (dx, dweight, dbias) = call.inputs, call.tangents
    mean, r = (_column(a, x) for a in call.results[1:])
    rows = arrays.mul(arrays.sub(x, mean), r)
    total = dmean = dr = None
    if dx is not None:
        last = (x.ndim - 1,)
        scaled = arrays.mul(dx, r)
        slope = arrays.mean(arrays.mul(rows, scaled), last, True)
        dmean, dr = arrays.mean(dx, last, False), _slope_of_root(call, 2, slope)
        scaled = arrays.sub(scaled, arrays.mean(scaled, last, True))
        total = arrays.sub(scaled, arrays.mul(rows, slope))
        total = total if weight is None else arrays.mul(total, weight)
    for term in (None if dweight is None else arrays.mul(rows, dweight), dbias):
        if term is not None:
            total = term if total is None else arrays.add(total, term)
    return [total, dmean, dr]


def _slope_of_root(call: Call, i: int, slope: Any) -> Any:
    """Return the tangent -r s of the reciprocal root r, which is output `i`."""
    r = call.results[i]
    return arrays.neg(arrays.mul(r, arrays.reshape(slope, r.shape)))


def _column(a: Any, x: Any) -> Any:
    """Return one number for each row, with a size of 1 for the elements of the row."""
    return arrays.reshape(a, (*a.shape, *(1,) * (x.ndim - a.ndim)))


@rule("max_pool", "adaptive_max_pool")
def _max_pool(call: Call) -> Any:
    """Take the tangent of each largest element."""
    t, indices = call.tangents[0], call.results[1]
    n, channels = t.shape[:2]
    plane = arrays.reshape(t, (n, channels, -1)) if t.size else None
    if plane is None:
        return DECLINED
    index = arrays.reshape(indices, (n, channels, -1))
    found = arrays.gather(arrays.contiguous(plane), index, 2)
    return [arrays.reshape(found, call.shape), None]


@rule("grad_norm")
def _grad_norm(call: Call) -> Any:
    """Differentiate the root of a sum of squares; at 0 the derivative is taken as 0."""
    total, norm = None, call.results[0]
    for x, t in zip(call.inputs[0], call.tangents[0], strict=True):
        if t is not None:
            term = arrays.sum(arrays.mul(x, t), tuple(range(x.ndim)), False)
            total = term if total is None else arrays.add(total, term)
    zero, one = arrays.constant(0, norm), arrays.constant(1, norm)
    none = arrays.compare(norm, zero, "eq")
    share = arrays.div(one, arrays.where(none, one, norm))
    return [arrays.mul(total, arrays.where(none, zero, share))]

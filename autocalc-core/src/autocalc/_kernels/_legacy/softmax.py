# SPDX-License-Identifier: MIT
"""Softmax, its logarithm, and their backward kernels, along one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import check_axis, float_dtype, same_shape
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.work import per_element


def _rule(name: str) -> Callable[..., Meta]:
    def rule(a: Meta, axis: int) -> Meta:
        check_axis(name, axis, a)
        return Meta(a.shape, float_dtype(name, a))

    return rule


def _backward_rule(name: str) -> Callable[..., Meta]:
    def rule(g: Meta, y: Meta, axis: int) -> Meta:
        check_axis(name, axis, y)
        return Meta(same_shape(name, g=g, y=y), float_dtype(name, g, y))

    return rule


# ---- references ----------------------------------------------------------------------


def softmax(xp: Any, a: Array, axis: int) -> Array:
    e = xp.exp(_shifted(xp, a, axis))
    return narrow(e / xp.sum(e, axis=axis, keepdims=True), a)


def log_softmax(xp: Any, a: Array, axis: int) -> Array:
    x = _shifted(xp, a, axis)
    return narrow(x - xp.log(xp.sum(xp.exp(x), axis=axis, keepdims=True)), a)


def _shifted(xp: Any, a: Array, axis: int) -> Array:
    """Return a - max(a), so that no exponential overflows."""
    x = wide(xp, a)
    return x - xp.max(x, axis=axis, keepdims=True, initial=-xp.inf)


def log_softmax_in_primitives(k: Any, a: Array, axis: int) -> Array:
    if k.shape(a)[axis] == 0:
        return k.copy(a)
    x = k.add(a, k.neg(k.max(a, (axis,), True)))
    return k.add(x, k.neg(k.log(k.sum(k.exp(x), (axis,), True))))


def softmax_backward(xp: Any, g: Array, y: Array, axis: int) -> Array:
    g_, y_ = wide(xp, g), wide(xp, y)
    return narrow(y_ * (g_ - xp.sum(g_ * y_, axis=axis, keepdims=True)), g)


def softmax_backward_in_primitives(k: Any, g: Array, y: Array, axis: int) -> Array:
    dot = k.sum(k.mul(g, y), (axis,), True)
    return k.mul(y, k.add(g, k.neg(dot)))


def log_softmax_backward(xp: Any, g: Array, y: Array, axis: int) -> Array:
    g_, y_ = wide(xp, g), wide(xp, y)
    return narrow(g_ - xp.exp(y_) * xp.sum(g_, axis=axis, keepdims=True), g)


def log_softmax_backward_in_primitives(k: Any, g: Array, y: Array, axis: int) -> Array:
    return k.add(g, k.neg(k.mul(k.exp(y), k.sum(g, (axis,), True))))


# ---- specs ---------------------------------------------------------------------------


def _spec(name: str, doc: str, rule: Callable[..., Meta], **more: Any) -> KernelSpec:
    backward = name.endswith("backward")
    return KernelSpec(
        name=name,
        kind="composite" if "decomposition" in more else "primitive",
        signature="out ; g y ; axis:int" if backward else "out ; a ; axis:int",
        doc=doc,
        rule=rule,
        work=per_element(rule, 4 if backward else 14),
        alias=(("out", "g"),) if backward else (("out", "a"),),
        **more,
    )


SPECS = (
    _spec(
        "softmax",
        "exp(a) / sum(exp(a)) along `axis`, without overflow.",
        _rule("softmax"),
        reference=softmax,
        budget=budgets.softmax,
        samples=samples.softmax,
    ),
    _spec(
        "log_softmax",
        "a - log(sum(exp(a))) along `axis`, without overflow.",
        _rule("log_softmax"),
        reference=log_softmax,
        decomposition=log_softmax_in_primitives,
        lead="exp",
        budget=budgets.log_softmax,
        samples=samples.softmax,
    ),
    _spec(
        "softmax_backward",
        "y * (g - sum(g * y)) along `axis` (y = softmax(a)).",
        _backward_rule("softmax_backward"),
        reference=softmax_backward,
        decomposition=softmax_backward_in_primitives,
        lead="sum",
        budget=budgets.softmax_backward,
        samples=samples.softmax_backward,
    ),
    _spec(
        "log_softmax_backward",
        "g - exp(y) * sum(g) along `axis` (y = log_softmax(a)).",
        _backward_rule("log_softmax_backward"),
        reference=log_softmax_backward,
        decomposition=log_softmax_backward_in_primitives,
        lead="sum",
        budget=budgets.log_softmax_backward,
        samples=samples.log_softmax_backward,
    ),
)

# SPDX-License-Identifier: MIT
"""The update of RMSprop: one call for a whole group, PyTorch's formulas."""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy import _budgets_optimizers as budgets
from autocalc._kernels._legacy import _samples_optimizers as samples
from autocalc._kernels._legacy.optimizers import Arrays, Metas, check_group, columns
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.work import per_element
from autocalc.errors import ShapeError


def _rule(
    params: Metas,
    square_avg: Metas,
    buffers: Metas,
    grad_avg: Metas,
    grads: Metas,
    lr: Meta,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
    maximize: bool,
) -> tuple[Metas, Metas, Metas, Metas]:
    _expect_empty("buffers", buffers, "momentum", momentum)
    _expect_empty("grad_avg", grad_avg, "centered", centered)
    lists = {"grads": grads, "square_avg": square_avg}
    lists |= {"buffers": buffers} if momentum else {}
    lists |= {"grad_avg": grad_avg} if centered else {}
    check_group("rmsprop", params, lr, None, **lists)
    return params, square_avg, buffers, grad_avg


def _expect_empty(word: str, metas: Metas, option: str, value: float) -> None:
    if metas and not value:
        message = (
            f"rmsprop: `{word}` has {len(metas)} arrays and `{option}` is {value}, "
            f"which needs none. Give an empty list."
        )
        raise ShapeError(message)


def rmsprop(
    xp: Any,
    params: Arrays,
    square_avg: Arrays,
    buffers: Arrays,
    grad_avg: Arrays,
    grads: Arrays,
    lr: Array,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
    maximize: bool,
) -> list[list[Array]]:
    def update(
        p: Array, v: Array, b: Array, m: Array, g: Array
    ) -> tuple[Array, Array, Array, Array]:
        g = -g if maximize else g
        g = g + weight_decay * p if weight_decay else g
        v = alpha * v + (1 - alpha) * (g * g)
        spread = v
        if centered:
            m = m + (1 - alpha) * (g - m)
            spread = xp.maximum(v - m * m, xp.zeros((), v.dtype))
        change = g / (xp.sqrt(spread) + eps)
        if momentum:
            change = b = momentum * b + change
        return p - lr * change, v, b, m

    return _updated(update, params, square_avg, buffers, grad_avg, grads)


def _updated(update: Any, params: Arrays, *lists: Arrays) -> list[list[Array]]:
    """Run `update` by parameter, None standing for lists that are empty."""
    nothing = (None,) * len(params)
    rows = map(update, params, *(given or nothing for given in lists))
    results = columns(rows, 4)
    given = (params, *lists[:3])
    return [new if old else [] for new, old in zip(results, given, strict=True)]


def rmsprop_in_primitives(
    k: Any,
    params: Arrays,
    square_avg: Arrays,
    buffers: Arrays,
    grad_avg: Arrays,
    grads: Arrays,
    lr: Array,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
    maximize: bool,
) -> list[list[Array]]:
    def times(a: Array, factor: float) -> Array:
        return k.mul(a, k.constant(factor, a))

    def update(
        p: Array, v: Array, b: Array, m: Array, g: Array
    ) -> tuple[Array, Array, Array, Array]:
        g = k.neg(g) if maximize else g
        g = k.add(g, times(p, weight_decay)) if weight_decay else g
        v = k.add(times(v, alpha), times(k.mul(g, g), 1 - alpha))
        spread = v
        if centered:
            m = k.add(m, times(k.add(g, k.neg(m)), 1 - alpha))
            spread = k.add(v, k.neg(k.mul(m, m)))
            spread = k.maximum(spread, k.constant(0, v))
        size = k.add(k.pow(spread, k.constant(0.5, v)), k.constant(eps, v))
        change = k.div(g, size)
        if momentum:
            change = b = k.add(times(b, momentum), change)
        return k.add(p, k.neg(k.mul(change, lr))), v, b, m

    return _updated(update, params, square_avg, buffers, grad_avg, grads)


SPECS = (
    KernelSpec(
        name="rmsprop",
        kind="composite",
        signature=(
            "params* square_avg* buffers* grad_avg* ; grads* lr ; alpha:float "
            "eps:float weight_decay:float momentum:float centered:bool maximize:bool"
        ),
        doc=(
            "g += weight_decay * p; v = alpha * v + (1 - alpha) * g**2; change = g / "
            "(sqrt(v) + eps); with momentum change = b = momentum * b + change; p -= "
            "lr * change. Centered: m += (1 - alpha) * (g - m), and max(v - m**2, 0) "
            "under the root."
        ),
        rule=_rule,
        reference=rmsprop,
        decomposition=rmsprop_in_primitives,
        lead="mul",
        budget=budgets.rmsprop,
        samples=samples.rmsprop,
        work=per_element(_rule, 12),
        layout="like",
        writes=("params", "square_avg", "buffers", "grad_avg"),
        defaults=(0.99, 1e-8, 0.0, 0.0, False, False),
    ),
)

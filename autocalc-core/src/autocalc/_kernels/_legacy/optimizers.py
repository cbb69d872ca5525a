# SPDX-License-Identifier: MIT
"""Optimizer updates: one call for a whole group of parameters, PyTorch's formulas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from autocalc._kernels._legacy import _budgets_optimizers as budgets
from autocalc._kernels._legacy import _samples_optimizers as samples
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import (
    FLOAT64,
    INT64,
    expect_shape,
    float_dtype,
    one_of,
)
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.work import per_element
from autocalc.errors import ShapeError

Arrays = Sequence[Array]
Metas = tuple[Meta, ...]

# ---- rules ---------------------------------------------------------------------------


def check_group(
    name: str, params: Metas, lr: Meta, step: Meta | None, **others: Metas
) -> None:
    """Raise unless all lists have the parameters' length, shapes and dtype."""
    for word, metas in others.items():
        if len(metas) != len(params):
            message = (
                f"{name}: `{word}` has {len(metas)} arrays for {len(params)} "
                f"parameters. Give one for each."
            )
            raise ShapeError(message)
        for i, (meta, param) in enumerate(zip(metas, params, strict=True)):
            expect_shape(name, f"{word}[{i}]", meta, param.shape)
        float_dtype(name, lr, *params, *metas)
    expect_shape(name, "lr", lr, ())
    if step is not None:
        expect_shape(name, "step", step, ())
        one_of(name, "step", step, (INT64,))


def _sgd_rule(
    params: Metas,
    buffers: Metas,
    grads: Metas,
    lr: Meta,
    step: Meta,
    momentum: float,
    *attributes: Any,
) -> tuple[Metas, Metas]:
    if buffers and not momentum:
        message = (
            f"sgd: `buffers` has {len(buffers)} arrays and `momentum` is 0, which "
            f"needs none. Give an empty list."
        )
        raise ShapeError(message)
    lists = {"grads": grads, "buffers": buffers} if momentum else {"grads": grads}
    check_group("sgd", params, lr, step, **lists)
    return params, buffers


def _adamw_rule(
    params: Metas,
    exp_avg: Metas,
    exp_avg_sq: Metas,
    grads: Metas,
    lr: Meta,
    step: Meta,
    *attributes: Any,
) -> tuple[Metas, Metas, Metas]:
    check_group(
        "adamw", params, lr, step, grads=grads, exp_avg=exp_avg, exp_avg_sq=exp_avg_sq
    )
    return params, exp_avg, exp_avg_sq


# ---- sgd -----------------------------------------------------------------------------


def sgd(
    xp: Any,
    params: Arrays,
    buffers: Arrays,
    grads: Arrays,
    lr: Array,
    step: Array,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
) -> list[list[Array]]:
    def update(p: Array, g: Array, b: Array = None) -> tuple[Array, ...]:
        g = -g if maximize else g
        if weight_decay:
            g = g + weight_decay * p
        if not momentum:
            return (p - lr * g,)
        b = g if step == 1 else momentum * b + (1 - dampening) * g
        g = g + momentum * b if nesterov else b
        return p - lr * g, b

    lists = (params, grads, buffers) if momentum else (params, grads)
    return columns(map(update, *lists), 2)


def columns(rows: Iterable[tuple[Array, ...]], n: int) -> list[list[Array]]:
    """Turn each parameter's results into `n` lists, empty where there are none."""
    rows = list(rows)
    width = len(rows[0]) if rows else 0
    return [[row[i] for row in rows] if i < width else [] for i in range(n)]


def sgd_in_primitives(
    k: Any,
    params: Arrays,
    buffers: Arrays,
    grads: Arrays,
    lr: Array,
    step: Array,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
) -> list[list[Array]]:
    def times(a: Array, factor: float) -> Array:
        return k.mul(a, k.constant(factor, a))

    def update(p: Array, g: Array, b: Array = None) -> tuple[Array, ...]:
        g = k.neg(g) if maximize else g
        if weight_decay:
            g = k.add(g, times(p, weight_decay))
        if not momentum:
            return (k.add(p, k.neg(k.mul(g, lr))),)
        is_first = k.compare(step, k.constant(1, step), "eq")
        later = k.add(times(b, momentum), times(g, 1 - dampening))
        b = k.where(is_first, g, later)
        g = k.add(g, times(b, momentum)) if nesterov else b
        return k.add(p, k.neg(k.mul(g, lr))), b

    lists = (params, grads, buffers) if momentum else (params, grads)
    return columns(map(update, *lists), 2)


# ---- adamw ---------------------------------------------------------------------------


def adamw(
    xp: Any,
    params: Arrays,
    exp_avg: Arrays,
    exp_avg_sq: Arrays,
    grads: Arrays,
    lr: Array,
    step: Array,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
) -> list[list[Array]]:
    rate, t = wide(xp, lr), int(step)
    step_size = narrow(rate / (1 - beta1**t), lr)
    root = narrow(xp.sqrt(1 - xp.power(beta2, t, dtype=rate.dtype)), lr)
    shrink = narrow(1 - rate * weight_decay, lr)

    def update(p: Array, m: Array, v: Array, g: Array) -> tuple[Array, ...]:
        g = -g if maximize else g
        if decoupled:
            p = p * shrink
        else:
            g = g + weight_decay * p
        m = m + (1 - beta1) * (g - m)
        v = beta2 * v + (1 - beta2) * (g * g)
        p = p - step_size * (m / (xp.sqrt(v) / root + eps))
        return p, m, v

    return columns(map(update, params, exp_avg, exp_avg_sq, grads), 3)


def adamw_in_primitives(
    k: Any,
    params: Arrays,
    exp_avg: Arrays,
    exp_avg_sq: Arrays,
    grads: Arrays,
    lr: Array,
    step: Array,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
) -> list[list[Array]]:
    step_size, root, shrink = adamw_scalars(k, lr, step, beta1, beta2, weight_decay)

    def times(a: Array, factor: float) -> Array:
        return k.mul(a, k.constant(factor, a))

    def update(p: Array, m: Array, v: Array, g: Array) -> tuple[Array, ...]:
        g = k.neg(g) if maximize else g
        if decoupled:
            p = k.mul(p, shrink)
        else:
            g = k.add(g, times(p, weight_decay))
        m = k.add(m, times(k.add(g, k.neg(m)), 1 - beta1))
        v = k.add(times(v, beta2), times(k.mul(g, g), 1 - beta2))
        size = k.div(k.pow(v, k.constant(0.5, v)), root)
        ratio = k.div(m, k.add(size, k.constant(eps, v)))
        return k.add(p, k.neg(k.mul(ratio, step_size))), m, v

    return columns(map(update, params, exp_avg, exp_avg_sq, grads), 3)


def adamw_scalars(
    k: Any, lr: Array, step: Array, beta1: float, beta2: float, weight_decay: float
) -> tuple[Array, Array, Array]:
    """Return lr / (1 - beta1**t), sqrt(1 - beta2**t), 1 - lr * weight_decay.

    In float64: 1 - 0.999 in float32 is off by 5e-5 of its value.
    """
    dtype = k.dtype(lr)
    rate, t = k.cast(lr, FLOAT64), k.cast(step, FLOAT64)
    one, half = k.constant(1.0, t), k.constant(0.5, t)

    def remaining(beta: float) -> Array:
        return k.add(one, k.neg(k.pow(k.constant(beta, t), t)))

    step_size = k.div(rate, remaining(beta1))
    root = k.pow(remaining(beta2), half)
    shrink = k.add(one, k.mul(rate, k.constant(-weight_decay, t)))
    return k.cast(step_size, dtype), k.cast(root, dtype), k.cast(shrink, dtype)


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="sgd",
        kind="composite",
        signature=(
            "params* buffers* ; grads* lr step ; momentum:float dampening:float "
            "weight_decay:float nesterov:bool maximize:bool"
        ),
        doc=(
            "g += weight_decay * p; b = momentum * b + (1 - dampening) * g (g at step "
            "1); p -= lr * b (nesterov: g + momentum * b)."
        ),
        rule=_sgd_rule,
        reference=sgd,
        decomposition=sgd_in_primitives,
        lead="mul",
        budget=budgets.sgd,
        samples=samples.sgd,
        work=per_element(_sgd_rule, 6),
        layout="like",
        writes=("params", "buffers"),
        defaults=(0.0, 0.0, 0.0, False, False),
    ),
    KernelSpec(
        name="adamw",
        kind="composite",
        signature=(
            "params* exp_avg* exp_avg_sq* ; grads* lr step ; beta1:float beta2:float "
            "eps:float weight_decay:float decoupled:bool maximize:bool"
        ),
        doc=(
            "p *= 1 - lr * weight_decay; m += (1 - beta1) * (g - m); v = beta2 * v + "
            "(1 - beta2) * g**2; p -= lr / (1 - beta1**t) * m / (sqrt(v) / sqrt(1 - "
            "beta2**t) + eps). Not decoupled: g += weight_decay * p instead."
        ),
        rule=_adamw_rule,
        reference=adamw,
        decomposition=adamw_in_primitives,
        lead="mul",
        budget=budgets.adamw,
        samples=samples.adamw,
        work=per_element(_adamw_rule, 16),
        layout="like",
        writes=("params", "exp_avg", "exp_avg_sq"),
        defaults=(0.9, 0.999, 1e-8, 0.01, True, False),
    ),
)

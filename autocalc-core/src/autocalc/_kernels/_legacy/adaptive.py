# SPDX-License-Identifier: MIT
"""The updates of Adagrad, Adadelta and Lion: one call for a whole group each."""

from __future__ import annotations

from typing import Any

from autocalc._kernels._legacy import _budgets_adaptive as budgets
from autocalc._kernels._legacy import _samples_adaptive as samples
from autocalc._kernels._legacy.optimizers import Arrays, Metas, check_group, columns
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import FLOAT64
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.work import per_element


def _times(k: Any, a: Array, factor: float) -> Array:
    return k.mul(a, k.constant(factor, a))


def _sloped(k: Any, p: Array, g: Array, weight_decay: float, maximize: bool) -> Array:
    """Return the gradient to go down, weight decay included."""
    g = k.neg(g) if maximize else g
    return k.add(g, _times(k, p, weight_decay)) if weight_decay else g


def _minus(k: Any, p: Array, change: Array) -> Array:
    return k.add(p, k.neg(change))


# ---- adagrad -------------------------------------------------------------------------


def _adagrad_rule(
    params: Metas,
    total: Metas,
    grads: Metas,
    lr: Meta,
    step: Meta,
    *attributes: Any,
) -> tuple[Metas, Metas]:
    check_group("adagrad", params, lr, step, grads=grads, total=total)
    return params, total


def adagrad(
    xp: Any,
    params: Arrays,
    total: Arrays,
    grads: Arrays,
    lr: Array,
    step: Array,
    lr_decay: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> list[list[Array]]:
    rate = narrow(wide(xp, lr) / (1 + (int(step) - 1) * lr_decay), lr)

    def update(p: Array, s: Array, g: Array) -> tuple[Array, Array]:
        g = -g if maximize else g
        g = g + weight_decay * p if weight_decay else g
        s = s + g * g
        return p - rate * (g / (xp.sqrt(s) + eps)), s

    return columns(map(update, params, total, grads), 2)


def adagrad_in_primitives(
    k: Any,
    params: Arrays,
    total: Arrays,
    grads: Arrays,
    lr: Array,
    step: Array,
    lr_decay: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> list[list[Array]]:
    # In float64, as the reference: a long run's step times a small decay.
    wide_lr, t = k.cast(lr, FLOAT64), k.cast(step, FLOAT64)
    ended = k.add(t, k.constant(-1.0, t))
    slower = k.add(_times(k, ended, lr_decay), k.constant(1.0, t))
    rate = k.cast(k.div(wide_lr, slower), k.dtype(lr))

    def update(p: Array, s: Array, g: Array) -> tuple[Array, Array]:
        g = _sloped(k, p, g, weight_decay, maximize)
        s = k.add(s, k.mul(g, g))
        size = k.add(k.pow(s, k.constant(0.5, s)), k.constant(eps, s))
        return _minus(k, p, k.mul(k.div(g, size), rate)), s

    return columns(map(update, params, total, grads), 2)


# ---- adadelta ------------------------------------------------------------------------


def _adadelta_rule(
    params: Metas,
    square_avg: Metas,
    acc_delta: Metas,
    grads: Metas,
    lr: Meta,
    *attributes: Any,
) -> tuple[Metas, Metas, Metas]:
    lists = {"grads": grads, "square_avg": square_avg, "acc_delta": acc_delta}
    check_group("adadelta", params, lr, None, **lists)
    return params, square_avg, acc_delta


def adadelta(
    xp: Any,
    params: Arrays,
    square_avg: Arrays,
    acc_delta: Arrays,
    grads: Arrays,
    lr: Array,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> list[list[Array]]:
    def update(p: Array, v: Array, u: Array, g: Array) -> tuple[Array, Array, Array]:
        g = -g if maximize else g
        g = g + weight_decay * p if weight_decay else g
        v = rho * v + (1 - rho) * (g * g)
        change = xp.sqrt(u + eps) / xp.sqrt(v + eps) * g
        u = rho * u + (1 - rho) * (change * change)
        return p - lr * change, v, u

    return columns(map(update, params, square_avg, acc_delta, grads), 3)


def adadelta_in_primitives(
    k: Any,
    params: Arrays,
    square_avg: Arrays,
    acc_delta: Arrays,
    grads: Arrays,
    lr: Array,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> list[list[Array]]:
    def root(a: Array) -> Array:
        return k.pow(k.add(a, k.constant(eps, a)), k.constant(0.5, a))

    def average(a: Array, new: Array) -> Array:
        return k.add(_times(k, a, rho), _times(k, k.mul(new, new), 1 - rho))

    def update(p: Array, v: Array, u: Array, g: Array) -> tuple[Array, Array, Array]:
        g = _sloped(k, p, g, weight_decay, maximize)
        v = average(v, g)
        change = k.mul(k.div(root(u), root(v)), g)
        return _minus(k, p, k.mul(change, lr)), v, average(u, change)

    return columns(map(update, params, square_avg, acc_delta, grads), 3)


# ---- lion ----------------------------------------------------------------------------


def _lion_rule(
    params: Metas, exp_avg: Metas, grads: Metas, lr: Meta, *attributes: Any
) -> tuple[Metas, Metas]:
    check_group("lion", params, lr, None, grads=grads, exp_avg=exp_avg)
    return params, exp_avg


def lion(
    xp: Any,
    params: Arrays,
    exp_avg: Arrays,
    grads: Arrays,
    lr: Array,
    beta1: float,
    beta2: float,
    weight_decay: float,
    maximize: bool,
) -> list[list[Array]]:
    shrink = narrow(1 - wide(xp, lr) * weight_decay, lr)

    def update(p: Array, m: Array, g: Array) -> tuple[Array, Array]:
        g = -g if maximize else g
        p = p * shrink - lr * xp.sign(beta1 * m + (1 - beta1) * g)
        return p, beta2 * m + (1 - beta2) * g

    return columns(map(update, params, exp_avg, grads), 2)


def lion_in_primitives(
    k: Any,
    params: Arrays,
    exp_avg: Arrays,
    grads: Arrays,
    lr: Array,
    beta1: float,
    beta2: float,
    weight_decay: float,
    maximize: bool,
) -> list[list[Array]]:
    rate = k.cast(lr, FLOAT64)
    shrink = k.add(_times(k, rate, -weight_decay), k.constant(1.0, rate))
    shrink = k.cast(shrink, k.dtype(lr))

    def blend(m: Array, g: Array, beta: float) -> Array:
        return k.add(_times(k, m, beta), _times(k, g, 1 - beta))

    def sign(a: Array) -> Array:
        zero = k.constant(0, a)
        below = k.where(k.compare(a, zero, "lt"), k.constant(-1, a), a)
        return k.where(k.compare(a, zero, "gt"), k.constant(1, a), below)

    def update(p: Array, m: Array, g: Array) -> tuple[Array, Array]:
        g = k.neg(g) if maximize else g
        change = k.mul(sign(blend(m, g, beta1)), lr)
        return _minus(k, k.mul(p, shrink), change), blend(m, g, beta2)

    return columns(map(update, params, exp_avg, grads), 2)


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="adagrad",
        kind="composite",
        signature=(
            "params* total* ; grads* lr step ; lr_decay:float eps:float "
            "weight_decay:float maximize:bool"
        ),
        doc=(
            "g += weight_decay * p; s += g**2; p -= lr / (1 + (t - 1) * lr_decay) * g "
            "/ (sqrt(s) + eps)."
        ),
        rule=_adagrad_rule,
        reference=adagrad,
        decomposition=adagrad_in_primitives,
        lead="mul",
        budget=budgets.adagrad,
        samples=samples.adagrad,
        work=per_element(_adagrad_rule, 9),
        layout="like",
        writes=("params", "total"),
        defaults=(0.0, 1e-10, 0.0, False),
    ),
    KernelSpec(
        name="adadelta",
        kind="composite",
        signature=(
            "params* square_avg* acc_delta* ; grads* lr ; rho:float eps:float "
            "weight_decay:float maximize:bool"
        ),
        doc=(
            "g += weight_decay * p; v = rho * v + (1 - rho) * g**2; change = sqrt(u + "
            "eps) / sqrt(v + eps) * g; u = rho * u + (1 - rho) * change**2; p -= lr * "
            "change."
        ),
        rule=_adadelta_rule,
        reference=adadelta,
        decomposition=adadelta_in_primitives,
        lead="mul",
        budget=budgets.adadelta,
        samples=samples.adadelta,
        work=per_element(_adadelta_rule, 17),
        layout="like",
        writes=("params", "square_avg", "acc_delta"),
        defaults=(0.9, 1e-6, 0.0, False),
    ),
    KernelSpec(
        name="lion",
        kind="composite",
        signature=(
            "params* exp_avg* ; grads* lr ; beta1:float beta2:float "
            "weight_decay:float maximize:bool"
        ),
        doc=(
            "p = (1 - lr * weight_decay) * p - lr * sign(beta1 * m + (1 - beta1) * "
            "g); m = beta2 * m + (1 - beta2) * g."
        ),
        rule=_lion_rule,
        reference=lion,
        decomposition=lion_in_primitives,
        lead="mul",
        budget=budgets.lion,
        samples=samples.lion,
        work=per_element(_lion_rule, 9),
        layout="like",
        writes=("params", "exp_avg"),
        defaults=(0.9, 0.99, 0.0, False),
    ),
)

# SPDX-License-Identifier: MIT
"""What is done to all gradients at once: their norm, and scaling by a factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autocalc._kernels._legacy import _budgets_optimizers as budgets
from autocalc._kernels._legacy import _samples_optimizers as samples
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import FLOAT64, expect_shape, float_dtype
from autocalc._kernels.spec import Array, KernelSpec, Meta
from autocalc._kernels.work import per_element
from autocalc.errors import ShapeError

Arrays = Sequence[Array]
Metas = tuple[Meta, ...]


def _grad_norm_rule(grads: Metas) -> Meta:
    if not grads:
        message = (
            "grad_norm: `grads` is an empty list, which does not say the result's "
            "dtype. Give at least one array."
        )
        raise ShapeError(message)
    return Meta((), float_dtype("grad_norm", *grads))


def _scale_rule(arrays: Metas, factor: Meta) -> tuple[Metas]:
    float_dtype("scale", factor, *arrays)
    expect_shape("scale", "factor", factor, ())
    return (arrays,)


def grad_norm(xp: Any, grads: Arrays) -> Array:
    squares = [xp.sum(xp.square(wide(xp, g))) for g in grads]
    return narrow(xp.sqrt(sum(squares)), grads[0])


def grad_norm_in_primitives(k: Any, grads: Arrays) -> Array:
    """Square and add in float64: float32 overflows from 2e19 on."""
    total = None
    for g in grads:
        w = k.reshape(k.cast(g, FLOAT64), (math.prod(k.shape(g)),))
        square = k.sum(k.mul(w, w), (0,), False)
        total = square if total is None else k.add(total, square)
    return k.cast(k.pow(total, k.constant(0.5, total)), k.dtype(grads[0]))


def scale(xp: Any, arrays: Arrays, factor: Array) -> list[Array]:
    return [a * factor for a in arrays]


def scale_in_primitives(k: Any, arrays: Arrays, factor: Array) -> list[Array]:
    return [k.mul(a, factor) for a in arrays]


SPECS = (
    KernelSpec(
        name="grad_norm",
        kind="composite",
        signature="norm ; grads*",
        doc=(
            "The square root of the sum of squares over all elements of the list; of "
            "float32 added in float64."
        ),
        rule=_grad_norm_rule,
        reference=grad_norm,
        decomposition=grad_norm_in_primitives,
        lead="sum",
        budget=budgets.grad_norm,
        samples=samples.grad_norm,
        work=per_element(_grad_norm_rule, 2),
    ),
    KernelSpec(
        name="scale",
        kind="composite",
        signature="arrays* ; factor",
        doc="arrays *= factor, in place, for every array of the list.",
        rule=_scale_rule,
        reference=scale,
        decomposition=scale_in_primitives,
        lead="mul",
        budget=budgets.scale,
        samples=samples.scale,
        work=per_element(_scale_rule, 1),
        layout="like",
        writes=("arrays",),
    ),
)

# SPDX-License-Identifier: MIT
"""Error bounds of matrix products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from autocalc._kernels.activations._formulas import gelu_formula, gelu_tanh_formula
from autocalc._kernels.budgets import Inputs, Limits, Tolerance, magnitude, ulp
from autocalc._kernels.spec import Array, Attributes


def none(xp: Any, x: Array) -> Array:
    return x


def relu_formula(xp: Any, x: Array) -> Array:
    return xp.maximum(x, xp.zeros((), x.dtype))


ACTIVATIONS: dict[str, Callable[[Any, Array], Array]] = {
    "none": none,
    "relu": relu_formula,
    "gelu": gelu_formula,
    "gelu_tanh": gelu_tanh_formula,
}


#: The steepest slope of each activation.
SLOPE = {"none": 1.0, "relu": 1.0, "gelu": 1.13, "gelu_tanh": 1.13}


def product(a: Array, b: Array, eps: float) -> Array:
    """Return the componentwise bound (K + 2) * eps * (|A| |B|)."""
    return (a.shape[-1] + 2) * eps * np.matmul(magnitude(a), magnitude(b))


def activated(before: Array, pre: Array, activation: str, eps: float) -> Array:
    """Return the error after the activation for the error `before` it."""
    own = 4 * eps * magnitude(pre) if activation.startswith("gelu") else 0.0
    return SLOPE[activation] * before + own


def affine(
    product: Array, bias: Array | None, expected: Inputs, activation: str, eps: float
) -> Sequence[Any]:
    out, pre = expected
    before = product + (0.0 if bias is None else 2 * eps * magnitude(bias))
    before = before + ulp(out, eps)
    scale = out if pre is None else pre
    # gelu(x) is at least -0.17, so |x| <= |gelu(x)| + 0.17 for the relevant values
    own = magnitude(scale) + (0.17 if pre is None else 0.0)
    return [activated(before, own, activation, eps), before]


#: A function of two operands that bounds the errors of their product.
Bound: TypeAlias = Callable[[Array, Array, float], Array]


def lost_in_parts(a: Array, b: Array) -> Array:
    """Return the error of ``a @ b`` that is caused by subnormal bfloat16 parts.

    A bfloat16 tile treats numbers below 2**-126 as zero.  This affects the lower parts
    of elements, which are multiplied by elements of the other operand, and the partial
    sums, of which there are 6 K.
    """
    a, b = np.asarray(a), np.asarray(b)
    rows = magnitude(a).sum(axis=-1, keepdims=True)
    columns = magnitude(b).sum(axis=-2, keepdims=a.ndim > 1)
    tiny = float(np.finfo(np.float32).tiny)
    return np.asarray(2 * tiny * (rows + columns + 6 * a.shape[-1]))


def split_product(a: Array, b: Array, eps: float) -> Array:
    return product(a, b, eps) + lost_in_parts(a, b)


def gemm_tolerance(of: Bound) -> Tolerance:
    def tolerance(
        inputs: Inputs, attributes: Attributes, expected: Inputs, eps: float
    ) -> Limits:
        a, b, bias = inputs
        product = abs(attributes[0]) * of(a, b, eps)
        return affine(product, bias, expected, attributes[2], eps)

    return tolerance


SPLIT = " + 2**-125 * (|A| 1 + 1 |B| + 6 K)"


#: The relative error of |A| |B|, by the name of an exception, for operands that are
#: split into two bfloat16 parts or one.  The error of a number is 2/3 of a unit in its
#: last part, which is 2/3 * 2**-16 or 2/3 * 2**-7 of the number.  It counts for both
#: operands.  With two parts, the product of the lower parts, 2**-16, is also left out.
FEWER_PARTS = {"bf16x2": 1.2 * 2.0**-15, "bf16": 1.35 * 2.0**-7}


def lost_of_parts(parts: str) -> Callable[[Array, Array], Array]:
    """Return the bound of the error of ``a @ b`` without its rounding errors."""

    def lost(a: Array, b: Array) -> Array:
        whole = np.matmul(magnitude(a), magnitude(b))
        return np.asarray(FEWER_PARTS[parts] * whole + lost_in_parts(a, b))

    return lost


def product_of_parts(parts: str) -> Bound:
    lost = lost_of_parts(parts)
    return lambda a, b, eps: product(a, b, eps) + lost(a, b)


def said_of_parts(parts: str) -> str:
    """Return the text of a budget for split operands."""
    share = {"bf16x2": "1.2 * 2**-15", "bf16": "1.35 * 2**-7"}[parts]
    return f"((K + 2) * eps + {share}) * (|A| |B|){SPLIT}"


SAMPLED_ACTIVATIONS = ("none", "relu", "gelu", "gelu_tanh")


#: (M, K, N): sizes that are 1, odd, close to tile sizes, 0, and large enough for
#: blocks.
SIZES = (
    (1, 1, 1),
    (2, 3, 4),
    (5, 7, 3),
    (16, 16, 16),
    (17, 33, 65),
    (48, 1, 64),
    (1, 70, 9),
    (70, 9, 1),
    (1, 300, 1),
    (0, 3, 4),
    (3, 0, 4),
    (3, 4, 0),
    (13, 1100, 47),
)


Pair = tuple[Array, "Array | None"]

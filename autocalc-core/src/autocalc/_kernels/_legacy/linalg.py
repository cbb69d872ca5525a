# SPDX-License-Identifier: MIT
"""Matrix products: gemm with its epilogue, the linear layer and its backward kernel."""

from __future__ import annotations

import math
from typing import Any

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples_training as samples
from autocalc._kernels._legacy._activations import ACTIVATIONS, IN_PRIMITIVES
from autocalc._kernels.accumulate import plus, plus_in
from autocalc._kernels.precision import narrow, wide
from autocalc._kernels.rules import (
    broadcast_shapes,
    expect_ndim,
    expect_shape,
    float_dtype,
)
from autocalc._kernels.spec import Array, KernelSpec, Meta, Shape, Work
from autocalc._kernels.work import nbytes, size
from autocalc.errors import ShapeError

Pair = tuple[Array, "Array | None"]

# ---- rules ---------------------------------------------------------------------------


def _gemm_rule(
    a: Meta, b: Meta, bias: Meta | None, alpha: float, beta: float, activation: str
) -> tuple[Meta, Meta]:
    dtype = float_dtype("gemm", a, b, bias)
    if len(a.shape) < 2 or len(b.shape) < 2:
        message = (
            f"gemm: shapes {a.shape} and {b.shape}: both operands need at least 2 "
            f"dimensions. Reshape a vector to a matrix of one row or column."
        )
        raise ShapeError(message)
    if a.shape[-1] != b.shape[-2]:
        message = (
            f"gemm: shapes {a.shape} and {b.shape} do not match: a.shape[-1] is "
            f"{a.shape[-1]}, b.shape[-2] is {b.shape[-2]}. They must be equal."
        )
        raise ShapeError(message)
    expect_shape("gemm", "bias", bias, b.shape[-1:])
    batch = broadcast_shapes("gemm", a.shape[:-2], b.shape[:-2])
    out = Meta((*batch, a.shape[-2], b.shape[-1]), dtype)
    return out, out


def _linear_rule(
    x: Meta, weight: Meta, bias: Meta | None, activation: str
) -> tuple[Meta, Meta]:
    dtype = float_dtype("linear", x, weight, bias)
    expect_ndim("linear", "weight", weight, 2)
    if x.shape[-1:] != weight.shape[1:]:
        message = (
            f"linear: `x` has shape {x.shape} and `weight` {weight.shape}; the last "
            f"dimension of `x` must be {weight.shape[1]} (`weight` is [out, in])."
        )
        raise ShapeError(message)
    expect_shape("linear", "bias", bias, weight.shape[:1])
    out = Meta((*x.shape[:-1], weight.shape[0]), dtype)
    return out, out


def _linear_backward_rule(
    g: Meta, x: Meta | None, weight: Meta | None
) -> tuple[Meta | None, Meta | None, Meta]:
    name = "linear_backward"
    dtype = float_dtype(name, g, x, weight)
    if not g.shape:
        message = f"{name}: `g` has no dimensions; it must be [..., out]."
        raise ShapeError(message)
    out, dx, dweight = g.shape[-1], None, None
    if weight is not None:
        expect_ndim(name, "weight", weight, 2)
        expect_shape(name, "weight", weight, (out, weight.shape[1]))
        dx = Meta((*g.shape[:-1], weight.shape[1]), dtype)
    if x is not None:
        features = x.shape[-1] if dx is None else dx.shape[-1]
        expect_shape(name, "x", x, (*g.shape[:-1], features))
        dweight = Meta((out, features), dtype)
    return dx, dweight, Meta((out,), dtype)


# ---- references ----------------------------------------------------------------------


def gemm(
    xp: Any,
    a: Array,
    b: Array,
    bias: Array | None,
    alpha: float,
    beta: float,
    activation: str,
    *,
    want: int = -1,
    out: Array | None = None,
) -> Pair:
    pre = xp.matmul(a, b)
    if alpha != 1:
        pre = alpha * pre
    if bias is not None:
        pre = pre + bias
    if out is not None:
        pre = pre + beta * out
    return ACTIVATIONS[activation](xp, pre), pre


def gemm_in_parts(
    k: Any,
    a: Array,
    b: Array,
    bias: Array | None,
    alpha: float,
    beta: float,
    activation: str,
    *,
    want: int = -1,
    out: Array | None = None,
) -> Pair:
    """Run the optional parts as kernels of their own, for a set that refuses them."""
    pre, _ = k.gemm(a, b, None, alpha)
    if bias is not None:
        pre = k.add(pre, bias)
    if out is not None:
        pre = k.add(pre, k.mul(out, k.constant(beta, out)))
    if activation == "none":
        return pre, k.copy(pre) if want & 0b10 else None
    return IN_PRIMITIVES[activation](k, pre), pre if want & 0b10 else None


def linear(
    xp: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    activation: str,
    *,
    want: int = -1,
) -> Pair:
    pre = xp.matmul(x, weight.T)
    if bias is not None:
        pre = pre + bias
    return ACTIVATIONS[activation](xp, pre), pre


def linear_in_primitives(
    k: Any,
    x: Array,
    weight: Array,
    bias: Array | None,
    activation: str,
    *,
    want: int = -1,
) -> Pair:
    rows = k.reshape(x, _rows(k.shape(x)))
    columns = k.permute(weight, (1, 0))
    out, pre = k.gemm(rows, columns, bias, 1.0, 1.0, activation, want=want & 0b11)
    shape = (*k.shape(x)[:-1], k.shape(weight)[0])
    return k.reshape(out, shape), None if pre is None else k.reshape(pre, shape)


def linear_backward(
    xp: Any,
    g: Array,
    x: Array | None,
    weight: Array | None,
    *,
    want: int = -1,
    dx: Array | None = None,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array | None, Array | None, Array]:
    rows = g.reshape(_rows(g.shape))
    if weight is not None and want & 0b001:
        dx = plus(dx, xp.matmul(g, weight))
    if x is not None and want & 0b010:
        dweight = plus(dweight, xp.matmul(rows.T, x.reshape(_rows(x.shape))))
    total = xp.sum(wide(xp, rows), axis=0)
    return dx, dweight, narrow(plus(dbias, total), g)


def linear_backward_in_primitives(
    k: Any,
    g: Array,
    x: Array | None,
    weight: Array | None,
    *,
    want: int = -1,
    dx: Array | None = None,
    dweight: Array | None = None,
    dbias: Array | None = None,
) -> tuple[Array | None, Array | None, Array | None]:
    rows = k.reshape(g, _rows(k.shape(g)))
    if weight is not None and want & 0b001:
        product, _ = k.gemm(rows, weight, None)
        shape = (*k.shape(g)[:-1], k.shape(weight)[1])
        dx = plus_in(k, dx, k.reshape(product, shape))
    if x is not None and want & 0b010:
        x_rows = k.reshape(x, _rows(k.shape(x)))
        product, _ = k.gemm(k.permute(rows, (1, 0)), x_rows, None)
        dweight = plus_in(k, dweight, product)
    if want & 0b100:
        dbias = plus_in(k, dbias, k.sum(rows, (0,), False))
    return dx, dweight, dbias


def _rows(shape: Shape) -> Shape:
    """Return the shape as a matrix: all but the last dimension are rows."""
    return math.prod(shape[:-1]), shape[-1]


# ---- work ----------------------------------------------------------------------------


def _gemm_work(a: Meta, b: Meta, bias: Meta | None, *attributes: Any) -> Work:
    out, _ = _gemm_rule(a, b, bias, *attributes)
    return Work(2.0 * size(out) * a.shape[-1], nbytes(a, b, bias, out))


def _linear_work(x: Meta, weight: Meta, bias: Meta | None, activation: str) -> Work:
    out, _ = _linear_rule(x, weight, bias, activation)
    return Work(2.0 * size(x) * weight.shape[0], nbytes(x, weight, bias, out))


def _linear_backward_work(g: Meta, x: Meta | None, weight: Meta | None) -> Work:
    outs = _linear_backward_rule(g, x, weight)
    flops = sum(2.0 * size(g) * out.shape[-1] for out in outs[:2] if out is not None)
    return Work(flops + size(g), nbytes(g, x, weight, *outs))


# ---- specs ---------------------------------------------------------------------------

SPECS = (
    KernelSpec(
        name="gemm",
        kind="primitive",
        signature=(
            "out pre? ; a b bias? ; alpha:float beta:float "
            "activation:none,relu,gelu,gelu_tanh accumulate:int"
        ),
        doc=(
            "out = activation(pre), pre = alpha * a @ b + bias, plus beta * out where "
            "out is added into; batch dimensions broadcast."
        ),
        rule=_gemm_rule,
        reference=gemm,
        decomposition=gemm_in_parts,
        lead="gemm",
        budget=budgets.gemm,
        exceptions={"split": budgets.gemm_split},
        samples=samples.gemm,
        work=_gemm_work,
        key="shapes",
        layout="any",
        accumulates=("out",),
        defaults=(1.0, 1.0, "none"),
    ),
    KernelSpec(
        name="linear",
        kind="composite",
        signature="out pre? ; x weight bias? ; activation:none,relu,gelu,gelu_tanh",
        doc="out = activation(pre), pre = x @ weight.T + bias (weight is [out, in]).",
        rule=_linear_rule,
        reference=linear,
        decomposition=linear_in_primitives,
        lead="gemm",
        budget=budgets.linear,
        exceptions={"split": budgets.linear_split},
        samples=samples.linear,
        work=_linear_work,
        key="shapes",
        defaults=("none",),
    ),
    KernelSpec(
        name="linear_backward",
        kind="composite",
        signature="dx? dweight? dbias? ; g x? weight? ; accumulate:int",
        doc="dx = g @ weight, dweight = g.T @ x, dbias = sum of g over rows.",
        rule=_linear_backward_rule,
        reference=linear_backward,
        decomposition=linear_backward_in_primitives,
        lead="gemm",
        budget=budgets.linear_backward,
        exceptions={"split": budgets.linear_backward_split},
        samples=samples.linear_backward,
        work=_linear_backward_work,
        key="shapes",
        accumulates=("dx", "dweight", "dbias"),
    ),
)

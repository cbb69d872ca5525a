# SPDX-License-Identifier: MIT
"""Matrix products and the linear layer."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._call import KernelCall
from autocalc._dispatch._state import current
from autocalc._graph._node import Node
from autocalc._kernels.spec import Shape
from autocalc._kernels.table import TABLE
from autocalc._ops._op import nary
from autocalc._ops._rule import Saves
from autocalc._tensor import Tensor, make
from autocalc.errors import ShapeError

# gemm's attributes: alpha, beta, activation.  Operators use no fused activation: those
# are for composites and for recorded programs.
FACTORS = "a:b b:a"
gemm = nary("gemm", saves=FACTORS)
DEFAULTS = TABLE["gemm"].defaults


@gemm.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """DA = alpha g B^T, dB = alpha A^T g, summed over what was broadcast."""
    a, b = n.saved
    given: tuple[Any, ...] = n.attributes
    alpha, _, activation = given + DEFAULTS[len(given) :]
    assert activation == "none", "an operator with a fused activation has no rule"
    da = db = dbias = None
    if n.needs(0):
        da = k.sum_to(k.gemm(g, transposed(k, b), None, alpha)[0], n.shapes[0])
    if n.needs(1):
        db = k.sum_to(k.gemm(transposed(k, a), g, None, alpha)[0], n.shapes[1])
    if n.needs(2):
        dbias = k.sum_to(g, n.shapes[2])
    return da, db, dbias


_gemm_call = KernelCall(TABLE["gemm"])
_gemm_index = _gemm_call.index
_save_factors = Saves(FACTORS, TABLE["gemm"])
PLAIN = 1.0, 0.0, "none"  # a product and nothing else


def product(x: Tensor, y: Tensor) -> Tensor | None:
    """Return ``gemm(x, y, None, *PLAIN)`` by a shorter way.

    None if the operands are not tensors of one dtype, each a matrix or a batch of them.
    Small matrices are multiplied in less time than the general call takes: with 17 x 65
    by 65 x 33 it is 2 of 8 us.  Shapes that fit are known from the first call on.
    """
    try:
        a, b = x._array, y._array
    except AttributeError:
        return None
    dtype = a.dtype
    if b.dtype is not dtype:
        return None
    state = current()
    selection = state.selection
    key = selection.key_of(a, b)
    plan = selection.tables[_gemm_index].get(key)
    if plan is None:
        if a.ndim < 2 or b.ndim < 2:
            return None
        if a.shape[-1] != b.shape[-2]:
            raise unequal(a.shape, b.shape)
        plan = _gemm_call.planned(selection, key, (a, b, None, *PLAIN))
    kernel, metas, more, _ = plan
    array = selection.empty(*metas[0])
    if more:  # without a tuple of them: 0.2 us
        kernel(array, None, a, b, None, 1.0, 0.0, "none", 0)
    else:
        kernel(array, None, a, b, None, *PLAIN)
    out = make(array, None)
    edge_x, edge_y = x._edge, y._edge
    if (edge_x is None and edge_y is None) or not state.grad:
        return out
    edges, shapes = (edge_x, edge_y, None), (a.shape, b.shape, ())
    saved, versions = _save_factors(edges, (None, None, x, y, None))
    out._edge = Node(gemm.op, edges, saved, versions, shapes, dtype, PLAIN)
    return out


def unequal(shape_a: Shape, shape_b: Shape) -> ShapeError:
    """Make the error for inner dimensions that differ.

    The kernel's rule would say the same, but of operands called a and b.
    """
    dim = -2 if len(shape_b) > 1 else 0
    return ShapeError(
        f"matmul: shapes {shape_a} and {shape_b} do not fit: `input`.shape[-1] is "
        f"{shape_a[-1]}, `other`.shape[{dim}] is {shape_b[dim]}; they must be equal."
    )


def transposed(k: Any, a: Any) -> Any:
    """Return `a` with its last two dimensions exchanged: a view."""
    axes = list(range(len(k.shape(a))))
    axes[-2:] = axes[-1], axes[-2]
    return k.permute(a, tuple(axes))


linear = nary("linear", saves="x:weight weight:x")


@linear.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Dx = g W, dW = g^T x, db = the sum of g over all rows; one kernel call."""
    x, weight = n.saved
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    return k.linear_backward(g, x, weight, want=want)

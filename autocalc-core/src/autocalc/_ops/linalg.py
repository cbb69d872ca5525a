# SPDX-License-Identifier: MIT
"""Matrix products and the linear layer."""

from __future__ import annotations

from typing import Any

from autocalc._kernels._table import TABLE
from autocalc._ops._op import nary

# gemm's attributes: alpha, beta, activation.  Operators use no fused activation: those
# are for composites and for recorded programs.
gemm = nary("gemm", saves="a:b b:a")
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

# SPDX-License-Identifier: MIT
"""Weights of 8 and 4 bits: packing, unpacking, and the linear layer on them."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.factories import nary

quantize_op = nary("quantize_groups", differentiable=False)
dequantize_op = nary("dequantize_groups", differentiable=False)
quantized_linear_op = nary("quantized_linear", saves="weight:x")


@quantized_linear_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Return dx = g W and db; the rounding of x counts as the identity."""
    (weight,), (bits, group) = n.saved, n.attributes
    table = None if weight is None else k.dequantize_groups(weight, bits, group)
    want = n.needs(0) | n.needs(2) << 2
    dx, _, dbias = k.linear_backward(g, None, table, want=want)
    return dx, None, dbias

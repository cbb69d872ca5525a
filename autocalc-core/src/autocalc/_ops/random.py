# SPDX-License-Identifier: MIT
"""Random operators: functions of their input and of (seed, offset)."""

from __future__ import annotations

from typing import Any

from autocalc._ops._op import multi, nary

# Inputs a, seed, offset; the results are (out, mask).
dropout = multi("dropout", saves="mask:a")


@dropout.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """Only `out` has a cotangent; the elements that were kept pass it on."""
    (mask,) = n.saved
    return k.dropout_backward(g[0], mask, *n.attributes), None, None


dropout_backward = nary("dropout_backward", saves="mask:g")


@dropout_backward.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """A linear function with a symmetric matrix is its own adjoint."""
    (mask,) = n.saved
    return k.dropout_backward(g, mask, *n.attributes), None

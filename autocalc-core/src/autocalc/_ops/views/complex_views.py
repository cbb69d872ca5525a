# SPDX-License-Identifier: MIT
"""Views of the parts of complex tensors, and of pairs of numbers as complex ones.

By PyTorch's convention, the gradient with respect to a complex number x + i y is
dL/dx + i dL/dy, so each rule here moves parts without a sign.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays
from autocalc._ops._operator.factories import unary, view_operator

conj_op = unary("conj", "the conjugate of x", floats=False)


@conj_op.vjp
def _conj_rule(k: Any, n: Any, g: Any) -> Any:
    return k.conj(g)


conj_op.op.complex_rule = _conj_rule


@view_operator("real_part")
def real_view(a: Any) -> Any:
    """Return the real parts of complex numbers."""
    return arrays.real_part(a)


@real_view.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.as_complex(
        k.stack([g, k.zeros(n.shapes[0], k.dtype(g))], len(n.shapes[0]))
    )


@view_operator("imaginary_part")
def imaginary_view(a: Any) -> Any:
    """Return the imaginary parts of complex numbers."""
    return arrays.imaginary_part(a)


@imaginary_view.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.as_complex(
        k.stack([k.zeros(n.shapes[0], k.dtype(g)), g], len(n.shapes[0]))
    )


@view_operator("as_pairs")
def pairs_view(a: Any) -> Any:
    """Return complex numbers [...] as real numbers [..., 2]."""
    return arrays.as_pairs(a)


@pairs_view.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.as_complex(g)


@view_operator("as_complex")
def complex_view(a: Any) -> Any:
    """Return real numbers [..., 2] as complex numbers [...]."""
    return arrays.as_complex(a)


@complex_view.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    return k.as_pairs(g)

# SPDX-License-Identifier: MIT
"""Complex numbers as pairs, for `gradcheck`."""

from __future__ import annotations

from typing import Any

from autocalc._ops.views import complex_views
from autocalc._tensor import Tensor


def in_pairs(func: Any, inputs: list[Any]) -> tuple[Any, list[Any]]:
    """Return a function of real numbers instead of one of complex numbers.

    Complex inputs become pairs of real numbers in a last dimension, on the same memory.
    The gradient of a complex number is such a pair by definition.
    """
    places = [
        i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.is_complex()
    ]
    if not places:
        return func, inputs
    pairs = [*inputs]
    for i in places:
        seen = complex_views.pairs_view(inputs[i].detach()).detach()
        pairs[i] = seen.requires_grad_(inputs[i].requires_grad)

    def of_pairs(*args: Any) -> Any:
        given = [*args]
        for i in places:
            given[i] = complex_views.complex_view(args[i])
        return func(*given)

    return of_pairs, pairs

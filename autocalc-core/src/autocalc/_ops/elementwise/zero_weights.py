# SPDX-License-Identifier: MIT
"""Products with weights: a weight of 0 gives 0, even for an infinite value."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.factories import binary

weigh_op = binary("weigh", "x y, and 0 where x is 0 and y infinite", saves="a:b b:a")


@weigh_op.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The derivatives of a b are b and a; nothing passes where g or a is 0."""
    a, b = n.saved
    return (
        k.sum_to(k.weigh(g, b), n.shapes[0]) if n.needs(0) else None,
        k.sum_to(k.weigh(a, g), n.shapes[1]) if n.needs(1) else None,
    )

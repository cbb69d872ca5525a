# SPDX-License-Identifier: MIT
"""Gradients for batches of cotangents: one backward pass for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._ops.views.levels import hide, show
from autocalc._tensor import Tensor
from autocalc.autograd._levels import entered
from autocalc.errors import GradError

Found = tuple[Tensor | None, ...]


def batched(
    outputs: Tensor | Sequence[Tensor], cotangents: Any, walk: Callable[..., Found]
) -> Found:
    """Return gradients with the batch in front: those of ``walk(cotangents)``."""
    given = [cotangents] if isinstance(cotangents, Tensor) else list(cotangents or ())
    count = 1 if isinstance(outputs, Tensor) else len(outputs)
    sizes = {g.shape[0] if isinstance(g, Tensor) and g.ndim else None for g in given}
    if len(given) != count or len(sizes) != 1 or not all(sizes):
        raise GradError(
            "grad: `is_grads_batched` needs one tensor in `grad_outputs` for each of "
            f"{count} outputs. Their first size is the size of the batch: it must be 1 "
            "or more, and the same for all. The first sizes are "
            f"{[_first(g) for g in given]}."
        )
    (size,) = sizes
    with entered(size) as level:  # type: ignore[arg-type]  # not None
        found = walk([hide(g, level, 0) for g in given])
        return tuple([None if g is None else show(g, level, 0) for g in found])


def _first(g: Any) -> int | None:
    return g.shape[0] if isinstance(g, Tensor) and g.ndim else None

# SPDX-License-Identifier: MIT
"""Gradients for batches of cotangents: one backward pass for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autocalc._ops.arranging.joining import stack
from autocalc._tensor import Tensor
from autocalc.errors import GradError

Found = tuple[Tensor | None, ...]


def batched(
    outputs: Tensor | Sequence[Tensor], cotangents: Any, walk: Callable[..., Found]
) -> Found:
    """Return gradients with the batch in front: those of ``walk(cotangents, last)``."""
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
    rows = [
        walk([g[i] for g in given], i + 1 == size)
        for i in range(size)  # type: ignore[arg-type]  # not None
    ]
    return tuple(map(_stacked, zip(*rows, strict=True)))


def _first(g: Any) -> int | None:
    return g.shape[0] if isinstance(g, Tensor) and g.ndim else None


def _stacked(gradients: tuple[Tensor | None, ...]) -> Tensor | None:
    """Return the gradients of one input, one for each cotangent, as one tensor."""
    return None if gradients[0] is None else stack(gradients)  # type: ignore[arg-type]  # reached in all passes or in none

# SPDX-License-Identifier: MIT
"""Rows of an embedding's table, and the gradient of that table."""

from __future__ import annotations

from typing import Any

import cupy

from autocalc.plugin import KernelImpl
from autocalc_kernels_cuda import _errors
from autocalc_kernels_cuda._rows import floats, run_rows

_INDICES = _errors.number("embedding", ("indices",))
_INDICES_BACKWARD = _errors.number("embedding_backward", ("indices",))


def _embedding(out: Any, weight: Any, indices: Any) -> None:
    rows, size = weight.shape
    to = out if out.flags.c_contiguous else cupy.empty(out.shape, out.dtype)
    weight, indices = map(cupy.ascontiguousarray, (weight, indices))
    run_rows("indexing", "embedding", out, indices.size, to, weight, indices, rows,
             size, _errors.record(), _INDICES)  # fmt: skip
    if to is not out:
        out[...] = to


def _embedding_backward(dweight: Any, g: Any, indices: Any, padding_idx: int) -> None:
    rows, size = dweight.shape
    place = dweight.flags.c_contiguous
    to = dweight if place else cupy.empty(dweight.shape, dweight.dtype)
    to.fill(0)
    g, line = cupy.ascontiguousarray(g), cupy.ascontiguousarray(indices).reshape(-1)
    if line.size:
        order = cupy.argsort(line, kind="stable")
        run_rows("indexing", "embedding_backward", g, line.size, to, g, line, order,
                 line.size, rows, size, padding_idx, _errors.record(),
                 _INDICES_BACKWARD)  # fmt: skip
    if not place:
        dweight[...] = to


def embeddings() -> dict[str, KernelImpl]:
    """Return embedding and its gradient."""
    return {
        "embedding": KernelImpl(_embedding, supports=floats),
        "embedding_backward": KernelImpl(_embedding_backward, supports=floats),
    }

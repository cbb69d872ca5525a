# SPDX-License-Identifier: MIT
"""The kernels of this package: what each module has, in one table."""

from __future__ import annotations

import importlib
from typing import Any

#: (module, function that returns kernels by name); no two modules have one kernel.
_PARTS = (
    ("_operators", "operators"),
    ("_reduce", "reductions"),
    ("_gemm", "products"),
    ("_softmax", "softmaxes"),
    ("_norms", "norms"),
    ("_losses", "losses"),
    ("_attention", "attentions"),
    ("_indexing", "embeddings"),
    ("_optimizers", "optimizers"),
)


def kernels() -> dict[str, Any]:
    """Return all kernels; nothing is compiled before it is called."""
    found: dict[str, Any] = {}
    for name, function in _PARTS:
        module = importlib.import_module(f"autocalc_kernels_cuda.{name}")
        found.update(getattr(module, function)())
    return found

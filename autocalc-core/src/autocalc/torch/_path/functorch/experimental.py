# SPDX-License-Identifier: MIT
"""`functorch.experimental`: functions that `torch.func` has taken over since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc.func import functionalize as functionalize
from autocalc.func import jvp as jvp
from autocalc.func import (
    replace_all_batch_norm_modules_ as replace_all_batch_norm_modules_,
)
from autocalc.func import vmap
from autocalc.torch import _mentioned


def chunk_vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    chunks: int = 2,
) -> Callable[..., Any]:
    """Return `func` over a dimension of its arguments, in this many parts."""

    def run(*args: Any, **words: Any) -> Any:
        size = _size(args, in_dims)
        length = max(-(-size // max(chunks, 1)), 1)
        mapped = vmap(func, in_dims, out_dims, randomness, chunk_size=length)
        return mapped(*args, **words)

    return run


def _size(args: Any, in_dims: Any) -> int:
    """Return the number of examples of the first argument that has some."""
    dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
    for x, dim in zip(args, dims, strict=False):
        if isinstance(dim, int) and hasattr(x, "shape"):
            return int(x.shape[dim])
    return 1


__getattr__ = _mentioned.names_of(__name__)

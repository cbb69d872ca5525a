# SPDX-License-Identifier: MIT
"""Results that are written into the memory of the input, where that is asked for."""

from __future__ import annotations

from collections.abc import Callable

from autocalc._ops import functional
from autocalc._ops._arguments import check_tensor
from autocalc._ops.functional._writing import check_writable, write
from autocalc._tensor import Tensor


def into(input: Tensor, result: Tensor, where: str) -> Tensor:
    """Write `result` into `input`; return `input`."""
    recorded = check_writable(where, input)
    return write(where, input, result, recorded)


def maybe_into(
    input: Tensor, function: Callable[[Tensor], Tensor], inplace: bool, where: str
) -> Tensor:
    """Return function(input); with `inplace`, in the memory of `input`."""
    if not inplace:
        return function(input)
    check_tensor(where, input)
    # The backward rules read the input, which is about to be overwritten.
    kept = functional.clone(input) if input.requires_grad else input
    return into(input, function(kept), where)

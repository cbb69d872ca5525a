# SPDX-License-Identifier: MIT
"""Products of int8 under the private name of PyTorch: ``torch._int_mm``."""

from __future__ import annotations

from autocalc import Tensor, int8, int32, mm
from autocalc.errors import DTypeError


def _int_mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the product of two int8 matrices, summed in int32."""
    for x in (input, mat2):
        if x.dtype is not int8:
            raise DTypeError(
                f"torch._int_mm: takes int8, not {x.dtype.name}. Convert with .to(...)."
            )
    return mm(input.to(int32), mat2.to(int32), out=out)

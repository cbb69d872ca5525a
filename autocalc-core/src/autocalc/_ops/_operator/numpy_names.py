# SPDX-License-Identifier: MIT
"""The NumPy names `axis` and `keepdims`, which PyTorch accepts for `dim`, `keepdim`.

They are separate arguments, so a call that leaves them out pays for one check only.
"""

from __future__ import annotations

from typing import Any

from autocalc._tensor.checks import check_flag
from autocalc.errors import ArgumentError, DTypeError


def dim_or_axis(where: str, dim: Any, axis: Any, default: Any = None) -> Any:
    """Return `axis`; raise if `dim` and `axis` are both given or both missing."""
    if axis is None:
        raise DTypeError(f"{where}: `dim` is missing; it must be an integer.")
    if dim is not default:
        message = (
            f"{where}: `dim`={dim} and `axis`={axis} mean the same; give only one of "
            "them."
        )
        raise ArgumentError(message)
    return axis


def keepdim_or_keepdims(where: str, keepdim: Any, keepdims: Any) -> Any:
    """Return `keepdims`; raise if `keepdim` is given, too."""
    if keepdim is not False:
        raise ArgumentError(
            f"{where}: `keepdim`={keepdim} and `keepdims`={keepdims} mean the same; "
            "give only one of them."
        )
    return check_flag(where, "keepdims", keepdims)

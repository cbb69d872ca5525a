# SPDX-License-Identifier: MIT
"""`torch._functorch.eager_transforms`: how transforms choose arguments."""

from __future__ import annotations

from typing import Any

from autocalc.func._inputs import _picked
from autocalc.torch import _mentioned


def _slice_argnums(args: tuple[Any, ...], argnums: Any, as_tuple: bool = True) -> Any:
    """Return the arguments with these numbers, a single one in a tuple."""
    found = _picked("_slice_argnums", args, argnums)
    return (found,) if isinstance(argnums, int) and as_tuple else found


__getattr__ = _mentioned.names_of(__name__)

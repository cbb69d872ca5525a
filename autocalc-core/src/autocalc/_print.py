# SPDX-License-Identifier: MIT
"""How tensors print."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from autocalc import _dtypes as dtypes

if TYPE_CHECKING:
    from autocalc._tensor import Tensor

#: More elements than this are shortened to the first and last three of each dimension.
SUMMARISE_FROM = 1000


def describe(x: Tensor) -> str:
    """Return ``tensor([...], dtype=..., grad_fn=...)``; defaults are left out."""
    text = np.array2string(
        x._array, separator=", ", prefix="tensor(", threshold=SUMMARISE_FROM,
        precision=4, suppress_small=False, floatmode="maxprec",
    )  # fmt: skip
    extras = ""
    usual = (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_)
    if x.dtype not in usual:
        extras += f", dtype={x.dtype!r}"
    if x.numel() == 0 and x.ndim != 1:
        extras += f", size={x.shape}"
    if not x.is_leaf:
        extras += f", grad_fn=<{x._node().op.name}>"
    elif x.requires_grad:
        extras += ", requires_grad=True"
    return f"tensor({text}{extras})"

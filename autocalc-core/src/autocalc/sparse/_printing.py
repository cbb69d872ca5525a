# SPDX-License-Identifier: MIT
"""The printed form of sparse tensors."""

from __future__ import annotations

from typing import Any

from autocalc._tensor import dtypes


def _part(name: str, x: Any) -> str:
    head = f"{name}="
    text = repr(x.detach()).replace("\n", "\n" + " " * (7 + len(head)))
    return head + text


def describe(x: Any) -> str:
    """Return the text of a sparse tensor: its parts, its size and its layout."""
    parts = [_part(name, part) for name, part in x._parts().items()]
    last = f"size={tuple(x.shape)}, nnz={x._nnz()}"
    if x.dtype not in (dtypes.get_default_dtype(), dtypes.int64, dtypes.bool_):
        last += f", dtype={x.dtype!r}"
    last += f", layout={x.layout!r}"
    if x.requires_grad:
        last += ", requires_grad=True" if x.is_leaf else ", grad_fn=<of its values>"
    return f"tensor({(',' + chr(10) + ' ' * 7).join([*parts, last])})"

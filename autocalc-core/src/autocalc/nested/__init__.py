# SPDX-License-Identifier: MIT
"""Nested tensors: batches of sequences of different lengths, without padding.

The layout is jagged: the rows of all sequences in one dense tensor, and the offsets at
which the sequences begin.
"""

from __future__ import annotations

from autocalc.nested import _functions  # noqa: F401  it registers functions
from autocalc.nested._creation import (
    as_nested_tensor,
    nested_tensor,
    nested_tensor_from_jagged,
)
from autocalc.nested._tensor import to_padded_tensor

__all__ = [
    "as_nested_tensor",
    "nested_tensor",
    "nested_tensor_from_jagged",
    "to_padded_tensor",
]

# SPDX-License-Identifier: MIT
"""`Tensor`, its elements, its device; no operator.

Imports the graph and the dispatcher.
"""

from autocalc._tensor.tensor import (
    RemovableHandle,
    Retain,
    Tensor,
    make,
    node_and_slot,
)

__all__ = ["RemovableHandle", "Retain", "Tensor", "make", "node_and_slot"]

# SPDX-License-Identifier: MIT
"""`Tensor`, what its elements are and where they lie; no operator.

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

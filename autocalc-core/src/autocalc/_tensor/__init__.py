# SPDX-License-Identifier: MIT
"""`Tensor`, its elements and its device; contains no operators.

Imports the graph and the dispatcher.
"""

from autocalc._tensor.hooks import RemovableHandle, Retain, node_and_slot
from autocalc._tensor.tensor import Tensor, make

__all__ = ["RemovableHandle", "Retain", "Tensor", "make", "node_and_slot"]

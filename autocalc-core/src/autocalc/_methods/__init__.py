# SPDX-License-Identifier: MIT
"""The methods of `Tensor` that compute, attached when all operators exist.

Imports operators and `autograd`.  `_tensor/interface.py` has their types; it is made by
``make interface``.
"""

from __future__ import annotations

from autocalc._methods import (
    aliases,
    arithmetic,
    arranging,
    creation,
    elementwise_methods,
    gradients,
    ordering,
    pointwise,
    pointwise_writes,
    products,
    properties,
    reductions,
    scatter,
    shape_writes,
    shapes,
    special,
    writes,
)
from autocalc._ops import arithmetic as arithmetic_ops
from autocalc._ops import matmul
from autocalc._tensor import Tensor

#: Classes whose members become methods of `Tensor`.
CLASSES = (
    arithmetic.Arithmetic,
    elementwise_methods.Elementwise,
    pointwise.Pointwise,
    ordering.Ordering,
    products.Products,
    reductions.Reductions,
    shapes.Shapes,
    writes.Writes,
    pointwise_writes.PointwiseWrites,
    scatter.Placing,
    arranging.Arranging,
    creation.Creation,
    gradients.Gradients,
    shape_writes.ShapeWrites,
    special.LessCommon,
    properties.Answers,
    aliases.Aliases,
)

#: What ``a * b`` calls: the operator itself, for a method in between would cost as much
#: as the bookkeeping of a small operator.
OPERATORS = {
    "__add__": arithmetic_ops.add_op,
    "__sub__": arithmetic_ops.sub_op,
    "__mul__": arithmetic_ops.mul,
    "__truediv__": arithmetic_ops.div_op,
    "__pow__": arithmetic_ops.pow_op,
    "__neg__": arithmetic_ops.neg,
    "__matmul__": matmul.matmul,
}

#: Members that every class has for itself.
_OWN = {"__slots__", "__module__", "__doc__", "__qualname__", "__dict__", "__weakref__"}


def attach() -> None:
    """Make the members of `CLASSES`, and `OPERATORS`, members of `Tensor`."""
    members = {k: v for cls in CLASSES for k, v in vars(cls).items() if k not in _OWN}
    for name, member in (members | OPERATORS).items():
        setattr(Tensor, name, member)

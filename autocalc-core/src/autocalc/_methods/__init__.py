# SPDX-License-Identifier: MIT
"""The operators as methods of `Tensor`: each a line that calls its function.

`ops` and `functional` are made of tensors themselves: `autocalc._binding` names them
when all of that exists.
"""

from __future__ import annotations

from autocalc._methods import (
    aliases,
    answers,
    arithmetic,
    arranging,
    creation,
    elementwise,
    gradients,
    less_common,
    ordering,
    placing,
    pointwise,
    pointwise_writes,
    products,
    reductions,
    shape_writes,
    shapes,
    writes,
)

#: All whose methods call functions that `autocalc._binding` names.
MODULES = (
    arithmetic,
    elementwise,
    ordering,
    pointwise,
    products,
    reductions,
    shapes,
    writes,
    pointwise_writes,
    placing,
    arranging,
    creation,
    gradients,
    answers,
    less_common,
    shape_writes,
)


class TensorMethods(
    arithmetic.Arithmetic,
    elementwise.Elementwise,
    pointwise.Pointwise,
    ordering.Ordering,
    products.Products,
    reductions.Reductions,
    shapes.Shapes,
    writes.Writes,
    pointwise_writes.PointwiseWrites,
    placing.Placing,
    arranging.Arranging,
    creation.Creation,
    gradients.Gradients,
    shape_writes.ShapeWrites,
    less_common.LessCommon,
    answers.Answers,
    aliases.Aliases,
):
    """The methods that compute."""

    __slots__ = ()

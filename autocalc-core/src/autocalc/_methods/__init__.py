# SPDX-License-Identifier: MIT
"""The operators as methods of `Tensor`: each a line that calls its function.

`ops` and `functional` are set when the package is put together, since they are made of
tensors themselves.  The arithmetic of ``a * b`` is bound without the extra call: it
would cost as much as the bookkeeping of a small operator.
"""

from __future__ import annotations

from autocalc._methods import (
    aliases,
    answers,
    arithmetic,
    arranging,
    creation,
    elementwise,
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

_MODULES = (
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
    shape_writes.ShapeWrites,
    less_common.LessCommon,
    answers.Answers,
    aliases.Aliases,
):
    """The methods that compute."""

    __slots__ = ()


def bind() -> None:
    """Name the modules that the methods call, once they exist.

    Then let ``a * b`` call its operator at once.
    """
    from autocalc import (
        _creation,
        _dtypes,
        _functional,
        _inplace,
        _inplace_indices,
        _inplace_shapes,
        _typed,
    )
    from autocalc._ops import division
    from autocalc._ops import elementwise as ops

    for module in _MODULES:
        vars(module).update(
            creation=_creation,
            dtypes=_dtypes,
            functional=_functional,
            inplace=_inplace,
            inplace_indices=_inplace_indices,
            inplace_shapes=_inplace_shapes,
            typed=_typed,
            ops=ops,
            division=division,
        )
    for name in ("add", "sub", "mul", "pow", "truediv", "neg"):
        operator = getattr(ops, "div" if name == "truediv" else name)
        setattr(TensorMethods, f"__{name}__", operator)

# SPDX-License-Identifier: MIT
"""Putting the package together: `Tensor`'s methods learn what functions there are.

The arithmetic of ``a * b`` and ``a @ b`` is bound without the extra call: it would cost
as much as the bookkeeping of a small operator.
"""

from __future__ import annotations

from autocalc import _functional, _methods, autograd
from autocalc._functional import _writing, inspection
from autocalc._ops import (
    _family,
    _inplace,
    _inplace_indices,
    _inplace_shapes,
    creation,
    division,
    typed_tensors,
)
from autocalc._ops import elementwise as ops
from autocalc._tensor import dtypes


def bind() -> None:
    """Name the modules that the methods call, and let ``a * b`` call its operator."""
    for module in _methods.MODULES:
        vars(module).update(
            autograd=autograd,
            creation=creation,
            dtypes=dtypes,
            families=_family,
            functional=_functional,
            inplace=_inplace,
            inplace_indices=_inplace_indices,
            inplace_shapes=_inplace_shapes,
            inspection=inspection,
            typed=typed_tensors,
            writing=_writing,
            ops=ops,
            division=division,
        )
    operators = {
        name: getattr(ops, name) for name in ("add", "sub", "mul", "pow", "neg")
    }
    operators |= {"truediv": ops.div, "matmul": _functional.matmul}
    for name, operator in operators.items():
        setattr(_methods.TensorMethods, f"__{name}__", operator)

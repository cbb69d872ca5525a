# SPDX-License-Identifier: MIT
"""Writes in place of several kernels: clamp_, lerp_ and addcmul_.

Where nothing is recorded, and all are floats of one dtype and shape, the last kernel
writes over the tensor; in any other case the function's result is copied into it.
"""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.selection.arrays import arrays, constant
from autocalc._dispatch.selection.state import current
from autocalc._dispatch.selection.upcast import FLOAT_KINDS, HALVES
from autocalc._ops._operator.arguments import Operand
from autocalc._ops._operator.method import method
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import clamping, lerp
from autocalc._ops.in_place._inplace import apply_
from autocalc._ops.views._writing import check_writable
from autocalc._tensor import Tensor

#: Classes of numbers that take the dtype of a floating-point tensor.
_NUMBERS = frozenset({int, float})


def _plainly(where: str, *tensors: Any) -> bool:
    """Return whether the first may be written over by a kernel that reads them all.

    Raises where it may not be written at all.
    """
    try:
        a = tensors[0]._array
        for x in tensors:
            b = x._array
            if b.dtype is not a.dtype or b.shape != a.shape:
                return False
            if x._edge is not None and current().grad:
                return False
    except AttributeError:
        return False
    several = where != "clamp_" and a.dtype in HALVES  # kernels, each of which rounds
    return (
        a.dtype.kind in FLOAT_KINDS
        and not several
        and not check_writable(where, tensors[0])
    )


@method("clamp_ clip_")
@traced
def clamp_(
    input: Tensor, min: Operand | None = None, max: Operand | None = None
) -> Tensor:
    """Write `clamp` of x into x; return x.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([-2.0, 0.5, 3.0])
    >>> x.clamp_(-1.0, 1.0)
    tensor([-1.0000,  0.5000,  1.0000])
    """
    numbers = min.__class__ in _NUMBERS and max.__class__ in _NUMBERS
    if not (numbers and _plainly("clamp_", input)):
        return apply_(clamping.clamp, "clamp_", input, min, max)
    a = input._array
    arrays.clamp(a, constant(min, a.dtype), constant(max, a.dtype), into=a)
    input._bump()
    return input


@method("lerp_")
@traced(light=True)
def lerp_(input: Tensor, end: Tensor, weight: Operand) -> Tensor:
    """Write `lerp` of x into x; return x.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([0.0, 4.0])
    >>> x.lerp_(ac.tensor([8.0, 8.0]), 0.25)
    tensor([2., 5.])
    """
    number = weight.__class__ in _NUMBERS
    given = (input, end) if number else (input, end, weight)
    if not _plainly("lerp_", *given):
        return apply_(lerp.lerp, "lerp_", input, end, weight)
    a, share = input._array, weight
    share = constant(weight, a.dtype) if number else share._array  # type: ignore[union-attr]  # a tensor
    arrays.add_into(a, arrays.mul(arrays.sub(end._array, a), share))
    input._bump()
    return input


@method("addcmul_")
@traced(light=True)
def addcmul_(
    input: Tensor,
    tensor1: Tensor,
    tensor2: Tensor,
    *,
    value: float = 1,
) -> Tensor:
    """Write `addcmul` of x into x; return x.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([1.0, 2.0])
    >>> x.addcmul_(ac.tensor([3.0, 4.0]), ac.tensor([10.0, 10.0]), value=0.5)
    tensor([16., 22.])
    """
    number = value.__class__ in _NUMBERS
    if not (number and _plainly("addcmul_", input, tensor1, tensor2)):
        return apply_(lerp.addcmul, "addcmul_", input, tensor1, tensor2, value=value)
    a = input._array
    product = arrays.mul(tensor1._array, tensor2._array)
    if value != 1:
        product = arrays.mul(product, constant(value, a.dtype))
    arrays.add_into(a, product)
    input._bump()
    return input

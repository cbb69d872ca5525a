# SPDX-License-Identifier: MIT
"""The memory of tensors, for MPI to read and write.

MPI uses the memory of a contiguous tensor directly.  Tensors with other layouts, or
with dtypes that MPI cannot add, are copied to contiguous memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._dispatch.device.addresses import repeats
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_type
from autocalc._tensor.dtypes import DType, bfloat16, bool_, float16, float32
from autocalc.distributed import _mpi
from autocalc.distributed._reduce_op import BITWISE, ReduceOp
from autocalc.errors import ArgumentError, DTypeError


def check_tensor(where: str, name: str, value: Any) -> Tensor:
    """Return the value; raise if it is not a tensor."""
    return check_type(where, name, value, Tensor, "a tensor")


def check_written(where: str, name: str, value: Any) -> Tensor:
    """Return a tensor to write to; raise if any of its elements share memory."""
    tensor = check_tensor(where, name, value)
    if repeats(tensor._array):
        raise ArgumentError(
            f"{where}: `{name}` of shape {tensor.shape} is expanded or has overlapping "
            "windows: several of its elements share one place in memory. Call clone() "
            "on it first."
        )
    return tensor


def check_op(where: str, op: Any, tensor: Tensor) -> None:
    """Raise unless the operation can combine tensors of this dtype."""
    check_type(where, "op", op, ReduceOp, "a ReduceOp")
    if tensor.dtype is bool_:
        raise DTypeError(
            f"{where}: `tensor` is bool; convert it to uint8, where MAX computes `or` "
            "and MIN computes `and`."
        )
    if op is ReduceOp.AVG and not tensor.is_floating_point():
        raise DTypeError(
            f"{where}: `op` is AVG and `tensor` is {tensor.dtype.name}; the mean needs "
            f"a floating-point dtype. Use SUM, or convert it."
        )
    if op in BITWISE and tensor.is_floating_point():
        raise DTypeError(
            f"{where}: `op` is {op.name}, which combines bits, but `tensor` is "
            f"{tensor.dtype.name}; use an integer dtype."
        )


def summed_in(dtype: DType) -> DType:
    """Return the dtype for sums over ranks: float32 for float16 and bfloat16."""
    return float32 if dtype in (float16, bfloat16) else dtype


def staged(tensor: Tensor, dtype: DType | None = None) -> Tensor:
    """Return a contiguous tensor with these values: the tensor itself if possible."""
    plain = tensor.detach()
    if dtype is not None and dtype is not tensor.dtype:
        plain = plain.to(dtype)
    return plain.contiguous()


def unstage(tensor: Tensor, buffer: Tensor) -> None:
    """Copy the received values from the staging buffer to the tensor."""
    if buffer._array is tensor._array:
        tensor._bump()
    else:
        tensor.detach().copy_(buffer)


def memory(buffer: Tensor) -> Any:
    """Return the elements as a flat array with a dtype that MPI can add."""
    return buffer._array.reshape(-1)


def raw(buffer: Tensor) -> Any:
    """Return the bytes of a contiguous tensor."""
    return memory(buffer).view(np.uint8)


def messages(flat: Any, nbytes: int = _mpi.MESSAGE_BYTES) -> Iterator[Any]:
    """Yield parts of a flat array of at most `nbytes`, by default MPI's limit."""
    step = nbytes // flat.itemsize
    for start in range(0, flat.size, step):
        yield flat[start : start + step]

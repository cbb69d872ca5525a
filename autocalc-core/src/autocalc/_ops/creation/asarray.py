# SPDX-License-Identifier: MIT
"""`asarray`: make a tensor of any object with numbers, sharing memory if possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._ops._operator.declared import declared
from autocalc._ops.creation.from_data import from_dlpack, from_numpy, frombuffer, tensor
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.device import Device
from autocalc._tensor.dlpack import is_lender
from autocalc._tensor.dtypes import DType
from autocalc._tensor.storage import is_exported
from autocalc.errors import ArgumentError, DTypeError


@declared
def asarray(
    obj: Any,
    dtype: DType | None = None,
    *,
    device: str | Device | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = False,
) -> Tensor:
    """Return `obj` as a tensor that shares its memory where possible.

    Parameters
    ----------
    obj
        A tensor, an array, a number or a list of these. It can also be an object that
        shares its memory through DLPack, or the capsule that it makes. The bytes of a
        buffer such as a `bytearray` are read as elements of `dtype`.
    dtype
        The dtype of the result; by default that of `obj`, and the default dtype for a
        buffer of bytes.
    device
        The device of the result; by default the CPU.
    copy
        True always copies; False raises an error if a copy is needed; None copies if
        needed.
    requires_grad
        True to record operations on the result for gradients.

    Raises
    ------
    DTypeError
        If the elements of a buffer have another dtype than `dtype`.
    ArgumentError
        If the number of bytes of a buffer is not a multiple of an element's size, or a
        copy is needed and `copy` is False.

    Examples
    --------
    >>> import autocalc as ac
    >>> memory = bytearray(8)
    >>> ac.asarray(memory, dtype=ac.float32)
    tensor([0., 0.])
    """
    made, shares = _as_it_is(obj, dtype)
    if made is None:
        made = tensor(obj, dtype=dtype, device=device)
    result = made.to(device=device, dtype=dtype)
    shares = shares and result is made
    if copy is False and not shares:
        raise ArgumentError(
            f"asarray: can't alias {_source(obj, made, result)} The object must be "
            "copied here, but copy=False forbids it; do not give `copy`, or give the "
            "dtype and device of the object."
        )
    if copy and shares:
        result = view.clone(result)
    if requires_grad and not (result.requires_grad and result.is_leaf):
        result = result.detach().requires_grad_()
    return result


def _source(obj: Any, made: Tensor, result: Tensor) -> str:
    """Return the words for an object that cannot share its memory."""
    if isinstance(obj, np.generic):
        return "NumPy scalars."
    if isinstance(obj, (list, tuple)):
        return f"arbitrary sequence, here a {type(obj).__name__}."
    kinds = f"with dtype '{made.dtype.name}' into dtype '{result.dtype.name}'."
    return f"a {type(obj).__name__} {kinds}"


def _as_it_is(obj: Any, dtype: DType | None) -> tuple[Tensor | None, bool]:
    """Return `obj` as a tensor, and whether they share memory; None to copy it."""
    if isinstance(obj, Tensor):
        return obj, True
    if is_lender(obj) and not isinstance(obj, (np.ndarray, np.generic)):
        lent = from_dlpack(obj)
        return lent, is_exported(lent)
    if isinstance(obj, np.ndarray):
        try:
            return from_numpy(obj), True
        except ArgumentError:  # for example, another byte order
            return None, False
    return (None, False) if isinstance(obj, np.generic) else _of_buffer(obj, dtype)


def _of_buffer(obj: Any, dtype: DType | None) -> tuple[Tensor | None, bool]:
    """Return a buffer as a tensor, and whether they share memory.

    The tensor is None if `obj` is not a buffer.
    """
    try:
        memory = memoryview(obj)
        held = None if memory.format in ("B", "b", "c") else np.dtype(memory.format)
    except TypeError:  # no buffer, or one of records
        return None, False
    kind = dtypes.get_default_dtype() if held is None else dtypes.of(held)
    if dtype is not None and held is not None and dtypes.as_dtype(dtype) is not kind:
        raise DTypeError(
            f"asarray: the {type(obj).__name__} has elements of {kind.name}, but "
            f"`dtype` is {dtypes.as_dtype(dtype).name}; use ac.tensor to convert them, "
            "or ac.frombuffer to read their bytes as another dtype."
        )
    shares = memory.c_contiguous and not memory.readonly
    source = memory if shares else bytearray(memory.tobytes())
    return frombuffer(source, dtype=kind if dtype is None else dtype), shares

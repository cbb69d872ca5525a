# SPDX-License-Identifier: MIT
"""Switches that programs set before they begin, where there is but one setting."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.plugins.precision import (
    PRECISIONS,
    allow_on_gpus,
    choose_matmul_precision,
    deciding_precision,
    float32_matmul_precision,
)
from autocalc._dispatch.selection.state import recorder
from autocalc._ops.creation.typed_tensors import dtype_named
from autocalc._tensor import dtypes
from autocalc._tensor.device import Device, host, make_on
from autocalc.errors import ArgumentError, CompileError

__all__ = [
    "get_default_device",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "set_default_device",
    "set_default_tensor_type",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
]


def set_default_device(device: str | Device | None) -> None:
    """Choose where tensors are made: on the CPU, or without elements on "meta".

    Parameters
    ----------
    device
        "cpu" or "meta"; None is the CPU.

    Raises
    ------
    ArgumentError
        For any other device.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_default_device("cpu")
    """
    make_on("cpu" if device is None else device)


def get_default_device() -> Device:
    """Return where tensors are made: the CPU, or "meta".

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_default_device()
    device(type='cpu')
    """
    return host()


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype by ``ac.FloatTensor``, ``ac.DoubleTensor`` or their names.

    `set_default_dtype` is what it calls.

    Parameters
    ----------
    t
        A typed tensor or its name: `ac.FloatTensor`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_default_tensor_type(ac.FloatTensor)
    """
    dtypes.set_default_dtype(dtype_named(t))


def set_float32_matmul_precision(precision: str) -> None:
    """Set the precision of float32 matrix products for the whole process.

    What it allows is used where it is faster: on CPUs with AMX (Sapphire Rapids and
    newer) and on GPUs.  Elsewhere, and for small products, nothing changes.

    On AMX "high" takes each number as the sum of two bfloat16, ``a = a1 + a2``, and

    ``a * b = a1 * b1 + a1 * b2 + a2 * b1``

    whose error is at most ``1.2 * 2**-15 * (|A| @ |B|)`` in addition to that of adding
    up in float32; "medium" takes ``a1 * b1`` alone, with 1.35 * 2**-7.  Sums of 256
    products of normal numbers are off by 2**-21 and 2**-12 of that (root mean square),
    by 2**-26 with "highest".  It is for matrix products, `linear` and their gradients,
    and the gradients of `LSTM`'s weights and input.  Kernels are chosen, and compiled
    functions recorded, for each precision apart: to go back gives the bits of before.

    Parameters
    ----------
    precision
        "highest" for the precision of float32; "high" allows two bfloat16 for each
        number, or a GPU's TF32, which reads 10 bits and keeps about 3 digits; "medium"
        allows one bfloat16 as well, about 2 digits.

    Raises
    ------
    ArgumentError
        If `precision` is none of these.
    CompileError
        Inside of a compiled function.

    References
    ----------
    Henry, Tang, Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For
    Higher-Precision Computations", ARITH 2019, section III.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_float32_matmul_precision("high")
    >>> ac.get_float32_matmul_precision()
    'high'
    >>> ac.set_float32_matmul_precision("highest")
    """
    known = next((name for name in PRECISIONS if name == precision), None)
    if known is None:
        raise ArgumentError(
            f"set_float32_matmul_precision: {precision!r} is none of 'highest', "
            f"'high' and 'medium'."
        )
    if recorder() is not None and known != deciding_precision():
        raise CompileError(
            "set_float32_matmul_precision: it is called while ac.compile records, and "
            "a replay would not call it again. Call it outside of the compiled "
            "function."
        )
    choose_matmul_precision(known)


def allow_tf32(allowed: bool) -> None:
    """Allow TF32 on GPUs, and leave the CPU's products as they are; or forbid all."""
    if allowed:
        allow_on_gpus()
    else:
        set_float32_matmul_precision("highest")


def get_float32_matmul_precision() -> str:
    """Return the precision of `set_float32_matmul_precision`; initially "highest".

    "high" as well where `ac.backends.cuda.matmul.allow_tf32` was set, which is about
    GPUs alone.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_float32_matmul_precision()
    'highest'
    """
    return float32_matmul_precision()


def set_num_interop_threads(num: int) -> None:
    """Do nothing: operators run one after the other.

    Parameters
    ----------
    num
        Has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_num_interop_threads(1)
    """


def get_num_interop_threads() -> int:
    """Return 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_num_interop_threads()
    1
    """
    return 1

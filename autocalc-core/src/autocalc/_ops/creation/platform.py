# SPDX-License-Identifier: MIT
"""Switches that programs set when they start; here each has only one setting."""

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
    """Set the default device of new tensors: the CPU, or "meta" without elements.

    A tensor on "meta" has a shape and a dtype, but no elements.

    Parameters
    ----------
    device
        "cpu" or "meta"; None means the CPU.

    Raises
    ------
    ArgumentError
        If `device` is not "cpu", "meta" or None.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_default_device("cpu")
    """
    make_on("cpu" if device is None else device)


def get_default_device() -> Device:
    """Return the default device of new tensors: the CPU, or "meta".

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_default_device()
    device(type='cpu')
    """
    return host()


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype from a typed tensor class, such as `ac.FloatTensor`.

    It calls `set_default_dtype`.

    Parameters
    ----------
    t
        `ac.FloatTensor`, `ac.DoubleTensor` or one of their names, such as
        "FloatTensor".

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_default_tensor_type(ac.FloatTensor)
    """
    dtypes.set_default_dtype(dtype_named(t))


def set_float32_matmul_precision(precision: str) -> None:
    """Set the precision of float32 matrix products for the whole process.

    A lower precision is used only where it is faster: on CPUs with AMX
    (Sapphire Rapids and newer) and on GPUs.  Elsewhere, and for small products, nothing
    changes.

    On AMX, "high" represents each number as the sum of two bfloat16 numbers,
    ``a = a1 + a2``, and computes

    ``a * b = a1 * b1 + a1 * b2 + a2 * b1``

    The error of a product of matrices A and B is at most
    ``1.2 * 2**-15 * (|A| @ |B|)``, in addition to the error of the sum in float32.
    "medium" computes only ``a1 * b1``; its error is at most
    ``1.35 * 2**-7 * (|A| @ |B|)``, again in addition to the error of the sum.  For sums
    of 256 products of normally distributed numbers, the root mean square of the error
    relative to ``|A| @ |B|`` is 2**-26 with "highest", 2**-21 with "high", and 2**-12
    with "medium".

    The setting affects matrix products, `linear` and their gradients, and the gradients
    of `LSTM`'s weights and input.  Kernels are chosen, and compiled functions are
    recorded, separately for each precision, so returning to a precision gives the same
    bits as before.

    Parameters
    ----------
    precision
        "highest" computes in float32.  "high" allows two bfloat16 numbers for each
        number, or TF32 on a GPU, which reads 10 bits of each number (about 3 decimal
        digits).  "medium" also allows one bfloat16 number for each number (about 2
        decimal digits).

    Raises
    ------
    ArgumentError
        If `precision` is not "highest", "high" or "medium".
    CompileError
        If it is called inside a compiled function.

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
            f"set_float32_matmul_precision: {precision!r} is not 'highest', 'high' or "
            "'medium'."
        )
    if recorder() is not None and known != deciding_precision():
        raise CompileError(
            "set_float32_matmul_precision: it was called while ac.compile records a "
            "function, and a replay would not call it again. Call it outside of the "
            "compiled function."
        )
    choose_matmul_precision(known)


def allow_tf32(allowed: bool) -> None:
    """Allow TF32 on GPUs only, or forbid it everywhere.

    Allowing TF32 does not change the matrix products of the CPU.
    """
    if allowed:
        allow_on_gpus()
    else:
        set_float32_matmul_precision("highest")


def get_float32_matmul_precision() -> str:
    """Return the precision set by `set_float32_matmul_precision`.

    It is "highest" initially, and "high" if `ac.backends.cuda.matmul.allow_tf32`, which
    affects only GPUs, was set to True.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_float32_matmul_precision()
    'highest'
    """
    return float32_matmul_precision()


def set_num_interop_threads(num: int) -> None:
    """Do nothing: AutoCalc runs operators one after the other.

    Parameters
    ----------
    num
        A number of threads; it has no effect.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_num_interop_threads(1)
    """


def get_num_interop_threads() -> int:
    """Return 1: AutoCalc runs operators one after the other.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_num_interop_threads()
    1
    """
    return 1

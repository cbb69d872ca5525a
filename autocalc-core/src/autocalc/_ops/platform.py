# SPDX-License-Identifier: MIT
"""Switches that programs set before they begin, where there is but one setting."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch._precision import (
    choose_matmul_precision,
    float32_matmul_precision,
)
from autocalc._ops.typed_tensors import dtype_named
from autocalc._tensor import dtypes
from autocalc._tensor.device import Device, check_cpu, cpu
from autocalc.errors import ArgumentError

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
    """Check that `device` is the CPU, where all tensors are made.

    Parameters
    ----------
    device
        "cpu", or None for it.

    Raises
    ------
    ArgumentError
        For any other device.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_default_device("cpu")
    """
    check_cpu(device)


def get_default_device() -> Device:
    """Return the CPU.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.get_default_device()
    device(type='cpu')
    """
    return cpu


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
    """Say how precisely products of float32 are taken where a device has a choice.

    CPUs have none: their products are always in full precision.

    Parameters
    ----------
    precision
        "highest" for full precision; "high" and "medium" allow a GPU's TF32, which
        reads 10 bits of each number and keeps about 3 digits.

    Raises
    ------
    ArgumentError
        If `precision` is none of these.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.set_float32_matmul_precision("highest")
    """
    if precision not in ("highest", "high", "medium"):
        message = (
            f"set_float32_matmul_precision: {precision!r} is none of 'highest', "
            f"'high' and 'medium'."
        )
        raise ArgumentError(message)
    choose_matmul_precision(precision)


def get_float32_matmul_precision() -> str:
    """Return what `set_float32_matmul_precision` was given, at first "highest".

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

# SPDX-License-Identifier: MIT
"""The tensors of a safetensors file: the names of their dtypes, and their values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autocalc._io.tree import Array
from autocalc.errors import CheckpointError

NAMES = {
    "BF16": "bfloat16",
    "BOOL": "bool",
    "C64": "complex64",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "I8": "int8",
    "U8": "uint8",
}


def read_tensor(
    place: str, tensor: str, dtype: str, make: Callable[[], Array]
) -> Array:
    """Return the array that `make` reads; raise if it cannot be a tensor."""
    check_dtype(place, tensor, dtype)
    try:
        array = make()
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise CheckpointError(
            f"load: tensor {tensor!r} of {place} cannot be read as an array: {error}. "
            f"The file is damaged, or NumPy has no arrays of this shape."
        ) from error
    if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
        raise CheckpointError(
            f"load: tensor {tensor!r} of {place} has booleans that are not 0 or 1. "
            f"The file is damaged; use an earlier one."
        )
    return array


def check_dtype(place: str, tensor: str, dtype: str) -> None:
    """Raise unless tensors can have this dtype."""
    if dtype not in NAMES:
        raise CheckpointError(
            f"load: tensor {tensor!r} of {place} is {dtype}; AutoCalc has "
            f"{', '.join(NAMES)}. Convert it in the program that "
            f"wrote it."
        )

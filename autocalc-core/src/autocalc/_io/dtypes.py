# SPDX-License-Identifier: MIT
"""How safetensors names the dtypes that tensors have."""

from __future__ import annotations

from autocalc.errors import CheckpointError

NAMES = {
    "BF16": "bfloat16",
    "BOOL": "bool",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "I8": "int8",
    "U8": "uint8",
}


def check_dtype(place: str, tensor: str, dtype: str) -> None:
    """Raise unless tensors can be of this dtype."""
    if dtype not in NAMES:
        message = (
            f"load: tensor {tensor!r} of {place} is {dtype}; AutoCalc has "
            f"{', '.join(NAMES)}. Convert it in the program that "
            f"wrote it."
        )
        raise CheckpointError(message)

# SPDX-License-Identifier: MIT
"""ONNX's operators, by family: importing this package fills `READERS`."""

from autocalc.onnx._reading import (
    activations,
    arithmetic,
    convolution,
    indexing,
    matmul,
    norms,
    pooling,
    recurrent,
    reductions,
    resizing,
    shapes,
)

__all__ = [
    "activations",
    "arithmetic",
    "convolution",
    "indexing",
    "matmul",
    "norms",
    "pooling",
    "recurrent",
    "reductions",
    "resizing",
    "shapes",
]

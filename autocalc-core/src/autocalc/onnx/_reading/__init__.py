# SPDX-License-Identifier: MIT
"""ONNX's operators, by family: importing this package fills `READERS`."""

from autocalc.onnx._reading import (
    activations,
    arithmetic,
    attention,
    control,
    convolution,
    images,
    indexing,
    matmul,
    norms,
    pooling,
    quantized,
    random,
    recurrent,
    reductions,
    resizing,
    sequences,
    shapes,
    signals,
)

__all__ = [
    "activations",
    "arithmetic",
    "attention",
    "control",
    "convolution",
    "images",
    "indexing",
    "matmul",
    "norms",
    "pooling",
    "quantized",
    "random",
    "recurrent",
    "reductions",
    "resizing",
    "sequences",
    "shapes",
    "signals",
]

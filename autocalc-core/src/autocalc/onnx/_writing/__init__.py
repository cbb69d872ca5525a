# SPDX-License-Identifier: MIT
"""Nodes of kernels, by family: importing this package fills `WRITERS`."""

from autocalc.onnx._writing import (
    activations,
    arithmetic,
    attention,
    convolution,
    indexing,
    matmul,
    norms,
    pooling,
    recurrent,
    reductions,
)

__all__ = [
    "activations",
    "arithmetic",
    "attention",
    "convolution",
    "indexing",
    "matmul",
    "norms",
    "pooling",
    "recurrent",
    "reductions",
]

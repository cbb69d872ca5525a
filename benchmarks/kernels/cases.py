# SPDX-License-Identifier: MIT
"""The rows of the table: the calls by which AutoCalc times its kernels anywhere."""

from __future__ import annotations

from autocalc._kernels.benchmarks import ROWS, BenchmarkRow, arguments

__all__ = ["PYTORCH_NAMES", "ROWS", "BenchmarkRow", "arguments"]

#: Kernels that are functions of the same name and arguments in PyTorch and AutoCalc.
PYTORCH_NAMES = (
    "add",
    "sub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "pow",
    "neg",
    "abs",
    "exp",
    "log",
    "tanh",
    "sin",
    "cos",
    "erf",
    "sqrt",
    "relu",
    "sigmoid",
    "where",
)

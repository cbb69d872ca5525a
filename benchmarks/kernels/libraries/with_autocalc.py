# SPDX-License-Identifier: MIT
"""AutoCalc: the public function where there is one, else a call of the kernel table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from benchmarks.kernels.cases import PYTORCH_NAMES, BenchmarkRow
from benchmarks.worker import Run

import autocalc as ac
from autocalc._dispatch.selection.arrays import arrays

F = ac.nn.functional


def start(threads: int) -> str:
    """Set the threads; return the version."""
    ac.set_num_threads(threads)
    return ac.__version__


def convert(array: np.ndarray) -> np.ndarray:
    """Return a copy in memory of the kernel set's own allocator; strides stay."""
    return arrays.copy(array) if array.flags.c_contiguous else array


#: Functions of tensors; they take what the kernels of the same names take.
PUBLIC: dict[str, Callable[..., object]] = {
    **{name: getattr(ac, name) for name in PYTORCH_NAMES},
    "gemm": lambda a, b, bias, *_: ac.matmul(a, b),
    "linear": lambda x, weight, bias, _: F.linear(x, weight, bias),
    "sum": ac.sum,
    "mean": ac.mean,
    "logsumexp": ac.logsumexp,
    "max": ac.amax,
    "softmax": ac.softmax,
    "log_softmax": ac.log_softmax,
}


def bind(row: BenchmarkRow, operands: list[Any]) -> Run:
    """Return the call of a row."""
    function = PUBLIC.get(row.kernel)
    if function is None:
        kernel = getattr(arrays, row.kernel)
        return partial(kernel, *operands, *row.attributes, **row.keywords)
    tensors = [None if x is None else ac.from_numpy(x) for x in operands]
    return partial(function, *tensors, *row.attributes)

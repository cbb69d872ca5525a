# SPDX-License-Identifier: MIT
"""What a worker needs: the peer's functions over the operands of a row.

A peer is a module `with_<peer>` in `libraries`: `start(threads)` returns its version,
`convert(array)` its own form of a NumPy array, and `FUNCTIONS` has a function for each
kernel that the peer has, which takes the kernel's inputs and attributes.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import numpy as np

from benchmarks.kernels.cases import ROWS, arguments
from benchmarks.worker import Run


def start(peer: str, threads: int) -> str:
    """Make the peer ready; return its name and version."""
    return f"{peer} {_module(peer).start(threads)}"


def prepare(peer: str, case: str) -> Run | None:
    """Return what to time."""
    module, row = _module(peer), ROWS[case]
    if peer == "autocalc":
        operands = [converted(module.convert, x) for x in arguments(row)]
        run: Run = module.bind(row, operands)
        return run
    function = module.FUNCTIONS.get(row.kernel)
    if function is None:
        return None
    operands = [converted(module.convert, x) for x in arguments(row)]
    return partial(function, *operands, *row.attributes)


def converted(convert: Any, operand: Any) -> Any:
    """Convert an array, each array of a list, a number as a scalar, or nothing."""
    if operand is None:
        return None
    if isinstance(operand, list):
        return [convert(array) for array in operand]
    return convert(np.asarray(operand))


def _module(peer: str) -> Any:
    return importlib.import_module(f"benchmarks.kernels.libraries.with_{peer}")

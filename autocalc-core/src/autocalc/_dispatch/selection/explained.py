# SPDX-License-Identifier: MIT
"""Kernels whose reference raises the better error for invalid values."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.adapter import adapt
from autocalc._kernels.kernel_set import Function
from autocalc._kernels.spec import KernelSpec
from autocalc.errors import KernelDataError


def explained(spec: KernelSpec, function: Function) -> Function:
    """Return a set's kernel as it is called: what it refuses goes to the reference.

    The C form alone (`KernelImpl.native`) could only tell an operand and an element.
    """
    if not spec.says_why:
        return function
    reference = adapt(spec)

    def run(*operands: Any) -> None:
        try:
            function(*operands)
        except KernelDataError:
            refused = True
        else:
            refused = False
        if refused:  # outside of the handler: its error is no part of this one
            reference(*operands)

    return run

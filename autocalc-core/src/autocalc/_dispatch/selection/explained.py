# SPDX-License-Identifier: MIT
"""Kernels whose reference raises a better error for invalid values."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.adapter import adapt
from autocalc._kernels.kernel_set import Function
from autocalc._kernels.spec import KernelSpec
from autocalc.errors import KernelDataError


def explained(spec: KernelSpec, function: Function) -> Function:
    """Wrap a set's kernel so that the reference explains what the kernel refuses.

    The C form (`KernelImpl.native`) alone could only report an operand and an element.
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
        if refused:  # outside of the handler, so that the errors are not chained
            reference(*operands)

    return run

# SPDX-License-Identifier: MIT
"""Contiguous outputs for kernel sets that accept no others.

::

    b[:, ::2].relu_()    runs as    relu(out, a) on a new `out`, which is copied to b

Such a set is made with ``KernelSet(strided_outputs=False)``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autocalc._kernels.kernel_set import KernelImpl
from autocalc._kernels.spec import KernelSpec


def in_temporaries(spec: KernelSpec, impl: KernelImpl) -> KernelImpl:
    """Return a kernel that writes temporary memory where an output has gaps.

    Compiled programs call it through Python, because its C form would get the outputs
    themselves.
    """
    n, function = len(spec.outputs), impl.function

    def run(*operands: Any) -> None:
        outs = operands[:n]
        made = [_contiguous(out) for out in outs]
        function(*made, *operands[n:])
        for out, one in zip(outs, made, strict=True):
            _copy_back(out, one)

    return replace(impl, function=run, native=None)


def _contiguous(out: Any) -> Any:
    """Return an output, or a copy of it if it is not contiguous.

    The content is copied because a kernel may add to it.
    """
    if isinstance(out, (list, tuple)):
        return [_contiguous(one) for one in out]
    return out if out is None or out.flags.c_contiguous else out.copy(order="C")


def _copy_back(out: Any, made: Any) -> None:
    if isinstance(out, (list, tuple)):
        for one, temporary in zip(out, made, strict=True):
            _copy_back(one, temporary)
    elif made is not out:
        out[...] = made

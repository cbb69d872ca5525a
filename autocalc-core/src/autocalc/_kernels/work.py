# SPDX-License-Identifier: MIT
"""The least work of a call: `work(*input_metas, *attributes)`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autocalc._kernels.spec import Meta, Work


def size(meta: Meta) -> int:
    """Return the number of elements of a meta."""
    return math.prod(meta.shape)


def nbytes(*operands: Any) -> float:
    """Return the bytes of operands: metas, lists of metas, or None."""
    total = 0
    for operand in operands:
        if isinstance(operand, Meta):
            total += size(operand) * operand.dtype.itemsize
        elif isinstance(operand, (tuple, list)):
            total += sum(size(meta) * meta.dtype.itemsize for meta in operand)
    return float(total)


def per_element(rule: Callable[..., Any], flops: float) -> Callable[..., Work]:
    """Count `flops` for each element of the largest operand."""

    def work(*args: Any, **keywords: Any) -> Work:
        outputs = rule(*args, **keywords)
        outputs = (outputs,) if isinstance(outputs, Meta) else outputs
        metas = [x for x in (*outputs, *args) if isinstance(x, Meta)]
        lists = [x for x in (*outputs, *args) if is_list_of_metas(x)]
        elements = max(
            max((size(meta) for meta in metas), default=0),
            max((sum(map(size, metas)) for metas in lists), default=0),
        )
        return Work(flops * elements, nbytes(*metas, *lists))

    return work


def is_list_of_metas(operand: object) -> bool:
    """Return whether this is a list of metas and not a tuple of integers."""
    return (
        isinstance(operand, tuple)
        and not isinstance(operand, Meta)
        and bool(operand)
        and all(isinstance(one, Meta) for one in operand)
    )

# SPDX-License-Identifier: MIT
"""The bits of integers, and logic of booleans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autocalc._kernels._legacy import _budgets as budgets
from autocalc._kernels._legacy import _samples as samples
from autocalc._kernels._legacy._elementwise import elementwise
from autocalc._kernels.rules import DTYPES, FLOATS, NUMBERS
from autocalc._kernels.samples import Make
from autocalc._kernels.spec import Array, DType, KernelSpec, Sample

INTEGERS = tuple(dtype for dtype in NUMBERS if dtype not in FLOATS)
BITS = tuple(dtype for dtype in DTYPES if dtype not in FLOATS)

# ---- references ----------------------------------------------------------------------


def _of_two(function: str) -> Callable[..., Array]:
    def reference(xp: Any, a: Array, b: Array) -> Array:
        return getattr(xp, function)(a, b)

    return reference


def bitwise_not(xp: Any, a: Array) -> Array:
    return xp.bitwise_not(a)


# ---- samples -------------------------------------------------------------------------


def _shifted(make: Make) -> Iterator[Sample]:
    """Sample shifts by less than the width: beyond it languages disagree."""
    width = 8 * make.dtype.itemsize
    for sample in samples.elementwise(2)(make):
        a, b = sample.inputs
        counts = np.abs(b.astype(np.int64)) % width
        yield Sample(sample.label, (a, counts.astype(make.dtype)))


# ---- specs ---------------------------------------------------------------------------


def _bitwise(
    name: str, doc: str, dtypes: tuple[DType, ...] = BITS, **more: Any
) -> KernelSpec:
    function = name.replace("bitwise_left", "left").replace("bitwise_right", "right")
    return elementwise(
        name,
        "a b",
        doc,
        _of_two(function),
        dtypes=dtypes,
        budget=budgets.EXACT,
        standalone=True,
        **more,
    )


SPECS = (
    _bitwise("bitwise_and", "The bits that are set in both."),
    _bitwise("bitwise_or", "The bits that are set in either."),
    _bitwise("bitwise_xor", "The bits that are set in one of the two."),
    elementwise(
        "bitwise_not",
        "a",
        "The other bits; of booleans, the other value.",
        bitwise_not,
        dtypes=BITS,
        budget=budgets.EXACT,
        standalone=True,
    ),
    _bitwise(
        "bitwise_left_shift",
        "a * 2 ** b, less the bits that leave at the top; b is below the width.",
        INTEGERS,
        sample=_shifted,
    ),
    _bitwise(
        "bitwise_right_shift",
        "floor(a / 2 ** b); b is below the width.",
        INTEGERS,
        sample=_shifted,
    ),
)

# SPDX-License-Identifier: MIT
"""The conjugates of complex numbers, and the numbers with given parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from autocalc._kernels.budgets import EXACT
from autocalc._kernels.cases import Case, floats, join
from autocalc._kernels.declare import elementwise, standalone
from autocalc._kernels.rules import FLOAT32, FLOAT64, float_dtype, same_shape
from autocalc._kernels.samples import SHAPES, Make
from autocalc._kernels.spec import Array, DType, Meta, Sample


@elementwise(
    "The conjugate of a: a itself if it is real.",
    kind="standalone",
    budget=EXACT,
    complex=True,
)
def conj(xp: Any, a: Array) -> Array:
    return xp.conjugate(a)


complex_ = standalone(
    "complex", "out ; re im", "The complex numbers with these real and imaginary parts."
)

_COMPLEX: dict[DType, DType] = {
    FLOAT32: np.dtype(np.complex64),
    FLOAT64: np.dtype(np.complex128),
}


@complex_.rule
def _(re: Meta, im: Meta) -> Meta:
    dtype = _COMPLEX[float_dtype("complex", re, im)]
    return Meta(same_shape("complex", re=re, im=im), dtype)


@complex_.reference
def _(xp: Any, re: Array, im: Array) -> Array:
    out = xp.empty(re.shape, xp.result_type(re.dtype, xp.complex64))
    out.real, out.imag = re, im
    return out


complex_.budget(EXACT)


@complex_.samples
def _(make: Make) -> Iterator[Sample]:
    for shape in SHAPES:
        yield Sample(f"{shape}", (make.normal(*shape), make.normal(*shape)))


complex_.work(flops_per_element=0)
complex_.benchmarks(Case("1 Mi", join(floats(1 << 20), floats(1 << 20))))

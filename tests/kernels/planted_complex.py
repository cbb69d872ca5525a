# SPDX-License-Identifier: MIT
"""Faults of kernels with complex results; importing it adds them to the others."""

from __future__ import annotations

import numpy as np
from tests.kernels.planted import fault


@fault("fft", "values", r"fft on '\(8,\) over 0, True': `out.imag`\[1\] is .* allowed")
def the_other_direction(right):
    return lambda out, a, axes, forward, scale: right(out, a, axes, not forward, scale)


@fault("fft", "specials", "the kernel lost a NaN")
def nan_that_becomes_0_in_both_parts(right):
    def fft(out, *rest):
        right(out, *rest)
        np.nan_to_num(out, copy=False)

    return fft


@fault(
    "eig", "values", r"eig on '\(3, 3\)': `w.imag`\[[01]\] is .* allowed .*cond\(v\)"
)
def eigenvalues_without_imaginary_parts(right):
    def eig(w, v, a):
        right(w, v, a)
        w.imag = 0

    return eig

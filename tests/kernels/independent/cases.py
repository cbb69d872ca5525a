# SPDX-License-Identifier: MIT
"""What composites should answer, by other algorithms than their formulas.

Reference and decomposition of these composites are one formula, so that neither can
prove the other.  Here forward passes are written naively in NumPy or number by number,
and gradients are differences of the forward pass: no derivative is worked out.
"""

from __future__ import annotations

from tests.kernels.independent import (
    attention,
    elementwise,
    images,
    norms,
    optimizers,
    random_numbers,
    recurrent,
)

#: Kernel -> a function that yields its calls.
CASES = {
    **attention.CASES,
    **elementwise.CASES,
    **images.CASES,
    **norms.CASES,
    **optimizers.CASES,
    **random_numbers.CASES,
    **recurrent.CASES,
}

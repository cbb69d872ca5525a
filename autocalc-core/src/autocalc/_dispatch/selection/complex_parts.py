# SPDX-License-Identifier: MIT
"""Views of arrays as elements of other dtypes, such as parts of complex numbers."""

from __future__ import annotations

from collections.abc import Callable

from autocalc._dispatch.device.device import host_dtype
from autocalc._dispatch.selection.complex_calls import COMPLEX_OF, REAL_OF
from autocalc._kernels.spec import Array, DType


class ComplexParts:
    """The functions of `arrays` that see the same bytes as other elements."""

    copy: Callable[..., Array]

    def real_part(self, a: Array) -> Array:
        """Return a view of the real parts of complex numbers."""
        return self.as_pairs(a)[..., 0]

    def imaginary_part(self, a: Array) -> Array:
        """Return a view of the imaginary parts of complex numbers."""
        return self.as_pairs(a)[..., 1]

    @staticmethod
    def as_pairs(a: Array) -> Array:
        """Return complex numbers [...] as a view of real numbers [..., 2]."""
        return a[..., None].view(REAL_OF[host_dtype(a.dtype)])

    def as_complex(self, a: Array) -> Array:
        """Return real numbers [..., 2] as complex numbers [...], a view if possible."""
        dtype = COMPLEX_OF[host_dtype(a.dtype)]
        steps = [
            s % dtype.itemsize for s, n in zip(a.strides, a.shape, strict=True) if n > 1
        ]
        if steps[-1:] != [a.itemsize] or any(steps[:-1]):
            a = self.copy(a)
        return a.view(dtype)[..., 0]

    @staticmethod
    def reinterpret(a: Array, dtype: DType) -> Array:
        """Return a view that interprets the same bytes as elements of `dtype`."""
        return a.view(dtype)  # the view of a device's array is on the same device

# SPDX-License-Identifier: MIT
"""`finfo` and `iinfo`: the limits of dtypes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from autocalc._tensor import dtypes
from autocalc._tensor.dtypes import DType
from autocalc.errors import DTypeError

__all__ = ["finfo", "iinfo"]


_COMPLEX = (dtypes.complex64, dtypes.complex128)


class finfo:
    """The numerical limits of a floating-point dtype, by default of the default dtype.

    Attributes
    ----------
    bits, eps, max, min, tiny, smallest_normal, resolution
        The values of `numpy.finfo`, as Python numbers.
    dtype
        The name of the dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.finfo(ac.float32).eps == 2.0**-23
    True
    """

    def __init__(self, dtype: DType | None = None) -> None:
        kind = dtypes.as_dtype(dtype or dtypes.get_default_dtype())
        kind = kind.to_real() if kind in _COMPLEX else kind
        if kind.category != 2:
            message = f"finfo: {kind.name} is not a floating-point dtype; use iinfo."
            raise DTypeError(message)
        found: Any = ml_dtypes.finfo(dtypes.limits_of(kind))  # type: ignore[no-untyped-call]
        self.dtype = kind.name
        self.bits = int(found.bits)
        self.eps = float(found.eps)
        self.max = float(found.max)
        self.min = float(found.min)
        self.tiny = self.smallest_normal = float(found.tiny)
        self.resolution = float(found.resolution)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, "
            f"max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer dtype: `bits`, `min` and `max`; `dtype` is its name.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.iinfo(ac.int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    def __init__(self, dtype: DType) -> None:
        kind = dtypes.as_dtype(dtype)
        if kind.category != 1:
            raise DTypeError(f"iinfo: {kind.name} is not an integer dtype.")
        found = np.iinfo(dtypes.limits_of(kind))
        self.dtype = kind.name
        self.bits = int(found.bits)
        self.min, self.max = int(found.min), int(found.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

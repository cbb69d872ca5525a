# SPDX-License-Identifier: MIT
"""PyTorch's dtypes that no kernel has: values that can be compared and have limits.

Programs hold them in tables, such as the dtypes of a file format.  Making a tensor of
such a dtype is an error.
"""

from __future__ import annotations

from typing import Any, NoReturn

import ml_dtypes
import numpy as np

from autocalc._tensor.dtypes import ALL, COMPLEX, DType
from autocalc.errors import DTypeError


class AbsentDType(DType):
    """A dtype that no tensor has."""

    __slots__ = ("limits",)

    def __init__(self, name: str, limits: Any) -> None:
        self.name = name
        #: NumPy's dtype with the limits; for a complex dtype, the dtype of its parts.
        self.limits = np.dtype(limits)
        self.itemsize = self.limits.itemsize * (2 if self.is_complex else 1)
        self.is_floating_point = name.startswith("float")
        self.category = 2 if self.is_floating_point or self.is_complex else 1

    @property
    def is_complex(self) -> bool:
        """Whether numbers of this dtype have an imaginary part."""
        return self.name.startswith("complex")

    @property
    def is_signed(self) -> bool:
        """Whether the dtype has negative values."""
        return not self.name.startswith(("u", "quint"))

    @property
    def numpy(self) -> NoReturn:  # type: ignore[override]  # which is why it is absent
        raise DTypeError(
            f"dtype {self.name} is not supported: no kernel computes with it. AutoCalc "
            f"has {', '.join(dtype.name for dtype in ALL + COMPLEX)}."
        )

    def __reduce__(self) -> Any:
        return absent_dtype, (self.name,)


_MADE: dict[str, AbsentDType] = {}
_OTHER_NAMES = {"chalf": "complex32"}
_LIMITS: dict[str, Any] = {
    "complex32": np.float16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8_e8m0fnu": getattr(ml_dtypes, "float8_e8m0fnu", np.uint8),
    "float4_e2m1fn_x2": np.uint8,
    "qint8": np.int8,
    "quint8": np.uint8,
    "qint32": np.int32,
    "quint4x2": np.uint8,
    "quint2x4": np.uint8,
    **{f"{sign}int{bits}": np.uint8 for sign in ("", "u") for bits in range(1, 8)},
}


def absent_dtype(name: str) -> AbsentDType | None:
    """Return PyTorch's dtype with a name that AutoCalc does not have, or None."""
    name = _OTHER_NAMES.get(name, name)
    if name not in _LIMITS:
        return None
    if name not in _MADE:
        _MADE[name] = AbsentDType(name, _LIMITS[name])
    return _MADE[name]

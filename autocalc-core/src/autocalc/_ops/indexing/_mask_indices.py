# SPDX-License-Identifier: MIT
"""The positions at which a mask is true."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import dtype_near
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.state import current, recordings, refuse_reading
from autocalc._kernels.rules import INT64
from autocalc._kernels.table import TABLE

_general = KernelCall(TABLE["true_places"])
_INDEX = _general.index


def true_places(mask: Any) -> Any:
    """Return an array of the row-major positions at which a boolean array is true."""
    if recordings:
        refuse_reading("a shape that depends on values")
    line = mask if mask.ndim == 1 else arrays.reshape(mask, (mask.size,))
    return first_places(line, int(arrays.sum(line, (0,), False)))


def first_places(mask: Any, count: int) -> Any:
    """Return the first `count` places where a vector is true.

    If there are fewer such places, its size fills the rest.

    The choice of the kernel depends only on dtypes, which are always the same here.  So
    it is cached under the dtype of the mask, which takes half of the time of a general
    call.
    """
    selection = current().selection
    places = selection.empty((count,), dtype_near(mask, INT64))
    kernel = selection.tables[_INDEX].get(mask.dtype)
    if kernel is None:
        kernel = _general.decided(mask, into=places)[0]
        selection.remember(_INDEX, mask.dtype, kernel)
    kernel(places, mask)
    return places

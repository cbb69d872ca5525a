# SPDX-License-Identifier: MIT
"""A device for tests: its memory is the host's, and nothing in core may know that.

Kernels are the references, run by the device's namespace.  Arrays that reach NumPy, and
results that are made on the CPU instead, are errors as they would be on a GPU.
"""

from __future__ import annotations

import numpy as np
from tests.kernel_table import quietly, xp

from autocalc.plugin import KernelSet


class MirrorLibrary:
    """Arrays of NumPy as those of a device, with counts of what is copied."""

    xp = xp

    def __init__(self):
        self.uploads = self.downloads = self.waits = 0
        self.pinned = []

    def count(self):
        return 1

    def empty(self, shape, dtype):
        out = np.empty(shape, dtype)
        out.view(np.uint8).fill(0xFF) if out.ndim else None  # NaN, -1: undefined
        return out

    def from_host(self, array):
        self.uploads += 1
        return np.array(array, order="C")

    def to_host(self, array):
        self.downloads += 1
        return np.array(array, order="C")

    def strided(self, array, shape, strides, offset):
        first = array.__array_interface__["data"][0]
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        start = first - owner.__array_interface__["data"][0] + offset
        return np.ndarray(shape, array.dtype, owner, start, strides)

    def address(self, array):
        return array.__array_interface__["data"][0]

    def may_share_memory(self, a, b):
        return np.may_share_memory(a, b)

    def pin(self, array):
        self.pinned.append(np.array(array))
        return self.pinned[-1]

    def is_pinned(self, array):
        return any(array is one for one in self.pinned)

    def synchronize(self):
        self.waits += 1

    def stats(self):
        return {"in_use": 0, "peak": 0, "cached": 0}

    def trim(self):
        pass


LIBRARY = MirrorLibrary()


def _load():
    return {"add": _add}


def _add(out, a, b):
    """One kernel of the device's own; all others are references."""
    quietly(np.add, a, b, out)


MIRROR = KernelSet(
    "mirror",
    family="mirror",
    device="mirror",
    load=_load,
    device_library=lambda: LIBRARY,
    decomposes=False,
)

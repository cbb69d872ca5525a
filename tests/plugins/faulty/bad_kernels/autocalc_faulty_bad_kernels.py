# SPDX-License-Identifier: MIT
"""A kernel package whose kernels hang, crash and leak.

Each set has one kernel, which is right on everything but arrays of three elements.
"""

import ctypes
import os

import numpy as np

from autocalc.plugin import KERNEL_API_VERSION, KernelSet, hookimpl


def hang():
    """Wait in C with the interpreter's lock: no signal handler of Python's runs."""
    ctypes.PyDLL(None).pause()


def crash():
    """Read what does not exist."""
    ctypes.string_at(0)


def load_with(fault):
    """Return the `load` of a set with this fault."""

    def neg(out, a):
        np.negative(a, out=out)
        if a.size == 3:
            fault()

    return lambda: {"neg": neg}


def load_with_fast_math():
    """Do what a library does that was linked with -ffast-math."""
    library, state = ctypes.CDLL(None), (ctypes.c_uint32 * 64)()
    library.fegetenv(state)
    state[7] |= 0x8040
    library.fesetenv(state)
    return load_with(lambda: None)()


LOADS = {
    "hangs": load_with(hang),
    "crashes": load_with(crash),
    "aborts": load_with(os.abort),
    "fast-math": load_with_fast_math,
}


@hookimpl
def autocalc_kernel_sets():
    return [
        KernelSet(name, family=name, api=KERNEL_API_VERSION, rank=1, load=load)
        for name, load in LOADS.items()
    ]

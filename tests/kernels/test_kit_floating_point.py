# SPDX-License-Identifier: MIT
"""The conformance kit tells what a kernel does to the floating-point state."""

from __future__ import annotations

import ctypes
import os
import platform

import numpy as np
import pytest
from tests.kernel_table import TABLE, load
from tests.oracle import floating_point

from autocalc.plugin import KernelImpl, KernelSet
from autocalc.testing.conformance import CHECKS, Subject

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(
        os.name != "posix", reason="the state is set by libm's functions"
    ),
]

REFERENCE = load()
F4 = np.dtype("f4")
ARM = platform.machine() in {"aarch64", "arm64"}


def round_upward():
    ctypes.CDLL(None).fesetround(0x400000 if ARM else 0x800)


def state_bits(set_bits):
    """Return a function that sets bits of MXCSR."""

    def change():
        library, state = ctypes.CDLL(None), (ctypes.c_uint32 * 64)()
        library.fegetenv(state)
        state[7] |= set_bits
        library.fesetenv(state)

    return change


def trap():
    ctypes.CDLL(None).feenableexcept(4)  # divisions by zero


intel = pytest.mark.skipif(platform.machine() != "x86_64", reason="bits of MXCSR")
glibc = pytest.mark.skipif(
    floating_point._get_traps is None, reason="glibc has a function for it"
)
CHANGES = [
    pytest.param(round_upward, "results do not round to nearest", id="rounding"),
    pytest.param(
        state_bits(0x8000), "subnormal results become zero", id="flush", marks=intel
    ),
    pytest.param(
        state_bits(0x40), "subnormal operands are read as zero", id="read", marks=intel
    ),
    pytest.param(trap, "exceptions stop the process", id="traps", marks=[intel, glibc]),
]


@pytest.fixture(autouse=True)
def default():
    assert floating_point.deviation() == ""
    yield
    floating_point.restore()
    assert floating_point.deviation() == ""


def subject(function):
    kernel_set = KernelSet("faulty", "faulty", load=dict)
    return Subject(kernel_set, {"neg": KernelImpl(function)})


def check(function, name="environment"):
    CHECKS[name](subject(function), TABLE["neg"], F4)


def that_changes(change):
    def neg(out, a):
        REFERENCE["neg"](out, a)
        change()

    return neg


@pytest.mark.parametrize(("change", "text"), CHANGES)
def test_a_change_is_named_each_time(change, text):
    """A second check of the same process is no less strict than the first."""
    for _ in range(2):
        match = f"neg on .* changed the floating-point state of its thread: .*{text}"
        with pytest.raises(AssertionError, match=match):
            check(that_changes(change))


@pytest.mark.parametrize("name", ["values", "leaks"])
def test_other_checks_put_the_default_back(name):
    check(that_changes(round_upward), name)
    assert floating_point.deviation() == ""


def test_what_was_changed_before_is_not_the_kernels_fault():
    round_upward()
    check(REFERENCE["neg"])


def test_where_the_default_cannot_be_had_nothing_is_proved(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(floating_point, "_set", None)
        round_upward()
        match = "before the call, results do not round to nearest, and this cannot be"
        with pytest.raises(AssertionError, match=match):
            check(REFERENCE["neg"])

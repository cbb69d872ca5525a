# SPDX-License-Identifier: MIT
"""The conformance kit finds every planted fault, and says which it is.

The checks run as the kit's command runs them, each in a child process.
"""

from __future__ import annotations

import os
import platform
import sys

import pytest
from tests.kernel_table import load
from tests.kernels import planted_complex
from tests.kernels.guarded_checks import run_check
from tests.kernels.planted import FAULTS

from autocalc.plugin import KernelImpl, KernelSet
from autocalc.testing.conformance import Subject

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="checks run in forks"),
]

#: Seconds that a call of a test may take.
SECONDS = 0.5


def subject_of(fault, function):
    more = {"determinism": "threads", **fault.more}
    kernel_set = KernelSet("faulty", "faulty", load=dict, **more)
    return Subject(kernel_set, {fault.kernel: KernelImpl(function)})


def run(fault, function):
    subject = subject_of(fault, function)
    run_check(fault.check, subject, fault.kernel, fault.dtype, SECONDS)


def test_there_are_enough():
    assert len(FAULTS) >= 50
    assert {fault.plant.__module__ for fault in FAULTS.values()} >= {
        planted_complex.__name__
    }
    assert len({fault.check for fault in FAULTS.values()}) >= 14


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_found_and_named(name):
    fault = FAULTS[name]
    if "rounding mode" in name and platform.machine() != "x86_64":
        pytest.skip("the number of the rounding mode is that of x86")
    if "32 bits" in name and sys.platform != "linux":
        pytest.skip("sparse memory is as on Linux")
    faulty = fault.plant(load()[fault.kernel])
    with pytest.raises(AssertionError, match=fault.match):
        run(fault, faulty)


@pytest.mark.parametrize(
    ("kernel", "check", "dtype"),
    sorted({(fault.kernel, fault.check, fault.dtype) for fault in FAULTS.values()}),
)
def test_the_right_kernel_passes(kernel, check, dtype):
    fault = next(f for f in FAULTS.values() if (f.kernel, f.check, f.dtype) == (
        kernel, check, dtype))  # fmt: skip
    run(fault._replace(more={}), load()[kernel])

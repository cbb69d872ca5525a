# SPDX-License-Identifier: MIT
"""Runs a check as the conformance kit's command runs it: in a child process."""

from __future__ import annotations

import faulthandler

import numpy as np
from tests.kernel_table import TABLE

from autocalc.testing.conformance import CHECKS, applies
from autocalc.testing.conformance._guarded import guarded


def run_check(name, subject, kernel, dtype, seconds):
    """Run a check, which must apply; a call may take this many seconds."""

    def check(*arguments):
        # pytest lets it print a stack, which a reader takes for a crash of the tests.
        faulthandler.disable()  # in the child alone
        CHECKS[name](*arguments)

    assert applies(name, subject, TABLE[kernel])
    guarded(check, seconds)(subject, TABLE[kernel], np.dtype(dtype))

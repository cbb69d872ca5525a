# SPDX-License-Identifier: MIT
"""Every installed kernel set that can run here, held to the kernel table.

The same checks as `pytest --pyargs autocalc.testing.conformance --kernels NAME`.
"""

from __future__ import annotations

import functools

import pytest
from tests.kernel_table import TABLE

from autocalc.kernels import available
from autocalc.testing.conformance import CHECKS, Inapplicable, Subject, applies

pytestmark = pytest.mark.core

subject_of = functools.lru_cache(Subject.named)


def _checks():
    """One test for each kernel, dtype, set and check.

    In this order, because the sets share the samples and what they should answer.
    """
    for kernel, spec in TABLE.items():
        for dtype in spec.dtypes:
            for name in available():
                subject = subject_of(name)
                for what in CHECKS if kernel in subject.kernels else ():
                    # Threads are the set's, not the dtype's: one fork a kernel.
                    if what == "fork" and dtype != spec.dtypes[0]:
                        continue
                    if applies(what, subject, spec):
                        label = f"{name}-{kernel}-{dtype}-{what}"
                        yield pytest.param(name, kernel, dtype, what, id=label)


@pytest.mark.parametrize(("name", "kernel", "dtype", "what"), list(_checks()))
def test_conforms(name, kernel, dtype, what):
    try:
        CHECKS[what](subject_of(name), TABLE[kernel], dtype)
    except Inapplicable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("name", available())
def test_every_kernel_ran(name):
    """After the tests above: a kernel whose every call was refused proves nothing."""
    subject = subject_of(name)
    if not subject.calls:
        pytest.skip("the checks of this set were not selected")
    assert set(subject.calls) == set(subject.kernels)

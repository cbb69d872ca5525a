# SPDX-License-Identifier: MIT
"""Every installed kernel set that can run here, held to the kernel table.

The same checks as `pytest --pyargs autocalc.testing.conformance --kernels NAME`.
"""

from __future__ import annotations

import functools
from itertools import chain

import pytest
from tests.kernel_table import TABLE

from autocalc.kernels import available
from autocalc.testing.conformance import (
    CHECKS,
    Inapplicable,
    Subject,
    applies,
    dtypes_of,
)
from autocalc.testing.conformance._guarded import can_guard, guarded
from autocalc.testing.conformance._watch import SAMPLE_SECONDS

pytestmark = pytest.mark.core

#: Checks whose faults end the process: they run in a child.
GUARDED = {"bounds", "offsets", "native-limits"}
#: Checks of what the dtype does not change: one turn for each kernel.
ONCE = {"fork", "threads", "bounds", "offsets", "state", "native-limits"}

subject_of = functools.lru_cache(Subject.named)


def _checks():
    """One test for each kernel, dtype, set and check.

    In this order, because the sets share the samples and what they should answer.
    """
    for kernel, spec in TABLE.items():
        taken = {
            name: dtypes_of(spec, subject_of(name).kernels[kernel])
            for name in available()
            if kernel in subject_of(name).kernels
        }
        for dtype in dict.fromkeys(chain(*taken.values())):
            for name in [name for name, dtypes in taken.items() if dtype in dtypes]:
                subject = subject_of(name)
                for what in CHECKS:
                    if what in ONCE and dtype != spec.dtypes[0]:
                        continue
                    if applies(what, subject, spec):
                        label = f"{name}-{kernel}-{dtype}-{what}"
                        yield pytest.param(name, kernel, dtype, what, id=label)


@pytest.mark.parametrize(("name", "kernel", "dtype", "what"), list(_checks()))
def test_conforms(name, kernel, dtype, what):
    check, subject = CHECKS[what], subject_of(name)
    if what in GUARDED and can_guard(subject):
        check = guarded(check, SAMPLE_SECONDS)  # a fault there ends the process
    try:
        check(subject, TABLE[kernel], dtype)
    except Inapplicable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("name", available())
def test_every_kernel_ran(name):
    """After the tests above: a kernel whose every call was refused proves nothing."""
    subject = subject_of(name)
    if not subject.calls:
        pytest.skip("the checks of this set were not selected")
    assert set(subject.calls) == set(subject.kernels)

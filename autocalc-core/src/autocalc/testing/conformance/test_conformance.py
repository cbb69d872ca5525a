# SPDX-License-Identifier: MIT
"""The conformance tests; see the package's docstring for how to run them."""

from __future__ import annotations

import contextlib

import pytest

from autocalc._kernels.kernel_set import KernelImpl
from autocalc._kernels.spec import DType, KernelSpec
from autocalc._kernels.table import TABLE
from autocalc.testing.conformance import CHECKS, Inapplicable, Subject
from autocalc.testing.conformance._checks import Check
from autocalc.testing.conformance._guarded import can_guard, guarded
from autocalc.testing.conformance._watch import SAMPLE_SECONDS


def test_conforms(
    subject: Subject,
    spec: KernelSpec,
    dtype: DType,
    check: Check,
    pytestconfig: pytest.Config,
) -> None:
    """Test one promise of one kernel for one dtype, in a separate process."""
    alone = pytestconfig.getoption("--one-process", default=False)
    if not alone and can_guard(subject):
        seconds = pytestconfig.getoption("--sample-seconds", default=SAMPLE_SECONDS)
        check = guarded(check, seconds)
    try:
        check(subject, spec, dtype)
    except Inapplicable as reason:
        pytest.skip(str(reason))


def test_offered(subject: Subject, kernel: str) -> None:
    """The set has the kernel and accepted at least one call of it."""
    if kernel not in subject.kernels:
        pytest.skip(f"{subject.name} has no kernel {kernel}")
    assert isinstance(subject.kernels[kernel], KernelImpl)
    for dtype in () if subject.calls[kernel] else TABLE[kernel].dtypes:
        with contextlib.suppress(Inapplicable):
            CHECKS["environment"](subject, TABLE[kernel], dtype)
    refused = ", ".join(subject.refusals[kernel]) or "no sample was run"
    assert subject.calls[kernel], f"{kernel} is offered, but never ran: {refused}"


def test_names_are_in_the_table(subject: Subject) -> None:
    """The set has no kernels that are not in the kernel table."""
    unknown = sorted(set(subject.kernels) - set(TABLE))
    assert not unknown, f"unknown kernels: {', '.join(unknown)}"


def test_loading_keeps_the_floating_point_state(subject: Subject) -> None:
    """A library linked with -ffast-math would change the state when it is loaded."""
    assert not subject.disturbed_by_loading, (
        f"loading {subject.name} changed the floating-point state of the process: "
        f"{subject.disturbed_by_loading}; link it without -ffast-math"
    )

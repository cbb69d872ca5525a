# SPDX-License-Identifier: MIT
"""Checks of a kernel's C form, which programs call without Python and its lock."""

from __future__ import annotations

from dataclasses import replace

from autocalc._kernels.spec import DType, KernelSpec
from autocalc.testing.conformance._bounds import check_bounds, check_offsets
from autocalc.testing.conformance._calls import check_state, check_threads
from autocalc.testing.conformance._checks import (
    INDICES,
    PLACES,
    Check,
    Judged,
    cases,
    check_bad_indices,
    is_large,
)
from autocalc.testing.conformance._lengths import check_lengths
from autocalc.testing.conformance._native import NativeKernel
from autocalc.testing.conformance._subject import Inapplicable, Subject

#: The checks that apply to the C form as well as to the Python form.
LIMITS = (check_lengths, check_bounds, check_offsets, check_state, check_threads)


def by_c(subject: Subject, spec: KernelSpec) -> Subject:
    """Return a subject that calls the kernel by its C form."""
    impl = subject.kernels[spec.name]
    try:
        function = NativeKernel(spec, impl.native)
    except AssertionError as error:
        raise AssertionError(f"{spec.name}: {error}") from None
    native = replace(impl, function=function, native=None)
    return Subject(subject.kernel_set, {spec.name: native})


def check_native(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """The C form returns the same values and detects the same bad indices."""
    given = by_c(subject, spec)
    judged = Judged(given, spec, dtype)
    try:
        for i, case in enumerate(cases(spec, dtype)):
            if not is_large(case.sample):
                judged(case, layouts=PLACES[i % len(PLACES)])
        if spec.name in INDICES:
            check_bad_indices(given, spec, dtype)
    except AssertionError as error:
        raise AssertionError(f"by its C form, {error}") from None
    judged.finish("no samples")


def check_native_limits(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """The C form stays within its operands, keeps no state, and serves two threads.

    A short call of the Python form holds the interpreter's lock, so two threads never
    run it at the same time.  Calls of the C form can overlap.
    """
    given = by_c(subject, spec)
    done = 0
    for check in LIMITS:
        done += _ran(check, given, spec, dtype)
    if not done:
        raise Inapplicable(
            "the set refuses every call of this kernel, or no check applies to it"
        )


def _ran(check: Check, given: Subject, spec: KernelSpec, dtype: DType) -> bool:
    try:
        check(given, spec, dtype)
    except Inapplicable:
        return False
    except AssertionError as error:
        raise AssertionError(f"by its C form, {error}") from None
    return True

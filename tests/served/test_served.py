# SPDX-License-Identifier: MIT
"""A library in another process, held to the kernel table by the conformance kit."""

from __future__ import annotations

import pytest
from tests.kernel_table import TABLE, Make

from autocalc.plugin import KERNEL_API_VERSION
from autocalc.testing.conformance import (
    CHECKS,
    Inapplicable,
    Refused,
    applies,
    dtypes_of,
)

#: They look at this process, or at the memory around operands, and these kernels run in
#: another one, with copies. The server itself looks at the floating-point environment.
ELSEWHERE = {"environment", "fork", "leaks", "bounds", "offsets", "threads"}


def pytest_generate_tests(metafunc):
    """One test to each check of each kernel and dtype."""
    if "spec" not in metafunc.fixturenames:
        return
    subject = metafunc.config.served_subject()
    specs = [spec for name, spec in TABLE.items() if name in subject.kernels]
    if "what" in metafunc.fixturenames:
        metafunc.parametrize(("spec", "dtype", "what"), list(_cases(subject, specs)))
    else:
        metafunc.parametrize("spec", [pytest.param(s, id=s.name) for s in specs])


def _cases(subject, specs):
    for spec in specs:
        for dtype in dtypes_of(spec, subject.kernels[spec.name]):
            for what in CHECKS:
                if what not in ELSEWHERE and applies(what, subject, spec):
                    label = f"{spec.name}-{dtype}-{what}"
                    yield pytest.param(spec, dtype, what, id=label)


def test_the_set_is_that_of_the_instruction_set(subject, isa):
    assert subject.name == f"simd-{isa}"
    assert subject.kernel_set.api == KERNEL_API_VERSION


def test_it_offers_what_the_other_instruction_sets_offer(subject):
    """The families are compiled for each; one that was left out would go unseen."""
    assert set(subject.kernels) <= set(TABLE)
    assert {"gemm", "exp", "sum", "copy", "adamw", "dropout"} <= set(subject.kernels)


def test_conforms(subject, spec, dtype, what):
    assert subject.kernels[spec.name].function.signature == spec.signature
    try:
        CHECKS[what](subject, spec, dtype)
    except Inapplicable as reason:
        pytest.skip(str(reason))


def test_takes_a_sample(subject, spec):
    """A kernel that refuses every call would pass all of the tests above."""
    assert any(_takes_one(subject, spec, dtype) for dtype in spec.dtypes)


def _takes_one(subject, spec, dtype):
    for sample in spec.samples(Make(dtype)):
        try:
            subject.prepare(spec, sample, dtype)
        except Refused:
            continue
        return True
    return False

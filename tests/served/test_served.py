# SPDX-License-Identifier: MIT
"""A library in another process, held to the kernel table by the conformance kit."""

from __future__ import annotations

import pytest

from autocalc._kernels.table import TABLE
from autocalc.plugin import KERNEL_API_VERSION
from autocalc.testing.conformance import CHECKS, Inapplicable, applies

#: They look at this process, in which these kernels do not run; the server itself looks
#: at the floating-point environment.
ELSEWHERE = {"environment", "fork", "leaks"}


def pytest_generate_tests(metafunc):
    """One test to each check of each kernel and dtype; a kernel's in one process."""
    if "spec" not in metafunc.fixturenames:
        return
    subject = metafunc.config.served_subject()
    specs = {name: spec for name, spec in TABLE.items() if name in subject.kernels}
    if "what" in metafunc.fixturenames:
        cases = list(_cases(subject, specs))
        metafunc.parametrize(("spec", "dtype", "what"), cases)
    else:
        metafunc.parametrize(
            "spec", [_case(name, spec) for name, spec in specs.items()]
        )


def _cases(subject, specs):
    for name, spec in specs.items():
        for dtype in spec.dtypes:
            for what in CHECKS:
                if what not in ELSEWHERE and applies(what, subject, spec):
                    yield _case(name, spec, dtype, what)


def _case(name, spec, *how):
    group = pytest.mark.xdist_group(name)
    return pytest.param(spec, *how, id="-".join(map(str, [name, *how])), marks=group)


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


def test_ran(subject, spec):
    """After the tests above: a kernel whose every call was refused proves nothing."""
    if not subject.calls:
        pytest.skip("the checks were not selected")
    assert spec.name in subject.calls

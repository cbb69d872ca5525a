# SPDX-License-Identifier: MIT
"""The conformance kit on a device: kernels run there, on memory that travels whole."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.dispatcher import registry
from tests.kernel_table import TABLE, adapt, quietly
from tests.mirror_device import LIBRARY, MIRROR

from autocalc.plugin import KernelImpl
from autocalc.testing.conformance import CHECKS, Inapplicable, Subject, applies

FLOAT32 = np.dtype(np.float32)
#: Lists and written operands, optional ones, sums, bad indices, no operands at all.
KERNELS = (
    "add",
    "adamw",
    "layer_norm_backward",
    "gemm",
    "embedding",
    "uniform",
    "copy",
)


@pytest.fixture
def offer(monkeypatch):
    """Make the device's set of these kernels; others may take their place."""

    def made(**kernels):
        functions = {name: adapt(TABLE[name]) for name in KERNELS} | kernels
        kernel_set = dataclasses.replace(
            MIRROR, load=lambda: functions, determinism="run"
        )
        monkeypatch.setitem(registry().sets, "mirror", kernel_set)
        monkeypatch.setitem(registry().origins, "mirror", "tests")
        registry()._loaded.pop("mirror", None)
        return Subject.named("mirror")

    yield made
    registry()._loaded.pop("mirror", None)


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_passes(offer, name):
    subject, spec = offer(), TABLE[name]
    before, ran = LIBRARY.uploads, set()
    for what, check in CHECKS.items():
        if applies(what, subject, spec):
            try:
                check(subject, spec, FLOAT32)
                ran.add(what)
            except Inapplicable:
                pass
    assert {"values", "dispatch"} <= ran
    assert not ran & {"environment", "fork", "leaks"}
    assert LIBRARY.uploads > before


def test_a_wrong_kernel_is_found(offer):
    def add(out, a, b):
        quietly(np.subtract, a, b, out)

    subject = offer(add=add)
    with pytest.raises(AssertionError, match=r"add on .*: `out`\["):
        CHECKS["values"](subject, TABLE["add"], FLOAT32)


def test_a_kernel_that_writes_beside_its_operands_is_found(offer):
    def add(out, a, b):
        np.add(a, b, out)
        if out.ndim == 1 and out.size:  # the memory after the last element
            behind = LIBRARY.strided(out, (1,), (4,), out.nbytes)
            behind[...] = 7

    with pytest.raises(AssertionError, match="wrote outside its operands"):
        CHECKS["values"](offer(add=add), TABLE["add"], FLOAT32)


def test_numbers_without_a_full_significand_may_count_as_0(offer):
    def exact(out, a, b):
        quietly(np.add, a, b, out)

    def flushing(out, a, b):
        tiny = np.finfo(out.dtype).tiny
        a, b = (np.where(np.abs(x) < tiny, np.copysign(0, x), x) for x in (a, b))
        quietly(np.add, a, b, out)
        np.copyto(out, np.copysign(0, out), where=np.abs(out) < tiny)

    with pytest.raises(AssertionError, match="add on 'special'"):
        CHECKS["values"](offer(add=flushing), TABLE["add"], FLOAT32)
    for function in (exact, flushing):
        subject = offer(add=function)
        flushes = dataclasses.replace(subject.kernel_set, flushes_subnormals=True)
        kernels = {"add": KernelImpl(function)}
        CHECKS["values"](Subject(flushes, kernels), TABLE["add"], FLOAT32)

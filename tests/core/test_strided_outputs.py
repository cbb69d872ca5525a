# SPDX-License-Identifier: MIT
"""Kernel sets whose kernels take contiguous outputs only, and say so."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from tests.kernel_table import TABLE

import autocalc as ac
from autocalc.plugin import KernelImpl, KernelSet
from autocalc.testing.conformance import CHECKS, Subject

F4 = np.dtype("f4")


def relu(out, a):
    """Write `out` as if it were contiguous."""
    if out.size:
        as_strided(out, (out.size,), (out.itemsize,))[...] = np.maximum(a, 0).ravel()


def index_add(out, a, index, source, axis):
    flat = as_strided(out, (out.size,), (out.itemsize,)).reshape(out.shape)
    flat[...] = a
    np.add.at(flat, (slice(None),) * axis + (index,), source)


KERNELS = {"relu": relu, "index_add": index_add}


def kernel_set(**more):
    return KernelSet("flat", "flat", load=lambda: KERNELS, rank=900, **more)


def columns():
    """Return a matrix of -1 and the view of every other of its columns."""
    b = ac.full((3, 6), -1.0)
    return b, b[:, ::2]


def test_temporaries_keep_the_neighbours(install):
    install(flat=[kernel_set(strided_outputs=False)])
    b, view = columns()
    with ac.kernels.count() as calls:
        view.relu_()
    assert ("relu", "flat") in calls
    assert b.tolist() == [[0.0, -1.0] * 3] * 3


def test_without_the_word_such_a_kernel_overwrites_them(install):
    """What the declaration is for: the set's fault is real."""
    install(flat=[kernel_set()])
    b, view = columns()
    view.relu_()
    assert b.tolist() != [[0.0, -1.0] * 3] * 3


def test_an_output_that_is_added_into(install):
    install(flat=[kernel_set(strided_outputs=False)])
    b, view = columns()
    with ac.kernels.count() as calls:
        view.index_add_(1, ac.tensor([1, 1]), ac.ones(3, 2))
    assert ("index_add", "flat") in calls
    assert b.tolist() == [[-1.0, -1.0, 1.0, -1.0, -1.0, -1.0]] * 3


def test_contiguous_outputs_are_written_themselves(install):
    seen = []

    def noted(out, a):
        seen.append(out)
        relu(out, a)

    declared = KernelSet(
        *("flat", "flat", lambda: {"relu": noted}), rank=900, strided_outputs=False
    )
    install(flat=[declared])
    x = ac.ones(3).neg()
    x.relu_()
    assert seen[0].__array_interface__["data"] == x.numpy().__array_interface__["data"]


def test_the_c_form_is_left_out(install):
    impl = KernelImpl(relu, native=object())
    registry = install(
        flat=[KernelSet("flat", "flat", lambda: {"relu": impl}, strided_outputs=False)]
    )
    assert registry.kernels("flat")["relu"].native is None


def test_the_kit_passes_it_by_its_word_alone(install):
    declared = install(flat=[kernel_set(strided_outputs=False)])
    kernels = declared.kernels("flat")
    CHECKS["layouts"](Subject(kernel_set(), kernels), TABLE["relu"], F4)
    plain = {name: KernelImpl(function) for name, function in KERNELS.items()}
    with pytest.raises(AssertionError, match="the kernel wrote between the"):
        CHECKS["layouts"](Subject(kernel_set(), plain), TABLE["relu"], F4)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"strided_outputs": 0}, "its `strided_outputs` is 0, which is no bool"),
        (
            {"strided_outputs": False, "device": "npu"},
            "its `strided_outputs` is False, which sets of the CPU alone can say",
        ),
    ],
)
def test_a_wrong_word_is_refused(install, options, reason):
    with pytest.warns(ac.errors.PluginWarning, match=reason):
        registry = install(flat=[kernel_set(**options)])
    assert "flat" not in registry.sets

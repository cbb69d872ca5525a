# SPDX-License-Identifier: MIT
"""The self-test of a kernel set, without a process of its own."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.kernel_table import TABLE, Make, load

from autocalc.plugin import KernelImpl, KernelSet
from autocalc.testing import _self_test as self_test
from autocalc.testing.conformance import Subject

REFERENCE = load()
F4 = np.dtype("f4")


class Notes(list):
    """What the other process would read."""

    def write(self, **facts):
        self.append(facts)


def subject(**kernels):
    kernels = {k: v if isinstance(v, KernelImpl) else KernelImpl(v)
               for k, v in kernels.items()}  # fmt: skip
    return Subject(KernelSet("mine", "mine", load=dict), kernels)


def run(**kernels):
    return self_test.run(subject(**kernels), Notes())


def installed(install, **kernels):
    install(mine=[KernelSet("mine", family="mine", load=lambda: kernels)])
    notes = Notes()
    return self_test.test("mine", notes), notes


def test_right_kernels_pass():
    found = run(exp=REFERENCE["exp"], neg=REFERENCE["neg"])
    assert found["wrong"] == {}
    assert found["kernels"] == 2
    kinds = len(TABLE["exp"].dtypes) + len(TABLE["neg"].dtypes)
    assert found["calls"] == 2 * self_test.SAMPLES * kinds


def test_all_kernels_have_their_turn():
    both = self_test.calls_of(subject(exp=REFERENCE["exp"], neg=REFERENCE["neg"]))
    assert [next(both).spec.name for _ in range(4)] == ["exp", "neg"] * 2


def test_each_call_is_noted_before_it_begins():
    notes = Notes()

    def neg(out, a):
        assert notes[-1]["running"].startswith("while neg (")
        REFERENCE["neg"](out, a)

    assert self_test.run(subject(neg=neg), notes)["wrong"] == {}
    assert notes


def test_what_a_set_refuses_is_made_up_for():
    asked = []

    def seldom(key):
        asked.append(key)
        return "not this" if len(asked) % 4 or key.dtypes[0] != F4 else None

    neg = KernelImpl(REFERENCE["neg"], supports=seldom)
    assert run(neg=neg)["calls"] == 2 * self_test.SAMPLES


def test_no_time():
    before, self_test.SECONDS = self_test.SECONDS, -1.0
    try:
        assert run(neg=REFERENCE["neg"])["calls"] == 0
    finally:
        self_test.SECONDS = before


def test_imprecise_is_not_wrong():
    def exp(out, a):
        REFERENCE["exp"](out, a)
        out[...] = np.where(np.isfinite(out), out * out.dtype.type(1 + 2e-16), out)

    def off(out, a):
        REFERENCE["exp"](out, a)
        out *= out.dtype.type(1.001)

    assert run(exp=exp)["wrong"] == {}
    assert "ULP), allowed" in run(exp=off)["wrong"]["exp"]


def test_a_kernel_that_is_blind_to_strides():
    def neg(out, a):
        flat = np.lib.stride_tricks.as_strided(a, (a.size,), (a.itemsize,))
        out[...] = -flat.reshape(a.shape)

    wrong = run(neg=neg)["wrong"]["neg"]
    assert wrong.startswith("neg (float32) on ")


@pytest.mark.parametrize("what", ["function", "supports"])
def test_errors_of_a_kernel(what):
    def raises(*_):
        raise ValueError("not today")

    impl = KernelImpl(raises) if what == "function" else KernelImpl(
        REFERENCE["neg"], supports=raises
    )  # fmt: skip
    whose = "it" if what == "function" else "its supports()"
    assert f": {whose} raised ValueError: not today" in run(neg=impl)["wrong"]["neg"]


def test_a_write_behind_an_output():
    def neg(out, a):
        REFERENCE["neg"](out, a)
        flat = np.lib.stride_tricks.as_strided(out, (out.size + 1,), (out.itemsize,))
        flat[-1] = 0

    match = r"wrote outside of its outputs in neg \(float32\) on .*: the kernel wrote"
    with pytest.raises(self_test.Fault, match=match):
        run(neg=neg)


def test_a_changed_floating_point_state(install, monkeypatch):
    state = ["rounds down"]
    monkeypatch.setattr(
        self_test.floating_point, "deviation", lambda: state[0] if state else ""
    )
    match = r"changed the floating-point state in neg \(float32\) on .*: rounds down"
    with pytest.raises(self_test.Fault, match=match):
        run(neg=REFERENCE["neg"])
    match = "changed the floating-point state when it was loaded: rounds down"
    with pytest.raises(self_test.Fault, match=match):
        installed(install, neg=REFERENCE["neg"])
    match = "changed the floating-point state in a training step: rounds down"
    with pytest.raises(self_test.Fault, match=match):
        self_test.train("reference")


def test_a_whole_set(install):
    facts, notes = installed(install, neg=REFERENCE["neg"], add=REFERENCE["add"])
    assert facts["passed"]["kernels"] == 2
    running = [note["running"] for note in notes if "running" in note]
    assert running[:2] == ["while its package was imported", "while its load() ran"]
    assert running[-1] == "while a training step ran"
    assert [note["files"] for note in notes if "files" in note] == [[]]


def test_a_set_that_does_not_load(install):
    def fails():
        raise OSError("no libfoo")

    install(mine=[KernelSet("mine", family="mine", load=fails)])
    with pytest.warns(UserWarning, match="no libfoo"):
        facts = self_test.test("mine", Notes())
    assert facts["unloadable"] == "load() failed: OSError: no libfoo"
    assert "Traceback" in facts["traceback"]
    assert (
        "cannot be found: there is no such set"
        in self_test.test("yours", Notes())["unloadable"]
    )


def test_notes_are_lines_of_a_file(tmp_path):
    path = tmp_path / "report"
    path.touch()
    notes = self_test.Notes(str(path))
    notes.write(running="while x ran")
    notes.write(fault="it broke")
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"running": "while x ran"},
        {"fault": "it broke"},
    ]


def test_large_arrays_are_made_quickly_and_small_ones_as_ever():
    quick = self_test.QuickMake(F4)
    assert np.array_equal(quick.normal(3, 5), Make(F4).normal(3, 5))
    large = quick.normal(100, 1000)
    assert large.shape == (100, 1000)
    assert large.dtype == F4
    assert large.reshape(-1)[0] == large.reshape(-1)[self_test.FEW]

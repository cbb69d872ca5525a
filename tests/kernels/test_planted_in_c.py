# SPDX-License-Identifier: MIT
"""The conformance kit finds faults of C kernels, by their C form alone."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.kernel_table import TABLE, load
from tests.kernels.guarded_checks import run_check

from autocalc.plugin import KernelImpl, KernelSet, include_dir
from autocalc.testing.conformance import Subject
from autocalc.testing.conformance import _native as c

pytestmark = [
    pytest.mark.core,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="checks run in forks"),
]

#: Function -> what is said of it.
FAULTS = {
    "static_scratch": r"by its C form, relu on .*, called by two threads at the same t",
    "short_offsets": r"by its C form, relu on .*layouts=\('far',\): `out`",
    "whole_vectors": r"relu \(float32\) on .*: the kernel touched memory that is not",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The faulty kernels, compiled."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("planted") / "planted.so"
    source = Path(__file__).with_name("planted.c")
    command = [compiler, "-shared", "-fPIC", "-O1", f"-I{include_dir()}", "-o", path]
    subprocess.run([*command, source], check=True)
    return ctypes.CDLL(str(path))


@pytest.fixture
def subject(library):
    """Make the set whose kernel has this C form; its Python form is right."""
    kept = []

    def make(name):
        spec = TABLE["relu"]
        kind = dict(c._Entry._fields_)["function"]
        function = ctypes.cast(getattr(library, name), kind)
        entry = c._Entry(spec.name.encode(), spec.signature.encode(), function)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        kept.append(entry)
        capsule = new(ctypes.addressof(entry), c.CAPSULE, None)
        impl = KernelImpl(load()["relu"], native=capsule)
        return Subject(KernelSet("faulty", "faulty", load=dict), {"relu": impl})

    return make


def run(subject, check="native-limits"):
    run_check(check, subject, "relu", "f4", 60.0)


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_found_by_the_c_form(name, subject):
    run(subject(name), "native")  # values and layouts do not show it
    with pytest.raises(AssertionError, match=FAULTS[name]):
        run(subject(name))


def test_a_right_kernel_passes(subject):
    run(subject("right"), "native")
    run(subject("right"))

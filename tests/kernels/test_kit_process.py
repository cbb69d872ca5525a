# SPDX-License-Identifier: MIT
"""The conformance kit rejects kernels that leak something, or err in C."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import sys
import time

import numpy as np
import pytest
from tests.kernel_table import TABLE, load

from autocalc.plugin import KernelImpl, KernelSet
from autocalc.testing import _self_test as self_test
from autocalc.testing.conformance import CHECKS, Inapplicable, Subject, applies
from autocalc.testing.conformance import _native as c
from autocalc.testing.conformance import _native_memory as native_memory
from autocalc.testing.conformance import _process as process

pytestmark = pytest.mark.core

REFERENCE = load()
F4 = np.dtype("f4")

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")


class Notes:
    """What nobody reads."""

    def write(self, **facts):
        pass


def subject(kernel, function=None, native=None, **more):
    impl = KernelImpl(function or REFERENCE[kernel], native=native)
    return Subject(KernelSet("faulty", "faulty", load=dict, **more), {kernel: impl})


def run(check, kernel, function=None, dtype=F4, **more):
    CHECKS[check](subject(kernel, function, **more), TABLE[kernel], dtype)


def rejects(match, check, kernel, function=None, **more):
    with pytest.raises(AssertionError, match=match):
        run(check, kernel, function, **more)


# ---- the C form ----------------------------------------------------------------------


def view(a):
    """Return the NumPy array that an `ac_array` describes, or None."""
    if not a.present:
        return None
    dtype = next(dtype for dtype, code in c.DTYPES.items() if code == a.dtype)
    shape, strides = a.shape[: a.ndim], a.strides[: a.ndim]
    ends = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
    if 0 in shape:
        return np.empty(shape, dtype)
    size = sum(ends) + dtype.itemsize
    memory = (ctypes.c_char * size).from_address(a.data)
    return np.ndarray(shape, dtype, memory, 0, strides)


@pytest.fixture
def capsule():
    """Make the capsule of a C form written in Python: ``f(arrays, status)``."""
    kept = []

    def make(kernel, f, name=None, signature=None):
        spec = TABLE[kernel]

        def function(call, context, status):
            given = call.contents
            n = given.n_outputs + given.n_inputs
            assert given.version == 1
            f([view(given.operands[i].arrays[0]) for i in range(n)], status.contents)

        pointers = tuple(ctypes.POINTER(t) for t in (c._Call, c._Context, c._Status))
        entry = c._Entry(
            (name or spec.name).encode(),
            (signature or spec.signature).encode(),
            ctypes.CFUNCTYPE(None, *pointers)(function),
        )
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        kept.append(entry)
        return new(ctypes.addressof(entry), c.CAPSULE, None)

    return make


def neg(arrays, status):
    out, a = arrays
    np.negative(a, out=out)


def test_a_c_form_that_is_right(capsule):
    run("native", "neg", native=capsule("neg", neg))
    given = subject("neg", native=capsule("neg", neg))
    assert applies("native", given, TABLE["neg"])
    assert not applies("native", subject("neg"), TABLE["neg"])


def test_a_c_form_that_ignores_strides(capsule):
    def wrong(arrays, status):
        out, a = arrays
        if a.size:
            flat = np.lib.stride_tricks.as_strided(a, (a.size,), (a.itemsize,))
            out[...] = -flat.reshape(a.shape)

    rejects(r"by its C form, neg on .*layouts=", "native", "neg",
            native=capsule("neg", wrong))  # fmt: skip


def test_the_self_test_of_a_set_runs_the_c_form(capsule):
    def wrong(arrays, status):
        neg(arrays, status)
        arrays[0][...] *= 2

    found = self_test.run(subject("neg", native=capsule("neg", wrong)), Notes())
    assert ", by its C form: `out`" in found["wrong"]["neg"]
    right = subject("neg", native=capsule("neg", neg))
    assert self_test.run(right, Notes())["wrong"] == {}


def test_a_c_form_that_refuses_what_it_must_take(capsule):
    def wrong(arrays, status):
        status.code = c.UNSUPPORTED

    rejects("the C form ended with status 3", "native", "neg",
            native=capsule("neg", wrong))  # fmt: skip


def test_a_c_form_of_another_kernel(capsule):
    rejects(r"its `native` has the name 'abs', not 'neg'", "native", "neg",
            native=capsule("neg", neg, name="abs"))  # fmt: skip
    rejects(r"its `native` has the signature 'out ; a', not '~ out ; a'", "native",
            "neg", native=capsule("neg", neg, signature="out ; a"))  # fmt: skip


def test_a_native_that_is_no_capsule():
    rejects(r"its `native` is 3, not a capsule called 'autocalc.kernel'", "native",
            "neg", native=3)  # fmt: skip


def embedding(arrays, status, *, index_of_bad):
    out, weight, indices = arrays
    bad = (indices < 0) | (indices >= len(weight))
    if bad.any():
        element = int(bad.reshape(-1).argmax())
        status.code, status.operand = c.BAD_VALUE, 2
        status.index, status.value = index_of_bad(element), indices.flat[element]
    elif out.size:
        out[...] = weight[indices]


def test_bad_indices_by_the_c_form(capsule):
    def right(*args):
        embedding(*args, index_of_bad=lambda i: i)

    def wrong(*args):
        embedding(*args, index_of_bad=lambda i: i + 1)

    run("native", "embedding", native=capsule("embedding", right))
    rejects("by its C form, embedding on 'width 1',", "native", "embedding",
            native=capsule("embedding", wrong))  # fmt: skip


# ---- fork ----------------------------------------------------------------------------


@pytest.fixture
def parent():
    return os.getpid()


@needs_fork
def test_a_child_that_computes_the_same():
    run("fork", "exp")


@needs_fork
@pytest.mark.parametrize(
    ("fault", "match"),
    [
        ("wrong", ": a child process that was forked after a call"),
        ("raises", "raised an error"),
        ("dies", "died of signal 9"),
        ("hangs", "did not end within 1 s; threads do not survive a fork"),
    ],
)
def test_a_child_that_does_not(parent, monkeypatch, fault, match, capfd):
    monkeypatch.setattr(process, "PATIENCE", 1.0)

    def exp(out, a):
        REFERENCE["exp"](out, a)
        if os.getpid() == parent:
            return
        if fault == "wrong":
            out += 1
        elif fault == "raises":
            raise RuntimeError
        elif fault == "dies":
            os.kill(os.getpid(), 9)
        else:
            time.sleep(60)

    rejects(match, "fork", "exp", exp)


def test_where_nothing_forks(monkeypatch):
    monkeypatch.delattr(os, "fork", raising=False)
    with pytest.raises(Inapplicable, match="cannot fork"):
        run("fork", "exp")


# ---- leaks ---------------------------------------------------------------------------


def test_nothing_is_left():
    run("leaks", "exp")
    run("leaks", "adamw")


def test_operands_are_kept():
    kept = []

    def exp(out, a):
        REFERENCE["exp"](out, a)
        kept.append(a)

    rejects(r"exp: 40 calls left 40 references to the operand `a`", "leaks", "exp", exp)


def test_objects_are_kept():
    kept = []

    def exp(out, a):
        REFERENCE["exp"](out, a)
        kept.extend(object() for _ in range(10))

    rejects(r"exp: 40 calls left \d+ blocks of Python's memory", "leaks", "exp", exp)


def test_objects_that_others_free_meanwhile_hide_no_leak():
    calls, made = [], [object() for _ in range(1000)]

    def exp(out, a):
        REFERENCE["exp"](out, a)
        calls.extend(object() for _ in range(10))
        if len(calls) == 25 * process.REPETITIONS:  # the first round that counts
            made.clear()

    rejects(r"exp: 40 calls left \d+ blocks of Python's memory", "leaks", "exp", exp)


def test_a_collection_hides_no_leak():
    kept = []

    def exp(out, a):
        REFERENCE["exp"](out, a)
        kept.extend(object() for _ in range(10))
        if len(kept) == 25 * process.REPETITIONS:  # in the first round that counts
            gc.set_threshold(1)

    threshold = gc.get_threshold()
    gc.set_threshold(1_000_000)
    try:
        for _ in range(1000):
            ring = []
            ring.append(ring)  # freed by a collection only
        rejects(r"exp: 40 calls left \d+ blocks of Python's", "leaks", "exp", exp)
    finally:
        gc.set_threshold(*threshold)
    assert gc.isenabled()


def test_objects_that_others_make_meanwhile_are_no_leak():
    calls, made = [None] * 400, []

    def exp(out, a):
        REFERENCE["exp"](out, a)
        calls.pop()
        if len(calls) == 400 - 2.5 * process.REPETITIONS:  # the round that counts
            made.extend(object() for _ in range(2 * process.SOME))

    run("leaks", "exp", exp)
    assert made
    assert len(calls) <= 400 - 5 * process.REPETITIONS  # it was counted again


def test_blocks_of_the_allocator_are_kept():
    class Allocator:
        in_use = 0

        def stats(self):
            return {"in_use": Allocator.in_use, "blocks": 7}

    def exp(out, a):
        REFERENCE["exp"](out, a)
        Allocator.in_use += 64

    rejects(r"40 calls moved the allocator's counter `in_use` by \+2560", "leaks",
            "exp", exp, allocator=Allocator)  # fmt: skip


def test_scratch_that_a_thread_takes_late_is_no_leak():
    class Allocator:
        calls = 0

        def stats(self):
            return {"in_use": 64 * (Allocator.calls > process.REPETITIONS)}

    def exp(out, a):
        REFERENCE["exp"](out, a)
        Allocator.calls += 1

    run("leaks", "exp", exp, allocator=Allocator)
    assert Allocator.calls > 2 * process.REPETITIONS


# ---- native memory -------------------------------------------------------------------


def libc():
    """Return the C library, its functions typed."""
    library = ctypes.CDLL(None)
    library.malloc.argtypes, library.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3,
                             ctypes.c_long]  # fmt: skip
    library.mmap.restype = ctypes.c_void_p
    return library


def forgets_malloc(size):
    library = libc()
    return lambda: library.malloc(size)


def forgets_pages(size):
    library, private = libc(), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return lambda: library.mmap(None, size, mmap.PROT_READ, private, -1, 0)


linux = pytest.mark.skipif(sys.platform != "linux", reason="measured in /proc")
glibc = pytest.mark.skipif(native_memory._mallinfo is None, reason="glibc counts bytes")


@linux
@pytest.mark.parametrize(
    ("forget", "size", "measure"),
    [
        pytest.param(forgets_malloc, 16, "malloc", marks=glibc),
        pytest.param(forgets_malloc, 1 << 20, "malloc", marks=glibc),
        # malloc may take it from memory that the process has mapped already
        (forgets_malloc, 1 << 20, "mapped|resident"),
        (forgets_pages, 1 << 16, "mapped"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_native_memory_is_kept(forget, size, measure, monkeypatch):
    if measure != "malloc":  # as where the C library counts nothing
        monkeypatch.setattr(native_memory, "_mallinfo", None)
    forget = forget(size)

    def exp(out, a):
        REFERENCE["exp"](out, a)
        forget()

    match = (
        rf"exp: 40 calls left \d+ bytes of native memory \(({measure})\), in each of 4"
    )
    rejects(match, "leaks", "exp", exp)


@linux
def test_native_memory_that_is_kept_for_the_next_call_is_no_leak():
    forget, calls = forgets_malloc(1 << 20), []

    def exp(out, a):
        REFERENCE["exp"](out, a)
        calls.append(None)
        if len(calls) % (3 * process.REPETITIONS) == 0:  # a thread takes its scratch
            forget()

    run("leaks", "exp", exp)

# SPDX-License-Identifier: MIT
"""The conformance kit rejects kernels that are wrong, each in its own way."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernel_table import TABLE, load

from autocalc.errors import KernelDataError
from autocalc.kernels import use
from autocalc.plugin import KernelImpl, KernelSet
from autocalc.testing.conformance import CHECKS, Inapplicable, Subject, _checks, applies

pytestmark = pytest.mark.core

REFERENCE = load()
F4 = np.dtype("f4")


def subject(kernel, function, supports=None, **more):
    kernels = {kernel: KernelImpl(function, supports=supports)}
    more.setdefault("determinism", "threads")
    return Subject(KernelSet("faulty", "faulty", load=dict, **more), kernels)


def run(kernel, function, check, dtype=F4, **more):
    CHECKS[check](subject(kernel, function, **more), TABLE[kernel], dtype)


def rejects(match, kernel, function, check="values", **more):
    run(kernel, REFERENCE[kernel], check, dtype=more.get("dtype", F4))
    with pytest.raises(AssertionError, match=match):
        run(kernel, function, check, **more)


def test_values_off_by_some_ulp():
    def exp(out, a):
        with np.errstate(all="ignore"):
            out[...] = np.exp(a.astype("f8")) * (1 + 3e-7)

    rejects(r"exp on .*`out`\[\d+\] is .* expected .* ULP\), allowed", "exp", exp)


def test_elements_not_written():
    def add(out, a, b):
        flat = out.reshape(-1)
        n = flat.size // 4 * 4  # no tail
        flat[:n] = (a + b).reshape(-1)[:n]

    rejects("add on 'n=1': `out`.*nan", "add", add)


def test_integers_not_written():
    def add(out, a, b):
        out.reshape(-1)[1:] = (a + b).reshape(-1)[1:]

    rejects("add on 'n=1': `out`", "add", add, dtype=np.dtype("i4"))


def test_writing_past_the_end():
    def neg(out, a):
        REFERENCE["neg"](out, a)
        if out.size and out.ndim == 1:
            np.lib.stride_tricks.as_strided(out, (out.size + 1,))[-1] = 0

    rejects("the kernel wrote outside its operands", "neg", neg)


def test_a_gradient_that_is_a_little_off():
    def gelu_backward(out, g, a, approximate):
        REFERENCE["gelu_backward"](out, g, a, approximate)
        out *= 1 + 1e-3

    match = r"gelu_backward on 'n=1, none': .* \(kernel set faulty, operands 1 1\)"
    rejects(match, "gelu_backward", gelu_backward)


def test_kernel_set_and_shapes_are_named():
    def neg(out, a):
        REFERENCE["neg"](out, a)
        if a.shape == (3, 5):
            np.lib.stride_tricks.as_strided(out, (4, 5))[-1, 0] = 0

    match = r"neg on .*outside its operands \(kernel set faulty, operands 3x5\)"
    rejects(match, "neg", neg)


def test_writing_between_the_elements_of_an_operand():
    def axpy(y, alpha, x):
        REFERENCE["axpy"](y, alpha, x)
        if y.size and not y.flags.c_contiguous:
            np.lib.stride_tricks.as_strided(y, (2,), (y.itemsize,))[1] = 0

    match = "axpy on .*: the kernel wrote between the elements of an operand"
    rejects(match, "axpy", axpy, "layouts")


def test_changed_inputs():
    def mul(out, a, b):
        REFERENCE["mul"](out, a, b)
        if a.flags.writeable and a.size:
            a.reshape(-1)[0] = 3

    rejects("the input `a` changed during the call", "mul", mul)


def test_a_result_that_is_returned():
    def neg(out, a):
        REFERENCE["neg"](out, a)
        return out

    match = r"neg on .*: the kernel returned ndarray .*; it must write into its outputs"
    rejects(match, "neg", neg)


def test_strides_ignored():
    def neg(out, a):
        flat = np.lib.stride_tricks.as_strided(a, (a.size,), (a.itemsize,))
        out[...] = -flat.reshape(a.shape)

    rejects("neg on .*layouts=", "neg", neg, "layouts")


def test_nan_lost():
    def maximum(out, a, b):
        out[...] = np.fmax(a, b)

    rejects(r"maximum on 'special'.*expected nan", "maximum", maximum)


def test_subnormals_flushed():
    def mul(out, a, b):
        REFERENCE["mul"](out, a, b)
        out[np.abs(out) < np.finfo("f4").tiny] = 0

    rejects("mul on 'special'.*off by", "mul", mul)


def test_sign_of_zero_lost():
    def neg(out, a):
        out[...] = 0 - a

    rejects("neg on 'special'.*expected -0.0", "neg", neg)


def test_booleans_that_are_not_0_or_1():
    def compare(out, a, b, op):
        REFERENCE["compare"](out, a, b, op)
        out.view(np.uint8)[...] *= 255

    rejects("` holds bytes that are not booleans; they must be", "compare", compare)


def test_an_output_that_must_not_be_wanted():
    def var(out, mean, a, *attributes):
        mean[...] = 0
        REFERENCE["var"](out, mean, a, *attributes)

    with pytest.raises(AssertionError, match=r"the kernel raised TypeError: 'NoneType"):
        run("var", var, "absent-outputs")


def test_accumulation_ignored():
    def gemm(out, pre, *rest):
        REFERENCE["gemm"](out, pre, *rest[:-1], 0)

    rejects("gemm on .*accumulate=1", "gemm", gemm, "accumulation")


def test_aliasing_not_supported():
    def tanh_backward(out, g, y):
        out[...] = 1 - y * y
        out *= g

    rejects("alias=g", "tanh_backward", tanh_backward, "aliasing")


def test_bits_that_differ_between_threads():
    threads = [1]

    def sum_(out, a, axes, keepdim):
        REFERENCE["sum"](out, a, axes, keepdim)
        out *= 1 + 2**-22 * (threads[0] == 3)

    match = r"promises .*'threads', but bits differ between 1 and 3 threads"
    with pytest.raises(AssertionError, match=match):
        run("sum", sum_, "determinism",
            set_num_threads=lambda n: threads.__setitem__(0, n))  # fmt: skip


def test_bits_that_differ_between_runs():
    count = iter(range(10**9))

    def sum_(out, a, axes, keepdim):
        REFERENCE["sum"](out, a, axes, keepdim)
        out *= 1 + 2**-22 * (next(count) % 2)

    match = (
        "determinism of the level 'run', but bits differ between two runs that are the"
    )
    with pytest.raises(AssertionError, match=match):
        run("sum", sum_, "determinism", determinism="run")
    match = "between two runs that are the same, each with 1 threads"
    with pytest.raises(AssertionError, match=match):  # and threads are not blamed
        run("sum", sum_, "determinism", set_num_threads=lambda _: None)


def test_bad_indices_accepted():
    def embedding(out, weight, indices):
        out[...] = weight[np.clip(indices, 0, len(weight) - 1)]

    rejects(": the kernel accepted it; it", "embedding", embedding, "bad-indices")


def test_bad_indices_misnamed():
    def embedding(out, weight, indices):
        raise KernelDataError("embedding: something is wrong")

    rejects("embedding: something is", "embedding", embedding, "bad-indices")


def test_what_is_refused_is_not_a_failure():
    def supports(key):
        return "no such dtype" if key.dtypes[0] == np.float64 else None

    given = subject("exp", REFERENCE["exp"], supports)
    CHECKS["values"](given, TABLE["exp"], F4)
    with pytest.raises(Inapplicable, match="refused: no such dtype"):
        CHECKS["values"](given, TABLE["exp"], np.dtype("f8"))
    assert given.refusals["exp"]["no such dtype"] > 20
    assert given.calls["exp"] > 20


def test_the_dispatch_check_sees_another_set(monkeypatch):
    """The set under test is chosen, and yet another one ran the call."""
    named = Subject.named("reference")
    CHECKS["dispatch"](named, TABLE["relu"], F4)
    monkeypatch.setattr(_checks, "use", lambda name, only: use("reference"))
    monkeypatch.setattr(Subject, "name", "mine")
    with pytest.raises(AssertionError, match=": the set was chosen through"):
        CHECKS["dispatch"](named, TABLE["relu"], F4)
    assert not applies("dispatch", named, TABLE["relu"])

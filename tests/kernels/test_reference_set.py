# SPDX-License-Identifier: MIT
"""The reference as a kernel set: how a reference becomes a kernel."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.kernel_table import TABLE, adapter, autocalc_kernel_sets, load, xp
from tests.oracle import HAS_WIDER

from autocalc.errors import KernelDataError

pytestmark = pytest.mark.core

KERNELS = load()


def test_the_set_is_complete_and_last():
    (reference,) = autocalc_kernel_sets()
    assert (reference.name, reference.family, reference.rank) == (
        "reference",
        "reference",
        0,
    )
    assert set(reference.load()) == set(TABLE)


def test_nothing_warns():
    """Overflow and NaN are values here, not events."""
    out = np.empty(3, "f4")
    KERNELS["exp"](out, np.array([1e4, np.nan, -1e4], "f4"))
    assert out[0] == np.inf
    KERNELS["div"](out, np.zeros(3, "f4"), np.zeros(3, "f4"))
    assert np.isnan(out).all()


def test_copy_casts():
    out = np.empty(3, np.int32)
    KERNELS["copy"](out, np.array([1.9, -1.9, 0.0], "f4"))
    assert out.tolist() == [1, -1, 0]
    out = np.empty(3, bool)
    KERNELS["copy"](out, np.array([0.5, 0.0, np.nan], "f4"))
    assert out.tolist() == [True, False, True]


def test_optional_outputs_are_left_out():
    a = np.arange(6, dtype="f4").reshape(2, 3)
    out = np.empty(2, "f4")
    KERNELS["var"](out, None, a, (1,), False, 1.0)
    assert out.tolist() == [1.0, 1.0]


def test_accumulation_with_beta():
    a, b = np.ones((2, 3), "f4"), np.ones((3, 2), "f4")
    out, pre = np.full((2, 2), 10, "f4"), np.empty((2, 2), "f4")
    KERNELS["gemm"](out, pre, a, b, None, 1.0, -0.5, "relu", 1)
    assert out.tolist() == [[0, 0], [0, 0]]
    assert pre.tolist() == [[-2, -2], [-2, -2]]
    out = np.full((2, 2), np.nan, "f4")
    KERNELS["gemm"](out, None, a, b, None, 1.0, -0.5, "relu", 0)
    assert out.tolist() == [[3, 3], [3, 3]]


def test_linear_backward_adds_only_where_asked():
    g, x, weight = np.ones((4, 2)), np.ones((4, 3)), np.ones((2, 3))
    outs = [np.full(s, 100.0) for s in ((4, 3), (2, 3), (2,))]
    KERNELS["linear_backward"](*outs, g, x, weight, 0b100)
    assert [out.max() for out in outs] == [2, 4, 104]


def test_in_place_updates_read_before_they_write():
    p, b = [np.array([1.0, 2.0])], [np.array([3.0, 4.0])]
    g = [np.array([10.0, 20.0])]
    lr, step = np.array(0.5), np.array(2)
    KERNELS["sgd"](p, b, g, lr, step, 0.5, 0.0, 0.0, False, False)
    assert b[0].tolist() == [11.5, 22.0]
    assert p[0].tolist() == [1 - 5.75, 2 - 11.0]


def test_the_first_step_of_sgd_does_not_read_the_buffer():
    p, b, g = [np.ones(1)], [np.array([np.nan])], [np.ones(1)]
    KERNELS["sgd"](p, b, g, np.array(1.0), np.array(1), 0.9, 0.5, 0.0, False, False)
    assert p[0].tolist() == [0.0]
    assert b[0].tolist() == [1.0]


def test_gelu_of_large_values_has_a_gradient():
    """Their squares overflow: 0 * infinity would be NaN."""
    for dtype, large in (("f4", 1e30), ("f8", 1e200)):
        a = np.array([large, -large], dtype)
        for approximate in ("none", "tanh"):
            out = np.empty(2, dtype)
            KERNELS["gelu_backward"](out, np.ones(2, dtype), a, approximate)
            assert out.tolist() == [1, 0]


@pytest.mark.skipif(not HAS_WIDER, reason="float64 is the widest format here")
def test_sigmoid_of_float64_is_rounded_once():
    a = np.random.default_rng(0).uniform(-40, 0, 100_000)
    out, wide = np.empty_like(a), a.astype(np.longdouble)
    KERNELS["sigmoid"](out, a)
    expected = np.exp(wide) / (1 + np.exp(wide))
    error = np.abs(out - expected) / np.spacing(out)
    assert error.max() < 0.51


def test_both_tails_of_softplus():
    a = np.array([-80.0, 80.0], "f4")
    out = np.empty(2, "f4")
    KERNELS["softplus"](out, a, 1.0, 1e4)
    np.testing.assert_allclose(out, [np.exp(-80.0), 80.0], rtol=2e-7)


def test_centered_rmsprop_has_no_root_of_a_negative_number():
    """v - m**2 is 0 for a constant gradient, and a rounding may make it negative."""
    g, v, m = (np.full(1, value, "f4") for value in (0.1, 0.01, 0.1))
    p, lr = np.zeros(1, "f4"), np.array(0.1, "f4")
    assert v - m * m < 0
    options = (0.99, 1e-8, 0.0, 0.0, True, False)
    KERNELS["rmsprop"]([p], [v], [], [m], [g], lr, *options)
    assert np.isfinite(p).all()


def test_the_norm_of_large_gradients_does_not_overflow():
    norm = np.empty((), "f4")
    KERNELS["grad_norm"](norm, [np.full(3, 1e30, "f4"), np.full((1, 1), 1e30, "f4")])
    assert norm == pytest.approx(2e30)


def test_scaling_is_in_place():
    arrays = [np.ones(2), np.full((), 3.0)]
    KERNELS["scale"](arrays, np.array(0.5))
    assert [a.tolist() for a in arrays] == [[0.5, 0.5], 1.5]


def test_integer_powers():
    a = np.array([2, -1, -1, 1, 3, 0], np.int64)
    b = np.array([-1, -2, -3, -5, 4, 0], np.int64)
    out = np.empty_like(a)
    KERNELS["pow"](out, a, b)
    assert out.tolist() == [0, 1, -1, 1, 81, 1]


@pytest.mark.parametrize("value", [-1, 3, 2**40])
def test_indices_out_of_range_are_named(value):
    index = np.array([[0, 1], [value, 1]], np.int64)
    a, out = np.ones((3, 2), "f4"), np.empty((2, 2), "f4")
    match = f"gather: `index` holds {value} at element 2, which is out of range"
    with pytest.raises(KernelDataError, match=match):
        KERNELS["gather"](out, a, index, 0)


def test_ignored_labels_may_be_anything():
    logits = np.zeros((2, 3), "f4")
    loss = np.empty((), "f4")
    target = np.array([99, 1], np.int64)
    KERNELS["cross_entropy"](loss, None, logits, target, None, "mean", 99, 0.0)
    assert loss == pytest.approx(np.log(3))
    with pytest.raises(KernelDataError, match="`target` holds 99 at element 0"):
        KERNELS["cross_entropy"](loss, None, logits, target, None, "mean", -100, 0.0)


# ---- the adapter ---------------------------------------------------------------------


def test_a_reference_of_one_ufunc_is_told_from_the_others():
    assert adapter._sole_ufunc(TABLE["add"]) == (np.add, False)
    assert adapter._sole_ufunc(TABLE["sqrt"]) == (np.sqrt, False)
    assert adapter._sole_ufunc(TABLE["exp"]) == (np.exp, True)
    assert adapter._sole_ufunc(TABLE["hypot"]) == (np.hypot, True)
    for more in ("sigmoid", "clamp", "compare", "sum", "erf", "pow"):
        assert adapter._sole_ufunc(TABLE[more])[0] is None


def test_a_reference_of_one_ufunc_for_each_word_is_told_too():
    found = adapter._chosen_ufuncs(TABLE["compare"])
    assert found["lt"] is np.less
    assert found["eq"] is np.equal
    assert adapter._chosen_ufuncs(TABLE["round"])["even"] is np.rint
    for other in ("gelu", "add", "softmax", "cumargmax"):
        assert adapter._chosen_ufuncs(TABLE[other]) is None
    a, out = np.array([1.5, np.nan, -0.5], "f4"), np.empty(3, "f8")
    adapter.adapt(TABLE["round"])(out, a, "floor")
    assert str(out.tolist()) == "[1.0, nan, -1.0]"
    less = np.empty(3, "i4")  # no bool: a copy of the result
    adapter.adapt(TABLE["compare"])(less, a, a[::-1], "gt")
    assert less.tolist() == [1, 0, 0]


@pytest.mark.parametrize("name", ["exp", "log1p", "hypot", "logaddexp"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_ufunc_in_float64_gives_what_the_reference_does(name, dtype):
    spec = TABLE[name]
    a = np.array([0.1, -3.0, np.nan, 1e38, np.inf, 0.7], dtype)
    operands = (a, a[::-1])[: len(spec.inputs)]
    out = np.empty(6, dtype)
    adapter.adapt(spec)(out, *operands)
    expected = adapter.quietly(spec.reference, xp, *operands)
    assert out.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["f4", "i8", "?", "u1"])
def test_one_ufunc_writes_what_a_copy_of_its_result_holds(dtype):
    a, b = (np.array(x).astype(dtype) for x in ([1, 0, 3], [1, 1, 250]))
    for out_type in ("f4", "f8", "i4", "?"):
        out, expected = np.empty(3, out_type), np.empty(3, out_type)
        adapter.adapt(TABLE["add"])(out, a, b)
        np.copyto(expected, np.add(a, b), casting="unsafe")
        assert out.tolist() == expected.tolist()


def test_references_neither_warn_nor_change_how_numpy_does():
    zero, out = np.zeros(2, "f4"), np.empty(2, "f4")
    with np.errstate(all="raise"):
        before = np.geterr()
        adapter.adapt(TABLE["div"])(out, zero, zero)
        adapter.adapt(TABLE["log"])(out, zero)
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            np.true_divide(zero, zero)
    assert out.tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("version", [np.__version__, "1.26.4"])
def test_numpy_is_silenced_in_every_version(version, monkeypatch):
    monkeypatch.setattr(np, "__version__", version)
    silence, restore = adapter._silencer()
    with np.errstate(all="raise", under="warn"):
        before = np.geterr()
        state = silence()
        assert np.log(np.zeros(2)).tolist() == [-np.inf, -np.inf]
        restore(state)
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(2))


def test_errors_of_references_leave_numpy_as_it_was():
    gather, out = adapter.adapt(TABLE["gather"]), np.empty(1, "f4")
    with np.errstate(all="raise"):
        before = np.geterr()
        with pytest.raises(KernelDataError):
            gather(out, np.zeros(3, "f4"), np.array([7]), 0)
        assert np.geterr() == before


def test_what_a_kernel_returns_is_what_it_writes():
    a = np.array([[0.5, np.nan], [-1.0, 3.0]], "f4")
    for name, *more in (("mul", a), ("exp",), ("compare", a, "le"), ("sigmoid",)):
        kernel = adapter.adapt(TABLE[name])
        dtype = "?" if name == "compare" else "f4"
        out = np.empty((2, 2), dtype)
        kernel(out, a, *more)
        found = adapter.quietly(kernel.fresh, a, *more)
        assert (found.dtype, found.tobytes()) == (out.dtype, out.tobytes())


def test_references_may_run_inside_one_another_and_in_threads():
    def outer():
        return adapter.quietly(np.log, np.zeros(2)).tolist()

    assert adapter.quietly(outer) == [-np.inf, -np.inf]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: outer(), range(32)))
    assert found == [[-np.inf, -np.inf]] * 32

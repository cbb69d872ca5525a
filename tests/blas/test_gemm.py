# SPDX-License-Identifier: MIT
"""Every layout of operands, against the product in float64."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from autocalc.plugin import DispatchKey
from autocalc_kernels_blas import _gemm, _routines
from autocalc_kernels_blas._layout import Layout, Loop
from autocalc_kernels_blas._routines import Product

SIZES = [(1, 1, 1), (4, 5, 6), (1, 7, 5), (7, 1, 5), (5, 6, 1), (33, 17, 40), (1, 1, 9)]
BATCHES = [
    ((), ()),
    ((3,), (3,)),
    ((3,), ()),
    ((), (3,)),
    ((2, 1), (1, 3)),
    ((2, 3), (3,)),
]
#: (bias, accumulate, alpha, beta)
SCALARS = [
    (False, 0, 1.0, 1.0),
    (True, 0, 0.5, 1.0),
    (False, 1, 1.0, 1.0),
    (True, 1, 2.0, 0.5),
    (False, 1, 1.0, 0.0),
]
KINDS = ("rows", "columns", "padded", "padded columns", "stepped", "repeated")


def lay(x, kind):
    """Return the matrices of `x` with their elements lying as `kind` says."""
    *batch, rows, columns = x.shape
    if kind == "columns":
        return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    if kind == "padded":
        wide = np.full((*batch, rows + 1, columns + 3), np.nan, x.dtype)
        view = wide[..., 1:, 2 : columns + 2]
    elif kind == "padded columns":
        return lay(x.swapaxes(-1, -2), "padded").swapaxes(-1, -2)
    elif kind == "stepped":
        view = np.full((*batch, rows, columns * 2), np.nan, x.dtype)[..., ::2]
    elif kind == "repeated":
        return np.broadcast_to(x[..., :1, :], x.shape)
    else:
        return x
    view[...] = x
    return view


def expected(out, a, b, bias, alpha, beta, accumulate):
    """Return the product in float64 and the budget of each element's error."""
    a, b = (np.asarray(x, np.float64) for x in (a, b))
    value = alpha * (a @ b)
    bound = abs(alpha) * (abs(a) @ abs(b))
    if bias is not None:
        value, bound = value + bias, bound + abs(bias)
    if accumulate:
        before = beta * np.asarray(out, np.float64)
        value, bound = value + before, bound + abs(before)
    budget = (a.shape[-1] + 3) * np.finfo(out.dtype).eps * bound
    return value, budget


def check(gemm, out, a, b, bias=None, alpha=1.0, beta=1.0, accumulate=0):
    value, budget = expected(out, a, b, bias, alpha, beta, accumulate)
    if not accumulate:
        out[...] = np.nan  # it must not be read
    gemm(out, None, a, b, bias, alpha, beta, "none", accumulate)
    assert out.shape == value.shape
    assert np.all(abs(out - value) <= budget)


@pytest.mark.parametrize("batch", BATCHES, ids=str)
@pytest.mark.parametrize("kind_a", KINDS)
def test_every_layout_batch_and_scalar(gemm, batch, kind_a):
    rng = np.random.default_rng(0)
    kinds = itertools.product(KINDS, ("rows", "columns", "padded", "stepped"))
    # 5 cases of scalars and 3 of dtypes meet 168 of layouts and sizes in turn.
    cases, dtypes = itertools.cycle(SCALARS), itertools.cycle(["f4", "f4", "f8"])
    for (kind_b, kind_out), (m, n, k) in itertools.product(kinds, SIZES):
        dtype = next(dtypes)
        a = lay(rng.standard_normal((*batch[0], m, k)).astype(dtype), kind_a)
        b = lay(rng.standard_normal((*batch[1], k, n)).astype(dtype), kind_b)
        shape = (*np.broadcast_shapes(*batch), m, n)
        out = lay(rng.standard_normal(shape).astype(dtype), kind_out)
        with_bias, accumulate, alpha, beta = next(cases)
        bias = rng.standard_normal(n).astype(dtype) if with_bias else None
        check(gemm, out, a, b, bias, alpha, beta, accumulate)


@pytest.mark.parametrize(("with_bias", "accumulate", "alpha", "beta"), SCALARS)
def test_scalars_of_large_and_vector_products(gemm, with_bias, accumulate, alpha, beta):
    rng = np.random.default_rng(1)
    for m, n, k in [(300, 200, 250), (1, 300, 200), (300, 1, 200)]:
        a, b, out, bias = (
            rng.standard_normal(shape).astype(np.float32)
            for shape in ((m, k), (k, n), (m, n), (n,))
        )
        bias = bias if with_bias else None
        check(gemm, out, a, b, bias, alpha, beta, accumulate)


def test_a_call_of_a_known_kind_uses_the_new_operands(gemm):
    rng = np.random.default_rng(2)
    for _ in range(3):
        a, b = rng.standard_normal((2, 6, 6), np.float32)
        check(gemm, np.empty_like(a), a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [((0, 4), (4, 5)), ((3, 4), (4, 0)), ((0, 3, 4), (4, 5)), ((3, 0), (0, 5)),
     ((2, 3, 0), (0, 5)), ((0, 0), (0, 0))],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize(("with_bias", "accumulate", "alpha", "beta"), SCALARS)
def test_empty_operands(gemm, a, b, with_bias, accumulate, alpha, beta):
    left, right = np.zeros(a, np.float32), np.zeros(b, np.float32)
    out = np.ones((left @ right).shape, np.float32)
    bias = np.arange(b[-1], dtype=np.float32) if with_bias else None
    check(gemm, out, left, right, bias, alpha, beta, accumulate)


def test_sum_over_no_terms_scales_what_it_adds_to(gemm):
    out = np.full((2, 3), 4.0, np.float32)
    left, right = np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32)
    gemm(out, None, left, right, None, 1.0, 0.5, "none", 1)
    assert np.all(out == 2.0)


def test_nan_and_infinity_reach_the_result(gemm):
    a = np.ones((3, 4), np.float32)
    a[1, 2], a[2, 0] = np.nan, np.inf
    out = np.empty((3, 5), np.float32)
    gemm(out, None, a, np.ones((4, 5), np.float32), None, 1.0, 1.0, "none", 0)
    assert np.all(out[0] == 4)
    assert np.all(np.isnan(out[1]))
    assert np.all(np.isposinf(out[2]))


def test_unused_elements_between_rows_stay_as_they_are(gemm):
    frame = np.full((5, 9), 7.0, np.float32)
    check(gemm, frame[1:4, 2:6], np.ones((3, 2), "f4"), np.ones((2, 4), "f4"))
    frame[1:4, 2:6] = 7
    assert np.all(frame == 7)


def test_broadcast_batch_with_a_matrix_that_must_be_copied(gemm):
    rng = np.random.default_rng(3)
    stepped = rng.standard_normal((1, 6, 10), np.float32)[..., ::2]
    a = np.broadcast_to(stepped, (4, 6, 5))
    b = rng.standard_normal((4, 5, 3), np.float32)
    check(gemm, np.empty((4, 6, 3), np.float32), a, b)


def test_plans_do_not_grow_without_limit(gemm, monkeypatch):
    monkeypatch.setattr(_gemm, "MAX_PLANS", 5)
    for n in range(1, 20):
        ones = np.ones((n, n), np.float32)
        check(gemm, np.empty_like(ones), ones, ones)
        assert len(gemm._plans) <= 5 or n == 1
    gemm._plans.clear()


F4 = np.dtype(np.float32)


def key(dtype=F4, pre=None, alpha=1.0, activation="none", rows=3):
    dtypes = (dtype, pre, dtype, dtype, None)
    shapes = ((rows, 5), None, (rows, 4), (4, 5), None)
    strides = (None, None, (16, 4), (20, 4), None)
    attributes = (alpha, 1.0, activation, 0)
    return DispatchKey("gemm", dtypes, attributes, 0, shapes, strides)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"dtype": np.dtype(np.int32)}, "float32 and float64, not int32"),
        ({"pre": F4}, "one output, not `pre`"),
        ({"activation": "relu"}, "no activation relu"),
        ({"alpha": 0.0}, "when alpha is 0"),
        ({"rows": 2**31}, "exceeds BLAS's 32-bit integers"),
    ],
)
def test_what_blas_refuses(changes, reason):
    assert reason in _gemm.supports(key(**changes))


def test_what_blas_accepts():
    assert _gemm.supports(key()) is None
    assert _gemm.supports(key(dtype=np.dtype(np.float64))) is None
    assert _gemm.supports(DispatchKey("gemm", (F4, None, F4, F4, None))) is None


# ---- sizes beyond BLAS's integers ----------------------------------------------------


def test_a_batch_beyond_blas_s_integers_is_refused():
    batch = (2**16, 2**15)
    shapes = ((*batch, 3, 5), None, (*batch, 3, 4), (4, 5), None)
    call = key()._replace(shapes=shapes)
    assert "the batch exceeds BLAS's 32-bit integers" in _gemm.supports(call)


def test_rows_of_a_batch_beyond_blas_s_integers_are_not_put_together():
    """2^20 rows in each of 2^12 matrices: their number wraps to 0 in a C int."""
    rows, count, row = 2**20, 2**12, 4 * 8
    loop = Loop(count, a=rows * row, b=0, out=rows * row)
    lies = Layout(transposed=False, leading=8)
    product = Product(rows, 8, 8, 1.0, 0.0, lies, lies, lies, [loop])
    assert _gemm._with_rows_of_the_batch(product, 4) is product
    fewer = replace(product, loops=[loop._replace(size=2**10)])
    assert _gemm._with_rows_of_the_batch(fewer, 4).m == 2**30


def test_matrices_of_a_batch_with_too_many_rows_are_multiplied_one_by_one(
    library, monkeypatch
):
    """With a limit of 20, all 24 rows of 4 matrices do not fit; 3 matrices' do."""
    monkeypatch.setattr(_gemm, "MAX_INTEGER", 20)
    monkeypatch.setattr(_routines, "MAX_INTEGER", 20)
    gemm = _gemm.Gemm(library[0].blas.library)
    rng = np.random.default_rng(4)
    for count in (3, 4):
        a = rng.standard_normal((count, 6, 5), np.float32)
        b = rng.standard_normal((5, 7), np.float32)
        check(gemm, np.empty((count, 6, 7), np.float32), a, b)


def test_an_integer_that_does_not_fit_is_never_wrapped(library):
    routines = _routines.Routines(library[0].blas.library, "s")
    assert routines.to_integer(2**31 - 1).value == 2**31 - 1
    for value in (2**31, 2**32 + 1, -1):
        with pytest.raises(OverflowError, match=f"gemm: {value} does not fit BLAS's"):
            routines.to_integer(value)

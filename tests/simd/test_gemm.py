# SPDX-License-Identifier: MIT
"""gemm, linear and linear_backward against float64, over shapes, strides and edges."""

import itertools
import math

import numpy as np
import pytest

DTYPES = [np.float32, np.float64]
LAYOUTS = {
    "rows": lambda rng, m, n: rng.standard_normal((m, n)),
    "columns": lambda rng, m, n: rng.standard_normal((n, m)).T,
    "gaps": lambda rng, m, n: rng.standard_normal((2 * m, 3 * n))[::2, ::3],
    "4KiB": lambda rng, m, n: rng.standard_normal((m, 1024))[:, :n],
}
# Around the tiles of every instruction set, and on each path.
SMALL = list(
    itertools.product((1, 5, 7, 15, 25), (1, 3, 16, 17, 65, 130), (0, 1, 33, 70))
)
LARGE = [
    (64, 300, 300),
    (31, 257, 1030),
    (300, 40, 2100),
    (9, 500, 1100),
    (200, 64, 64),
    (1, 2100, 300),
    (1, 1100, 530),
]


def draw(rng, layout, m, n, dtype):
    array = LAYOUTS[layout](rng, m, n)
    return np.require(array, dtype) if layout == "gaps" else array.astype(dtype, "K")


def assert_close(out, expected, magnitude, k, where="it"):
    """Componentwise: |error| <= (k + 8) eps (|a| |b| + ...)."""
    error = np.abs(out.astype(np.float64) - expected)
    bound = (k + 8) * np.finfo(out.dtype).eps / 2 * magnitude + 1e-30
    worst = np.max(error / bound, initial=0)
    assert worst <= 1, f"{where}: error is {worst:.2f} times the bound"


def product(kernels, out, a, b, **options):
    given = {"pre": None, "bias": None, "alpha": 1.0, "beta": 0.0} | options
    kernels["gemm"](
        out,
        given["pre"],
        a,
        b,
        given["bias"],
        given["alpha"],
        given["beta"],
        given.get("activation", "none"),
        given.get("accumulate", 0),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("a_layout", LAYOUTS)
@pytest.mark.parametrize("b_layout", LAYOUTS)
def test_shapes_and_strides(tables, rng, dtype, a_layout, b_layout):
    for m, n, k in SMALL + LARGE:
        if (a_layout == "4KiB" and k > 1024) or (b_layout == "4KiB" and n > 1024):
            continue
        a = draw(rng, a_layout, m, k, dtype)
        b = draw(rng, b_layout, k, n, dtype)
        expected = a.astype(np.float64) @ b.astype(np.float64)
        magnitude = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
        for isa, kernels in tables.items():
            guarded = np.full(m * n + 40, 7, dtype)
            out = guarded[20:-20].reshape(m, n)
            out[...] = np.nan  # not read: beta is 0
            product(kernels, out, a, b)
            assert_close(out, expected, magnitude, k, isa)
            assert (guarded[:20] == 7).all(), isa
            assert (guarded[-20:] == 7).all(), isa


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_epilogue(kernels, rng, dtype, layout):
    for m, n, k in [*SMALL[::3], *LARGE]:
        a = draw(rng, "rows", m, k, dtype)
        b = draw(rng, layout, k, n, dtype)
        bias = rng.standard_normal(n).astype(dtype)
        out = rng.standard_normal((m, n)).astype(dtype)
        pre = np.empty_like(out)
        wide = a.astype(np.float64), b.astype(np.float64), out.astype(np.float64)
        expected = 0.5 * wide[0] @ wide[1] + bias + 2 * wide[2]
        magnitude = 0.5 * abs(wide[0]) @ abs(wide[1]) + abs(bias) + 2 * abs(wide[2])
        options = {"alpha": 0.5, "beta": 2.0, "activation": "relu", "accumulate": 1}
        product(kernels, out, a, b, bias=bias, pre=pre, **options)
        assert_close(pre, expected, magnitude, k + 4)
        np.testing.assert_array_equal(out, np.maximum(pre, 0))


def test_a_bias_may_have_gaps(kernels, rng):
    a, b = rng.standard_normal((4, 5)), rng.standard_normal((5, 6))
    bias = rng.standard_normal(12)[::2]
    out = np.empty((4, 6))
    product(kernels, out, a, b, bias=bias)
    np.testing.assert_allclose(out, a @ b + bias)


@pytest.mark.parametrize(
    ("a_shape", "b_shape"),
    [
        ((3, 4, 5, 6), (6, 7)),
        ((3, 1, 5, 6), (1, 4, 6, 7)),
        ((2, 9, 40), (2, 40, 17)),
        ((4, 1, 17), (17, 40)),
        ((5, 1, 1, 8), (8, 1)),
        ((40, 16, 16), (40, 16, 16)),
        ((0, 3, 4), (0, 4, 5)),
        ((2, 3, 0), (2, 0, 5)),
        ((2, 0, 3), (2, 3, 5)),
    ],
)
def test_batches(kernels, rng, a_shape, b_shape):
    a = rng.standard_normal(a_shape)
    b = rng.standard_normal(b_shape)
    expected = np.matmul(a, b)
    out = np.full(expected.shape, np.nan)
    product(kernels, out, a, b)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def test_heads_need_no_copies(kernels, rng):
    """Attention: [batch, sequence, head, width] with the heads as batch."""
    q, k = rng.standard_normal((2, 2, 10, 4, 8))
    q, k = q.transpose(0, 2, 1, 3), k.transpose(0, 2, 3, 1)
    out = np.empty((2, 4, 10, 10))
    product(kernels, out, q, k)
    np.testing.assert_allclose(out, q @ k, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("m", "n", "k", "layouts"),
    [
        (257, 190, 310, ("rows", "rows")),
        (64, 600, 300, ("rows", "columns")),
        (300, 500, 64, ("columns", "rows")),
        (513, 7, 700, ("rows", "columns")),
        (12, 500, 400, ("rows", "columns")),
        (7, 900, 700, ("rows", "rows")),
        (150, 150, 2100, ("rows", "columns")),
        (1, 5000, 300, ("rows", "rows")),
    ],
)
def test_same_bits_for_any_number_of_threads(
    kernels, set_threads, rng, dtype, m, n, k, layouts
):
    a = draw(rng, layouts[0], m, k, dtype)
    b = draw(rng, layouts[1], k, n, dtype)
    results = []
    for threads in (1, 2, 3, 7):
        set_threads(threads)
        out = np.empty((m, n), dtype)
        product(kernels, out, a, b)
        results.append(out.tobytes())
    assert len(set(results)) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("m", "n", "k"), [(300, 96, 80), (20, 500, 300), (1, 3000, 90)]
)
def test_the_place_of_b_in_memory_changes_no_bit(kernels, rng, dtype, m, n, k):
    """Registers that span two cache lines are packed first; the sums stay the same."""
    a = rng.standard_normal((m, k)).astype(dtype)
    b = rng.standard_normal((k, n)).astype(dtype)
    room = np.empty(b.nbytes + 128, np.uint8)
    results = set()
    for offset in (0, 8, 32):
        start = -room.ctypes.data % 64 + offset
        moved = room[start : start + b.nbytes].view(dtype).reshape(k, n)
        moved[...] = b
        out = np.empty((m, n), dtype)
        product(kernels, out, a, moved)
        results.add(out.tobytes())
    assert len(results) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 4, 12, 40])
def test_equal_columns_give_equal_results(kernels, rng, dtype, rows):
    """At any place of a column in a tile, its sum has the same tree."""
    x = rng.standard_normal((rows, 131)).astype(dtype)
    weight = np.tile(rng.standard_normal(131).astype(dtype), (23, 1))
    out = np.empty((rows, 23), dtype)
    product(kernels, out, x, weight.T)
    assert (out == out[:, :1]).all()


def test_an_infinity_or_nan_stays_in_its_row(kernels, rng):
    a, b = rng.standard_normal((20, 37)), rng.standard_normal((37, 19))
    a[3, 5] = np.nan
    out = np.empty((20, 19))
    product(kernels, out, a, b)
    assert np.isnan(out[3]).all()
    assert np.isfinite(np.delete(out, 3, axis=0)).all()
    product(kernels, out, a, b, activation="relu")
    assert np.isnan(out[3]).all()


def gelu(z):
    return 0.5 * z * (1 + np.vectorize(math.erf, otypes=[float])(z / math.sqrt(2)))


def gelu_tanh(z):
    return 0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


ACTIVATIONS = {
    "none": lambda z: z,
    "relu": lambda z: np.maximum(z, 0),
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
}
LEADING = [(), (1,), (7,), (4, 5), (3, 0), (2, 70)]
WIDTHS = [(5, 3), (64, 70), (33, 1), (1, 9), (300, 40)]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("lead", LEADING)
def test_linear(kernels, rng, lead, activation):
    for inputs, outputs in WIDTHS:
        x = rng.standard_normal((*lead, inputs))
        weight = rng.standard_normal((outputs, inputs))
        bias = rng.standard_normal(outputs)
        z = x @ weight.T + bias
        out, pre = np.empty_like(z), np.empty_like(z)
        kernels["linear"](out, pre, x, weight, bias, activation)
        np.testing.assert_allclose(pre, z, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            out, ACTIVATIONS[activation](z), rtol=1e-12, atol=1e-12
        )
        kernels["linear"](out, None, x, weight, None, activation)
        np.testing.assert_allclose(
            out, ACTIVATIONS[activation](x @ weight.T), rtol=1e-12, atol=1e-12
        )


def test_linear_of_dims_that_do_not_merge(kernels, rng):
    x = rng.standard_normal((5, 4, 6)).transpose(1, 0, 2)
    weight = rng.standard_normal((3, 6))
    out = np.empty((4, 5, 3))
    kernels["linear"](out, None, x, weight, None, "none")
    np.testing.assert_allclose(out, x @ weight.T, rtol=1e-12)


@pytest.mark.parametrize("lead", LEADING)
def test_linear_backward(kernels, rng, lead):
    for inputs, outputs in WIDTHS:
        x = rng.standard_normal((*lead, inputs))
        g = rng.standard_normal((*lead, outputs))
        weight = rng.standard_normal((outputs, inputs))
        x2, g2 = x.reshape(-1, inputs), g.reshape(-1, outputs)
        expected = [g @ weight, g2.T @ x2, g2.sum(0)]
        results = [np.full_like(e, np.nan) for e in expected]
        kernels["linear_backward"](*results, g, x, weight, 0)
        for result, want in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, want, rtol=1e-12, atol=1e-11)
        kernels["linear_backward"](*results, g, x, weight, 0b101)
        factors = (2, 1, 2)
        for result, want, factor in zip(results, expected, factors, strict=True):
            np.testing.assert_allclose(result, factor * want, rtol=1e-12, atol=1e-11)


def test_linear_backward_leaves_out_what_nobody_wants(kernels, rng):
    x, g = rng.standard_normal((6, 4)), rng.standard_normal((6, 3))
    weight = np.empty((3, 4))
    kernels["linear_backward"](None, weight, None, g, x, None, 0)
    np.testing.assert_allclose(weight, g.T @ x)
    dx = np.empty((6, 4))
    kernels["linear_backward"](dx, None, None, g, None, weight, 0)
    np.testing.assert_allclose(dx, g @ weight)


def test_bias_gradients_of_many_rows(kernels, set_threads, rng):
    g = rng.standard_normal((5000, 37)).astype(np.float32)
    results = []
    for threads in (1, 2, 5):
        set_threads(threads)
        dbias = np.empty(37, np.float32)
        kernels["linear_backward"](None, None, dbias, g, None, None, 0)
        results.append(dbias.tobytes())
    assert len(set(results)) == 1
    np.testing.assert_allclose(dbias, g.sum(0, dtype=np.float64), atol=1e-3)

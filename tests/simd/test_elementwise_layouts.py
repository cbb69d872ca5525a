# SPDX-License-Identifier: MIT
"""Elementwise kernels over layouts that exercise sorting, merging and collecting."""

import itertools

import numpy as np
import pytest

import autocalc as ac

SHAPES = [(7,), (3, 5), (17, 33), (2, 3, 70), (4, 1, 6), (0, 3), (64, 3, 50), (600,)]
DTYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "?"]


def _values(rng, shape, dtype):
    x = rng.normal(size=shape) * 20
    kind = np.dtype(dtype).kind
    return (np.abs(x) if kind == "u" else x > 0 if kind == "b" else x).astype(dtype)


def _layouts(rng, shape, dtype):
    """The same shape as contiguous, transposed, strided and broadcast arrays."""
    every_second = tuple(slice(None, None, 2) for _ in shape)
    doubled = tuple(2 * n for n in shape)
    return [
        _values(rng, shape, dtype),
        _values(rng, shape[::-1], dtype).T,
        _values(rng, doubled, dtype)[every_second],
        np.broadcast_to(_values(rng, shape[-1:], dtype), shape),
        np.broadcast_to(_values(rng, (*shape[:-1], 1), dtype), shape),
        np.broadcast_to(_values(rng, (), dtype), shape),
    ]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "i8"])
@pytest.mark.parametrize(
    ("name", "reference"), [("add", np.add), ("sub", np.subtract), ("mul", np.multiply)]
)
def test_every_pair_of_layouts(kernels, rng, shape, dtype, name, reference):
    layouts = _layouts(rng, shape, dtype)
    out = np.empty(shape, dtype)
    for a, b in itertools.product(layouts, layouts):
        kernels[name](out, a, b)
        assert np.array_equal(out, reference(a, b))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("to", DTYPES)
def test_copy_casts_between_any_layouts(kernels, rng, shape, to):
    outputs = [
        np.empty(shape, to),
        np.empty(shape[::-1], to).T,
        np.empty(tuple(2 * n for n in shape), to)[
            tuple(slice(None, None, 2) for _ in shape)
        ],
    ]
    for dtype in DTYPES:
        for a in _layouts(rng, shape, dtype):
            for out in outputs:
                kernels["copy"](out, a)
                assert np.array_equal(out, a.astype(to))


@pytest.mark.parametrize(
    "shape", [(65, 130), (3, 40, 50), (40, 3, 50), (513, 31)], ids=str
)
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
def test_copy_transposes(kernels, rng, shape, dtype):
    a = _values(rng, shape, dtype)
    for axes in itertools.permutations(range(len(shape))):
        out = np.empty(a.transpose(axes).shape, dtype)
        kernels["copy"](out, a.transpose(axes))
        assert np.array_equal(out, a.transpose(axes))


def test_copy_writes_only_its_elements(kernels):
    whole = np.zeros((9, 40), np.float32)
    kernels["copy"](whole[1:8:2, 3:37:3], np.ones((4, 12), np.float32))
    expected = np.zeros_like(whole)
    expected[1:8:2, 3:37:3] = 1
    assert np.array_equal(whole, expected)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_output_may_be_an_input(kernels, rng, dtype):
    for shape in [(1000,), (33, 17)]:
        a, b = _values(rng, shape, dtype), _values(rng, shape, dtype)
        expected = a + b
        kernels["add"](a, a, b)
        assert np.array_equal(a, expected)
        expected = np.maximum(a.T, 0).T
        kernels["relu"](a.T, a.T)
        assert np.array_equal(a, expected)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_axpy_into_a_strided_output(kernels, rng, dtype):
    whole = _values(rng, (40, 60), dtype)
    expected, x = whole.copy(), _values(rng, (20, 30), dtype)
    expected[::2, ::2] += np.dtype(dtype).type(0.5) * x
    kernels["axpy"](whole[::2, ::2], np.array(0.5, dtype), x)
    assert np.allclose(whole, expected)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_nan_passes_through_extrema(kernels, dtype):
    a = np.array([np.nan, 1, np.nan, 2] * 9, dtype)
    b = np.array([1, np.nan, np.nan, 3] * 9, dtype)
    out = np.empty_like(a)
    for name in ("maximum", "minimum"):
        kernels[name](out, a, b)
        assert np.array_equal(np.isnan(out), np.isnan(a) | np.isnan(b))
    kernels["relu"](out, a)
    assert np.array_equal(np.isnan(out), np.isnan(a))
    kernels["clamp"](out, a, np.array(0, dtype), np.array(1, dtype))
    assert np.array_equal(np.isnan(out), np.isnan(a))


def test_integers_wrap_around(kernels):
    for dtype in ("i1", "i2", "i4", "i8"):
        info = np.iinfo(dtype)
        a = np.full(70, info.max, dtype)
        out, one = np.empty_like(a), np.ones((), dtype)
        kernels["add"](out, a, one)
        assert (out == info.min).all()
        kernels["mul"](out, a, a)
        assert (out == 1).all()
        kernels["neg"](out, out.copy() * 0 + info.min)
        assert (out == info.min).all()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("channels", [2, 3, 4, 5])
def test_pixels_of_few_channels(channels, dtype):
    """Planes become pixels and pixels planes, of any number, cut for threads or not."""
    rng = np.random.default_rng(channels)
    for n, size in ((1, (1, 1)), (2, (1, 9)), (3, (7, 13)), (2, (101, 103))):
        values = rng.integers(0, 200, (n, channels, *size)).astype(dtype)
        x = ac.tensor(values)
        last = x.contiguous(memory_format=ac.channels_last)
        assert last.is_contiguous(memory_format=ac.channels_last)
        assert last.numpy().tobytes() == values.tobytes()
        assert last.contiguous().numpy().tobytes() == values.tobytes()
        pixels = ac.tensor(np.ascontiguousarray(np.moveaxis(values, 1, -1)))
        assert pixels.permute(0, 3, 1, 2).contiguous().numpy().tobytes() == (
            values.tobytes()
        )
        some = pixels[:, ::2].permute(0, 3, 1, 2)
        np.testing.assert_array_equal(some.contiguous().numpy(), values[:, :, ::2])

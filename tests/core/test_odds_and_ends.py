# SPDX-License-Identifier: MIT
"""Small functions of PyTorch without relatives: values, gradients, what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError

pytestmark = pytest.mark.core

RNG = np.random.default_rng(0)


def double(values):
    return ac.tensor(values, dtype=ac.float64)


def test_the_next_number():
    x = ac.tensor([1.0, -1.0, 0.0, math.nan])
    found = ac.nextafter(x, ac.tensor(2.0)).numpy()
    one = np.nextafter(x.numpy(), np.float32(2.0))
    np.testing.assert_array_equal(found, one)
    assert found.dtype == np.float32
    values = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1.7976931348623157e308]
    values += [math.inf, -math.inf, math.nan, 1.5, -(2.0**-1030)]
    for dtype in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            line = np.array(values).astype(dtype)
        found = ac.nextafter(ac.tensor(line)[:, None], ac.tensor(line)).numpy()
        with np.errstate(all="ignore"):
            want = np.nextafter(line[:, None], line)
        np.testing.assert_array_equal(found, want)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(want))
    y = double([1.0])
    assert y.nextafter_(double([0.0])) is y
    assert y.item() == 1 - 2.0**-53
    with pytest.raises(GradError, match="nextafter: has no derivative"):
        ac.nextafter(y.requires_grad_(), y).sum().backward()
    with pytest.raises(DTypeError, match="nextafter: needs float32 or float64, not"):
        ac.nextafter(ac.ones(2, dtype=ac.bfloat16), ac.zeros(2, dtype=ac.bfloat16))


@pytest.mark.parametrize("scale", [0.0, 1e-3, 0.4, 3.0, 40.0])
def test_the_exponential_of_symmetric_matrices(scale):
    a = RNG.normal(size=(2, 4, 4)) * scale
    a = (a + a.swapaxes(1, 2)) / 2
    values, vectors = np.linalg.eigh(a)
    expected = (vectors * np.exp(values)[:, None]) @ vectors.swapaxes(1, 2)
    found = ac.matrix_exp(double(a)).numpy()
    np.testing.assert_allclose(found, expected, 1e-12, 1e-13 * np.abs(expected).max())


def test_the_exponential_of_other_matrices():
    turn = double([[0.0, 1.0], [-1.0, 0.0]])
    found = ac.linalg.matrix_exp(turn * 2).numpy()
    expected = [[math.cos(2), math.sin(2)], [-math.sin(2), math.cos(2)]]
    np.testing.assert_allclose(found, expected, 1e-14)
    assert ac.ones(0, 3, 3).matrix_exp().shape == (0, 3, 3)
    assert ac.matrix_exp(ac.zeros(2, 2)).dtype is ac.float32
    assert not ac.matrix_exp(ac.full((2, 2), math.inf)).isfinite().any()
    with pytest.raises(
        ShapeError, match=r"matrix_exp: `A` has shape \(2, 3\); it must"
    ):
        ac.matrix_exp(ac.ones(2, 3))


@pytest.mark.parametrize("p", [1, 2, 3.5, math.inf])
def test_slices_of_a_largest_norm(p):
    x = RNG.normal(size=(4, 3, 2))
    found = ac.renorm(double(x), p, 1, 1.5).numpy()
    for i in range(3):
        norm = np.linalg.norm(x[:, i].ravel(), p)
        scale = 1.5 / (norm + 1e-7) if norm > 1.5 else 1.0
        np.testing.assert_allclose(found[:, i], x[:, i] * scale, 1e-13)
    y = double(x)
    assert y.renorm_(p, -2, 1.5) is y
    np.testing.assert_array_equal(y.numpy(), found)


def test_slices_that_are_refused():
    with pytest.raises(ShapeError, match=r"renorm: `input` has shape \(3,\); it needs"):
        ac.renorm(ac.ones(3), 2, 0, 1.0)
    with pytest.raises(ArgumentError, match=r"renorm: `p`=0\.0 and `maxnorm`=1\.0;"):
        ac.renorm(ac.ones(3, 3), 0, 0, 1.0)


def test_the_median_of_numbers():
    x = double([[3.0, math.nan, 1.0, 2.0], [math.nan] * 4, [5.0, 4.0, 7.0, 6.0]])
    values, indices = ac.nanmedian(x, 1)
    np.testing.assert_array_equal(values.numpy(), [2.0, math.nan, 5.0])
    assert indices.tolist() == [3, 0, 0]
    assert ac.nanmedian(x).item() == 4.0
    assert x.nanmedian(dim=1, keepdim=True).values.shape == (3, 1)
    assert ac.nanmedian(ac.tensor([4, 2, 9])).item() == 4
    x.requires_grad_()
    x.nanmedian().backward()
    assert x.grad.sum().item() == x.grad[2, 1].item() == 1.0
    assert math.isnan(ac.nanmedian(ac.ones(0)).item())
    with pytest.raises(
        ShapeError, match=r"nanmedian: Expected reduction dim 0 to have"
    ):
        ac.nanmedian(ac.tensor([], dtype=ac.int64))


@pytest.mark.parametrize("shape", [(3, 3), (7, 3), (3, 7), (9, 2)])
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals_are_filled_as_numpy_does(shape, wrap):
    expected = np.zeros(shape)
    np.fill_diagonal(expected, 5, wrap=wrap)
    x = ac.zeros(shape, dtype=ac.float64)
    assert x.fill_diagonal_(5, wrap) is x
    np.testing.assert_array_equal(x.numpy(), expected)


def test_diagonals_of_more_dimensions_and_their_gradient():
    x = ac.zeros(3, 3, 3).fill_diagonal_(2)
    assert x.sum().item() == 6.0
    assert x[1, 1, 1].item() == 2.0
    x = ac.ones(2, 2, requires_grad=True)
    (x * 3).fill_diagonal_(7).sum().backward()
    assert x.grad.tolist() == [[0.0, 3.0], [3.0, 0.0]]
    with pytest.raises(
        ShapeError, match=r"fill_diagonal_: the tensor has shape \(2, 3"
    ):
        ac.zeros(2, 3, 2).fill_diagonal_(1)
    with pytest.raises(DTypeError, match="fill_diagonal_: `value` is float32, which"):
        ac.zeros(2, 2, dtype=ac.int64).fill_diagonal_(1.5)


def test_memory_of_a_buffer():
    memory = bytearray(range(16))
    x = ac.frombuffer(memory, dtype=ac.uint8, offset=4, count=3)
    assert x.tolist() == [4, 5, 6]
    memory[4] = 99
    assert x.tolist() == [99, 5, 6]
    y = ac.frombuffer(np.arange(3.0), dtype=ac.float64, requires_grad=True)
    assert y.requires_grad
    assert y.tolist() == [0.0, 1.0, 2.0]
    with pytest.warns(UserWarning, match="The given buffer is not writable"):
        z = ac.frombuffer(b"ab", dtype=ac.uint8)
    z[0] = 1  # a copy
    assert z.tolist() == [1, 98]


@pytest.mark.parametrize(
    ("buffer", "words", "error", "text"),
    [
        (3, {}, DTypeError, "is a int; this object does not implement Python buffer"),
        (bytearray(8), {"count": 3}, ArgumentError, r"requested buffer .*3 \* 4 bytes"),
        (bytearray(8), {"offset": 9}, ArgumentError, r"offset \(9 bytes\) must be"),
        (bytearray(8), {"offset": -1}, ArgumentError, r"offset \(-1 bytes\) must be"),
        (
            bytearray(8),
            {"count": 0},
            ArgumentError,
            r"buffer length \(8\) and count \(0",
        ),
        (bytearray(0), {}, ArgumentError, r"buffer length \(0\) and count \(-1\)"),
        (bytearray(7), {}, ArgumentError, "must be a multiple of the 4 bytes of int32"),
        (memoryview(bytearray(16))[::2], {}, ArgumentError, "is not in one piece"),
        (bytearray(8), {"offset": 1, "count": 1}, ArgumentError, "the array is"),
    ],
)
def test_buffers_that_are_refused(buffer, words, error, text):
    with pytest.raises(error, match=text):
        ac.frombuffer(buffer, dtype=ac.int32, **words)


def test_which_dtypes_become_which():
    assert ac.can_cast(ac.float64, ac.float16)
    assert ac.can_cast(ac.bool, ac.int8)
    assert ac.can_cast(ac.int64, ac.uint8)
    assert not ac.can_cast(ac.int8, ac.bool)
    assert not ac.can_cast(ac.bfloat16, ac.int64)
    with pytest.raises(DTypeError, match="dtype number is not supported"):
        ac.can_cast("number", ac.int64)


def test_a_copy_under_another_name():
    x = ac.ones(2, requires_grad=True)
    y = ac.alias_copy(x)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with ac.no_grad():
        y[0] = 5
    assert x.tolist() == [1.0, 1.0]


def test_elements_of_a_storage():
    x = ac.tensor([[1, 2], [3, 4]], dtype=ac.int16)
    memory = x[1].storage()
    assert memory.tolist() == [1, 2, 3, 4]
    assert (len(memory), memory.size(), memory.nbytes()) == (4, 4, 8)
    assert (memory.element_size(), memory.dtype, memory.device) == (
        2,
        ac.int16,
        x.device,
    )
    assert memory.data_ptr() == x.data_ptr() == memory.untyped().data_ptr()
    memory[0] = 7
    assert x.tolist() == [[7, 2], [3, 4]]
    assert repr(memory) == "TypedStorage([7, 2, 3, 4], dtype=autocalc.int16)"
    assert isinstance(memory, ac.TypedStorage)


def test_capsules_of_dlpack():
    x = ac.tensor([1.0, 2.0])
    y = ac.from_dlpack(x.__dlpack__())
    assert y.tolist() == [1, 2]
    y[0] = 5  # the memory is shared
    assert x.tolist() == [5, 2]
    with pytest.raises(
        DTypeError, match="__dlpack__: `stream` is a object; it must be"
    ):
        x.__dlpack__(stream=object())

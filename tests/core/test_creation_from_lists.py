# SPDX-License-Identifier: MIT
"""Tensors of lists that hold tensors, arrays and numbers, and of buffers."""

from __future__ import annotations

import array

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core

#: What is a number in a list: of one element, in any dimensions.
NUMBERS = {
    "float": 2.5,
    "int": 3,
    "bool": True,
    "0-d": ac.tensor(1.5),
    "one element": ac.tensor([1.5]),
    "one element in 3 dimensions": ac.ones(1, 1, 1),
    "float64": ac.tensor([0.1], dtype=ac.float64),
    "bfloat16": ac.tensor([1.5], dtype=ac.bfloat16),
    "float16": ac.tensor([[1.5]], dtype=ac.float16),
    "int64": ac.tensor([7]),
    "uint8": ac.tensor([[7]], dtype=ac.uint8),
    "bool tensor": ac.tensor([True]),
    "NumPy's float64": np.float64(0.1),
    "NumPy's int8": np.int8(3),
    "a parameter": ac.nn.Parameter(ac.ones(1)),
}
MAKERS = {
    "tensor": ac.tensor,
    "as_tensor": ac.as_tensor,
    "asarray": ac.asarray,
    "new_tensor": lambda data: ac.zeros(1).new_tensor(data),
}


def dtype_of(x):
    if isinstance(x, ac.Tensor):
        return x.dtype
    kinds = {bool: ac.bool, int: ac.int64, float: ac.float32}
    return kinds.get(type(x)) or ac.tensor(x).dtype


def value_of(x):
    return x.item() if isinstance(x, ac.Tensor) else x


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("first", NUMBERS)
@pytest.mark.parametrize("second", NUMBERS)
def test_a_list_of_numbers(maker, first, second):
    a, b = NUMBERS[first], NUMBERS[second]
    for data in ([a, b], (a, b), [[a, b]], [[a], [b]], [[[a, b], [b, a]]]):
        made = MAKERS[maker](data)
        assert made.shape == np.empty_like(np.array(shape_like(data))).shape
        kind = ac.promote_types(dtype_of(a), dtype_of(b))
        assert made.dtype is (ac.float32 if maker == "new_tensor" else kind)
        wanted = ac.tensor(shape_like(data), dtype=made.dtype)
        assert made.equal(wanted)


def shape_like(data):
    """Return nested lists of plain numbers."""
    if isinstance(data, (list, tuple)):
        return [shape_like(x) for x in data]
    return float(value_of(data))


@pytest.mark.parametrize(
    "data",
    [
        [ac.ones(2), ac.ones(2)],
        [ac.ones(2)],
        [ac.ones(0)],
        [1.0, ac.ones(2)],
        [ac.ones(1), ac.ones(2)],
        [ac.ones(2), [3.0, 4.0]],
        [[ac.ones(1, 2)], [ac.ones(1)]],
    ],
)
def test_tensors_of_more_elements_are_no_numbers(data):
    for make in MAKERS.values():
        with pytest.raises(ShapeError, match="tensor: a list contains a tensor of"):
            make(data)


@pytest.mark.parametrize(
    "data", [[[1.0], ac.tensor(2.0)], [ac.ones(1), [2.0]], [[1.0, 2.0], ac.ones(3)]]
)
def test_a_tensor_beside_lists_has_their_length(data):
    for make in MAKERS.values():
        with pytest.raises(ShapeError, match="tensor: the nested lists have different"):
            make(data)


def test_a_tensor_stands_for_a_list_beside_lists():
    made = ac.tensor([[1, 2], ac.tensor([3.0, 4.0])])
    assert made.equal(ac.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert ac.tensor([[1.0, 2.0], np.array([3.0, 4.0])]).dtype is ac.float64
    assert ac.tensor([[], ac.ones(0)]).shape == (2, 0)


#: Buffers of eight bytes, and whether they can be written to.
BUFFERS = {
    "bytearray": (bytearray, True),
    "bytes": (bytes, False),
    "memoryview": (lambda b: memoryview(bytearray(b)), True),
    "read-only memoryview": (memoryview, False),
    "array of bytes": (lambda b: array.array("B", b), True),
}
DTYPES = [ac.float32, ac.float64, ac.float16, ac.int8, ac.int16, ac.int64, ac.uint8]


@pytest.mark.parametrize("dtype", [None, *DTYPES])
@pytest.mark.parametrize("kind", BUFFERS)
def test_a_buffer_is_read_as_elements(kind, dtype):
    data = np.array([1.0, 2.0], np.float32).tobytes()
    make, writable = BUFFERS[kind]
    wanted = np.frombuffer(data, (dtype or ac.float32).numpy)
    for copy in (None, True):
        given = make(data)
        made = ac.asarray(given, dtype=dtype, copy=copy)
        assert made.dtype is (dtype or ac.float32)
        assert made.numpy().tobytes() == wanted.tobytes()
        before = bytes(given)
        made.fill_(0)
        assert (bytes(given) == bytes(8)) == (writable and copy is None)
        assert copy is None or bytes(given) == before
    if not writable:
        with pytest.raises(ArgumentError, match="must be copied here, but"):
            ac.asarray(given, dtype=dtype, copy=False)


@pytest.mark.parametrize("code", "fdbhiqB")
def test_a_buffer_of_elements_keeps_their_dtype(code):
    held = array.array(code, [1, 2])
    made = ac.asarray(held, dtype=np.dtype(code))
    assert made.tolist() == [1, 2]
    if code not in "bB":  # bytes are read as elements of the default dtype
        made = ac.asarray(held)
        assert made.dtype.numpy == np.dtype(code)
        made[0] = 7
        assert held[0] == 7
        other = ac.int64 if code in "fd" else ac.float32
        match = "asarray: the array has elements of"
        with pytest.raises(DTypeError, match=match):
            ac.asarray(held, dtype=other)


def test_asarray_shares_or_copies_as_it_is_asked():
    held = np.ones(2, np.float32)
    assert np.shares_memory(ac.asarray(held).numpy(), held)
    assert np.shares_memory(ac.asarray(held, copy=False).numpy(), held)
    assert not np.shares_memory(ac.asarray(held, copy=True).numpy(), held)
    x = ac.ones(2)
    assert ac.asarray(x) is x
    assert ac.asarray(x, copy=True) is not x
    assert ac.asarray([1.0], requires_grad=True).requires_grad
    assert ac.asarray(x, requires_grad=True).is_leaf
    assert not x.requires_grad
    for given in ([1.0], 2.0, np.float32(1), held[::-1], x.double()):
        with pytest.raises(ArgumentError, match="must be copied here, but"):
            ac.asarray(given, ac.float32, copy=False)


def test_bytes_that_are_no_whole_number_of_elements():
    with pytest.raises(
        ArgumentError, match=r"7 bytes.*must be a multiple of the 4 bytes"
    ):
        ac.asarray(bytearray(7), dtype=ac.float32)
    with pytest.raises(
        ArgumentError, match=r"buffer length .0. and count .* must not be 0"
    ):
        ac.asarray(bytearray())

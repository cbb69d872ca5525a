# SPDX-License-Identifier: MIT
"""NumPy and DLPack, both ways."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError

NAMES = ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool"]


@pytest.mark.parametrize("name", NAMES)
def test_from_numpy_and_back_share_memory(name):
    a = np.zeros((2, 3), name)
    x = ac.from_numpy(a)
    assert x.dtype.name == name
    a[0, 0] = 1
    assert x[0, 0].item() == 1
    x[1, 1] = 1
    assert a[1, 1] == 1
    assert np.shares_memory(x.numpy(), a)


def test_strided_arrays_are_shared():
    a = np.arange(12.0).reshape(3, 4)
    x = ac.from_numpy(a.T[::2])
    assert x.stride() == (2, 4)
    assert np.shares_memory(x.numpy(), a)
    assert x.sum().item() == a.T[::2].sum()


def unaligned():
    return np.frombuffer(bytearray(9), np.uint8)[1:].view(np.float32)


def read_only():
    a = np.zeros(2, np.float32)
    a.flags.writeable = False
    return a


@pytest.mark.parametrize(
    ("array", "why"),
    [
        (np.arange(3.0)[::-1], "negative strides"),
        (np.zeros(2, ">f4"), "of foreign byte order"),
        (unaligned(), "not aligned"),
        (read_only(), "read-only"),
    ],
)
def test_what_cannot_be_shared_is_an_error_and_can_be_copied(array, why):
    with pytest.raises(ArgumentError, match=rf"{why}.*ac.tensor\(array\) to copy"):
        ac.from_numpy(array)
    assert ac.tensor(array).tolist() == array.tolist()


def test_unsupported_dtypes():
    with pytest.raises(DTypeError, match="complex64 is not supported"):
        ac.from_numpy(np.zeros(2, np.complex64))
    with pytest.raises(DTypeError, match="is not supported"):
        ac.tensor(np.zeros(2, "f4, i4"), dtype=ac.float32)


def test_dtypes_of_other_names_are_the_same():
    x = ac.from_numpy(np.zeros(2, np.longlong))
    assert x.dtype is ac.int64
    assert (x + ac.ones(2, dtype=ac.int64)).dtype is ac.int64
    y = ac.from_numpy(np.zeros(2, np.dtype("f4", metadata={"a": 1})))
    assert (y + ac.ones(2)).dtype is ac.float32


def test_subclasses_of_arrays_become_plain():
    x = ac.from_numpy(np.ma.masked_array(np.ones(2)))
    assert type(x.numpy()) is np.ndarray


def test_asarray():
    x = ac.ones(2)
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert np.asarray(x, np.float64).dtype == np.float64
    assert not np.shares_memory(np.array(x), x.numpy())
    assert np.exp(x).tolist() == np.exp(np.ones(2, np.float32)).tolist()
    assert np.stack([x, x]).shape == (2, 2)


def test_asarray_without_a_copy_where_one_is_needed():
    with pytest.raises(ArgumentError, match="a copy is needed to turn float32 into"):
        ac.ones(2).__array__(np.float64, copy=False)


@pytest.mark.parametrize("turn", [lambda x: x.numpy(), np.asarray])
def test_history_does_not_leave_unnoticed(turn):
    with pytest.raises(GradError, match=r"use detach\(\).numpy\(\)"):
        turn(ac.ones(2, requires_grad=True))


@pytest.mark.parametrize("name", NAMES)
def test_dlpack_to_numpy_and_back(name):
    x = ac.ones(2, 3, dtype=getattr(ac, name))
    a = np.from_dlpack(x)
    assert np.shares_memory(a, x.numpy())
    b = np.ones((2, 3), name)
    y = ac.from_dlpack(b)
    assert np.shares_memory(y.numpy(), b)
    assert y.dtype.name == name
    z = ac.from_dlpack(x.t())
    assert z.stride() == (1, 3)
    assert x.__dlpack_device__() == (1, 0)


def test_dlpack_of_strangers_and_of_history():
    with pytest.raises(ArgumentError, match="from_dlpack: int cannot be shared"):
        ac.from_dlpack(3)
    with pytest.raises(GradError, match="detach"):
        np.from_dlpack(ac.ones(2, requires_grad=True))


def test_read_only_dlpack_is_copied_or_refused():
    a = read_only()
    with contextlib.suppress(ArgumentError):  # some versions of NumPy refuse
        ac.from_dlpack(a)[0] = 1
    assert a[0] == 0


def test_0d_and_empty():
    assert ac.from_numpy(np.array(3.0)).item() == 3.0
    assert ac.from_numpy(np.zeros((0, 2))).shape == (0, 2)
    assert ac.tensor(3.0).numpy().shape == ()


@pytest.mark.torch
def test_dlpack_with_pytorch():
    torch = pytest.importorskip("torch")
    x = ac.arange(6.0).reshape(2, 3)
    y = torch.from_dlpack(x)
    y[0, 0] = 9
    assert x[0, 0].item() == 9
    z = ac.from_dlpack(torch.ones(3))
    assert z.tolist() == [1.0, 1.0, 1.0]

# SPDX-License-Identifier: MIT
"""NumPy and DLPack, both ways."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, AutocalcWarning, DTypeError, GradError

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
    ],
)
def test_what_cannot_be_shared_is_an_error_and_can_be_copied(array, why):
    with pytest.raises(ArgumentError, match=rf"{why}.*ac.tensor\(array\) to copy"):
        ac.from_numpy(array)
    assert ac.tensor(array).tolist() == array.tolist()


def test_what_may_not_be_written_is_copied():
    array = read_only()
    with pytest.warns(
        AutocalcWarning, match="the array is read-only; the tensor has a"
    ):
        x = ac.from_numpy(array)
    x[0] = 3
    assert (x.tolist(), array.tolist()) == ([3.0, 0.0], [0.0, 0.0])


def test_unsupported_dtypes():
    with pytest.raises(DTypeError, match="is not supported"):
        ac.from_numpy(np.zeros(2, np.clongdouble))
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
    with pytest.raises(
        GradError, match=r"Can't call numpy\(\) on Tensor that requires grad\."
    ):
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


@pytest.mark.parametrize("version", [None, (1, 0)])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.t(), lambda x: x[1, ::2]])
def test_dlpack_of_bfloat16(view, version):
    """NumPy has none: a capsule goes from tensor to tensor."""

    class Stranger:
        def __init__(self, x):
            self.x = x

        def __dlpack__(self, **options):
            return self.x.__dlpack__(**{**options, "max_version": version})

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    x = ac.arange(6.0).reshape(2, 3).bfloat16()
    y = ac.from_dlpack(Stranger(view(x)))
    assert y.dtype is ac.bfloat16
    assert y.tolist() == view(x).tolist()
    if version:  # an object's capsule without one may be read-only, and is copied
        assert y.stride() == view(x).stride()
        y.fill_(7)
        assert bool((view(x) == 7).all())
    with pytest.raises((BufferError, ValueError, RuntimeError, TypeError)):
        np.from_dlpack(x)


@pytest.mark.parametrize("dtype", [ac.float32, ac.bfloat16, ac.uint16])
@pytest.mark.parametrize("make", [ac.from_dlpack, ac.asarray])
def test_a_capsule_shares_its_memory(dtype, make):
    for options in ({}, {"max_version": (1, 0)}):
        x = ac.ones(2, 3, dtype=dtype)
        y = make(x.t().__dlpack__(**options))
        y[0, 1] = 7
        assert x.tolist() == [[1, 1, 1], [7, 1, 1]]
        assert y.dtype is dtype


def test_tensors_of_what_lends_its_memory():
    class Lender:
        x = ac.ones(3)

        def __dlpack__(self, **options):
            return self.x.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.x.__dlpack_device__()

    copied = ac.tensor(Lender(), dtype=ac.int64)
    assert copied.tolist() == [1, 1, 1]
    assert ac.tensor(ac.ones(2).__dlpack__()).tolist() == [1.0, 1.0]
    ac.asarray(Lender(), copy=False)[0] = 2
    assert Lender.x.tolist() == [2.0, 1.0, 1.0]
    assert ac.asarray(Lender(), copy=True).data_ptr() != Lender.x.data_ptr()


def test_asarray_of_lent_memory_that_cannot_be_shared():
    class ReadOnly:
        def __dlpack__(self, **options):
            return read_only().__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(ArgumentError, match=r"must be copied here|cannot be shared"):
        ac.asarray(ReadOnly(), copy=False)


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


SHARED = ["float16", "bfloat16", *NAMES]


@pytest.mark.torch
@pytest.mark.parametrize("name", SHARED)
def test_dlpack_to_pytorch_and_back_shares_memory(name):
    torch = pytest.importorskip("torch")
    x = ac.zeros(2, 3).to(getattr(ac, name))
    y = torch.from_dlpack(x)
    assert str(y.dtype) == f"torch.{name}"
    y[0, 1] = 1
    assert x[0, 1].item() == 1
    z = ac.from_dlpack(y)
    z[1, 2] = 1
    assert x.tolist() == y.tolist() == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.torch
@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.t(),
        lambda x: x[:, ::2],
        lambda x: x[1],
        lambda x: x[1, 2],
        lambda x: x[:0],
        lambda x: x[0].expand(4, 3),
    ],
)
def test_dlpack_of_views_with_pytorch(view):
    torch = pytest.importorskip("torch")
    mine, other = ac.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(2, 3)
    there, here = torch.from_dlpack(view(mine)), ac.from_dlpack(view(other))
    assert there.tolist() == here.tolist() == view(other).tolist()
    assert here.shape == tuple(there.shape)
    if here.numel() > 1:
        assert here.stride() == there.stride() == view(other).stride()


@pytest.mark.torch
def test_memory_outlives_the_tensor_that_lent_it():
    torch = pytest.importorskip("torch")
    there, here = torch.from_dlpack(ac.ones(1000)), ac.from_dlpack(torch.ones(1000))
    for _ in range(20):
        ac.zeros(1000), torch.zeros(1000)
    assert there.sum().item() == here.sum().item() == 1000


@pytest.mark.torch
def test_pytorch_sees_steps_and_histories_are_refused():
    torch = pytest.importorskip("torch")
    weight = ac.nn.Parameter(ac.ones(3))
    seen = torch.from_dlpack(weight.detach())
    (weight * 2).sum().backward()
    ac.optim.SGD([weight], lr=0.25).step()
    assert seen.tolist() == [0.5, 0.5, 0.5]
    with pytest.raises(GradError, match="detach"):
        torch.from_dlpack(weight)
    with pytest.raises(ArgumentError, match=r"Tensor cannot be shared.*detach"):
        ac.from_dlpack(torch.ones(2, requires_grad=True))
    with pytest.raises(ArgumentError, match=r"layout other than torch.strided"):
        ac.from_dlpack(torch.ones(2, 2).to_sparse())
    assert ac.from_dlpack(torch.ones(2, dtype=torch.complex64)).tolist() == [1, 1]


@pytest.mark.torch
@pytest.mark.parametrize(
    "name", ["float16", "bfloat16", "float32", "int32", "uint8", "bool"]
)
def test_dlpack_with_jax(name):
    """Arrays of JAX never change, so what comes from there is a copy."""
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    x = ac.tensor([[0, 1, 0], [1, 0, 1]]).to(getattr(ac, name))
    there = jax.dlpack.from_dlpack(x.t())
    assert there.dtype == name
    assert there.tolist() == x.t().tolist()
    here = ac.from_dlpack(there)
    assert here.dtype.name == name
    here[0, 0] = 1
    assert not there[0, 0]

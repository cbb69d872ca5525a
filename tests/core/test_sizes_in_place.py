# SPDX-License-Identifier: MIT
"""Tensors that change their size or memory in place, and storages."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc._dispatch.selection.choice import FILLING
from autocalc.errors import ArgumentError, DTypeError, GradError, ShapeError


def test_a_smaller_size_stays_in_the_memory():
    x = ac.arange(6)
    alias = x.view(6)
    assert x.resize_(2, 2) is x
    assert x.tolist() == [[0, 1], [2, 3]]
    alias.zero_()
    assert x.tolist() == [[0, 0], [0, 0]]
    assert x.resize_(6).tolist() == [0] * 6
    assert ac.arange(6).resize_as_(ac.ones(3, 1)).tolist() == [[0], [1], [2]]


def test_a_larger_size_keeps_the_elements():
    x = ac.arange(3)
    x.resize_(2, 3)
    assert x[0].tolist() == [0, 1, 2]
    assert ac.tensor([]).resize_(4, 5).shape == (4, 5)
    assert ac.ones(2, device="meta").resize_(9).shape == (9,)
    x = ac.ones(1).resize_(1, 2, 2, 2, memory_format=ac.channels_last)
    assert x.is_contiguous(memory_format=ac.channels_last)


def test_memory_that_others_may_share_does_not_grow():
    x = ac.arange(3)
    alias = x[1:]
    with pytest.raises(ArgumentError, match="other tensors or arrays may share"):
        x.resize_(100)
    assert alias.tolist() == [1, 2]
    with pytest.raises(GradError, match="cannot resize variables that require grad"):
        ac.ones(2, requires_grad=True).resize_(1)


def test_a_changed_size_is_a_write_that_a_backward_pass_notices():
    x, w = ac.ones(3), ac.ones(3, requires_grad=True)
    y = (x * w).sum()
    x.resize_(2)
    with pytest.raises(GradError, match="`mul` needs was changed in place"):
        y.backward()


def test_a_tensor_takes_other_memory():
    x, y = ac.zeros(2), ac.rand(4, 5)
    assert x.set_(y) is x
    assert x.is_set_to(y)
    assert not x.is_set_to(y[:2])
    y.zero_()
    assert not x.any()
    x = ac.tensor([]).set_(y.storage())
    assert x.shape == (20,)
    y.fill_(2)
    assert x.sum() == 40
    assert ac.tensor([]).set_(y.untyped_storage()).reshape(4, 5).equal(y)
    assert ac.tensor([]).set_(y, 5, (2, 2), (5, 1)).equal(y[1:3, :2])
    assert ac.ones(3).set_().shape == (0,)
    with pytest.raises(DTypeError, match=r"of type Float .* Double"):
        x.set_(y.double())


def test_undefined_tensors_in_given_strides():
    x = ac.empty_strided((2, 3), (1, 2), dtype=ac.int16)
    assert (x.shape, x.stride(), x.dtype) == ((2, 3), (1, 2), ac.int16)
    assert x.fill_(1).sum() == 6
    assert ac.empty_strided((2, 0), (1, 2)).numel() == 0
    assert ac.empty_strided((2, 3), (1, 2), device="meta").stride() == (1, 2)
    assert x.new_empty_strided((2, 2), (1, 2)).dtype is ac.int16
    assert ac.empty_permuted((2, 3, 5), (0, 2, 1)).stride() == (15, 1, 3)
    with pytest.raises(ShapeError, match=r"sizes .2. must match"):
        ac.empty_strided((2, 3), (1,))
    with pytest.raises(ArgumentError, match="must name each of the 2 dimensions once"):
        ac.empty_permuted((2, 3), (0, 0))


def test_storages_are_made_of_sizes_and_numbers():
    row = ac.TypedStorage([1, 2, 3], dtype=ac.int64)
    assert (row.tolist(), row.nbytes()) == ([1, 2, 3], 24)
    assert ac.TypedStorage(5).size() == 5
    assert len(ac.TypedStorage()) == 0
    other = row.clone().fill_(7)
    assert row.copy_(other).tolist() == [7] * 3
    assert row.cpu() is row
    memory = ac.UntypedStorage([1, 2, 3])
    assert memory.clone().tolist() == [1, 2, 3]
    with pytest.raises(ArgumentError, match="resize_: a storage on the CPU cannot"):
        row.resize_(3)


def test_tensors_are_made_of_storages():
    x = ac.rand(4, 5)
    for memory in (x.storage(), x.untyped_storage()):
        assert ac.tensor(memory, dtype=x.dtype).reshape(4, 5).equal(x)
    assert ac.tensor(ac.UntypedStorage([1, 2])).dtype is ac.uint8
    with pytest.raises(DTypeError, match="Expected a Storage of type"):
        ac.tensor(x.storage(), dtype=ac.int32)


def test_storages_without_elements():
    x = ac.ones(3, 4, device="meta")
    for memory in (
        x.storage(),
        x.untyped_storage(),
        ac.UntypedStorage(48, device="meta"),
    ):
        assert (memory.device, memory.nbytes(), memory.data_ptr()) == ("meta", 48, 0)
        with pytest.raises(NotImplementedError, match="Not available"):
            memory[0]
        with pytest.raises(NotImplementedError, match="Not available"):
            memory.tolist()
    assert ac.TypedStorage([1, 2], device="meta").resize_(10).nbytes() == 40
    with pytest.raises(NotImplementedError, match="no data!"):
        ac.TypedStorage([1.0]).copy_(ac.TypedStorage([1.0], device="meta"))


def test_memory_grows_if_nobody_else_uses_it():
    x = ac.zeros(3).fill_(2.0)
    assert x.resize_(5)[:3].tolist() == [2.0] * 3
    for keep in (ac.Tensor.detach, ac.Tensor.numpy, lambda x: x[:1], _product):
        x = ac.zeros(3).fill_(2.0)
        kept = keep(x)
        with pytest.raises(ArgumentError, match="may share this memory"):
            x.resize_(5)
        del kept
        assert x.resize_(5).shape == (5,)


def _product(x):
    return x * ac.ones(3, requires_grad=True)


def test_the_memory_that_grows_is_filled_in_deterministic_mode(monkeypatch):
    monkeypatch.setitem(FILLING, "asked", True)
    monkeypatch.setitem(FILLING, "memory", True)
    assert ac.ones(2).resize_(4).isnan().tolist() == [False, False, True, True]
    assert ac.ones(1, dtype=ac.int8).resize_(2).tolist() == [1, 127]


def test_strides_without_elements_count_a_size_of_0_as_1():
    assert ac.zeros(0, 1, 2, 0).stride() == (2, 2, 1, 1)
    assert ac.zeros(3, 0, 2).stride() == (2, 2, 1)
    assert ac.zeros(2, 3).stride() == (3, 1)


def test_one_value_is_written_into_elements_that_share_memory():
    base = ac.zeros(4)
    windows = base.as_strided((2, 2), (1, 1))
    assert windows.fill_(3.0).tolist() == [[3.0] * 2] * 2
    assert base.tolist() == [3, 3, 3, 0]
    assert ac.ones(1).expand(3).zero_().tolist() == [0] * 3
    with pytest.raises(ArgumentError, match="is expanded"):
        ac.ones(1).expand(3).copy_(ac.ones(3))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("FloatStorage", ac.float32),
        ("DoubleStorage", ac.float64),
        ("HalfStorage", ac.float16),
        ("BFloat16Storage", ac.bfloat16),
        ("CharStorage", ac.int8),
        ("ShortStorage", ac.int16),
        ("IntStorage", ac.int32),
        ("LongStorage", ac.int64),
        ("ByteStorage", ac.uint8),
        ("BoolStorage", ac.bool),
    ],
)
def test_storages_of_one_dtype(name, dtype):
    kind = getattr(ac, name)
    made = kind(3).fill_(1)
    assert isinstance(made, ac.TypedStorage)
    assert made.dtype is kind.dtype is dtype
    assert made.tolist() == kind([1, 1, 1]).tolist() == [1, 1, 1]
    assert isinstance(ac.ones(1, dtype=dtype).storage(), kind)
    other = ac.FloatStorage if dtype is not ac.float32 else ac.LongStorage
    assert not isinstance(made, other)
    assert repr(kind) == f"<class 'autocalc.{name}'>"

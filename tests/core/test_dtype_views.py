# SPDX-License-Identifier: MIT
"""`x.view(dtype)`, and `x.new`, as older programs make tensors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError

pytestmark = pytest.mark.core

KINDS = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64",
         "uint8"]  # fmt: skip


@pytest.mark.parametrize("source", KINDS)
@pytest.mark.parametrize("target", KINDS)
def test_bytes_stay_what_they_are(source, target):
    rng = np.random.default_rng(0)
    values = rng.integers(-90, 90, (2, 3, 8))
    x = ac.tensor(values).to(getattr(ac, source))
    y = x.view(getattr(ac, target))
    assert y.dtype is getattr(ac, target)
    assert y.shape == (2, 3, 8 * x.itemsize // y.itemsize)
    assert y.data_ptr() == x.data_ptr()
    assert y._array.tobytes() == x._array.tobytes()
    assert y.view(x.dtype)._array.tobytes() == x._array.tobytes()
    assert x.view(dtype=y.dtype)._array.tobytes() == y._array.tobytes()


def test_memory_is_shared_and_changes_are_counted():
    x = ac.ones(4)
    bits = x.view(ac.int32)
    bits[1] = 0
    assert x.tolist() == [1.0, 0.0, 1.0, 1.0]
    w = ac.ones(4, requires_grad=True)
    y = (w * x).sum()
    bits.zero_()
    with pytest.raises(GradError, match="changed in place"):
        y.backward()
    assert w.grad is None


def test_layouts():
    x = ac.arange(16, dtype=ac.float32).reshape(4, 4)
    turned = x.t().view(ac.int32)
    assert turned.stride() == (1, 4)
    assert turned.view(ac.float32).tolist() == x.t().tolist()
    part = x[:, 2:].view(ac.float64)
    assert part.shape == (4, 1)
    assert part.stride() == (2, 1)
    assert part.view(ac.float32).tolist() == x[:, 2:].tolist()
    assert ac.tensor(1.0).view(ac.int32).item() == 0x3F800000
    assert ac.zeros(0, 4).view(ac.int8).shape == (0, 16)
    mask = ac.tensor([0, 1, 1], dtype=ac.uint8).view(ac.bool)
    assert mask.tolist() == [False, True, True]
    assert mask.view(ac.uint8).tolist() == [0, 1, 1]


def test_a_nan_that_signals_is_printed():
    x = ac.tensor([0x7F800001, 0x3F800000], dtype=ac.int32).view(ac.float32)
    assert repr(x) == "tensor([nan, 1.])"


def test_there_is_no_gradient():
    x = ac.ones(2, requires_grad=True)
    assert not x.view(ac.int32).requires_grad
    assert not (x * 2).view(ac.float64).requires_grad
    assert not x.view(ac.float32).requires_grad


test_views_that_are_refused = refusals(
    r"""
    ac.ones(2, 3).view(ac.float64) -> ShapeError: view: to view the tensor as float64,
    ac.ones(4, 4)[:, 1:3].view(ac.float64) -> ShapeError: self.storage_offset\(\) must
        be divisible by 2
    ac.ones(4, 3)[:, :2].view(ac.float64) -> ShapeError: self.stride\(0\) must be
        divisible by 2
    ac.ones(4, 4).t().view(ac.uint8) -> ShapeError: strides \(1, 4\) cannot be viewed
    ac.tensor(1.0).view(ac.uint8) -> ShapeError: a tensor of shape \(\) with strides
    ac.tensor([2], dtype=ac.int8).view(ac.bool) -> ArgumentError:
        view: a byte of 2 is not a boolean, because it is neither 0
    ac.ones(2).view(2, dtype=ac.int32) -> ArgumentError: view: `dtype`=autocalc\.int32
    ac.ones(2).view(ac.int32, size=(2, 1)) -> ArgumentError: a shape; change the shape
    ac.ones(2).view(dtype='x') -> DTypeError: dtype x is not supported
    """,
    globals(),
)


def test_new_tensors_of_the_same_dtype():
    x = ac.ones(2, dtype=ac.float64)
    assert x.new().tolist() == []
    assert x.new(2, 3).shape == x.new(ac.Size([2, 3])).shape == (2, 3)
    assert x.new(ac.Size([])).shape == ()
    for made in (x.new(), x.new(2), x.new([1, 2]), x.new(x.shape), x.new((1.5,))):
        assert made.dtype is ac.float64
    assert x.new([[1, 2]]).tolist() == [[1.0, 2.0]]
    assert x.new(np.ones(2, np.float32), device="cpu").tolist() == [1.0, 1.0]
    assert x.new(x).tolist() == [1.0, 1.0]
    assert ac.ones(1, dtype=ac.int64).new([3]).dtype is ac.int64


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        ((2.5,), ArgumentError, r"new: got \(2.5,\); give sizes, as in x\.new\(2,"),
        (("a",), ArgumentError, r"new: got \('a',\); give sizes"),
        (([1.0], 2), ArgumentError, "new: got"),
        ((ac.ones(1, dtype=ac.float64),), DTypeError,
         "new: the tensors are float32 and float64; they must have the same dtype."),
    ],
)  # fmt: skip
def test_new_tensors_that_are_refused(data, error, text):
    with pytest.raises(error, match=text):
        ac.ones(2).new(*data)


@pytest.mark.torch
@pytest.mark.parametrize("source", ["float32", "float64", "int16", "uint8", "bool"])
@pytest.mark.parametrize("target", ["float32", "float64", "int16", "uint8", "bool"])
@pytest.mark.parametrize(
    "call",
    [
        lambda m, x, kind: x.view(kind),
        lambda m, x, kind: x.t().view(kind),
        lambda m, x, kind: x[:, 4:].view(kind),
        lambda m, x, kind: x[:, 3:].view(kind),
        lambda m, x, kind: x[:, ::2].view(kind),
        lambda m, x, kind: x[0, 0].view(kind),
        lambda m, x, kind: x[:0].view(kind),
        lambda m, x, kind: x[..., None].view(kind),
    ],
)
def test_views_are_those_of_pytorch(call, source, target):
    torch = pytest.importorskip("torch")

    def outcome(m):
        x = (m.arange(32).reshape(4, 8) % 2).to(getattr(m, source))
        try:
            found = call(m, x, getattr(m, target))
        except Exception:
            return "an error"
        return found.shape, found.view(m.uint8).tolist()

    def errors(m):
        try:
            return outcome(m)
        except Exception:
            return "not seen as bytes"

    mine, theirs = errors(ac), errors(torch)
    if target == "bool" and mine == "an error":
        return  # bytes beyond 1 are no booleans
    assert mine == theirs

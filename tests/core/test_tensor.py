# SPDX-License-Identifier: MIT
"""What a tensor is, says and can be turned into."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from tests.operator_table import _inplace
from tests.refusals import refusals

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, GradError


def test_what_it_is():
    x = ac.ones(2, 3)
    assert x.shape == x.size() == (2, 3)
    assert x.size(-1) == 3
    assert (x.ndim, x.dim(), x.numel(), len(x)) == (2, 2, 6, 2)
    assert (x.itemsize, x.element_size(), x.nbytes) == (4, 4, 24)
    assert x.stride() == (3, 1)
    assert x.t().stride() == (1, 3)
    assert x.is_contiguous()
    assert not x.t().is_contiguous()
    assert x.t().contiguous().is_contiguous()
    assert x.contiguous() is x
    assert x.is_floating_point()
    assert x.device == ac.device("cpu")
    assert x[1].data_ptr() - x.data_ptr() == 12


def test_numbers():
    assert ac.tensor([2.5]).item() == 2.5
    assert (int(ac.tensor(2.7)), float(ac.tensor(2)), bool(ac.tensor(0))) == (
        2,
        2.0,
        False,
    )
    assert [1, 2, 3][ac.tensor(1)] == 2
    assert f"{ac.tensor(1.5):.3f}" == "1.500"
    assert f"{ac.tensor(1.5)}" == "1.5"
    assert 2 in ac.tensor([1, 2])
    assert [x.item() for x in ac.tensor([1, 2])] == [1, 2]


test_errors = refusals(
    r"""
    ac.ones(2).item() -> ArgumentError: item: .*one element.*shape \(2,\)
    bool(ac.ones(2)) -> ArgumentError: is neither true nor false
    len(ac.tensor(1)) -> DTypeError: 0-d tensor has no length
    [1][ac.tensor(0.0)] -> DTypeError: float32 cannot be an index
    """,
    globals(),
)


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (ac.tensor([1.5, 2.0]), "tensor([1.5000, 2.0000])"),
        (ac.tensor(3), "tensor(3)"),
        (ac.tensor([True]), "tensor([True])"),
        (ac.tensor([1.0], dtype=ac.float64), "tensor([1.], dtype=autocalc.float64)"),
        (ac.zeros(0, 2), "tensor([], size=(0, 2))"),
        (ac.zeros(0), "tensor([])"),
        (ac.tensor([1.0], requires_grad=True), "tensor([1.], requires_grad=True)"),
        (ac.tensor([1.0], requires_grad=True) * 2, "tensor([2.], grad_fn=<mul>)"),
    ],
)
def test_repr(x, text):
    assert repr(x) == text


def test_a_0d_tensor_formats_as_its_number():
    loss = ac.tensor(0.1, requires_grad=True) * 3
    assert f"{loss}" == str(loss.item())
    assert f"{loss:.3f}" == "0.300"
    assert f"{ac.tensor(7):>3}" == "  7"
    assert f"{ac.tensor(True)}" == "True"
    assert f"{ac.ones(1)}" == "tensor([1.])"


@pytest.mark.parametrize("shape", [(1,), (2, 3)])
def test_a_format_needs_a_0d_tensor(shape):
    with pytest.raises(DTypeError, match="can format only a 0-d tensor, but this"):
        f"{ac.ones(shape):.3f}"


def test_long_tensors_are_shortened():
    assert "..." in repr(ac.arange(2000))


def test_equality_with_strangers():
    x = ac.tensor(1)
    assert (x == None) is False  # noqa: E711  that is the question
    assert (x != None) is True  # noqa: E711
    assert (x == "a") is False
    assert {x: 1}[x] == 1
    assert hash(x) == hash(x)


def test_conversions():
    x = ac.tensor([1.9, -1.9, 0.0])
    assert x.int().tolist() == [1, -1, 0]
    assert x.long().dtype is ac.int64
    assert x.bool().tolist() == [True, True, False]
    assert x.double().dtype is ac.float64
    assert x.double().float().dtype is ac.float32
    assert x.to(ac.float32) is x
    assert x.to("cpu") is x
    assert x.to("cpu", ac.int8).dtype is ac.int8
    assert x.to(ac.zeros(1, dtype=ac.int16)).dtype is ac.int16
    assert x.to(dtype=ac.float64).dtype is ac.float64
    assert x.to(x, copy=True) is not x
    assert x.cpu() is x
    assert x.type_as(ac.tensor(1)).dtype is ac.int64
    with pytest.raises(ArgumentError, match="'cuda:0' is not available"):
        x.to("cuda:0")


def test_deepcopy_of_leaves():
    x = ac.ones(2, requires_grad=True)
    x.sum().backward()
    y = copy.deepcopy(x)
    y.grad.zero_()
    with ac.no_grad():
        y += 1
    assert x.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [1.0, 1.0]
    assert y.requires_grad
    with pytest.raises(GradError, match="only leaves"):
        copy.deepcopy(x * 2)


def test_the_constructor():
    assert ac.Tensor([1, 2]).dtype is ac.float32
    assert ac.Tensor().shape == (0,)


def test_methods_agree_with_functions():
    x, y = ac.tensor([[1.0, -2.0], [0.5, 3.0]]), ac.tensor([2.0, 0.5])
    for name in (
        "add",
        "sub",
        "mul",
        "div",
        "maximum",
        "minimum",
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
    ):
        assert ac.equal(getattr(x, name)(y), getattr(ac, name)(x, y))
    for name in (
        "exp",
        "sin",
        "cos",
        "tanh",
        "sigmoid",
        "relu",
        "erf",
        "abs",
        "neg",
        "floor",
        "ceil",
        "round",
        "trunc",
    ):
        assert ac.equal(getattr(x, name)(), getattr(ac, name)(x))
    for name in ("sum", "mean", "var", "std", "amax", "amin", "argmax", "argmin"):
        assert ac.equal(getattr(x, name)(0), getattr(ac, name)(x, 0))
    assert ac.equal(abs(x), x.abs())
    assert ac.equal(-x, x.neg())
    assert ac.equal(x.log().exp()[1], x[1].log().exp())
    assert ac.equal(x.pow(2), x**2)
    assert ac.equal(x.abs().sqrt(), ac.sqrt(ac.abs(x)))


def test_arithmetic_in_place():
    x = ac.ones(2)
    same = x
    x += 1
    x *= ac.tensor([2.0, 3.0])
    x -= 1
    x /= 2
    assert x is same
    assert x.tolist() == [1.5, 2.5]
    x.add_(ac.ones(2), alpha=2).sub_(1, alpha=2)
    assert x.tolist() == [1.5, 2.5]
    x.clamp_(max=2)
    assert x.tolist() == [1.5, 2.0]
    x.mul_(x)
    assert x.tolist() == [2.25, 4.0]
    square = ac.tensor([[1.0, 2.0], [3.0, 4.0]])
    square.add_(square.t())
    assert square.tolist() == [[2.0, 5.0], [5.0, 8.0]]


def test_writes():
    x = ac.zeros(2, 3)
    x[0, 1] = 5
    x[1] = ac.tensor([1.0, 2.0, 3.0])
    x[:, ::2] = -1
    assert x.tolist() == [[-1.0, 5.0, -1.0], [-1.0, 2.0, -1.0]]
    x[ac.tensor(0)] = 7
    assert x[0].tolist() == [7.0, 7.0, 7.0]
    x.copy_(ac.arange(3))
    assert x.tolist() == [[0.0, 1.0, 2.0]] * 2
    x.t().fill_(4)
    assert x.tolist() == [[4.0] * 3] * 2
    x.zero_()
    assert x.sum().item() == 0
    i = ac.zeros(2, dtype=ac.int64)
    i[0] = 1.7
    assert i.tolist() == [1, 0]
    y = ac.arange(4)
    y[1:] = y[:-1]
    assert y.tolist() == [0, 0, 1, 2]


def test_random_writes_repeat():
    a, b = ac.zeros(4), ac.zeros(2, 2).t()
    ac.manual_seed(1)
    a.uniform_(-1, 1)
    ac.manual_seed(1)
    assert ac.zeros(4).uniform_(-1, 1).tolist() == a.tolist()
    assert -1 <= a.min().item() < a.max().item() < 1
    assert b.normal_(10, 0.1).mean().item() == pytest.approx(10, abs=1)


test_writes_that_do_not_fit = refusals(
    r"""
    ac.zeros(3).add_(ac.ones(2, 3)) -> ShapeError: add_: an output with shape \[3\]
        doesn't match the broadcast shape \[2, 3\]
    ac.zeros(3, dtype=ac.int64).add_(1.5) -> DTypeError: result type Float can't be
        cast to the desired output type Long
    ac.ones(1).expand(3).add_(1) -> ArgumentError: add_: .*\(3,\) is expanded.*clone
    ac.ones(1).expand(3).add_(1) -> ArgumentError: several of its elements
    ac.zeros(2).fill_('a') -> DTypeError: fill_: needs a number, not str
    ac.zeros(2, dtype=ac.int8).normal_() -> DTypeError: normal_: needs float32
    ac.zeros(2).__setitem__([0.5], 1.0) -> DTypeError: a tensor of float32 cannot be an
        index
    ac.zeros(2).copy_(ac.ones(3)) -> ShapeError: has shape \(2,\); they
    """,
    globals(),
)


def test_numpy_numbers_leave_the_arithmetic_to_the_tensor():
    x = ac.ones(2, requires_grad=True)
    for y in (np.float64(2.0) * x, np.float32(2.0) + x, x / np.float64(2)):
        assert isinstance(y, ac.Tensor)
        assert y.requires_grad
        assert y.dtype is ac.float32


def written_in_place():
    """Writes for which no other memory is needed, and what they are to give."""
    a = ac.tensor([[0.25, 0.5], [0.75, 1.0]])
    row, same = ac.tensor([2.0, 4.0]), ac.tensor([[1.0, 2.0], [3.0, 4.0]])
    yield a, lambda x: x.add_(2), a + 2
    yield a, lambda x: x.sub_(row), a - row
    yield a, lambda x: x.mul_(x), a * a
    yield a, lambda x: x.div_(same), a / same
    yield a, lambda x: x.add_(same, alpha=-0.5), a - 0.5 * same
    yield a, lambda x: x.sub_(same, alpha=2), a - 2 * same
    yield a, lambda x: x.add_(x, alpha=2), 3 * a
    yield a, lambda x: x.exp_(), a.exp()
    yield a, lambda x: x.sqrt_(), a.sqrt()
    yield a, lambda x: x.t().tanh_().t(), a.tanh()


@pytest.mark.parametrize(("before", "write", "wanted"), list(written_in_place()))
def test_writes_that_need_no_other_memory(before, write, wanted, monkeypatch):
    x = before.clone()
    cell = x._cell()
    monkeypatch.setattr(
        _inplace, "write", lambda *_: pytest.fail("the result was copied")
    )
    y = write(x)
    assert y.data_ptr() == x.data_ptr()
    assert cell.count == 1
    np.testing.assert_allclose(x.numpy(), wanted.numpy(), rtol=1e-6)


def test_a_write_into_what_is_shared_comes_after_the_reading():
    x = ac.arange(4.0)
    x[1:].add_(x[:-1])
    assert x.tolist() == [0, 1, 3, 5]
    y = ac.arange(4.0)
    y[1:].sub_(y[:-1], alpha=2)
    assert y.tolist() == [0, 1, 0, -1]

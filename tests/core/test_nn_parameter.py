# SPDX-License-Identifier: MIT
"""Parameters: tensors that modules own."""

from __future__ import annotations

import copy
import pickle

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, GradError, ModuleError


def test_it_shares_memory_and_requires_a_gradient():
    data = ac.ones(2, 3)
    p = nn.Parameter(data)
    data[0, 0] = 7
    assert p[0, 0].item() == 7
    assert p.requires_grad
    assert p.is_leaf
    assert not nn.Parameter(data, requires_grad=False).requires_grad


def test_results_of_operators_are_plain_tensors():
    p = nn.Parameter(ac.ones(2))
    for result in (p * 2, p.sum(), p.detach(), p.reshape(2, 1), p[0], p.clone()):
        assert type(result) is ac.Tensor
    assert isinstance(p, ac.Tensor)


def test_history_is_not_taken_over():
    x = ac.ones(2, requires_grad=True)
    p = nn.Parameter(x * 2)
    assert p.is_leaf
    (p * 3).sum().backward()
    assert p.grad.tolist() == [3, 3]
    assert x.grad is None


def test_a_write_through_the_shared_memory_is_caught():
    data = ac.ones(2)
    p = nn.Parameter(data)
    y = (p * p).sum()
    data.add_(1)
    with pytest.raises(GradError, match="changed in place"):
        y.backward()


def test_empty_by_default_and_copied_deeply():
    assert nn.Parameter().shape == (0,)
    p = nn.Parameter(ac.ones(2))
    q = copy.deepcopy(p)
    assert type(q) is nn.Parameter
    q.detach()[0] = 5
    assert p.tolist() == [1, 1]


def test_repr_says_what_it_is():
    text = repr(nn.Parameter(ac.zeros(2)))
    assert text == "Parameter containing:\ntensor([0., 0.], requires_grad=True)"


def test_what_is_no_tensor_is_refused():
    with pytest.raises(DTypeError, match="Parameter: needs a Tensor, not list"):
        nn.Parameter([1.0])
    with pytest.raises(
        DTypeError, match="requires_grad: Only Tensors of floating point and"
    ):
        nn.Parameter(ac.arange(3))
    assert not nn.Parameter(ac.arange(3), requires_grad=False).requires_grad


def test_data_takes_over_the_storage_of_another():
    p = nn.Parameter(ac.ones(2))
    p.data = ac.zeros(3, dtype=ac.float64)
    assert p.shape == (3,)
    assert p.dtype is ac.float64
    p.sum().backward()
    assert p.grad.shape == (3,)
    p.data -= 2 * p.grad
    assert p.tolist() == [-2, -2, -2]


def test_what_an_operator_made_is_given_other_data():
    p = nn.Parameter(ac.ones(2))
    doubled = p * 2
    doubled.data = ac.tensor([10.0, 20.0])
    (doubled * doubled).sum().backward()
    assert doubled.tolist() == [10, 20]
    assert p.grad.tolist() == [40, 80]


def test_data_is_refused_where_the_graph_would_be_wrong():
    p = nn.Parameter(ac.ones(2))
    with pytest.raises(GradError, match=r"`mul` made this .* it cannot take over"):
        (p * 2).data = ac.ones(3)
    with pytest.raises(
        DTypeError, match="data: the new values of a tensor that requires a"
    ):
        p.data = ac.arange(2)


# ---- buffers -------------------------------------------------------------------------


def test_an_assigned_buffer_is_registered():
    module = nn.Module()
    data = ac.ones(2)
    module.kept = nn.Buffer(data)
    module.unsaved = nn.Buffer(ac.ones(3), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["kept", "unsaved"]
    assert list(module.state_dict()) == ["kept"]
    assert not list(module.parameters())
    data[0] = 7
    assert module.kept.tolist() == [7, 1]
    assert not module.kept.requires_grad
    assert nn.Buffer().shape == (0,)


def test_a_buffer_assigned_again_says_whether_it_is_saved():
    module = nn.Module()
    module.mean = ac.zeros(1)  # a plain attribute gives way
    module.mean = nn.Buffer(ac.zeros(2))
    module.mean = ac.ones(2)
    assert list(module.state_dict()) == ["mean"]
    module.mean = nn.Buffer(ac.zeros(2), persistent=False)
    assert not module.state_dict()
    module.mean = ac.ones(2)
    assert not module.state_dict()
    assert module.mean.tolist() == [1, 1]


def test_results_and_copies_of_buffers():
    b = nn.Buffer(ac.ones(2), persistent=False)
    assert type(b * 2) is type(b.detach()) is ac.Tensor
    for made in (copy.copy(b), copy.deepcopy(b), pickle.loads(pickle.dumps(b))):
        assert type(made) is nn.Buffer
        assert not made.persistent
        assert made.tolist() == [1, 1]
    assert nn.Buffer(ac.ones(2, requires_grad=True)).requires_grad


def test_a_buffer_takes_no_place_of_another_kind():
    layer = nn.Linear(2, 2)
    with pytest.raises(
        DTypeError, match="Linear: 'bias' is given a Buffer; it must be"
    ):
        layer.bias = nn.Buffer(ac.ones(2))
    assert isinstance(layer.bias, nn.Parameter)
    with pytest.raises(DTypeError, match="Buffer: "):
        nn.Buffer([1.0])
    with pytest.raises(ArgumentError, match="Buffer: `persistent` is 3"):
        nn.Buffer(ac.ones(1), persistent=3)
    unready = nn.Module.__new__(nn.Module)
    with pytest.raises(ModuleError, match=r"'b' was assigned before Module\.__ini"):
        unready.b = nn.Buffer()


def test_a_subclass_can_pass_its_arguments_to_new():
    class Marked(ac.nn.Parameter):
        def __new__(cls, data, requires_grad=True):
            made = super().__new__(cls, data, requires_grad)
            made.mark = "own"
            return made

    x = Marked(ac.ones(2), requires_grad=False)
    assert (x.tolist(), x.requires_grad, x.mark) == ([1, 1], False, "own")

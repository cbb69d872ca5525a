# SPDX-License-Identifier: MIT
"""Parametrized tensors; PyTorch is asked elsewhere."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import (
    ArgumentError,
    CheckpointError,
    DimensionError,
    DTypeError,
    ModuleError,
    ShapeError,
)
from autocalc.nn.utils import parametrizations, parametrize
from autocalc.nn.utils._orthogonal import matrix_exp

pytestmark = pytest.mark.core


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


class Exp(nn.Module):
    def forward(self, x):
        return x.exp()


class Rank(nn.Module):
    """A matrix as a product of two."""

    def forward(self, a, b):
        return a @ b

    def right_inverse(self, x):
        return x[:, :1].clone(), x[:1].clone()


def symmetric():
    layer = nn.Linear(3, 3)
    return parametrize.register_parametrization(layer, "weight", Symmetric())


def test_the_weight_is_computed_when_it_is_read():
    layer = symmetric()
    assert parametrize.is_parametrized(layer)
    assert parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    assert isinstance(layer, nn.Linear)
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    original = layer.parametrizations.weight.original
    x = ac.randn(2, 3)
    layer(x).sum().backward()
    assert original.grad is not None
    assert "weight" not in dict(layer.named_parameters())
    with ac.no_grad():
        original.fill_(2.0)
    assert layer.weight.tolist() == [[2.0] * 3] * 3


def test_the_parameter_stays_the_one_that_an_optimizer_knows():
    layer = nn.Linear(3, 3)
    weight = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert layer.parametrizations.weight.original is weight
    parametrize.remove_parametrizations(layer, "weight")
    assert layer.weight is weight
    assert ac.equal(weight, weight.T)
    assert type(layer) is nn.Linear
    assert list(layer.state_dict()) == ["bias", "weight"]


def test_assigning_goes_through_the_inverse():
    layer = symmetric()
    wanted = ac.tensor([[1.0, 2, 3], [2, 4, 5], [3, 5, 6]])
    layer.weight = wanted
    assert ac.equal(layer.weight, wanted)
    assert ac.equal(layer.parametrizations.weight.original, wanted.triu())
    parametrize.register_parametrization(layer, "weight", Exp())
    with pytest.raises(ModuleError, match=r": it has no right_inverse\(\), so"):
        layer.weight = wanted


def test_several_originals():
    layer = nn.Linear(3, 2)
    parametrize.register_parametrization(layer, "weight", Rank())
    found = layer.parametrizations.weight
    assert (found.is_tensor, found.ntensors) == (False, 2)
    assert (found.original0.shape, found.original1.shape) == ((2, 1), (1, 3))
    layer(ac.randn(1, 3)).sum().backward()
    assert found.original0.grad is not None
    with pytest.raises(
        ArgumentError, match="leave_parametrized=False works only if a parameter is"
    ):
        parametrize.remove_parametrizations(layer, "weight", False)
    value = layer.weight.detach().clone()
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer.weight) is nn.Parameter
    assert ac.equal(layer.weight, value)
    with pytest.raises(ShapeError, match="right_inverse: returned the shapes"):
        parametrize.register_parametrization(layer, "weight", Rank()).weight = ac.ones(
            5, 5
        )


def test_buffers_and_removal_one_by_one():
    norm = nn.BatchNorm1d(2)
    parametrize.register_parametrization(norm, "running_var", Exp())
    parametrize.register_parametrization(norm, "weight", Exp())
    assert norm.running_var.tolist() == pytest.approx([np.e] * 2)
    assert "parametrizations.running_var.original" in dict(norm.named_buffers())
    parametrize.remove_parametrizations(norm, "running_var", False)
    assert norm.running_var.tolist() == [1, 1]
    assert parametrize.is_parametrized(norm, "weight")
    assert type(norm) is not nn.BatchNorm1d
    parametrize.remove_parametrizations(norm, "weight")
    assert type(norm) is nn.BatchNorm1d
    assert not hasattr(norm, "parametrizations")
    assert norm.weight.tolist() == pytest.approx([np.e] * 2)


def test_copies_are_apart():
    layer = symmetric()
    other = copy.deepcopy(layer)
    parametrize.remove_parametrizations(other, "weight")
    assert parametrize.is_parametrized(layer)
    with ac.no_grad():
        other.weight.fill_(7.0)
    assert ac.equal(layer.weight, layer.weight.T)
    assert layer.weight[0, 0].item() != 7


def test_pickles_find_their_class():
    layer = parametrizations.weight_norm(nn.Linear(3, 2))
    other = pickle.loads(pickle.dumps(layer))
    assert ac.equal(other.weight, layer.weight)
    assert type(other) is type(layer)
    assert type(parametrize.remove_parametrizations(other, "weight")) is nn.Linear
    assert parametrize.is_parametrized(layer)


def test_within_cached_it_is_computed_once():
    layer = symmetric()
    with parametrize.cached():
        first = layer.weight
        with parametrize.cached():
            assert layer.weight is first
        assert layer.weight is first
    assert layer.weight is not first


def test_states_are_saved_and_loaded(tmp_path):
    layer, other = symmetric(), symmetric()
    ac.save(layer.state_dict(), tmp_path / "state")
    other.load_state_dict(ac.load(tmp_path / "state"))
    assert ac.equal(layer.weight, other.weight)
    with pytest.raises(CheckpointError, match=r"parametrizations\.weight\.original"):
        other.load_state_dict(nn.Linear(3, 3).state_dict())


def test_states_of_the_older_weight_norm_are_loaded():
    old = nn.utils.weight_norm(nn.Linear(3, 4))
    new = parametrizations.weight_norm(nn.Linear(3, 4))
    new.load_state_dict(old.state_dict())
    x = ac.randn(2, 3)
    assert ac.allclose(new(x), old(x))


def test_the_weight_keeps_its_value_under_weight_norm():
    layer = nn.Conv2d(3, 4, 2)
    weight = layer.weight.detach().clone()
    parametrizations.weight_norm(layer)
    assert ac.allclose(layer.weight, weight)


def test_a_spectral_norm_is_1_and_rests_after_eval():
    layer = parametrizations.spectral_norm(nn.Linear(6, 5), n_power_iterations=20)
    for _ in range(20):
        layer.weight  # noqa: B018  reading it turns the vectors
    assert ac.linalg.norm(layer.weight, 2).item() == pytest.approx(1, rel=1e-4)
    vectors = layer.parametrizations.weight[0]
    layer.eval()
    before = vectors._u.tolist()
    layer.weight  # noqa: B018
    assert vectors._u.tolist() == before
    bias = parametrizations.spectral_norm(nn.Linear(3, 4), "bias")
    assert bias.bias.norm().item() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 3)])
def test_orthogonal_weights_stay_orthogonal_and_can_be_assigned(kind, sizes):
    layer = nn.Linear(sizes[1], sizes[0]).double()
    parametrizations.orthogonal(layer, orthogonal_map=kind)
    optimizer = ac.optim.SGD(layer.parameters(), lr=0.5)

    def is_orthogonal():
        w = layer.weight if sizes[0] <= sizes[1] else layer.weight.T
        return ac.allclose(w @ w.T, ac.eye(min(sizes), dtype=ac.float64))

    before = layer.weight.detach().clone()
    for _ in range(3):
        assert is_orthogonal()
        optimizer.zero_grad()
        (layer(ac.randn(4, sizes[1], dtype=ac.float64)) ** 3).sum().backward()
        optimizer.step()
    assert is_orthogonal()
    assert not ac.allclose(layer.weight, before)
    layer.weight = before
    assert ac.allclose(layer.weight, before)
    with pytest.raises(
        ShapeError, match=r"batch of matrices of shape .* shape \(2, 2\) is as"
    ):
        layer.weight = ac.ones(2, 2)


def test_without_a_base_exponentials_cannot_be_assigned():
    layer = nn.Linear(3, 3)
    parametrizations.orthogonal(layer, use_trivialization=False)
    with pytest.raises(
        NotImplementedError, match="not possible to assign to the matrix exponential"
    ):
        layer.weight = ac.eye(3)


@pytest.mark.parametrize("size", [0.0, 1e-3, 1.0, 30.0])
def test_exponentials_of_matrices(size):
    a = ac.randn(5, 5, dtype=ac.float64) * size
    a = a - a.mT
    values, vectors = np.linalg.eig(a.numpy())
    expected = (vectors @ np.diag(np.exp(values)) @ np.linalg.inv(vectors)).real
    np.testing.assert_allclose(matrix_exp(a).numpy(), expected, rtol=1e-9, atol=1e-11)


class Halved(nn.Module):
    def forward(self, x):
        return x[:1]


class Wrong(nn.Module):
    def forward(self, x):
        return x

    def right_inverse(self, x):
        return 3


class Halving(nn.Module):
    """Its inverse changes the tensor, its forward the shape."""

    def forward(self, x):
        return x[:1]

    def right_inverse(self, x):
        return x / 2


def test_a_parametrization_that_is_refused_changes_nothing():
    layer = nn.Linear(3, 2)
    before = layer.weight.tolist()
    with pytest.raises(ShapeError, match=r"; pass unsafe=True to allow it\."):
        parametrize.register_parametrization(layer, "weight", Halving())
    assert layer.weight.tolist() == before
    assert type(layer) is nn.Linear


LINEAR = nn.Linear(3, 2)
P = parametrizations


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (
            lambda: parametrize.register_parametrization(LINEAR, "scale", Exp()),
            ModuleError,
            "Linear does not have a parameter or buffer 'scale'; it has weight, bias",
        ),
        (
            lambda: parametrize.register_parametrization(LINEAR, "weight", abs),
            DTypeError,
            "`parametrization` is .*; it must be a Module",
        ),
        (
            lambda: parametrize.register_parametrization(LINEAR, "weight", Halved()),
            ShapeError,
            r"not change the shape of the tensor, \(2, 3\), .* give \(1, 3\); pass",
        ),
        (
            lambda: parametrize.register_parametrization(LINEAR, "weight", Wrong()),
            DTypeError,
            "must return a Tensor or a Sequence of tensors, but it returned a int",
        ),
        (
            lambda: parametrize.register_parametrization(
                symmetric(), "weight", Halved()
            ),
            ShapeError,
            "the parametrization gives",
        ),
        (
            lambda: parametrize.remove_parametrizations(LINEAR, "weight"),
            ModuleError,
            "Linear does not have a parametrization on 'weight'",
        ),
        (lambda: P.weight_norm(LINEAR, "x"), ModuleError, "Linear has no tensor 'x'"),
        (lambda: P.weight_norm(3), DTypeError, "`module` is 3; it must be a Module"),
        (
            lambda: P.weight_norm(LINEAR, dim=2),
            DimensionError,
            "`dim`=2 is out of range",
        ),
        (
            lambda: P.spectral_norm(LINEAR, dim=2),
            DimensionError,
            "`dim`=2 is out of ran",
        ),
        (
            lambda: P.spectral_norm(LINEAR, n_power_iterations=0),
            ArgumentError,
            "`n_power_iterations` is 0; it must be 1 or more",
        ),
        (
            lambda: P.orthogonal(LINEAR, "bias"),
            ShapeError,
            "Expected a matrix or batch of matrices, but 'bias' has shape",
        ),
        (
            lambda: P.orthogonal(LINEAR, orthogonal_map="qr"),
            ArgumentError,
            "orthogonal_map has to be one of .*, not 'qr'",
        ),
        (
            lambda: nn.DataParallel(3),
            DTypeError,
            "DataParallel: `module` is 3; it must",
        ),
        (
            lambda: nn.DataParallel(LINEAR, 3),
            DTypeError,
            "`device_ids` is 3; it must be",
        ),
        (
            lambda: nn.DataParallel(LINEAR, [None]),
            DTypeError,
            "`device_ids` is None; it",
        ),
    ],
)
def test_what_is_wrong(call, error, match):
    with pytest.raises(error, match=match):
        call()
    assert type(LINEAR) is nn.Linear
    assert list(LINEAR.state_dict()) == ["weight", "bias"]


def test_data_parallel_passes_through():
    model = nn.DataParallel(LINEAR, device_ids=[0, 1], output_device="cuda:0")
    x = ac.randn(4, 3)
    assert ac.equal(model(x), LINEAR(input=x))
    assert model.module is LINEAR
    assert nn.parallel.DataParallel is nn.DataParallel
    assert repr(model).startswith("DataParallel(\n  (module): Linear(")


class Kept(nn.Module):
    """A parametrization whose inverse is a function of the test."""

    def __init__(self, inverse=None):
        super().__init__()
        if inverse is not None:
            self.right_inverse = inverse

    def forward(self, *x):
        return x[0].float()


def test_a_parametrization_gets_the_mode_of_its_module():
    layer = nn.Linear(2, 2).eval()
    parametrize.register_parametrization(layer, "weight", Kept())
    assert not layer.parametrizations.weight[0].training
    parametrize.register_parametrization(layer.train(), "weight", Kept().eval())
    assert layer.parametrizations.weight[1].training


@pytest.mark.parametrize(
    ("inverse", "match"),
    [
        (lambda x: (None, x), "element 0 of the sequence with type NoneType"),
        (lambda x: x.bool(), "outputs one tensor, it may not change the dtype"),
    ],
)
def test_an_inverse_of_the_first_parametrization(inverse, match):
    with pytest.raises(DTypeError, match=match):
        parametrize.register_parametrization(LINEAR, "weight", Kept(inverse))
    assert type(LINEAR) is nn.Linear


@pytest.mark.parametrize(
    ("inverse", "match"),
    [
        (lambda x: (x, x), "right_inverse must return a tensor, .* a tuple"),
        (
            lambda x: x.bool(),
            "must have the same dtype as before: .*float32, not .*bool",
        ),
        (lambda x: x[:1], r"must have the same shape as before: \(3, 3\), not"),
    ],
)
def test_an_inverse_of_a_later_parametrization(inverse, match):
    layer = symmetric()
    before = list(layer.state_dict())
    with pytest.raises((DTypeError, ShapeError), match=match):
        parametrize.register_parametrization(layer, "weight", Kept(inverse))
    assert list(layer.state_dict()) == before
    parametrize.register_parametrization(layer, "weight", Kept(inverse), unsafe=True)


def test_the_result_of_a_parametrization():
    layer, made = symmetric(), Kept()
    made.forward = lambda *_: 2
    with pytest.raises(DTypeError, match=r"must return a tensor, but .* a int"):
        parametrize.register_parametrization(layer, "weight", made)
    made.forward = lambda x: x.bool()
    with pytest.raises(DTypeError, match=r"may not change the dtype .* bool; pass"):
        parametrize.register_parametrization(layer, "weight", made)

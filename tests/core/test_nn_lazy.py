# SPDX-License-Identifier: MIT
"""Layers that take their sizes from the first example."""

from __future__ import annotations

import copy
import pickle

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import (
    ArgumentError,
    CheckpointError,
    DTypeError,
    ModuleError,
    ShapeError,
)
from autocalc.nn.modules.lazy import LazyModuleMixin
from autocalc.nn.parameter import is_lazy

pytestmark = pytest.mark.core


def _instance_norm(layer):
    """Return a layer with all that lazy ones have by default."""
    return layer(4, affine=True, track_running_stats=True)


CASES = [
    (lambda: nn.LazyLinear(3), lambda: nn.Linear(4, 3), (5, 4)),
    (lambda: nn.LazyLinear(3, bias=False), lambda: nn.Linear(4, 3, bias=False), (4,)),
    (
        lambda: nn.LazyConv1d(6, 3, padding=1),
        lambda: nn.Conv1d(4, 6, 3, padding=1),
        (2, 4, 7),
    ),
    (lambda: nn.LazyConv1d(6, 3), lambda: nn.Conv1d(4, 6, 3), (4, 7)),
    (
        lambda: nn.LazyConv2d(6, 3, groups=2),
        lambda: nn.Conv2d(4, 6, 3, groups=2),
        (2, 4, 7, 5),
    ),
    (nn.LazyBatchNorm1d, lambda: nn.BatchNorm1d(4), (6, 4)),
    (nn.LazyBatchNorm2d, lambda: nn.BatchNorm2d(4), (6, 4, 2, 3)),
    (
        lambda: nn.LazyBatchNorm2d(affine=False),
        lambda: nn.BatchNorm2d(4, affine=False),
        (6, 4, 2, 3),
    ),
    (
        lambda: nn.LazyBatchNorm1d(track_running_stats=False),
        lambda: nn.BatchNorm1d(4, track_running_stats=False),
        (6, 4),
    ),
    (nn.LazyBatchNorm3d, lambda: nn.BatchNorm3d(4), (6, 4, 2, 3, 2)),
    (lambda: nn.LazyConv3d(6, 3), lambda: nn.Conv3d(4, 6, 3), (2, 4, 4, 5, 6)),
    (
        lambda: nn.LazyConvTranspose1d(6, 3, stride=2, groups=2),
        lambda: nn.ConvTranspose1d(4, 6, 3, stride=2, groups=2),
        (2, 4, 5),
    ),
    (
        lambda: nn.LazyConvTranspose2d(6, 3, 2, 1, 1, bias=False),
        lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, bias=False),
        (4, 5, 3),
    ),
    (
        lambda: nn.LazyConvTranspose3d(6, 2),
        lambda: nn.ConvTranspose3d(4, 6, 2),
        (2, 4, 3, 3, 3),
    ),
    (nn.LazyInstanceNorm1d, lambda: _instance_norm(nn.InstanceNorm1d), (6, 4, 5)),
    (nn.LazyInstanceNorm2d, lambda: _instance_norm(nn.InstanceNorm2d), (4, 5, 3)),
    (nn.LazyInstanceNorm3d, lambda: _instance_norm(nn.InstanceNorm3d), (6, 4, 2, 3, 2)),
    (
        lambda: nn.LazyInstanceNorm2d(affine=False, track_running_stats=False),
        lambda: nn.InstanceNorm2d(4),
        (6, 4, 5, 3),
    ),
]


@pytest.mark.parametrize(("lazy", "plain", "shape"), CASES)
def test_the_first_example_makes_an_ordinary_layer(lazy, plain, shape):
    x = ac.randn(*shape)
    ac.manual_seed(1)
    layer = lazy()
    assert all(map(is_lazy, layer.parameters()))
    assert type(layer).__name__ in repr(layer)
    layer(x)
    ac.manual_seed(1)
    expected = plain()
    expected(x)
    assert type(layer) is type(expected)
    assert repr(layer) == repr(expected)
    assert list(layer.state_dict()) == list(expected.state_dict())
    for mine, other in zip(
        layer.state_dict().values(), expected.state_dict().values(), strict=True
    ):
        assert ac.allclose(mine, other)
    assert not layer._hooks.forward_pre


@pytest.mark.parametrize(("lazy", "plain", "shape"), CASES)
def test_a_state_gives_shapes_and_values(lazy, plain, shape):
    expected, layer = plain(), lazy()
    state = expected.state_dict()
    layer.load_state_dict(state)
    assert not layer.has_uninitialized_params()
    x = ac.randn(*shape)
    assert ac.equal(layer(x), expected(x))
    assert repr(layer) == repr(expected)


def test_an_error_while_loading_leaves_a_lazy_module_lazy():
    layer = nn.LazyLinear(2)

    def fails(module, keys):
        raise RuntimeError("no")

    layer.register_load_state_dict_post_hook(fails)
    with pytest.raises(RuntimeError, match="no"):
        layer.load_state_dict(nn.Linear(3, 2).state_dict())
    assert layer.has_uninitialized_params()
    assert layer(ac.ones(1, 5)).shape == (1, 2)


def net():
    return nn.Sequential(
        nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2)
    )


def test_an_optimizer_and_a_dtype_may_come_before_the_first_example():
    model = net().double()
    optimizer = ac.optim.SGD(model.parameters(), lr=0.1)
    x = ac.randn(2, 3, 5, 5, dtype=ac.float64)
    model(x)
    before = [p.detach().clone() for p in model.parameters()]
    (model(x) ** 2).sum().backward()
    optimizer.step()
    for p, old in zip(model.parameters(), before, strict=True):
        assert p.dtype is ac.float64
        assert type(p) is nn.Parameter
        if p.grad.abs().max().item() > 1e-9:
            assert not ac.equal(p, old)


def test_a_copy_takes_its_own_shapes():
    model = net()
    other = copy.deepcopy(model)
    model(ac.zeros(2, 3, 5, 5))
    assert all(map(is_lazy, other[0].parameters()))
    other(ac.randn(2, 1, 7, 7))
    assert other(ac.randn(2, 1, 7, 7)).shape == (2, 2)
    assert (model[0].in_channels, other[0].in_channels) == (3, 1)
    assert (model[3].in_features, other[3].in_features) == (36, 100)


def test_pickles_wait_too():
    layer = pickle.loads(pickle.dumps(nn.LazyLinear(2).double()))
    assert layer(ac.zeros(1, 3, dtype=ac.float64)).shape == (1, 2)
    assert repr(layer) == "Linear(in_features=3, out_features=2, bias=True)"
    assert not layer._hooks.forward_pre


def test_a_state_that_does_not_fit_leaves_shapes_open():
    norm = nn.LazyBatchNorm1d()
    state = {**nn.BatchNorm1d(4).state_dict(), "extra": ac.ones(1)}
    with pytest.raises(
        CheckpointError, match=r"Unexpected key.s. in state_dict: .extra"
    ):
        norm.load_state_dict(state)
    assert all(map(is_lazy, norm.parameters()))
    assert is_lazy(norm.running_mean)
    assert norm(ac.randn(5, 3)).shape == (5, 3)


def test_states_without_shapes():
    a, b = nn.LazyLinear(2), nn.LazyLinear(2)
    b.load_state_dict(a.state_dict())
    assert b.has_uninitialized_params()
    with pytest.raises(
        CheckpointError, match="weight is to take the shape of an uninitialized"
    ):
        nn.Linear(3, 2).load_state_dict(a.state_dict())
    wrong = {"weight": ac.ones(2, 3), "extra": ac.ones(1)}
    with pytest.raises(
        CheckpointError, match=r"Unexpected key.s. in state_dict: .extra"
    ):
        b.load_state_dict(wrong)
    assert b.has_uninitialized_params()  # nothing was loaded


def test_what_has_no_shape_cannot_be_used():
    match = "UninitializedParameter: an uninitialized parameter or buffer has neither"
    w = nn.UninitializedParameter()
    for use in (
        lambda: w.shape,
        lambda: w * 2,
        lambda: ac.ones(2) @ w,
        lambda: w.add_(1),
        w.sum,
        lambda: w[0],
        lambda: nn.functional.linear(ac.ones(1, 1), w),
        w.tolist,
    ):
        with pytest.raises(ArgumentError, match=match):
            use()
    assert w.is_leaf
    assert w.requires_grad
    assert repr(w) == "<UninitializedParameter>"


def test_a_parameter_gets_its_shape():
    w = nn.UninitializedParameter(dtype=ac.float64)
    w.materialize((2, 3))
    assert type(w) is nn.Parameter
    assert (w.shape, w.dtype, w.requires_grad) == ((2, 3), ac.float64, True)
    (w * ac.ones(3)).sum().backward()
    assert w.grad.shape == (2, 3)
    b = nn.UninitializedBuffer(dtype=ac.int64)
    b.materialize((4,))
    assert (type(b), b.shape, b.dtype) == (ac.Tensor, (4,), ac.int64)
    with pytest.raises(ShapeError, match=r"`shape` is \(2, -1\); no size may be nega"):
        nn.UninitializedParameter().materialize((2, -1))
    with pytest.raises(DTypeError, match="a tensor of int64 cannot have a"):
        nn.UninitializedParameter(dtype=ac.int64)


@pytest.mark.parametrize(
    ("make", "x", "error", "match"),
    [
        (
            lambda: nn.LazyLinear(2),
            ac.tensor(1.0),
            ShapeError,
            r"has shape \(\); it must",
        ),
        (lambda: nn.LazyLinear(2), 3, DTypeError, "LazyLinear"),
        (
            lambda: nn.LazyConv1d(2, 3),
            ac.ones(3),
            ShapeError,
            "must have 2 or 3 dimens",
        ),
        (
            lambda: nn.LazyConv2d(2, 3, groups=2),
            ac.ones(3, 5, 5),
            ArgumentError,
            "its 3 channels must be a multiple of `groups`=2",
        ),
        (nn.LazyBatchNorm2d, ac.ones(3, 5), ShapeError, "it must have 4 dimensions"),
    ],
)
def test_examples_that_do_not_fit_leave_the_layer_waiting(make, x, error, match):
    layer = make()
    with pytest.raises(error, match=match):
        layer(x)
    assert layer.has_uninitialized_params()


def test_impossible_settings():
    with pytest.raises(ArgumentError, match="LazyLinear: `out_features` is -1"):
        nn.LazyLinear(-1)
    with pytest.raises(ArgumentError, match="LazyConv2d: out_channels must be a posi"):
        nn.LazyConv2d(0, 3)
    with pytest.raises(ArgumentError, match="LazyBatchNorm1d: `affine` is 3"):
        nn.LazyBatchNorm1d(affine=3)


class Scale(LazyModuleMixin, nn.Module):
    """A module of a user that takes its size from the first input."""

    def __init__(self):
        super().__init__()
        self.scale = nn.UninitializedParameter()
        self.count = nn.UninitializedBuffer(dtype=ac.int64, persistent=False)

    def initialize_parameters(self, x, times=1):
        if not self.has_uninitialized_params():
            return
        self.scale.materialize(x.shape[-1:])
        nn.init.constant_(self.scale, times)
        self.count.materialize(())

    def forward(self, x, times=1):
        del times
        return self.scale * x


def test_a_module_of_a_user_takes_its_size_from_the_first_input():
    module = Scale()
    assert module.has_uninitialized_params()
    assert list(module.state_dict()) == ["scale"]
    seen = []
    handle = module.register_forward_pre_hook(lambda m, _: seen.append(m.scale.shape))
    assert module(ac.ones(2, 3), times=4).tolist() == [[4.0] * 3] * 2
    assert seen == [(3,)]  # hooks of users come after the shapes are known
    handle.remove()
    assert not module.has_uninitialized_params()
    assert type(module) is Scale
    assert isinstance(module.count, ac.Tensor)
    other = Scale()
    other.load_state_dict(module.state_dict())
    assert other.scale.tolist() == [4.0] * 3
    copied = copy.deepcopy(Scale().count)
    assert is_lazy(copied)
    assert pickle.loads(pickle.dumps(Scale().count)).persistent is False
    assert copied.persistent is False


def test_a_module_may_change_its_class_after_the_first_input():
    class Ready(Scale):
        def __init__(self):
            super().__init__()

    class Unready(Ready):
        cls_to_become = Ready

    module = Unready()
    module(ac.ones(3))
    assert type(module) is Ready
    assert nn.LazyLinear.cls_to_become is nn.Linear
    assert issubclass(nn.LazyBatchNorm2d, LazyModuleMixin)


def test_a_lazy_module_says_what_it_lacks():
    class Nothing(Scale):
        def initialize_parameters(self, x):
            pass

    with pytest.raises(ModuleError, match="not given a shape to scale, count; call `m"):
        Nothing()(ac.ones(3))

    class Bare(LazyModuleMixin, nn.Identity):
        pass

    with pytest.raises(NotImplementedError, match="Bare: a lazy module needs a method"):
        Bare()(ac.ones(3))


@pytest.mark.parametrize("name", ["scale", "count"])
def test_memory_that_does_not_exist_cannot_be_shared(name):
    module = Scale()
    getattr(module, {"scale": "count", "count": "scale"}[name]).materialize((1,))
    match = rf"share memory on an uninitialized parameter or buffer, '{name}'"
    with pytest.raises(ArgumentError, match=match):
        module.share_memory()


def test_conversions_before_the_first_input():
    module = Scale().double()
    assert (module.scale.dtype, module.count.dtype) == (ac.float64, ac.int64)
    assert module.to("meta").scale.device == "meta"

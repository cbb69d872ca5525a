# SPDX-License-Identifier: MIT
"""What programs of PyTorch ask and set: determinism, names of types, pickles."""

from __future__ import annotations

import pickle

import pytest

import autocalc as ac
from autocalc import nn, special
from autocalc.errors import ArgumentError, DTypeError, GradError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

PLACES = {"ac": ac, "special": special, "F": F, "linalg": ac.linalg}
FUNCTIONS = [
    f"{place}.{name}"
    for place, module in PLACES.items()
    for name in module.__all__
    if callable(getattr(module, name))
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_pickled_by_name(name):
    place, _, own = name.partition(".")
    function = getattr(PLACES[place], own)
    assert pickle.loads(pickle.dumps(function)) is function


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.activation = ac.tanh

    def forward(self, x):
        return self.activation(x)


def test_modules_that_keep_functions_are_pickled():
    net = pickle.loads(pickle.dumps(Net()))
    assert net.activation is ac.tanh


def test_averaged_models_are_pickled():
    average = ac.optim.swa_utils.AveragedModel(nn.Linear(2, 2))
    average.update_parameters(nn.Linear(2, 2))
    again = pickle.loads(pickle.dumps(average))
    assert ac.equal(again.module.weight, average.module.weight)
    again.update_parameters(nn.Linear(2, 2))
    assert again.n_averaged.item() == 2


@pytest.fixture
def deterministic():
    yield
    ac.use_deterministic_algorithms(False)


def test_deterministic_algorithms(deterministic):
    ac.use_deterministic_algorithms(True, warn_only=True)
    assert ac.are_deterministic_algorithms_enabled()
    assert ac.is_deterministic_algorithms_warn_only_enabled()
    assert ac.get_deterministic_debug_mode() == 1
    ac.use_deterministic_algorithms(True)
    assert not ac.is_deterministic_algorithms_warn_only_enabled()
    assert ac.get_deterministic_debug_mode() == 2
    ac.use_deterministic_algorithms(False, warn_only=True)
    assert ac.get_deterministic_debug_mode() == 0


@pytest.mark.parametrize(
    ("mode", "number"), [("default", 0), ("warn", 1), ("error", 2)]
)
def test_debug_modes(mode, number, deterministic):
    for one in (mode, number):
        ac.set_deterministic_debug_mode(one)
        assert ac.get_deterministic_debug_mode() == number


def test_refused_modes():
    for mode in ("all", 5, None):
        with pytest.raises(ArgumentError, match="it must be 'default', 'warn' or 'err"):
            ac.set_deterministic_debug_mode(mode)
    with pytest.raises(ArgumentError, match="`mode` is 'yes'; it must be True or Fals"):
        ac.use_deterministic_algorithms("yes")
    with pytest.raises(ArgumentError, match="`warn_only` is 1; it must be True or Fal"):
        ac.use_deterministic_algorithms(True, warn_only=1)


def test_names_of_types():
    x = ac.ones(1)
    assert ac.typename(x) == x.type() == "autocalc.FloatTensor"
    assert ac.typename(nn.Parameter(x.double())) == "autocalc.DoubleTensor"
    assert (ac.typename(3), ac.typename(int), ac.typename("s")) == ("int", "int", "str")
    assert ac.typename(nn.Linear(1, 1)) == ac.typename(nn.Linear)
    assert ac.typename(nn.Linear).endswith(".Linear")
    assert ac.typename(ac.float32).endswith(".DType")


@pytest.mark.parametrize("name", ["Float", "Double", "Half", "BFloat16", "Long", "Int"])
def test_conversions_by_name(name):
    x, kind = ac.ones(1), getattr(ac, f"{name}Tensor")
    made = x.type(f"torch.{name}Tensor")
    assert made.type() == f"autocalc.{name}Tensor"
    assert x.type(kind).dtype is made.dtype is x.type(made.dtype).dtype
    assert made.type(made.type()) is made


def test_a_profile_takes_what_pytorchs_takes():
    activities = [ac.profiler.ProfilerActivity.CPU]
    prof = ac.profiler.profile(activities=activities, record_shapes=True)
    with prof, ac.profiler.record_function("a block"):
        (ac.ones(2) * 2).sum()
    assert prof.steps

    @ac.profiler.record_function("a function")
    def double(x):
        return 2 * x

    assert double(3) == 6
    with pytest.raises(DTypeError, match="record_function: `name` is 3; it must be a"):
        ac.profiler.record_function(3)


class Image(ac.Tensor):
    kind = "image"

    def height(self):
        return self.shape[-2]


def test_a_tensor_of_a_subclass():
    x = ac.ones(3, 2, requires_grad=True)
    y = x * 2
    image = y.as_subclass(Image)
    assert (type(image), image.kind, image.height()) == (Image, "image", 3)
    assert image.data_ptr() == y.data_ptr()
    image.name_of_file = "a.png"
    (image * image).sum().backward()
    assert x.grad.tolist() == ac.full((3, 2), 8.0).tolist()
    plain = image.as_subclass(ac.Tensor)
    assert type(plain) is ac.Tensor
    assert type(image + 1) is ac.Tensor
    with pytest.raises(DTypeError, match="as_subclass: `cls` is <class 'int'>; it mus"):
        x.as_subclass(int)


def test_writes_into_a_subclass_are_seen():
    x = ac.zeros(2)
    x.as_subclass(Image).add_(1)
    assert x.tolist() == [1, 1]
    w = ac.ones(2, requires_grad=True)
    product = (w * x).sum()
    x.as_subclass(Image).add_(1)
    with pytest.raises(GradError, match="was changed in place after it was saved"):
        product.backward()


class Own(ac.optim.lr_scheduler.LRScheduler):
    def get_lr(self):
        return [lr / 2 for lr in self.base_lrs]

    def step(self, epoch=None):
        super().step()
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]


def test_schedulers_have_their_last_rates():
    optimizer = ac.optim.SGD([ac.zeros(1)], lr=0.1)
    scheduler = ac.optim.lr_scheduler.StepLR(optimizer, 1)
    scheduler.step()
    assert scheduler._last_lr == scheduler.get_last_lr() == [pytest.approx(0.01)]
    other = ac.optim.lr_scheduler.StepLR(optimizer, 1)
    other.load_state_dict(scheduler.state_dict())
    optimizer.param_groups[0]["lr"] = 0.5
    assert other._last_lr == [0.5]
    own = Own(ac.optim.SGD([ac.zeros(1)], lr=0.1))
    own.step()
    assert own._last_lr == own.state_dict()["_last_lr"] == [0.05]

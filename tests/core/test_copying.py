# SPDX-License-Identifier: MIT
"""`copy`, `deepcopy` and `pickle` of tensors and of what holds them."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest

import autocalc as ac
from autocalc import default_generator, nn, optim
from autocalc.errors import GradError

pytestmark = pytest.mark.core


def pickled(value, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(value, protocol))


WAYS = [copy.deepcopy, pickled]
IDS = ["deepcopy", "pickle"]


@pytest.mark.parametrize("way", [copy.copy, *WAYS])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint8"])
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (2, 3, 4)])
def test_values_shapes_and_dtypes(way, dtype, shape):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    x = ac.from_numpy(values)
    y = way(x)
    assert y is not x
    assert type(y) is ac.Tensor
    assert y.dtype is x.dtype
    assert y.shape == x.shape
    assert y.tolist() == x.tolist()
    y += 1  # an ordinary tensor


@pytest.mark.parametrize("protocol", range(6))
def test_every_protocol(protocol):
    x = ac.tensor([True, False])
    assert pickled(x, protocol).tolist() == [True, False]


def test_a_copy_shares_memory_and_its_version():
    x = ac.arange(3.0)
    y = copy.copy(x)
    y[0] = 7
    assert x.tolist() == [7, 1, 2]
    w = ac.ones(3, requires_grad=True)
    product = w * x
    y += 1
    with pytest.raises(GradError, match="changed"):
        product.sum().backward()


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_other_memory(way):
    x = ac.arange(3.0)
    y = way(x)
    y += 1
    assert x.tolist() == [0, 1, 2]


VIEWS = {
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2],
    "steps": lambda x: x[::2, 1::2],
    "transposed": lambda x: x.t(),
    "flat": lambda x: x.view(-1),
    "itself": lambda x: x.detach(),
    "windows": lambda x: x.unfold(1, 2, 1),
    "expanded": lambda x: x[:, :1].expand(4, 5),
    "strided": lambda x: x.as_strided((2, 2), (3, 2), 1),
    "of a view": lambda x: x[1:, 1:].t()[1],
}


@pytest.mark.parametrize("way", WAYS, ids=IDS)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("first", [False, True])
def test_views_share_memory_with_what_is_copied_with_them(way, view, first):
    x = ac.arange(20.0).view(4, 5)
    v = view(x)
    if first:
        w, y = way([v, x])
    else:
        y, w = way([x, v])
    assert w.tolist() == v.tolist()
    assert w.stride() == v.stride()
    y += 100
    assert w.tolist() == (v + 100).tolist()
    assert x[0, 0].item() == 0


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_a_view_alone(way):
    v = ac.arange(20.0).view(4, 5)[:, 1:3]
    w = way(v)
    assert w.tolist() == v.tolist()
    w += 1
    assert w.tolist() == (v + 1).tolist()


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_images_keep_their_layout(way):
    x = ac.randn(2, 3, 4, 5).to(memory_format=ac.channels_last)
    y = way(x)
    assert y.is_contiguous(memory_format=ac.channels_last)
    assert y.tolist() == x.tolist()


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_a_write_to_a_copy_is_counted_for_all_its_views(way):
    x = ac.arange(4.0)
    y, v = copy.deepcopy([x, x[1:]])
    w = ac.ones(4, requires_grad=True)
    product = w * y
    v += 1
    with pytest.raises(GradError, match="changed"):
        product.sum().backward()


@pytest.mark.parametrize("way", [copy.copy, *WAYS])
def test_leaves_stay_leaves(way):
    for x in (ac.ones(2, requires_grad=True), nn.Parameter(ac.ones(2))):
        y = way(x)
        assert type(y) is type(x)
        assert y.is_leaf
        assert y.requires_grad
        (y * 3).sum().backward()
        assert y.grad.tolist() == [3, 3]
        assert x.grad is None
    assert not way(nn.Parameter(ac.ones(2), requires_grad=False)).requires_grad


@pytest.mark.parametrize("way", [copy.copy, pickled])
def test_of_a_history_a_leaf_is_left(way):
    x = ac.ones(2, requires_grad=True)
    y = way(x * 2)
    assert y.is_leaf
    assert y.requires_grad
    assert y.tolist() == [2, 2]


def test_a_history_cannot_be_copied_deeply():
    x = ac.ones(2, requires_grad=True)
    with pytest.raises(GradError, match=r"deepcopy: .* only leaves .* use detach\(\)"):
        copy.deepcopy({"a": [x * 2]})


def test_deepcopy_takes_gradients_along_and_the_others_do_not():
    x = ac.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    y = copy.deepcopy(x)
    y.grad += 1
    assert x.grad.tolist() == [3, 3]
    assert y.grad.tolist() == [4, 4]
    assert copy.copy(x).grad is None
    assert pickled(x).grad is None
    x.grad = None
    x.sum().backward(create_graph=True)
    assert copy.deepcopy(x).grad.tolist() == [1, 1]


def test_hooks_stay_behind():
    x = ac.ones(2, requires_grad=True)
    x.register_hook(lambda g: g * 5)
    for way in (copy.copy, *WAYS):
        y = way(x)
        y.sum().backward()
        assert y.grad.tolist() == [1, 1]


class Named(ac.Tensor):
    __slots__ = ("size_of_step",)


class Marked(Named):
    pass


@pytest.mark.parametrize("way", [copy.copy, *WAYS])
def test_subclasses_and_their_attributes(way):
    x = Marked([1.0, 2.0])
    x.size_of_step, x.marks = 3, [x.detach(), "a"]
    y = way(x)
    assert type(y) is Marked
    assert y.size_of_step == 3
    assert y.marks[1] == "a"
    assert (y.marks is x.marks) == (way is copy.copy)
    y += 1
    assert y.marks[0].tolist() == [2, 3]


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_one_tensor_twice_is_one_tensor(way):
    x = ac.ones(2)
    a, b = way((x, x))
    assert a is b


def test_bytes_that_cannot_be_written_are_copied():
    buffers = []
    head = io.BytesIO()
    pickler = pickle.Pickler(head, protocol=5, buffer_callback=buffers.append)
    pickler.dump(ac.arange(3.0))
    y = pickle.loads(head.getvalue(), buffers=[bytes(b) for b in buffers])
    y += 1
    assert y.tolist() == [1, 2, 3]


@pytest.mark.parametrize("way", [copy.copy, *WAYS])
@pytest.mark.parametrize(
    "value",
    [*map(ac.__dict__.get, ("float32", "float64", "int8", "int64", "uint8", "bool")),
     ac.channels_last, ac.contiguous_format, ac.preserve_format],
    ids=repr,
)  # fmt: skip
def test_dtypes_and_memory_formats_are_the_same_objects(way, value):
    assert way(value) is value


@pytest.mark.parametrize("way", [copy.copy, *WAYS])
def test_devices(way):
    assert way(ac.device("cpu")) == ac.device("cpu")


@pytest.mark.parametrize("way", [copy.copy, *WAYS])
@pytest.mark.parametrize("default", [False, True])
def test_generators_go_on_from_where_they_stand(way, default):
    g = default_generator if default else ac.Generator()
    before = g.get_state()
    g.manual_seed(3)
    ac.rand(5, generator=g)
    other = way(g)
    assert type(other) is ac.Generator
    first = ac.rand(4, generator=other)
    assert ac.rand(4, generator=g).tolist() == first.tolist()
    g.set_state(before)


# ---- modules, optimizers, schedulers -------------------------------------------------

MODULES = {
    "linear": lambda: nn.Linear(3, 2),
    "deep": lambda: nn.Sequential(
        nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU(), nn.Dropout(0.1), nn.Linear(4, 2)
    ),
    "conv": lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()),
    "lstm": lambda: nn.LSTM(3, 4, num_layers=2, bidirectional=True),
    "attention": lambda: nn.TransformerEncoderLayer(4, 2, 8),
    "embedding": lambda: nn.Embedding(5, 3, padding_idx=0),
    "lists": lambda: nn.ModuleList([nn.Linear(1, 1), nn.ModuleDict({"a": nn.Tanh()})]),
    "parameters": lambda: nn.ParameterList([ac.ones(2), ac.zeros(1)]),
}


@pytest.mark.parametrize("way", WAYS, ids=IDS)
@pytest.mark.parametrize("make", MODULES.values(), ids=MODULES)
def test_modules(way, make):
    module = make()
    other = way(module)
    assert repr(other) == repr(module)
    state, copied = module.state_dict(), other.state_dict()
    assert list(copied) == list(state)
    for key, value in state.items():
        assert copied[key].tolist() == value.tolist()
        assert copied[key].data_ptr() != value.data_ptr()
    assert all(type(p) is nn.Parameter for p in other.parameters())
    assert other.training == module.training


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_tied_parameters_stay_tied(way):
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    other = way(net)
    assert other[1].weight is other[0].weight
    assert len(list(other.parameters())) == 3


def double(module, args, output):
    return output * 2


def triple(module, args, output):
    return output * 3


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_hooks_of_modules_come_along(way):
    net = nn.Identity()
    net.register_forward_hook(double)
    other = way(net)
    other.register_forward_hook(triple)
    assert other(ac.ones(1)).item() == 6
    assert net(ac.ones(1)).item() == 2


def test_a_hook_registered_later_takes_no_key_that_was_read():
    net = nn.Identity()
    net.register_forward_hook(double)
    key = next(iter(net._hooks.forward))
    data = pickle.dumps(net)
    handle = ac._tensor.tensor.RemovableHandle
    now, handle._next = handle._next, key - 1  # another process
    try:
        other = pickle.loads(data)
        other.register_forward_hook(triple)
    finally:
        handle._next = max(now, handle._next)
    assert other(ac.ones(1)).item() == 6


OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: optim.Adam(p, lr=0.1),
    "adamw": lambda p: optim.AdamW(p, lr=0.1, amsgrad=True),
    "rmsprop": lambda p: optim.RMSprop(p, lr=0.1, centered=True, momentum=0.5),
    "adagrad": lambda p: optim.Adagrad(p, lr=0.1),
    "adadelta": optim.Adadelta,
    "lion": lambda p: optim.Lion(p, lr=0.1),
    "muon": lambda p: optim.Muon([w for w in p if w.ndim == 2], lr=0.1),
}


def train(net, optimizer, scheduler, steps=3):
    for _ in range(steps):
        optimizer.zero_grad()
        (net(ac.ones(2, 3)) ** 2).sum().backward()
        optimizer.step()
        scheduler.step()


@pytest.mark.parametrize("way", WAYS, ids=IDS)
@pytest.mark.parametrize("make", OPTIMIZERS.values(), ids=OPTIMIZERS)
def test_a_copied_training_goes_on_bit_for_bit(way, make):
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = make(net.parameters())
    scheduler = optim.lr_scheduler.StepLR(optimizer, 2)
    train(net, optimizer, scheduler)
    copied = way((net, optimizer, scheduler))
    assert copied[1].param_groups[0]["params"][0] is copied[0][0].weight
    assert copied[2].optimizer is copied[1]
    train(net, optimizer, scheduler)
    train(*copied)
    for a, b in zip(net.parameters(), copied[0].parameters(), strict=True):
        assert a.tolist() == b.tolist()
    assert copied[2].state_dict() == scheduler.state_dict()


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_schedulers(way):
    w = ac.ones(1, requires_grad=True)
    s = optim.lr_scheduler
    for make in (
        lambda o: s.CosineAnnealingLR(o, 10),
        lambda o: s.OneCycleLR(o, 1.0, total_steps=20),
        lambda o: s.CyclicLR(o, 0.1, 0.2, step_size_up=3),
        lambda o: s.MultiStepLR(o, [2, 4]),
        lambda o: s.SequentialLR(o, [s.ConstantLR(o), s.ExponentialLR(o, 0.9)], [2]),
        lambda o: s.LambdaLR(o, abs),
    ):
        scheduler = make(optim.SGD([w], lr=0.1, momentum=0.9))
        scheduler.step()
        other = way(scheduler)
        for _ in range(5):
            scheduler.step()
            other.step()
        assert other.get_last_lr() == scheduler.get_last_lr()
    plateau = s.ReduceLROnPlateau(optim.SGD([w], lr=0.1), patience=1)
    plateau.step(1.0)
    other = way(plateau)
    for _ in range(4):
        other.step(1.0)
    assert other.optimizer.param_groups[0]["lr"] < 0.1
    assert plateau.optimizer.param_groups[0]["lr"] == 0.1


def test_a_pickle_tells_where_a_function_cannot_be_pickled():
    scheduler = optim.lr_scheduler.LambdaLR(
        optim.SGD([ac.ones(1, requires_grad=True)], lr=0.1), lambda epoch: 1.0
    )
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(scheduler)

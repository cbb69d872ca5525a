# SPDX-License-Identifier: MIT
"""Modules: attributes by kind, traversal, modes, conversion, printing."""

from __future__ import annotations

import copy
import gc
import weakref

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, DTypeError, ModuleError


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.scale = nn.Parameter(ac.ones(1))
        self.register_buffer("mean", ac.zeros(3))
        self.register_buffer("scratch", ac.zeros(1), persistent=False)
        self.body = nn.Sequential(nn.ReLU(), nn.Linear(4, 2, bias=False))
        self.note = "plain"

    def forward(self, x):
        return self.body(self.first(x - self.mean)) * self.scale


def names(pairs):
    return [name for name, _ in pairs]


def test_traversal_names_everything_in_order():
    net = Net()
    assert names(net.named_parameters()) == [
        "scale", "first.weight", "first.bias", "body.1.weight",
    ]  # fmt: skip
    assert names(net.named_buffers()) == ["mean", "scratch"]
    assert names(net.named_children()) == ["first", "body"]
    assert names(net.named_modules()) == ["", "first", "body", "body.0", "body.1"]
    assert names(net.named_parameters("net", recurse=False)) == ["net.scale"]
    assert list(net.children()) == [net.first, net.body]
    assert next(net.modules()) is net
    assert len(list(net.parameters())) == 4
    assert len(list(net.buffers())) == 2


def test_shared_things_are_listed_once():
    net = nn.Module()
    net.a = nn.Linear(2, 2)
    net.b = net.a
    net.c = nn.Linear(2, 2)
    net.c.weight = net.a.weight
    assert names(net.named_parameters()) == ["a.weight", "a.bias", "c.bias"]
    assert names(net.named_parameters(remove_duplicate=False)) == [
        "a.weight", "a.bias", "b.weight", "b.bias", "c.weight", "c.bias",
    ]  # fmt: skip
    assert names(net.named_children()) == ["a", "c"]
    assert names(net.named_modules(remove_duplicate=False)) == ["", "a", "b", "c"]


def test_it_is_called_and_trains():
    net = Net()
    y = net(ac.ones(5, 3))
    assert y.shape == (5, 2)
    y.sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad(set_to_none=False)
    assert all(not p.grad.any() for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_registries_are_views_of_the_attributes():
    net = Net()
    assert list(net._parameters) == ["scale"]
    assert list(net._modules) == ["first", "body"]
    assert len(net._buffers) == 2
    assert "mean" in repr(net._buffers)
    net._buffers["mean"] = ac.ones(3)
    assert net.mean.tolist() == [1, 1, 1]
    del net._modules["body"]
    assert not hasattr(net, "body")
    with pytest.raises(KeyError):
        net._parameters["mean"]


def test_attributes_change_their_kind_and_go():
    net = nn.Module()
    net.x = None
    net.x = nn.Parameter(ac.ones(1))
    assert names(net.named_parameters()) == ["x"]
    net.x = nn.Linear(1, 1)
    assert names(net.named_parameters()) == ["x.weight", "x.bias"]
    net.x = None
    assert names(net.named_children()) == []
    assert net.x is None
    del net.x
    with pytest.raises(AttributeError):
        net.x  # noqa: B018  reading is the test


def test_buffers_may_be_replaced_and_left_out():
    net = nn.Module()
    net.register_buffer("count", None)
    assert list(net.buffers()) == []
    net.count = ac.zeros(2)
    assert list(net.state_dict()) == ["count"]
    net.register_buffer("count", ac.ones(2), persistent=False)
    assert list(net.state_dict()) == []
    net.register_buffer("count", ac.ones(2))
    assert list(net.state_dict()) == ["count"]


def test_things_are_found_by_dotted_names():
    net = Net()
    assert net.get_submodule("body.1") is net.body[1]
    assert net.get_submodule("") is net
    assert net.get_parameter("body.1.weight") is net.body[1].weight
    assert net.get_buffer("mean") is net.mean
    with pytest.raises(
        ModuleError, match=r"Sequential has no attribute `7` that is a .* are 0, 1"
    ):
        net.get_submodule("body.7")
    with pytest.raises(
        ModuleError, match=r"no parameter 'first\.mean'; there is weight"
    ):
        net.get_parameter("first.mean")
    with pytest.raises(ModuleError, match="no buffer 'scale'; there is mean"):
        net.get_buffer("scale")


def test_modes_reach_everything_inside():
    net = Net()
    assert net.training
    assert net.eval() is net
    assert not any(m.training for m in net.modules())
    assert all(m.training for m in net.train().modules())
    with pytest.raises(ArgumentError, match="train: `mode` is 'yes'"):
        net.train("yes")


def test_requires_grad_reaches_all_parameters():
    net = Net().requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())
    net.zero_grad()
    assert all(p.requires_grad for p in net.requires_grad_().parameters())


def test_apply_goes_from_the_leaves_to_the_root():
    seen = []
    net = Net()
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Linear", "ReLU", "Linear", "Sequential", "Net"]


def test_conversion_keeps_the_parameters_and_converts_their_gradients():
    net = Net()
    net.register_buffer("steps", ac.arange(2))
    before = list(net.parameters())
    net(ac.ones(1, 3)).sum().backward()
    assert net.double() is net
    assert [id(p) for p in net.parameters()] == [id(p) for p in before]
    assert {p.dtype for p in net.parameters()} == {ac.float64}
    assert {p.grad.dtype for p in net.parameters()} == {ac.float64}
    assert net.mean.dtype is ac.float64
    assert net.steps.dtype is ac.int64
    assert net(ac.ones(1, 3, dtype=ac.float64)).dtype is ac.float64
    assert net.float().scale.dtype is ac.float32
    assert net.to("cpu", ac.float64).scale.dtype is ac.float64
    assert net.to(device="cpu", dtype=ac.float32).scale.dtype is ac.float32
    assert net.to(ac.zeros(1, dtype=ac.float64)).scale.dtype is ac.float64
    assert net.cpu() is net
    assert net.to("cpu") is net
    with pytest.raises(DTypeError, match=r"Module\.to: parameters cannot .* int64"):
        net.to(ac.int64)
    with pytest.raises(ArgumentError, match="'cuda' is not available"):
        net.to("cuda")


def test_repr_is_readable():
    assert repr(Net()) == (
        "Net(\n"
        "  (first): Linear(in_features=3, out_features=4, bias=True)\n"
        "  (body): Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): Linear(in_features=4, out_features=2, bias=False)\n"
        "  )\n"
        ")"
    )
    assert repr(nn.Module()) == "Module()"


def test_repr_of_long_extras_and_empty_places():
    class Wide(nn.Module):
        def extra_repr(self):
            return "a=1\nb=2"

    assert repr(Wide()) == "Wide(\n  a=1\n  b=2\n)"
    net = nn.Module()
    net.register_module("gone", None)
    assert repr(net) == "Module(\n  (gone): None\n)"


def test_deep_copies_are_independent():
    net = Net()
    other = copy.deepcopy(net)
    other.scale.data.fill_(9)
    assert net.scale.item() == 1
    assert names(other.named_parameters()) == names(net.named_parameters())
    assert other.first is not net.first


def test_modules_are_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        net = Net()
        gone = weakref.ref(net)
        net(ac.ones(1, 3)).sum().backward()
        del net
        assert gone() is None
    finally:
        gc.enable()


def test_forward_is_needed():
    class Empty(nn.Module):
        pass

    with pytest.raises(NotImplementedError, match="Empty: a module needs a `forward`"):
        Empty()(1)


def test_init_of_the_base_is_needed_first():
    class Late(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    with pytest.raises(ModuleError, match="Late: 'layer' was assigned before"):
        Late()


def test_wrong_registrations_say_what_is_wrong():
    net = Net()
    with pytest.raises(
        DTypeError, match="Net: 'scale' is given a Tensor; it must be a P"
    ):
        net.scale = ac.ones(1)
    with pytest.raises(
        DTypeError, match="Net: 'mean' is given a float; it must be a T"
    ):
        net.mean = 1.0
    with pytest.raises(
        DTypeError, match="'first' is given a function; it must be a Mod"
    ):
        net.first = test_repr_is_readable
    with pytest.raises(DTypeError, match="register_parameter: 'w' is given a Tensor"):
        net.register_parameter("w", ac.ones(1))
    with pytest.raises(DTypeError, match="register_buffer: 'b' is given a list"):
        net.register_buffer("b", [1])
    with pytest.raises(DTypeError, match="register_module: 'm' is given a int"):
        net.add_module("m", 3)
    with pytest.raises(DTypeError, match="register_buffer: buffer name should be"):
        net.register_buffer(3, None)
    with pytest.raises(
        ArgumentError, match=r"`name`='a\.b' must not be empty nor hold"
    ):
        net.register_buffer("a.b", None)
    with pytest.raises(ArgumentError, match="already has the attribute"):
        net.register_parameter("forward", None)
    with pytest.raises(ArgumentError, match="already has the attribute"):
        net.register_module("note", nn.ReLU())
    with pytest.raises(KeyError, match="already has the attribute"):
        net.register_buffer("first", ac.ones(1))
    with pytest.raises(KeyError, match="already has the attribute"):
        net.register_parameter("mean", None)


class Wrapper(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)


class Broken(nn.Module):
    @property
    def size(self):
        return self.number


def test_attributes_are_found_by_getattr_too():
    linear = nn.Linear(3, 2)
    wrapper = Wrapper(linear)
    assert wrapper.in_features == 3
    assert linear.__getattr__("weight") is linear.weight
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'size'"):
        _ = wrapper.size
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        linear.__getattr__("nothing")


def test_an_error_in_a_property_names_what_is_missing_there():
    with pytest.raises(
        AttributeError, match="'Broken' object has no attribute 'number'"
    ):
        _ = Broken().size


class Named:
    def __init__(self, *args, name="none", **kwargs):
        super().__init__()
        self.given = (args, name, kwargs)


class NamedModule(nn.Module, Named):
    call_super_init = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.weight = nn.Parameter(ac.zeros(1))


def test_a_mix_in_is_initialized_with_what_the_module_is_given():
    module = NamedModule(3, name="a", size=4)
    assert module.given == ((3,), "a", {"size": 4})
    assert [name for name, _ in module.named_parameters()] == ["weight"]
    assert copy.deepcopy(module).given == module.given


def made(kind):
    """Return a module of some class, by the first arguments that it takes."""
    layer = nn.Linear(2, 2)
    found = (
        attempt(kind, args)
        for args in [
            *[(), (2,), (2, 2), (2, 2, 1), ([2],), (2, 2, 2, 1, 1), (4, 9, [2])],
            *[(layer,), (layer, 1), (32, 32)],  # the last for groups of 32
        ]
    )
    return next(module for module in found if module is not None)


def attempt(kind, args):
    try:
        return kind(*args)
    except (TypeError, ValueError):
        return None


#: Bases, which need arguments of their own.
BASES = {"RNNBase", "RNNCellBase"}
KINDS = sorted(
    name
    for name in dir(nn)
    if isinstance(getattr(nn, name), type)
    and issubclass(getattr(nn, name), nn.Module)
    and name not in BASES
)


@pytest.mark.parametrize("name", KINDS)
def test_every_module_can_have_a_mix_in(name):
    kind = getattr(nn, name)
    own = type(name, (kind, Named), {"call_super_init": True})
    assert made(own).given == ((), "none", {})
    assert not hasattr(made(type(name, (kind, Named), {})), "given")


def test_arguments_that_nobody_takes_are_refused():
    match = r": Module\.__init__\(\) was given 3, size=4, but it takes no"
    with pytest.raises(DTypeError, match=match):
        type("Named", (nn.Module, Named), {})(3, size=4)


@pytest.mark.parametrize("recurse", [True, False])
def test_to_empty_gives_new_memory(recurse):
    outer = nn.BatchNorm1d(2)
    outer.inner = nn.Linear(2, 3)
    kept = {**dict(outer.named_parameters()), **dict(outer.named_buffers())}
    before = {name: x.data_ptr() for name, x in kept.items()}
    assert outer.to_empty(device="cpu", recurse=recurse) is outer
    for name, x in kept.items():
        moved = recurse or not name.startswith("inner.")
        assert (x.data_ptr() != before[name]) is moved, name
    assert outer.inner.weight.shape == (3, 2)
    assert outer.inner.weight.requires_grad


def test_a_submodule_is_set_by_its_dotted_name():
    net = nn.Module()
    net.inner = nn.Module()
    layer = nn.Linear(1, 2)
    net.set_submodule("inner.layer", layer)
    assert net.get_submodule("inner.layer") is layer
    net.set_submodule("inner.layer", nn.Tanh(), strict=True)
    assert isinstance(net.inner.layer, nn.Tanh)
    with pytest.raises(ArgumentError, match="set_submodule: `target` is empty"):
        net.set_submodule("", layer)
    with pytest.raises(ModuleError, match="Module has no attribute `a` that is a"):
        net.set_submodule("a.layer", layer)
    with pytest.raises(ModuleError, match="Module has no attribute `more`"):
        net.set_submodule("inner.more", layer, strict=True)
    with pytest.raises(DTypeError, match="'more' is given a int; it must be a Module"):
        net.set_submodule("more", 3)


def test_chains_and_lists_are_repeated():
    chain = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    for made in (chain * 2, 2 * chain):
        assert list(made) == [*chain, *chain]
    kept = chain
    kept *= 3
    assert kept is chain
    assert len(chain) == 6
    assert len(nn.ModuleList(chain) * 2) == 12
    for count in (0, 1.5, True):
        with pytest.raises(ArgumentError, match="multiplied by an integer, 1 or more"):
            chain * count


def test_what_to_takes_by_position():
    layer = nn.Linear(2, 2)
    assert layer.to("cpu", ac.float64, True).to(ac.float32, True) is layer
    for given in (("cpu", True), (None, True)):
        with pytest.raises(DTypeError, match="argument 2 is True; the arguments are"):
            layer.to(*given)
    with pytest.raises(ArgumentError, match="`copy` is not supported"):
        layer.to("cpu", copy=True)


def test_a_class_may_take_buffers_without_persistent():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = nn.Buffer(ac.ones(1))

        def register_buffer(self, name, value):
            super().register_buffer(name, value)

    assert list(Own().state_dict()) == ["kept"]

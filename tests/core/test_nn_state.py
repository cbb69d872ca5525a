# SPDX-License-Identifier: MIT
"""state_dict and load_state_dict: all or nothing."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import CheckpointError, DTypeError


def make():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    net.register_buffer("mean", ac.zeros(3))
    return net


def values(net):
    return {key: tensor.tolist() for key, tensor in net.state_dict().items()}


def test_names_and_sharing():
    net = make()
    state = net.state_dict()
    assert list(state) == ["mean", "0.weight", "0.bias", "2.weight", "2.bias"]
    assert not any(t.requires_grad for t in state.values())
    state["mean"][0] = 5
    assert net.mean[0].item() == 5
    assert net.state_dict(keep_vars=True)["0.bias"] is net[0].bias
    into = {"epoch": 3}
    assert net.state_dict(destination=into, prefix="net.") is into
    assert list(into)[:2] == ["epoch", "net.mean"]


def test_a_round_trip_gives_the_same_outputs():
    a, b = make(), make()
    keys = b.load_state_dict(a.state_dict())
    assert keys.missing_keys == []
    assert keys.unexpected_keys == []
    assert repr(keys) == "<All keys matched successfully>"
    x = ac.randn(5, 3)
    assert a(x).tolist() == b(x).tolist()
    b[0].weight.data.fill_(0)
    assert a[0].weight.any()


def test_values_are_copied_into_the_parameters_and_converted():
    net = make()
    weight = net[0].weight
    state = make().double().state_dict()
    net.load_state_dict(state)
    assert net[0].weight is weight
    assert weight.dtype is ac.float32
    assert weight.requires_grad
    assert weight.tolist() == state["0.weight"].float().tolist()


def test_assign_takes_the_tensors_themselves():
    net = make()
    state = make().double().state_dict()
    net.load_state_dict(state, assign=True)
    assert net[0].weight.dtype is ac.float64
    assert isinstance(net[0].weight, nn.Parameter)
    assert net.mean is state["mean"]
    state["0.bias"][0] = 3
    assert net[0].bias[0].item() == 3


def test_every_fault_is_named_and_nothing_changes():
    net = make()
    before = values(net)
    state = make().state_dict()
    del state["0.bias"]
    del state["mean"]
    state["2.weight"] = ac.zeros(3, 3)
    state["2.bias"] = [0.0, 0.0]
    state["extra"] = ac.zeros(1)
    with pytest.raises(CheckpointError) as caught:
        net.load_state_dict(state)
    assert str(caught.value) == (
        "load_state_dict: the state does not fit Sequential; nothing was loaded:\n"
        "  2.weight has shape (3, 3), the module's (2, 4)\n"
        "  2.bias is a list and must be a Tensor\n"
        "  missing: mean, 0.bias\n"
        "  unexpected: extra\n"
        "Load it into the module that it was saved from."
    )
    assert values(net) == before


def test_keys_may_differ_if_not_strict_but_shapes_may_not():
    net = make()
    keys = net.load_state_dict({"mean": ac.ones(3), "extra": ac.ones(1)}, strict=False)
    assert keys.missing_keys == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert keys.unexpected_keys == ["extra"]
    assert "unexpected_keys=['extra']" in repr(keys)
    assert net.mean.tolist() == [1, 1, 1]
    with pytest.raises(CheckpointError, match=r"mean has shape \(2,\)"):
        net.load_state_dict({"mean": ac.ones(2)}, strict=False)
    with pytest.raises(CheckpointError, match="or pass strict=False"):
        net.load_state_dict({**net.state_dict(), "extra": ac.ones(1)})


def test_what_is_no_dict_is_refused():
    with pytest.raises(DTypeError, match="load_state_dict: the state is a list"):
        make().load_state_dict([1])


def test_tied_parameters_appear_under_each_name():
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    assert list(net.state_dict()) == ["0.weight", "1.weight"]
    net.load_state_dict(net.state_dict())
    assert net[1].weight is net[0].weight


def test_state_survives_a_file(tmp_path):
    a, b = make(), make()
    ac.save(a, tmp_path / "net.safetensors")
    b.load_state_dict(ac.load(tmp_path / "net.safetensors"))
    assert values(a) == values(b)


def test_hooks_see_states_pass():
    net = make()
    seen = []
    handles = [
        net.register_state_dict_pre_hook(lambda m, p, k: seen.append(("pre", p, k))),
        net.register_state_dict_post_hook(
            lambda m, state, p, meta: state.update({f"{p}version": ac.ones(1)})
        ),
        net.register_load_state_dict_pre_hook(
            lambda m, state, p, *rest: state.pop(f"{p}version")
        ),
        net.register_load_state_dict_post_hook(
            lambda m, keys: seen.append(keys.missing_keys)
        ),
    ]
    state = net.state_dict()
    assert "version" in state
    net.load_state_dict(state)
    assert "version" in state  # a copy is changed
    assert seen == [("pre", "", False), []]
    for handle in handles:
        handle.remove()
    assert "version" not in net.state_dict()


def test_a_load_hook_can_add_an_error():
    net = make()
    net.register_load_state_dict_pre_hook(lambda *args: args[-1].append("too old"))
    with pytest.raises(CheckpointError, match="too old"):
        net.load_state_dict(net.state_dict())

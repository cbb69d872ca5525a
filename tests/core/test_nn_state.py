# SPDX-License-Identifier: MIT
"""state_dict and load_state_dict: all or nothing."""

from __future__ import annotations

import copy

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import AutocalcWarning, CheckpointError, DTypeError, ModuleError


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
        "  size mismatch for 2.weight: copying a param with shape (3, 3) into the "
        "module's of shape (2, 4)\n"
        "  2.bias: expected torch.Tensor or Tensor-like object from checkpoint but "
        "received a list\n"
        '  Missing key(s) in state_dict: "mean", "0.bias"\n'
        '  Unexpected key(s) in state_dict: "extra"\n'
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
    with pytest.raises(
        CheckpointError,
        match=r"size mismatch for mean: copying a param with shape \(2,\)",
    ):
        net.load_state_dict({"mean": ac.ones(2)}, strict=False)
    with pytest.raises(CheckpointError, match="or pass strict=False"):
        net.load_state_dict({**net.state_dict(), "extra": ac.ones(1)})


def test_what_is_no_dict_is_refused():
    with pytest.raises(
        DTypeError,
        match="load_state_dict: Expected state_dict to be dict-like, got list",
    ):
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


# Versions, and classes with methods of their own.


class Renamed(nn.Module):
    """Version 2 calls `weight` what was `w` in version 1."""

    _version = 2

    def __init__(self, size=2):
        super().__init__()
        self.weight = nn.Parameter(ac.zeros(size))
        self.seen = []

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        self.seen.append((prefix, local_metadata.get("version")))
        if local_metadata.get("version", 1) < 2:
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "w")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)
        self.sum = self.weight.sum().item()


def test_a_state_holds_the_versions_of_its_modules():
    net = nn.Sequential(Renamed(), nn.BatchNorm1d(2))
    state = net.state_dict()
    versions = {"": {"version": 1}, "0": {"version": 2}, "1": {"version": 2}}
    assert state._metadata == versions
    for other in (copy.copy(state), copy.deepcopy(state), state.copy()):
        assert other._metadata == versions
        assert list(other) == list(state)


@pytest.mark.parametrize("through_a_file", [False, True])
def test_an_old_state_is_renamed(tmp_path, through_a_file):
    old = nn.Sequential(nn.Linear(1, 1), nn.ParameterDict({"w": ac.ones(2)}))
    state = old.state_dict()
    if through_a_file:
        ac.save({"net": state}, tmp_path / "x")
        state = ac.load(tmp_path / "x")["net"]
    net = nn.Sequential(nn.Linear(1, 1), Renamed())
    assert repr(net.load_state_dict(state)) == "<All keys matched successfully>"
    assert net[1].seen == [("1.", 1)]
    assert net[1].weight.tolist() == [1, 1]
    assert net[1].sum == 2  # the values are there when Module's own method returns
    assert list(state)[-1] == "1.w"  # what was given is as it was
    again = nn.Sequential(nn.Linear(1, 1), Renamed())
    again.load_state_dict(net.state_dict())
    assert again[1].seen == [("1.", 2)]


def test_without_versions_a_method_sees_none():
    net = Renamed()
    net.load_state_dict({"w": ac.ones(2)})
    assert net.seen == [("", None)]


def test_what_a_method_wrote_is_put_back_on_an_error():
    class Writer(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *rest):
            with ac.no_grad():
                self.weight += 1
            self.weight.requires_grad_(False)
            self.register_buffer("extra", ac.ones(1))
            self.child = nn.Linear(1, 1)
            super()._load_from_state_dict(state_dict, prefix, *rest)

    net = nn.Sequential(Writer(2, 2), nn.Linear(2, 2))
    weight, before = net[0].weight, values(net)
    state = net.state_dict()
    state["1.weight"] = ac.zeros(1)
    with pytest.raises(
        CheckpointError, match=r"size mismatch for 1.weight: .* shape \(1,\)"
    ):
        net.load_state_dict(state)
    assert values(net) == before
    assert net[0].weight is weight
    assert weight.requires_grad
    assert not hasattr(net[0], "child")
    assert net(ac.ones(1, 2)).shape == (1, 2)


def test_an_exception_in_a_method_puts_everything_back():
    class Failing(Renamed):
        def _load_from_state_dict(self, *args):
            super()._load_from_state_dict(*args)
            raise KeyError("mine")

    net = nn.Sequential(nn.Linear(2, 2), Renamed(), Failing())
    before = values(net)
    state = net.state_dict()
    state = {key: x + 1 for key, x in state.items()}
    state["1.w"], state["2.w"] = state.pop("1.weight"), state.pop("2.weight")
    with pytest.raises(KeyError, match="mine"):
        net.load_state_dict(state)
    assert values(net) == before


def test_a_method_may_add_errors_and_keys():
    class Strange(nn.Linear):
        def _load_from_state_dict(
            self,
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        ):
            assert strict is True
            assert local_metadata == {"version": 1, "assign_to_params_buffers": True}
            missing_keys.append(prefix + "soul")
            unexpected_keys.append(prefix + "guest")
            error_msgs.append("it rains")

    net = Strange(1, 1)
    with pytest.raises(CheckpointError, match=r"(?s)it rains\n.*soul.*guest"):
        net.load_state_dict(net.state_dict(), assign=True)


def test_a_state_of_its_own():
    class Packed(nn.Linear):
        def _save_to_state_dict(self, destination, prefix, keep_vars):
            parts = [self.weight.detach(), self.bias.detach()[:, None]]
            destination[prefix + "packed"] = ac.cat(parts, 1)

        def _load_from_state_dict(self, state_dict, prefix, *rest):
            packed = state_dict[prefix + "packed"]
            self.weight.data.copy_(packed[:, :-1])
            self.bias.data.copy_(packed[:, -1])

    a, b = (nn.Sequential(Packed(2, 3), nn.Linear(3, 1)) for _ in range(2))
    assert list(a.state_dict()) == ["0.packed", "1.weight", "1.bias"]
    b.load_state_dict(a.state_dict())
    x = ac.randn(4, 2)
    assert a(x).tolist() == b(x).tolist()


def test_module_s_method_alone_loads_at_once():
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    state = {"x." + key: value for key, value in a.state_dict().items()}
    missing, unexpected, errors = [], [], []
    b._load_from_state_dict(state, "x.", {}, True, missing, unexpected, errors)
    assert values(b) == values(a)
    assert missing == unexpected == errors == []


class Counting(nn.Linear):
    count = 0

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"]


def test_extra_state(tmp_path):
    a, b = nn.Sequential(Counting(1, 1)), nn.Sequential(Counting(1, 1))
    a[0].count = 3
    assert a.state_dict()["0._extra_state"] == {"count": 3}
    ac.save(a, tmp_path / "x")
    b.load_state_dict(ac.load(tmp_path / "x"))
    assert b[0].count == 3
    state = a.state_dict()
    del state["0._extra_state"]
    with pytest.raises(
        CheckpointError, match=r"Missing key.s. in state_dict: .0._extra_state"
    ):
        b.load_state_dict(state)
    with pytest.raises(
        CheckpointError, match=r"Unexpected key.s. in state_dict: .0._extra_state"
    ):
        nn.Sequential(nn.Linear(1, 1)).load_state_dict(a.state_dict())
    state = a.state_dict()
    state["0._extra_state"] = {}
    before = b[0].weight.tolist()
    state["0.weight"] = b[0].weight.detach() + 1
    with pytest.raises(KeyError, match="count"):
        b.load_state_dict(state)
    assert b[0].weight.tolist() == before
    assert b[0].count == 3


def test_no_extra_state_is_said():
    with pytest.raises(ModuleError, match="get_extra_state: Linear has no extra state"):
        nn.Linear(1, 1).get_extra_state()
    with pytest.raises(ModuleError, match="set_extra_state: Linear has no extra state"):
        nn.Linear(1, 1).set_extra_state(1)


def test_hooks_of_pytorch_s_older_names():
    net = make()
    seen = []
    net._register_load_state_dict_pre_hook(lambda *args: seen.append(len(args)))
    net._register_load_state_dict_pre_hook(
        lambda *args: seen.append(args[0] is net), with_module=True
    )
    net._register_state_dict_hook(
        lambda module, state, prefix, meta: {"meta": meta, **state}
    )
    state = net.state_dict()
    assert state.pop("meta") == {"version": 1}
    net.load_state_dict(state)
    assert seen == [7, True]


def test_a_post_hook_may_forgive_missing_keys():
    net = make()
    net[0].register_load_state_dict_post_hook(
        lambda module, keys: keys.missing_keys.clear()
    )
    state = make().state_dict()
    del state["0.bias"]
    bias = net[0].bias.tolist()
    net.load_state_dict(state)
    assert net[0].bias.tolist() == bias
    assert net[0].weight.tolist() == state["0.weight"].tolist()


def test_what_was_loaded_is_put_back_when_a_post_hook_finds_fault():
    net = make()
    net.register_load_state_dict_post_hook(
        lambda module, keys: keys.missing_keys.append("a word")
    )
    before = values(net)
    with pytest.raises(CheckpointError, match=r"Missing key.s. in state_dict: .a word"):
        net.load_state_dict(make().state_dict())
    assert values(net) == before


def test_batch_norm_of_version_1_had_no_count_of_batches():
    net = nn.Sequential(nn.BatchNorm1d(2))
    state = net.state_dict()
    del state["0.num_batches_tracked"]
    with pytest.raises(
        CheckpointError, match=r"Missing key.s. in state_dict: .0.num_batches_tracked"
    ):
        net.load_state_dict(state)
    state._metadata["0"]["version"] = 1
    net.load_state_dict(state)
    net.load_state_dict(dict(state))


@pytest.mark.torch
def test_methods_and_versions_are_pytorch_s():
    torch = pytest.importorskip("torch")

    def run(lib):
        class Old(lib.nn.Linear):
            _version = 3

            def _load_from_state_dict(self, state, prefix, meta, *rest):
                seen.append((prefix, meta, sorted(state)))
                state[prefix + "weight"] = state.pop(prefix + "w")
                state.pop(prefix + "gone")
                super()._load_from_state_dict(state, prefix, meta, *rest)

        seen = []
        net = lib.nn.Sequential(lib.nn.BatchNorm1d(2), lib.nn.Sequential(Old(2, 2)))
        state = net.state_dict()
        versions = {key: dict(value) for key, value in state._metadata.items()}
        state["1.0.w"] = state.pop("1.0.weight")
        state["1.0.gone"] = lib.zeros(1)
        state["1.0.more"] = state["1.2.x"] = state["2.x"] = lib.zeros(1)
        del state["0.bias"]
        keys = net.load_state_dict(state, strict=False)
        return versions, seen, keys.missing_keys, sorted(keys.unexpected_keys)

    assert run(ac) == run(torch)


def test_values_for_a_module_without_values_are_no_silent_loss():
    layer, other = nn.Linear(2, 2, device="meta"), nn.Linear(2, 2)
    with pytest.warns(AutocalcWarning, match="copying from a non-meta") as caught:
        layer.load_state_dict(other.state_dict())
    assert "for weight: copying" in str(caught[0].message)
    layer.load_state_dict(other.state_dict(), assign=True)
    assert ac.equal(layer.weight, other.weight)

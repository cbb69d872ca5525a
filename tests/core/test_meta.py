# SPDX-License-Identifier: MIT
"""Tensors on the device "meta": shapes, strides and dtypes, and no elements."""

from __future__ import annotations

import copy
import pickle

import pytest
from benchmarks.operators.cases import LEAVES, ROWS, operands
from tests.core.test_devices import CREATION, tensors_in

import autocalc as ac
from autocalc.errors import AbsentError, ArgumentError, GradError

#: Rows whose result, or whose check, depends on elements.
OF_ELEMENTS = {
    *("a[0, 0].item()", "a[mask]", "allclose", "bernoulli", "binary_cross_entropy"),
    *("bincount", "bool of one", "equal", "gaussian_nll_loss", "histc", "item"),
    *("masked_select", "multinomial", "nonzero", "quantile", "tolist", "unique"),
}


def outcome(text, place, backward):
    """Return the form of a row's results, or of the gradients of its operands."""
    names = operands(ac, 4)
    for name, x in names.items():
        names[name] = x.to(place) if isinstance(x, ac.Tensor) else x
    if backward:
        for name in LEAVES:
            names[name].requires_grad_()
    found = tensors_in(eval(text, names))
    if backward:
        first = found[0] if found else None
        if first is None or first is names["w"] or not first.requires_grad:
            return None
        first.backward(ac.ones_like(first.detach()))
        found = [names[n].grad for n in LEAVES if names[n].grad is not None]
    assert {x.device.type for x in found} <= {place}
    return [(x.shape, x.stride(), x.dtype) for x in found]


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("name", sorted({*ROWS} - CREATION - OF_ELEMENTS - {"numpy"}))
def test_results_have_the_form_that_they_have_on_the_cpu(name, backward):
    try:
        expected = outcome(ROWS[name], "cpu", backward)
    except GradError:
        expected = None
    if expected is None:
        pytest.skip("nothing to differentiate")
    if (name, backward) == ("median of all", True):
        pytest.skip("the gradient asks where the median is")
    assert outcome(ROWS[name], "meta", backward) == expected


@pytest.mark.parametrize("name", sorted(OF_ELEMENTS))
def test_what_depends_on_elements_says_that_there_are_none(name):
    with pytest.raises(NotImplementedError, match=r"has no values.*no data!"):
        outcome(ROWS[name], "meta", backward=False)


def test_a_model_larger_than_memory_is_built_and_called():
    with ac.device("meta"):
        layer = ac.nn.TransformerEncoderLayer(1 << 16, 8, 1 << 18)
        tokens = ac.randn(5, 2, 1 << 16)
    assert sum(p.numel() for p in layer.parameters()) > 1 << 35
    out = layer(tokens)
    assert out.shape == tokens.shape
    out.sum().backward()
    assert layer.linear1.weight.grad.shape == layer.linear1.weight.shape


def test_calls_that_are_remembered_make_their_tensors_in_the_block():
    for _ in range(40):
        assert ac.zeros(2, 2).device == "cpu"
    with ac.device("meta"):
        for _ in range(40):
            assert ac.zeros(2, 2).is_meta
    assert not ac.zeros(2, 2).is_meta


def test_tensors_like_others_stay_where_those_are():
    x = ac.ones(2)
    with ac.device("meta"):
        assert not ac.zeros_like(x).is_meta
        assert x.new_ones(3).tolist() == [1.0] * 3
        assert (x + 1).tolist() == [2.0, 2.0]
        assert ac.rand(3).is_meta
        assert ac.randn(3, device="cpu").shape == (3,)
    assert ac.empty_like(x, device="meta").is_meta


def test_a_module_gets_its_memory_afterwards():
    model = ac.nn.Sequential(ac.nn.Linear(3, 4, device="meta"), ac.nn.ReLU())
    with pytest.raises(NotImplementedError, match="to_empty"):
        model.to("cpu")
    state = {"0.weight": ac.ones(4, 3), "0.bias": ac.zeros(4)}
    model.load_state_dict(state, assign=True)
    assert model(ac.ones(1, 3)).tolist() == [[3.0] * 4]
    model.to("meta").to_empty(device="cpu")
    assert {p.device.type for p in model.parameters()} == {"cpu"}


def shared():
    """Return a module with a shared parameter and a buffer, on the device "meta"."""
    with ac.device("meta"):
        model = ac.nn.Sequential(ac.nn.Linear(2, 2), ac.nn.Sequential())
    model[1].add_module("0", ac.nn.Linear(2, 2, device="meta"))
    model[1][0].weight = model[0].weight
    model[0].bias.requires_grad_(False)
    model[0].weight.grad = ac.empty(2, 2, device="meta")
    model.register_buffer("count", ac.empty(1, device="meta"), persistent=False)
    return model


def test_tensors_that_leave_meta_are_new_objects():
    model = shared()
    before = [*model.parameters(), *model.buffers()]
    assert model.to_empty(device="cpu") is model
    after = [*model.parameters(), *model.buffers()]
    assert not {*map(id, before)} & {*map(id, after)}
    assert all(x.is_meta for x in before)
    assert {x.device.type for x in after} == {"cpu"}
    assert [type(x) for x in after] == [type(x) for x in before]
    assert [x.requires_grad for x in after] == [x.requires_grad for x in before]
    assert model[1][0].weight is model[0].weight
    assert model[0].weight.grad.device == "cpu"
    assert "count" not in model.state_dict()
    model.to("meta")
    assert not {*map(id, after)} & {*map(id, model.parameters())}
    assert model[1][0].weight is model[0].weight


def test_tensors_that_do_not_leave_their_device_keep_their_objects():
    for device in ("cpu", "meta"):
        model = shared().to_empty(device=device)
        before = [*model.parameters(), *model.buffers()]
        model.to_empty(device=device).double()
        after = [*model.parameters(), *model.buffers()]
        assert list(map(id, before)) == list(map(id, after))
        assert model[0].weight.grad.dtype is model[0].weight.dtype is ac.float64


def test_a_part_of_a_module_may_convert_more():
    class Whole(ac.nn.Module):
        def __init__(self):
            super().__init__()
            self.extra = ac.ones(2)

        def _apply(self, fn, recurse=True):
            self.extra = fn(self.extra)
            return super()._apply(fn, recurse)

    model = ac.nn.Sequential(Whole(), ac.nn.Linear(2, 2))
    assert model.double()[0].extra.dtype is ac.float64
    assert model._apply(lambda x: x.float(), recurse=False)[0].extra.dtype is ac.float64


def test_one_operand_without_elements_takes_the_others_for_such():
    x, there = ac.ones(2, 3), ac.ones(3, 4, device="meta")
    assert (x @ there).is_meta
    assert (x + there[:, 0]).shape == (2, 3)
    assert there.copy_(ac.ones(3, 4)) is there
    with pytest.raises(NotImplementedError, match="no data!"):
        x.copy_(there.T[:2])


def test_copies_pickles_and_texts():
    x = ac.empty(2, 3, device="meta", dtype=ac.bfloat16)
    for one in (x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (one.device, one.shape, one.dtype) == (x.device, x.shape, x.dtype)
    expected = "tensor(..., device='meta', size=(2, 3), dtype=autocalc.bfloat16)"
    assert repr(x) == expected


def test_the_default_device_is_the_cpu_or_meta():
    ac.set_default_device("meta")
    try:
        assert ac.arange(3).device == ac.get_default_device() == "meta"
    finally:
        ac.set_default_device(None)
    assert ac.arange(3).device == "cpu"
    with pytest.raises(ArgumentError, match="is not available"):
        ac.set_default_device("mps")


def test_errors_are_those_of_what_is_absent():
    with pytest.raises(AbsentError):
        ac.ones((), device="meta").item()
    with pytest.raises(ArgumentError, match="on meta"):
        ac.ones(2, device="meta").numpy()


@pytest.mark.parametrize("count", [0, 1, 100])
def test_storages_have_the_size_that_they_have_on_the_cpu(count):
    for dtype in (ac.int8, ac.float64):
        here, there = (
            ac.TypedStorage(count, dtype=dtype, device=place)
            for place in ("cpu", "meta")
        )
        assert (there.nbytes(), there.size()) == (here.nbytes(), here.size())
        assert there.untyped().nbytes() == here.untyped().nbytes()
        assert there.data_ptr() == 0
    a, b = (ac.empty(count, device="meta") for _ in range(2))
    assert a.untyped_storage() is not b.untyped_storage()

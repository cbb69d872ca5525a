# SPDX-License-Identifier: MIT
"""Views in files and in deep copies: strides and shared memory, as PyTorch keeps them.

The expected strides and shares are those that PyTorch 2.13 printed for these lines.
"""

from __future__ import annotations

import copy
import io
import json

import pytest
from safetensors.numpy import load, save

import autocalc as ac
from autocalc import nn
from autocalc.errors import CheckpointError, GradError

pytestmark = pytest.mark.core


def base():
    return ac.arange(12.0).reshape(3, 4)


def saved(value):
    file = io.BytesIO()
    ac.save(value, file)
    return file.getvalue()


def round_trip(value):
    return ac.load(io.BytesIO(saved(value)))


VIEWS = {
    "row": (lambda x: x[1], (1,)),
    "column": (lambda x: x[:, 2], (4,)),
    "steps": (lambda x: x[::2, 1::2], (8, 2)),
    "turned": (lambda x: x[1:].t(), (1, 4)),
    "flat": (lambda x: x.view(-1), (1,)),
    "expanded": (lambda x: x[:1].expand(3, 4), (0, 1)),
    "windows": (lambda x: x.unfold(1, 2, 1), (4, 1, 1)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_keeps_its_strides_and_shares_with_what_it_views(name):
    view, strides = VIEWS[name]
    x = base()
    a, b = round_trip([x, view(x)])
    assert b.stride() == strides
    assert b.tolist() == view(x).tolist()
    a += 100
    assert b.tolist() == (view(x) + 100).tolist()
    d, c = round_trip({"first": view(x), "then": x}).values()
    c += 100
    assert d.tolist() == (view(x) + 100).tolist()


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_alone_keeps_its_strides(name):
    view, strides = VIEWS[name]
    y = round_trip(view(base()))
    assert y.stride() == strides
    assert y.tolist() == view(base()).tolist()


def test_images_keep_their_layout():
    x = ac.randn(2, 3, 4, 5).to(memory_format=ac.channels_last)
    assert round_trip(x).stride() == x.stride() == (60, 1, 15, 3)


def test_views_that_overlap_without_their_base():
    x = base().view(-1)
    a, b, c = round_trip((x[:5], x[3:8], x[9:]))
    a[4] = 70
    assert b.tolist() == [3, 70, 5, 6, 7]
    assert c.tolist() == [9, 10, 11]


def test_parameters_and_gradients():
    w = nn.Parameter(base())
    p, v = round_trip([w, w.detach()[0]])
    assert p.requires_grad
    assert not v.requires_grad
    v.zero_()
    assert p[0].tolist() == [0, 0, 0, 0]


def test_a_write_to_what_was_loaded_is_counted_for_all_its_views():
    x = base()
    y, v = round_trip([x, x[1:]])
    product = ac.ones(3, 4, requires_grad=True) * y
    v += 1
    with pytest.raises(GradError, match="changed"):
        product.sum().backward()


def test_other_dtypes_of_the_same_memory_are_stored_apart():
    x = base()
    bits, y = round_trip([x.view(ac.int32), x])
    y.zero_()
    assert bits.tolist() == base().view(ac.int32).tolist()


def test_every_reader_finds_each_tensor_under_its_key():
    x = base()
    found = load(saved({"x": x, "t": x.t()}))
    assert found["t"].tolist() == x.t().tolist()
    assert found["x"].tolist() == x.tolist()


def test_plain_tensors_have_no_place():
    state = nn.Linear(2, 2).state_dict()
    assert b"memory" not in saved({"model": state, "one": ac.ones(3)})


@pytest.mark.parametrize(
    "change",
    [
        {"strides": [400, 1]},
        {"strides": [4]},
        {"strides": [-4, 1]},
        {"offset": 12},
        {"offset": 1.5},
        {"size": 2**62},
        {"block": None},
    ],
    ids=str,
)
def test_a_place_outside_of_its_block_is_refused(change):
    place = {"block": 0, "size": 12, "offset": 0, "strides": [4, 1], **change}
    tree = json.dumps({"$": "tensor", "name": "x", "memory": place})
    metadata = {"autocalc": tree, "autocalc_version": "1"}
    content = save({"x": base().numpy()}, metadata=metadata)
    with pytest.raises(CheckpointError, match=r"metadata of .* do not describe"):
        ac.load(io.BytesIO(content))


def test_a_block_of_two_sizes_is_refused():
    places = [{"block": 0, "size": n, "offset": 0, "strides": [4, 1]} for n in (12, 13)]
    names = ("x", "y")
    tree = [
        {"$": "tensor", "name": name, "memory": place}
        for name, place in zip(names, places, strict=True)
    ]
    metadata = {"autocalc": json.dumps(tree), "autocalc_version": "1"}
    content = save({name: base().numpy() for name in names}, metadata=metadata)
    with pytest.raises(CheckpointError, match="block 0 has two sizes"):
        ac.load(io.BytesIO(content))


# ---- deep copies ---------------------------------------------------------------------


def shared(a, b):
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


class Views(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(base())
        self.seen = self.p.detach()
        self.second = nn.Parameter(self.p.detach()[1])
        self.register_buffer("row", self.p.detach()[0])
        self.register_buffer("part", self.row[:2])


def test_a_copied_parameter_has_its_own_memory():
    m = Views()
    n = copy.deepcopy(m)
    for name in ("seen", "second", "row"):
        assert shared(m.p, getattr(m, name))
        assert not shared(n.p, getattr(n, name))
        assert getattr(n, name).tolist() == getattr(m, name).tolist()
    assert shared(n.row, n.part)
    assert n.second.untyped_storage().nbytes() == 16


@pytest.mark.parametrize("first", [False, True])
def test_containers_of_a_parameter_and_its_view(first):
    p = nn.Parameter(base())
    pair = [p.detach(), p] if first else [p, p.detach()]
    a, b = copy.deepcopy(pair)
    assert not shared(a, b)
    assert [a.requires_grad, b.requires_grad] == [not first, first]


@pytest.mark.parametrize(
    ("view", "strides"),
    [
        (lambda x: x.t(), (1, 4)),
        (lambda x: x[:, ::2], (2, 1)),
        (lambda x: x[:1].expand(3, 4), (4, 1)),
    ],
    ids=["turned", "steps", "expanded"],
)
def test_strides_of_copied_parameters(view, strides):
    assert copy.deepcopy(nn.Parameter(view(base()))).stride() == strides


def test_a_copied_parameter_has_no_gradient():
    p = nn.Parameter(ac.ones(2))
    p.grad = ac.ones(2)
    q, grad = copy.deepcopy([p, p.grad])
    assert q.grad is None
    assert grad.tolist() == [1, 1]
    leaf = ac.ones(2, requires_grad=True)
    leaf.grad = ac.ones(2)
    assert copy.deepcopy(leaf).grad.tolist() == [1, 1]

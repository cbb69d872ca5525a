# SPDX-License-Identifier: MIT
"""Channels-last: tensors get it on request, and results computed from them keep it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernel_table import PRIMITIVES, TABLE, adapt

import autocalc as ac
import autocalc.nn.functional as F
from autocalc.errors import ArgumentError, ShapeError
from autocalc.plugin import KernelImpl, KernelSet

SHAPE = (2, 3, 4, 6)
LAST = (72, 1, 18, 3)  # its steps, channels-last
ROWS = (72, 24, 6, 1)


@pytest.fixture
def x():
    """Images, and the same numbers channels-last."""
    rows = ac.arange(144.0).reshape(SHAPE) / 100 - 0.7
    return rows, rows.to(memory_format=ac.channels_last)


# ---- asking


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x.to(memory_format=ac.channels_last),
        lambda x: x.contiguous(memory_format=ac.channels_last),
        lambda x: x.clone(memory_format=ac.channels_last),
        lambda x: x.to(ac.float64, memory_format=ac.channels_last),
        lambda x: x.to(copy=True, memory_format=ac.channels_last),
        lambda x: ac.clone(x, memory_format=ac.channels_last),
    ],
)
def test_the_layout_that_was_asked_for(ask, x):
    last = ask(x[0])
    assert last.stride() == LAST
    assert last.is_contiguous(memory_format=ac.channels_last)
    assert not last.is_contiguous()
    assert np.array_equal(last.numpy(), x[0].numpy())


def test_what_lies_so_already_is_not_copied(x):
    _, last = x
    assert last.to(memory_format=ac.channels_last) is last
    assert last.contiguous(memory_format=ac.channels_last) is last
    assert last.to(memory_format=ac.preserve_format) is last
    one = ac.ones(2, 1, 3, 3)  # both at once
    assert one.contiguous(memory_format=ac.channels_last) is one


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16, ac.float64, ac.int32])
def test_another_dtype_lies_the_same(dtype, x):
    assert [one.to(dtype).stride() for one in x] == [ROWS, LAST]


def test_back_to_rows(x):
    rows, last = x
    for back in (last.contiguous(), last.to(memory_format=ac.contiguous_format)):
        assert back.stride() == ROWS
        assert ac.equal(back, rows)
    assert last.clone().stride() == LAST
    assert last.clone(memory_format=ac.contiguous_format).stride() == ROWS


def test_gradients_go_through_a_change_of_layout(x):
    leaf = x[0].clone().requires_grad_()
    (leaf.to(memory_format=ac.channels_last) * x[1]).sum().backward()
    assert ac.equal(leaf.grad, x[0])


def test_a_copy_shares_nothing(x):
    rows, last = x
    last.mul_(0)
    assert rows.abs().sum() > 1


def test_what_has_not_four_dimensions():
    x = ac.ones(2, 3)
    assert not x.is_contiguous(memory_format=ac.channels_last)
    with pytest.raises(ShapeError, match=r"clone: channels_last .* shape is \(2, 3\)"):
        x.contiguous(memory_format=ac.channels_last)


def test_volumes_channels_last():
    x = ac.arange(2 * 3 * 4 * 5 * 6).reshape(2, 3, 4, 5, 6)
    last = x.to(memory_format=ac.channels_last_3d)
    assert last.stride() == (360, 1, 90, 18, 3)
    assert last.is_contiguous(memory_format=ac.channels_last_3d)
    assert not last.is_contiguous()
    assert not x.is_contiguous(memory_format=ac.channels_last_3d)
    assert ac.equal(last, x)
    assert last.clone().stride() == last.stride()
    assert ac.zeros_like(last).stride() == last.stride()
    made = ac.empty(2, 3, 4, 5, 6, memory_format=ac.channels_last_3d)
    assert made.stride() == last.stride()
    with pytest.raises(ShapeError, match="channels_last_3d is a memory format for"):
        ac.ones(2, 3, 4, 5).clone(memory_format=ac.channels_last_3d)


def test_a_part_of_images_keeps_their_layout():
    x = ac.rand(2, 3, 8, 8).to(memory_format=ac.channels_last)
    for part in (x[:, :, 1:7, 1:7], x[:, :, ::2, ::2]):
        for made in (
            part.double(),
            ac.nn.functional.interpolate(part, size=5, mode="bilinear"),
        ):
            assert made.is_contiguous(memory_format=ac.channels_last)
        assert ac.equal(part.double().float(), part)


@pytest.mark.parametrize("wrong", ["channels_last", 1])
def test_what_is_no_memory_format(wrong):
    with pytest.raises(ArgumentError, match="is not a memory format; give"):
        ac.ones(2, 3, 1, 1).is_contiguous(memory_format=wrong)
    with pytest.raises(ArgumentError, match="is not a memory format; give"):
        ac.ones(2, 3, 1, 1).clone(memory_format=wrong)


def test_how_it_prints():
    assert repr(ac.channels_last) == "autocalc.channels_last"


# ---- keeping it

WEIGHT = ac.arange(162.0).reshape(6, 3, 3, 3) / 81 - 1
KEEP = {
    "relu": F.relu,
    "add": lambda x: x + x,
    "add rows": lambda x: x.contiguous() + x,
    "times a channel's number": lambda x: x * ac.ones(1, 3, 1, 1),
    "from a broadcast": lambda x: ac.ones(3, 1, 1) - x,
    "where": lambda x: ac.where(x > 0, x, 0.0),
    "clamp": lambda x: x.clamp(-0.5, 0.5),
    "gelu": F.gelu,
    "conv": lambda x: F.conv2d(x, WEIGHT, padding=1),
    "conv with bias": lambda x: F.conv2d(x, WEIGHT, ac.ones(6), stride=2, padding=1),
    "1x1": lambda x: F.conv2d(x, ac.ones(2, 3, 1, 1)),
    "by channel": lambda x: F.conv2d(x, ac.ones(3, 1, 3, 3), groups=3),
    "transposed": lambda x: F.conv_transpose2d(x, ac.ones(3, 2, 2, 2), stride=2),
    "batch norm": lambda x: F.batch_norm(x, None, None, training=True),
    "max pool": lambda x: F.max_pool2d(x, 2),
    "avg pool": lambda x: F.avg_pool2d(x, 2),
    "adaptive avg pool": lambda x: F.adaptive_avg_pool2d(x, 2),
    "adaptive max pool": lambda x: F.adaptive_max_pool2d(x, 2),
    "cat": lambda x: ac.cat([x, x], 1),
}


#: Kernels of a set that comes first, before all that is installed: composites run as
#: primitives there, whose results have the layout that follows.
BEST = {"what is installed": (), "products": ("gemm",), "primitives": PRIMITIVES}


@pytest.fixture(params=BEST.values(), ids=BEST)
def best(request, install):
    if request.param:
        kernels = {name: KernelImpl(adapt(TABLE[name])) for name in request.param}
        install(best=[KernelSet("best", "best", lambda: kernels, rank=900)])


@pytest.mark.usefixtures("best")
@pytest.mark.parametrize("operation", KEEP.values(), ids=KEEP)
def test_results_and_gradients_keep_it(operation, x):
    rows, last = (x.requires_grad_() for x in x)
    expected, y = operation(rows), operation(last)
    assert y.is_contiguous(memory_format=ac.channels_last)
    assert ac.allclose(y, expected, rtol=1e-5, atol=1e-6)
    seed = ac.arange(float(y.numel())).reshape(y.shape) / y.numel() - 0.4
    (dx,) = ac.autograd.grad(y, last, seed)
    (expected_dx,) = ac.autograd.grad(expected, rows, seed)
    assert ac.allclose(dx, expected_dx, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
@pytest.mark.parametrize("operation", KEEP.values(), ids=KEEP)
def test_results_of_halves_keep_it(operation, dtype, x, monkeypatch):
    monkeypatch.setitem(globals(), "WEIGHT", WEIGHT.to(dtype))
    ones = ac.ones
    monkeypatch.setattr(ac, "ones", lambda *shape: ones(*shape, dtype=dtype))
    rows, last = (x.to(dtype) for x in x)
    y = operation(last)
    assert y.dtype == dtype
    assert y.is_contiguous(memory_format=ac.channels_last)
    assert ac.allclose(y, operation(rows), rtol=0.01, atol=0.01)


def network():
    nn = ac.nn
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 5, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(5, 2),
    )


@pytest.mark.usefixtures("best")
def test_a_network_trains_the_same_in_both_layouts(x):
    grads = []
    for images in x:
        ac.manual_seed(0)
        model = network()
        model(images).square().sum().backward()
        grads.append([p.grad for p in model.parameters()])
    for a, b in zip(*grads, strict=True):
        assert a.stride() == b.stride()
        assert ac.allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("best")
def test_the_layout_goes_through_a_network(x):
    model = network()
    seen = []
    for layer in list(model)[:6]:
        layer.register_forward_hook(lambda *args: seen.append(args[-1]))
    model(x[1])
    assert [y.is_contiguous(memory_format=ac.channels_last) for y in seen] == [True] * 6


# ---- a kernel that asks for it


@pytest.fixture
def asking(install):
    """A set whose convolutions of windows ask for images channels-last."""
    impl = KernelImpl(
        adapt(TABLE["conv"]), channels_last=lambda key: key.shapes[2][2:] != (1, 1)
    )
    install(asking=[KernelSet("asking", "asking", lambda: {"conv": impl}, rank=900)])


@pytest.mark.usefixtures("asking")
def test_a_kernel_gets_images_as_it_asks_for_them(x):
    rows, last = x
    for images in x:
        y = F.conv2d(images, WEIGHT)
        assert y.is_contiguous(memory_format=ac.channels_last)
    point = ac.ones(2, 3, 1, 1)
    assert F.conv2d(rows, point).is_contiguous()
    assert F.conv2d(last, point).is_contiguous(memory_format=ac.channels_last)


@pytest.mark.usefixtures("asking")
def test_an_explanation_tells_the_layout(x):
    settings = WEIGHT, None, (1, 1), (0, 0), (1, 1), 1
    told = [ac.kernels.explain("conv", images, *settings).info for images in x]
    assert told[0]["layout"] == "channels-last, after a copy of x"
    assert told[1]["layout"] == "channels-last"
    assert "layout" not in ac.kernels.explain("add", x[0], x[0]).info
    assert "layout" not in ac.kernels.explain("copy", x[1]).info


@pytest.mark.parametrize("best", [("gemm",)], indirect=True)
@pytest.mark.usefixtures("best")
def test_an_explanation_tells_of_a_kernel_that_runs_as_primitives(x):
    settings = WEIGHT, None, (1, 1), (0, 0), (1, 1), 1
    rows, last = (ac.kernels.explain("conv", images, *settings).info for images in x)
    assert "layout" not in rows
    assert last["layout"] == "channels-last, results copied where primitives differ"


# ---- views of what an operator stored so


def test_a_view_of_a_result_stores_it_row_by_row(x):
    y = x[1] * 2
    flat = y.view(2, -1)
    assert y.stride() == ROWS
    flat.zero_()
    assert y.abs().sum() == 0


def test_a_gradient_through_such_a_view(x):
    last = x[1].requires_grad_()
    y = F.relu(last)
    y.view(2, -1).square().sum().backward()
    assert ac.allclose(last.grad, 2 * F.relu(x[0]))


def test_no_such_view_where_others_see_the_memory(x):
    y = x[1] * 2
    part = y[0]
    with pytest.raises(ShapeError, match="cannot be viewed as"):
        y.view(2, -1)
    del part
    assert y.view(2, -1).shape == (2, 72)


# ---- tensors that are made


MADE = {
    "zeros_like": ac.zeros_like,
    "ones_like": ac.ones_like,
    "empty_like": ac.empty_like,
    "full_like": lambda x, **more: ac.full_like(x, 7.0, **more),
    "rand_like": ac.rand_like,
    "randn_like": ac.randn_like,
    "randint_like": lambda x, **more: ac.randint_like(x, 3, **more),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_is_made_like_another_lies_like_it_or_as_asked(make, x):
    rows, last = x
    assert make(rows).stride() == ROWS
    assert make(last).stride() == LAST
    assert make(last, memory_format=ac.preserve_format).stride() == LAST
    assert make(last, memory_format=ac.contiguous_format).stride() == ROWS
    wanted = make(rows, memory_format=ac.channels_last, requires_grad=True)
    assert wanted.stride() == LAST
    assert wanted.shape == SHAPE
    assert wanted.is_leaf
    assert wanted.requires_grad
    with pytest.raises(ShapeError, match=r"_like: channels_last .* shape is \(2, 3\)"):
        make(ac.zeros(2, 3), memory_format=ac.channels_last)
    with pytest.raises(ArgumentError, match="memory_format=3 is not a"):
        make(rows, memory_format=3)


def test_the_same_numbers_are_drawn_in_any_layout(x):
    drawn = []
    for one in x:
        ac.manual_seed(0)
        drawn.append(ac.rand_like(one).tolist())
    assert drawn[0] == drawn[1]


def test_empty_in_a_layout():
    assert ac.empty(SHAPE, memory_format=ac.channels_last).stride() == LAST
    assert ac.empty(SHAPE, memory_format=ac.contiguous_format).stride() == ROWS
    with pytest.raises(ShapeError, match=r"empty: channels_last .* shape is \(2,\)"):
        ac.empty(2, memory_format=ac.channels_last)


@pytest.mark.torch
def test_layouts_are_pytorch_s(x):
    torch = pytest.importorskip("torch")
    theirs = torch.zeros(SHAPE).to(memory_format=torch.channels_last)
    for name, make in MADE.items():
        expected = getattr(torch, name)
        more = {"full_like": (7.0,), "randint_like": (3,)}.get(name, ())
        assert make(x[1]).stride() == expected(theirs, *more).stride()

# SPDX-License-Identifier: MIT
"""What operators save, packed and unpacked by a user's functions."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.autograd import graph
from autocalc.errors import ArgumentError, DTypeError, GradError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core


def leaf(*shape):
    return (ac.rand(*shape) * 0.5 + 0.2).requires_grad_()


class Exp(ac.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


def packed(function, *xs, pack=lambda x: x.numpy().copy(), unpack=ac.from_numpy):
    with graph.saved_tensors_hooks(pack, unpack):
        return function(*xs)


def attention(x):
    return F.scaled_dot_product_attention(x[None], x[None], x[None])


def lstm(x):
    ac.manual_seed(1)
    return nn.LSTM(4, 4)(x)[0]


FUNCTIONS = {
    "products": lambda x: (x @ x).tanh() * x,
    "layers": lambda x: F.layer_norm(F.gelu(F.linear(x, x, x[0])), (4,)),
    "convolution": lambda x: F.conv2d(
        F.max_pool2d(x[None, None], 2), x[None, None, :2, :2]
    ),
    "norms": lambda x: F.batch_norm(F.group_norm(x, 2), None, None, training=True),
    "attention": attention,
    "lstm": lstm,
    "losses": lambda x: F.cross_entropy(x, ac.tensor([0, 1, 2, 3])) * x.std(),
    "indices": lambda x: x[ac.tensor([0, 1])].sort(1)[0].cumsum(0) + x.max(1)[0],
    "solved": lambda x: ac.linalg.solve(x + 9 * ac.eye(4), x),
    "written": lambda x: x.clone().mul_(x).exp_(),
    "users": Exp.apply,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [ac.float32, ac.bfloat16])
def test_gradients_of_packed_values(name, dtype):
    if dtype is ac.bfloat16 and name in ("solved", "lstm"):
        pytest.skip("takes float32 and float64")
    x = leaf(4, 4).to(dtype).detach().requires_grad_()
    (plain,) = ac.autograd.grad(FUNCTIONS[name](x).square().sum(), x)
    count = []

    def packing(value):
        count.append(value.shape)
        return value.dtype, value.double()

    y = packed(
        FUNCTIONS[name], x, pack=packing, unpack=lambda kept: kept[1].to(kept[0])
    )
    (found,) = ac.autograd.grad(y.square().sum(), x)
    assert count, "nothing was packed"
    assert ac.allclose(plain, found, rtol=1e-5, atol=1e-6)


def test_second_derivatives_of_packed_values():
    x = leaf(3)
    y = packed(lambda x: (x.exp() * x.sin()).sum(), x)
    (g,) = ac.autograd.grad(y, x, create_graph=True)
    (h,) = ac.autograd.grad(g.sum(), x)
    assert ac.allclose(h, 2 * x.exp() * x.cos(), atol=1e-5)


def test_the_packed_value_is_what_counts():
    x = ac.tensor([2.0], requires_grad=True)
    y = packed(
        lambda x: x * x, x, pack=lambda v: 7, unpack=lambda v: ac.tensor([1.0 * v])
    )
    y.backward()
    assert x.grad.item() == 14


def test_hooks_see_plain_tensors_and_record_nothing():
    seen = []

    def pack(x):
        seen.append((x.grad_fn, x.requires_grad, ac.is_grad_enabled()))
        return x

    packed(lambda x: x * x.exp(), leaf(2), pack=pack, unpack=lambda x: x)
    assert set(seen) == {(None, False, False)}


def test_saved_arrays_are_let_go():
    x = leaf(1000)
    kept = []
    y = packed(
        lambda x: x.exp().sin(),
        x,
        pack=lambda v: kept.append(v) or len(kept) - 1,
        unpack=lambda i: kept[i],
    )
    arrays = [weakref.ref(v._array) for v in kept]
    y.sum().backward()
    kept.clear()
    gc.collect()
    assert [a() for a in arrays if a() is not None and a() is not x._array] == []
    with pytest.raises(GradError, match="were freed by an earlier backward"):
        y.sum().backward()


def test_the_inner_block_counts_and_ends():
    seen = []

    def block(name):
        return graph.saved_tensors_hooks(lambda x: seen.append(name) or x, lambda x: x)

    x = leaf(2)
    with block("outer"):
        _ = x.exp()
        with block("inner"):
            _ = x.exp()
        _ = x.exp()
    _ = x.exp()
    assert seen == ["outer", "inner", "outer"]


def test_blocks_belong_to_their_thread():
    seen, x = [], leaf(2)
    with graph.saved_tensors_hooks(lambda x: seen.append(x) or x, lambda x: x):
        other = threading.Thread(target=x.exp)
        other.start()
        other.join()
        assert seen == []
        x.exp()
        assert len(seen) == 1


def test_calls_are_accelerated_again_after_a_block():
    from autocalc._dispatch.engine import eager

    before = len(eager.paused)
    with graph.save_on_cpu():
        with ac.autograd.set_detect_anomaly(True):
            (leaf(2) * 2).sum().backward()
        assert len(eager.paused) == before + 1
        x = leaf(2)
        step = ac.compile(lambda x: (x * x).sum())
        step(x)
    assert len(eager.paused) == before


def test_compiled_functions_run_as_written_in_a_block():
    seen, x = [], leaf(2)
    step = ac.compile(lambda x: (x * x).sum())
    step(x)
    with graph.saved_tensors_hooks(lambda v: seen.append(v) or v, lambda v: v):
        step(x).backward()
    assert seen
    assert ac.allclose(x.grad, 2 * x.detach())


def test_save_on_cpu():
    x = leaf(2)
    with graph.save_on_cpu(pin_memory=True):
        y = (x * x).sum()
    y.backward()
    assert ac.allclose(x.grad, 2 * x.detach())


def test_refusals_of_saved_tensors_hooks():
    with pytest.raises(ArgumentError, match="`unpack_hook` is a int; give a function"):
        graph.saved_tensors_hooks(lambda x: x, 3)
    y = packed(lambda x: x * x, leaf(2), unpack=lambda x: 3)
    with pytest.raises(
        DTypeError, match="`unpack_hook` returned a int; it must return"
    ):
        y.sum().backward()
    with pytest.raises(
        GradError, match="saved_tensors_hooks: A saved tensor pack hook is"
    ):
        packed(lambda x: x * x, leaf(2), pack=lambda x: x.add_(1))
    refused = graph.disable_saved_tensors_hooks
    with refused("not in here"), pytest.raises(GradError, match="not in here"):
        graph.save_on_cpu().__enter__()
    with graph.save_on_cpu(), pytest.raises(GradError, match="nor here"):
        refused("nor here").__enter__()
    with graph.save_on_cpu():
        pass

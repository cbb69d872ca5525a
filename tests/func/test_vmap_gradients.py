# SPDX-License-Identifier: MIT
"""Gradients through `vmap`, of shared tensors and of modules."""

from __future__ import annotations

import numpy as np
import pytest
from tests.func.cases import MODULES, numbers

import autocalc as ac
from autocalc import nn, vmap
from autocalc.errors import VmapError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core


def loop(function, *args):
    """Return the results of one call for each example, stacked."""
    return ac.stack([function(*one) for one in zip(*args, strict=True)])


def alike(found, expected, tolerance=1e-12):
    assert found.dtype is expected.dtype
    assert found.shape == expected.shape
    a, b = found.detach().numpy(), expected.detach().numpy()
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# ---- tensors outside, and gradients --------------------------------------------------


def test_a_function_may_use_tensors_around_it():
    x, y = numbers(3, 2), numbers(2)
    alike(vmap(lambda a: a * y)(x), x * y)


def test_gradients_of_mapped_arguments():
    x = numbers(3, 2).requires_grad_()
    (g,) = ac.autograd.grad(vmap(lambda a: (a**3).sum())(x).sum(), x)
    alike(g, 3 * x.detach() ** 2)


def test_the_gradient_of_a_shared_tensor_is_summed():
    x, w = numbers(3, 2), numbers(2).requires_grad_()
    vmap(lambda a: a * w)(x).sum().backward()
    alike(w.grad, x.sum(0))


def test_the_gradient_of_a_shared_argument_is_summed():
    x, w = numbers(3, 2), numbers(4, 2).requires_grad_()
    vmap(F.linear, (0, None))(x, w).square().sum().backward()
    (expected,) = ac.autograd.grad(F.linear(x, w).square().sum(), w)
    alike(w.grad, expected)


def test_the_gradient_of_a_shared_tensor_is_summed_over_two_levels():
    x, w = numbers(3, 4, 2), numbers(2).requires_grad_()
    vmap(vmap(lambda a: (a * w).exp()))(x).sum().backward()
    (expected,) = ac.autograd.grad((x * w).exp().sum(), w)
    alike(w.grad, expected)


def test_gradients_of_shared_tensors_outside_are_added_once():
    x, w = numbers(3, 2), numbers(2, seed=1).requires_grad_()
    expected = x.sum(0) + 2 * w.detach()
    (vmap(lambda a: (a * w).sum())(x).sum() + w.square().sum()).backward()
    alike(w.grad, expected)
    y = w * 1
    total = vmap(lambda a: (a * y).sum())(x).sum() + y.square().sum()
    alike(ac.autograd.grad(total, w)[0], expected)
    y = w * 1
    total = vmap(lambda a: a[0] * y[0])(x).sum() + y[0] ** 2 + y[1]
    one = ac.ones((), dtype=ac.float64)
    alike(ac.autograd.grad(total, w)[0], ac.stack([expected[0], one]))


def test_a_tensor_may_be_mapped_and_shared():
    x = numbers(3).requires_grad_()
    (g,) = ac.autograd.grad(vmap(lambda s: (s + x).sin())(x).sum(), x)
    z = x.detach()
    alike(g, 2 * (z[:, None] + z).cos().sum(0))


SHARED = {
    "write": lambda r, w: put(r * w, 0, (r * w)[0] * r[1]).dot(w),
    "write into a shared tensor": lambda r, w: put(w * 1, 0, 0.0).dot(r),
    "write from a shared tensor": lambda r, w: put(r * 1, slice(1, None), w[1:]).dot(w),
    "parts": lambda r, w: (r[:2] * w.split(2)[0]).sum() + w.split(2)[1].sum() * r[0],
    "two results": lambda r, w: ac.stack([w.square().sum(), (r * w).sum()]),
    "mean and variance": lambda r, w: sum(ac.var_mean(w)) * r,
    "no example": lambda r, w: w.square(),
}


def put(x, index, value):
    x[index] = value
    return x


@pytest.mark.parametrize("name", SHARED)
def test_gradients_of_a_shared_tensor(name):
    x, w = numbers(3, 4), numbers(4).requires_grad_()
    found = vmap(lambda r: SHARED[name](r, w))(x).sum() + w.exp().sum()
    expected = sum(SHARED[name](r, w).sum() for r in x) + w.exp().sum()
    alike(ac.autograd.grad(found, w)[0], ac.autograd.grad(expected, w)[0])


def test_a_shared_tensor_that_leaves_the_call():
    x, w, kept = numbers(3, 4), numbers(4).requires_grad_(), []

    def function(r):
        kept.append(w * 2)
        return r.dot(kept[0])

    found = vmap(function)(x).sum() + kept[0].square().sum()
    expected = (x @ (w * 2)).sum() + (4 * w**2).sum()
    alike(ac.autograd.grad(found, w)[0], ac.autograd.grad(expected, w)[0])


def test_hooks_see_the_gradient_of_a_shared_tensor():
    x, w = numbers(3, 2), numbers(2).requires_grad_()
    seen = []
    w.register_hook(seen.append)
    y = w * 2
    y.register_hook(seen.append)
    y.retain_grad()
    vmap(lambda a: (a * y).sum())(x).sum().backward()
    alike(seen[0], x.sum(0))
    alike(y.grad, x.sum(0))
    alike(seen[1], 2 * x.sum(0))


def test_calls_leave_no_levels():
    from autocalc._dispatch.device.batches import _LEVELS

    before = len(_LEVELS)
    for i in range(5):
        vmap(lambda a, i=i: (a * 2.5 + i).clamp(0.25))(numbers(3, 2))
    assert len(_LEVELS) <= before


def test_modules_get_the_gradients_of_a_batch():
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    x = numbers(5, 3)
    vmap(model)(x).sum().backward()
    found = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    for g, p in zip(found, model.parameters(), strict=True):
        alike(g, p.grad)


def test_second_derivatives_go_through_vmap():
    x = numbers(3, 2).requires_grad_()
    y = vmap(lambda a: (a**3).sum())(x).sum()
    (g,) = ac.autograd.grad(y, x, create_graph=True)
    (h,) = ac.autograd.grad(g.sum(), x)
    alike(h, 6 * x.detach())


def test_gradients_inside_are_those_of_each_example():
    w = numbers(2).requires_grad_()

    def function(a):
        (g,) = ac.autograd.grad((a * w).sum() ** 2, w)
        return g

    x = numbers(3, 2)
    expected = 2 * (x @ w.detach())[:, None] * x
    alike(vmap(function)(x), expected)


def test_backward_inside_is_refused_for_a_leaf_that_examples_share():
    w = numbers(2).requires_grad_()

    def function(a):
        (a * w).sum().backward()
        return a

    with pytest.raises(VmapError, match=r"each example has a gradient of its own for "
                       r"a leaf of shape .*2.* Use ac.func.grad"):  # fmt: skip
        vmap(function)(numbers(3, 2))


def test_no_grad_and_detach_inside():
    x = numbers(3, 2).requires_grad_()

    def function(a):
        with ac.no_grad():
            b = a * 2
        return b, a.detach() * 3, a * 4

    assert [y.requires_grad for y in vmap(function)(x)] == [False, False, True]


# ---- modules -------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_a_module_and_its_gradients_equal_a_loop(name):
    ac.manual_seed(0)
    make, shapes = MODULES[name]
    module = make()
    if isinstance(module, nn.Module):
        module = module.double().eval()
    inputs = [
        numbers(3, *shape, seed=i).requires_grad_() for i, shape in enumerate(shapes)
    ]
    found, expected = vmap(module)(*inputs), loop(module, *inputs)
    alike(found, expected, 1e-11)
    weights = ac.cos(ac.arange(found.numel(), dtype=ac.float64)).reshape(found.shape)
    leaves = inputs + list(getattr(module, "parameters", list)())
    for g, e in zip(
        ac.autograd.grad((found * weights).sum(), leaves, materialize_grads=True),
        ac.autograd.grad((expected * weights).sum(), leaves, materialize_grads=True),
        strict=True,
    ):
        alike(g, e, 1e-10)


@pytest.mark.parametrize("name", MODULES)
def test_a_module_and_its_gradients_without_examples(name):
    make, shapes = MODULES[name]
    module = make()
    if isinstance(module, nn.Module):
        module = module.double().eval()
    inputs = [numbers(0, *shape).requires_grad_() for shape in shapes]
    found = vmap(module)(*inputs)
    assert found.shape == (0, *module(*[numbers(*shape) for shape in shapes]).shape)
    gradients = ac.autograd.grad(found.sum(), inputs, materialize_grads=True)
    assert [g.shape for g in gradients] == [x.shape for x in inputs]


INDEXED_MODULES = {
    "Embedding": (lambda: nn.Embedding(5, 3), lambda m, x, i: m(i)),
    "Embedding with padding": (
        lambda: nn.Embedding(5, 3, padding_idx=1), lambda m, x, i: m(i)),
    "CrossEntropyLoss": (nn.CrossEntropyLoss, lambda m, x, i: m(x, i)),
    "CrossEntropyLoss, smoothed and weighted": (
        lambda: nn.CrossEntropyLoss(ac.arange(5.0) + 1, label_smoothing=0.1),
        lambda m, x, i: m(x, i)),
    "CrossEntropyLoss, one": (nn.CrossEntropyLoss, lambda m, x, i: m(x[0], i[0])),
    "CrossEntropyLoss, ignored": (
        lambda: nn.CrossEntropyLoss(ignore_index=2), lambda m, x, i: m(x, i)),
    "NLLLoss": (nn.NLLLoss, lambda m, x, i: m(x.log_softmax(1), i)),
    "MultiMarginLoss": (nn.MultiMarginLoss, lambda m, x, i: m(x, i)),
    "one_hot": (lambda: None, lambda m, x, i: x * F.one_hot(i, 5)),
}  # fmt: skip


@pytest.mark.parametrize("name", INDEXED_MODULES)
def test_a_module_of_indices_equals_a_loop(name):
    ac.manual_seed(0)
    make, call = INDEXED_MODULES[name]
    module = make()
    module = module.double() if module is not None else None
    x = numbers(3, 4, 5).requires_grad_()
    i = ac.tensor([[0, 1, 2, 3], [4, 0, 0, 2], [1, 1, 1, 2]])

    def function(x, i):
        return call(module, x, i)

    found, expected = vmap(function)(x, i), loop(function, x, i)
    alike(found, expected)
    leaves = [x, *(module.parameters() if module else ())]
    for g, e in zip(
        ac.autograd.grad(found.square().sum(), leaves, materialize_grads=True),
        ac.autograd.grad(expected.square().sum(), leaves, materialize_grads=True),
        strict=True,
    ):
        alike(g, e)


def test_batch_norm_in_training_cannot_count_examples_in_shared_buffers():
    norm = nn.BatchNorm1d(4).double()
    with pytest.raises(VmapError, match="that all examples share"):
        vmap(norm)(numbers(3, 5, 4))


def test_batch_norm_without_running_statistics_works_in_training():
    norm = nn.BatchNorm1d(4, track_running_stats=False).double()
    x = numbers(3, 5, 4)
    alike(vmap(norm)(x), loop(norm, x))

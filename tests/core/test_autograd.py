# SPDX-License-Identifier: MIT
"""`backward`, `grad`, what a gradient may be, and what is refused."""

from __future__ import annotations

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import autograd
from autocalc.errors import ArgumentError, AutocalcWarning, DTypeError, GradError
from autocalc.testing import assert_close


def leaf(*values):
    return ac.tensor(list(values), requires_grad=True)


# ---- backward ------------------------------------------------------------------------


def test_backward_adds_to_leaves():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * y + x).sum().backward()
    assert x.grad.tolist() == [4.0, 5.0]
    assert y.grad.tolist() == [1.0, 2.0]
    (x * 2).sum().backward()
    assert x.grad.tolist() == [6.0, 7.0]


def test_gradients_are_added_into_the_same_memory():
    x = leaf(1.0, 2.0)
    x.sum().backward()
    kept = x.grad
    x.sum().backward()
    assert x.grad is kept
    assert kept.tolist() == [2.0, 2.0]


def test_gradients_own_their_memory():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    seed = ac.ones(2)
    (x + y).backward(seed)
    x.grad.add_(1)
    assert y.grad.tolist() == [1.0, 1.0]
    assert seed.tolist() == [1.0, 1.0]
    z = leaf(1.0, 2.0)
    z.mean().backward()  # its rule gives a view of one number
    z.mean().backward()
    z.grad.add_(1)
    assert z.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("first", [0, 1])
def test_a_sum_never_writes_into_a_view(first):
    x = leaf(1.0, 2.0, 4.0, 5.0)
    terms = [lambda: x.mean() * 1, lambda: (x * x).sum() * 1]
    y = terms[first]() + terms[not first]()
    y.backward()
    assert x.grad.tolist() == [2.25, 4.25, 8.25, 10.25]


def test_a_seed():
    x = leaf(1.0, 2.0)
    (x * 3).backward(ac.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [3.0, 30.0]
    (x * 3).backward(gradient=ac.tensor([1, 1]))  # cast to the dtype of the output
    assert x.grad.tolist() == [6.0, 33.0]


def test_one_element_of_any_shape_needs_no_seed():
    x = leaf(2.0)
    (x * x).reshape(1, 1).backward()
    assert x.grad.tolist() == [4.0]


def test_backward_of_a_leaf():
    x = leaf(1.0)
    x.backward()
    assert x.grad.tolist() == [1.0]


def test_several_roots():
    x = leaf(1.0, 2.0)
    y = x * 2
    autograd.backward([y.sum(), (y * y).sum()])
    assert x.grad.tolist() == [10.0, 18.0]
    autograd.backward([x * 1, x * 1], [ac.ones(2), ac.ones(2)])
    assert x.grad.tolist() == [12.0, 20.0]


def test_a_root_inside_the_graph_of_another():
    x = leaf(3.0)
    y = x * x
    z = y * y
    autograd.backward([z, y])
    assert x.grad.item() == 4 * 27 + 6


test_errors = refusals(
    r"""
    ac.ones(1).backward() -> GradError: shape \(1,\) has no gradient history and does
    (leaf(1.0, 2.0) * 2).backward() -> GradError: backward: the tensor has shape
        \(2,\).*Pass `gradient`.*\.sum\(\)
    (leaf(1.0, 2.0) * 2).backward(ac.ones(3)) -> GradError: Mismatch in shape:
    (leaf(1.0) * 2).backward(1.0) -> DTypeError: the gradient that was given is a
    autograd.backward([leaf(1.0) * 2], [ac.ones(1), ac.ones(1)]) -> GradError:
        1 tensors and 2
    autograd.grad(leaf(1.0) * 2, ac.ones(1)) -> GradError: `inputs\[0\]` of shape
    autograd.grad(leaf(1.0) * 2, leaf(1.0)) -> GradError: do not depend on
        `inputs\[0\]`.*allow_unused=True
    (leaf(1.0) * 2).requires_grad_(False) -> GradError: only a leaf can change whe
    ac.tensor([1]).requires_grad_() -> DTypeError: requires_grad: Only Tensors of
    ac.ones(1).register_hook(print) -> GradError: register_hook: this tensor does not
    ac.ones(1).retain_grad() -> GradError: retain_grad: this tensor does not
    """,
    globals(),
)


def test_a_second_backward_says_what_to_do():
    x = leaf(1.0)
    y = x * x
    y.backward()
    message = r"`mul` saved were freed by an earlier backward.*retain_graph=True"
    with pytest.raises(GradError, match=message):
        y.backward()
    with pytest.raises(GradError, match=message):
        autograd.grad(y, x)
    assert x.grad.tolist() == [2.0]


def test_retain_graph_keeps_what_is_needed_for_another_walk():
    x = leaf(2.0)
    y = x.exp() * x
    y.backward(retain_graph=True)
    first = x.grad.item()
    y.backward()
    assert x.grad.item() == 2 * first
    with pytest.raises(GradError, match="freed"):
        y.backward()


def test_two_graphs_with_a_common_part():
    x = leaf(2.0)
    shared = x * x
    a, b = shared * 2, shared * 3
    a.backward()
    with pytest.raises(GradError, match="freed"):
        b.backward()


# ---- what a gradient may be ----------------------------------------------------------


def test_setting_gradients():
    x = leaf(1.0, 2.0)
    x.grad = ac.ones(2)
    x.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    del x.grad
    assert x.grad is None
    with pytest.raises(ArgumentError, match=r"shape \(3,\), but the tensor"):
        x.grad = ac.ones(3)
    with pytest.raises(DTypeError, match="dtype float64, but the tensor"):
        x.grad = ac.ones(2, dtype=ac.float64)
    y = ac.ones(2)
    y.grad = ac.full((2,), 3.0)
    assert y.grad.tolist() == [3.0, 3.0]
    y.requires_grad_().sum().backward()
    assert y.grad.tolist() == [4.0, 4.0]
    z = y * 2
    z.grad = ac.ones(2)
    assert z.grad.tolist() == [1.0, 1.0]
    z.grad = None
    assert ac.ones(1).grad is None
    with pytest.warns(AutocalcWarning, match="grad: the gradient of a tensor that"):
        assert (x * 2).grad is None


def test_requires_grad_and_leaves():
    x = ac.ones(2)
    assert x.is_leaf
    assert not x.requires_grad
    x.requires_grad = True
    y = x * 2
    assert y.requires_grad
    assert not y.is_leaf
    assert y.grad_fn.op.name == "mul"
    assert x.grad_fn is None
    assert y.requires_grad_() is y
    x.requires_grad_(False)
    assert not (x * 2).requires_grad
    assert "mul" in repr(y.grad_fn)


def test_detach():
    x = leaf(2.0)
    y = x * x
    z = y.detach()
    assert not z.requires_grad
    assert z.is_leaf
    (y * z).backward()
    assert x.grad.item() == 4.0 * 4.0
    w = x * 3
    w.detach_()
    assert w.is_leaf
    assert not w.data.requires_grad


# ---- grad ----------------------------------------------------------------------------


def test_grad_returns_and_touches_no_leaf():
    x, y = leaf(2.0), leaf(3.0)
    gx, gy = autograd.grad(x * y, [x, y])
    assert (gx.item(), gy.item()) == (3.0, 2.0)
    assert x.grad is None
    assert y.grad is None


def test_grad_of_inner_tensors_and_of_the_output_itself():
    x = leaf(2.0)
    y = x * x
    z = y * y
    gz, gy, gx = autograd.grad(z, [z, y, x])
    assert (gz.item(), gy.item(), gx.item()) == (1.0, 8.0, 32.0)


def test_grad_sums_over_outputs():
    x = leaf(2.0)
    (g,) = autograd.grad([x * 2, x * x], x, [ac.ones(1), ac.tensor([10.0])])
    assert g.item() == 2 + 40


def test_unused_inputs():
    x, y = leaf(1.0), leaf(1.0)
    gx, gy = autograd.grad(x * 2, [x, y], allow_unused=True)
    assert gx.item() == 2.0
    assert gy is None


def test_grad_visits_only_what_leads_to_the_inputs():
    x, y = leaf(2.0), leaf(2.0)
    side = y.exp()
    z = (x * side).sum()
    with ac.kernels.count() as calls:
        autograd.grad(z, x)
    assert sum(n for (kernel, _), n in calls.items() if kernel == "mul") == 1


# ---- second derivatives --------------------------------------------------------------


def test_create_graph():
    x = leaf(2.0)
    y = x**3
    (first,) = autograd.grad(y, x, create_graph=True)
    (second,) = autograd.grad(first, x, create_graph=True)
    (third,) = autograd.grad(second, x)
    assert (first.item(), second.item(), third.item()) == (12.0, 12.0, 6.0)


def test_backward_with_create_graph():
    x = leaf(2.0)
    (x**3).backward(create_graph=True)
    assert x.grad.requires_grad
    gradient = x.grad
    x.grad = None
    gradient.backward()
    assert x.grad.item() == 12.0


def test_create_graph_keeps_the_graph_by_default():
    x = leaf(2.0)
    y = x * x
    autograd.grad(y, x, create_graph=True)
    autograd.grad(y, x)


def test_a_gradient_penalty():
    w = ac.tensor([[1.0, -2.0], [0.5, 1.5]], dtype=ac.float64, requires_grad=True)
    x = ac.tensor([0.3, -0.7], dtype=ac.float64, requires_grad=True)

    def penalty(w, x):
        (g,) = autograd.grad((w @ x).tanh().sum(), x, create_graph=True)
        return (g * g).sum()

    assert ac.testing.gradcheck(penalty, (w, x))


def test_accumulating_a_recorded_gradient_is_recorded():
    x = leaf(3.0)
    (x * x).backward(create_graph=True)
    (x * x).backward(create_graph=True)
    assert x.grad.item() == 12.0
    gradient, x.grad = x.grad, None
    gradient.backward()
    assert x.grad.item() == 4.0


def test_sums_of_gradients_of_different_kinds():
    # A partial sum, a view and a fresh array meet at one tensor.
    x = ac.rand(3, 2, dtype=ac.float64, requires_grad=True)

    def f(x):
        y = x * 2
        return (
            y[0].sum()
            + y.mean()
            + (y * y).sum()
            + y[1:].sum()
            + y.t()[0].sum()
            + (y + y).sum()
        )

    assert ac.testing.gradcheck(f, x)
    assert ac.testing.gradgradcheck(f, x)


def test_the_same_seed_for_two_leaves_stays_untouched():
    x, y = leaf(1.0, 2.0), leaf(1.0, 2.0)
    seed = ac.ones(2)
    z = x + y + x + y
    z.backward(seed)
    assert_close(x.grad, ac.full((2,), 2.0))
    assert seed.tolist() == [1.0, 1.0]

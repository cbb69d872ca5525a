# SPDX-License-Identifier: MIT
"""`vmap`: a function of one example runs on many, as a loop would."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
from tests.func.cases import MODULES, numbers

import autocalc as ac
from autocalc import nn, vmap
from autocalc.errors import ArgumentError, VmapError, VmapWarning
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


# ---- dimensions of arguments and results ---------------------------------------------


def test_each_example_is_seen_without_its_dimension():
    seen = []
    vmap(lambda x: seen.append((x.shape, x.ndim, x.numel(), len(x))) or x)(
        numbers(5, 2, 3)
    )
    assert seen == [((2, 3), 2, 6, 2)]


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_in_dims_chooses_the_dimension_of_examples(dim):
    x = numbers(2, 3, 4)
    alike(vmap(lambda y: y.cumsum(0), in_dims=dim)(x), loop(
        lambda y: y.cumsum(0), x.unbind(dim)))  # fmt: skip


def test_an_argument_with_none_is_shared():
    x, y = numbers(3, 2), numbers(2)
    alike(vmap(ac.dot, in_dims=(0, None))(x, y), x @ y)
    alike(vmap(ac.dot, in_dims=[0, None])(x, y), x @ y)


def test_arguments_that_are_not_tensors_are_passed_on_with_none():
    x = numbers(3, 2)
    found = vmap(lambda x, n, s: x * n + len(s), in_dims=(0, None, None))(x, 2, "abc")
    alike(found, x * 2 + 3)


def test_in_dims_can_have_the_structure_of_the_arguments():
    x, y, z = numbers(3, 2), numbers(2, 3), numbers(2)

    def total(first, pair):
        return first["x"] + pair[0] * pair[1]

    found = vmap(total, in_dims=({"x": 0}, (1, None)))({"x": x}, (y, z))
    alike(found, x + y.T * z)


def test_one_number_in_in_dims_counts_for_a_whole_structure():
    x, y = numbers(3, 2), numbers(3, 2, seed=1)
    alike(vmap(lambda d: d["x"] * d["y"][0])({"x": x, "y": [y]}), x * y)
    alike(vmap(lambda d, s: d["x"] * s, in_dims=(0, None))({"x": x}, 2.0), x * 2)


def test_keyword_arguments_are_shared():
    x, y = numbers(3, 2), numbers(3, 2, seed=1)
    alike(vmap(lambda x, *, scale: (x * scale).sum())(x, scale=y), (
        x[:, None] * y).sum((1, 2)))  # fmt: skip


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_out_dims_places_the_dimension_of_examples(dim):
    x = numbers(3, 2, 4)
    alike(vmap(lambda y: y * 2, out_dims=dim)(x), (x * 2).movedim(0, dim))


def test_out_dims_can_have_the_structure_of_the_results():
    x = numbers(3, 2)
    one, two = vmap(lambda y: (y, {"d": y * 2}), out_dims=(0, {"d": 1}))(x)
    alike(one, x)
    alike(two["d"], x.T * 2)
    one, two = vmap(lambda y: (y, [y, y]), out_dims=1)(x)
    assert [one.shape, *[y.shape for y in two]] == [(2, 3)] * 3


def test_a_result_that_does_not_depend_on_the_examples_is_repeated():
    found = vmap(lambda x: ac.arange(2))(numbers(3, 4))
    assert found.tolist() == [[0, 1]] * 3
    found = vmap(lambda x: ac.arange(2), out_dims=1)(numbers(3, 4))
    assert found.tolist() == [[0] * 3, [1] * 3]


def test_a_result_with_none_in_out_dims_is_returned_as_it_is():
    x, y = numbers(3, 2), numbers(2)
    one, two = vmap(lambda x: (x, y * 2), out_dims=(0, None))(x)
    alike(one, x)
    alike(two, y * 2)


def test_the_mapped_function_keeps_its_name_and_docstring():
    def function(x):
        """Return it."""
        return x

    mapped = vmap(function)
    assert (mapped.__name__, mapped.__doc__) == ("function", "Return it.")


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 100, None])
def test_chunks_give_the_same_results(chunk):
    x, y = numbers(7, 2), numbers(4, 7)

    def function(a, b, c):
        return a.sum() * b, {"c": c * a}

    mapped = vmap(function, (0, 1, None), (1, 0), chunk_size=chunk)
    one, two = mapped(x, y, 3.0)
    alike(one, x.sum(1) * y)
    alike(two["c"], x * 3)


def test_no_examples_give_empty_results():
    x = numbers(0, 3)
    assert vmap(lambda y: y.exp().sum())(x).shape == (0,)
    assert vmap(nn.Linear(3, 2).double())(x).shape == (0, 2)


def test_one_example_and_empty_examples():
    alike(vmap(lambda y: y.softmax(0))(numbers(1, 3)), numbers(1, 3).softmax(1))
    assert vmap(lambda y: y.sum())(numbers(3, 0)).tolist() == [0.0] * 3


@pytest.mark.parametrize("dtype", [ac.float32, ac.int64, ac.bool, ac.bfloat16])
def test_dtypes_are_those_of_a_loop(dtype):
    x = (numbers(3, 4) > 0).to(dtype)

    def function(y):
        return (y + y).sum(0, keepdim=True)

    found, expected = vmap(function)(x), loop(function, x)
    assert found.dtype is expected.dtype
    assert found.tolist() == expected.tolist()


# ---- nested calls --------------------------------------------------------------------


def test_nested_calls_over_both_dimensions_of_one_tensor():
    x = numbers(3, 4)
    alike(vmap(vmap(ac.sin))(x), x.sin())
    alike(vmap(vmap(ac.sin, in_dims=0), in_dims=1)(x), x.sin().T)


def test_nested_calls_over_different_tensors_make_an_outer_product():
    x, y = numbers(3), numbers(4)
    outer = vmap(vmap(ac.mul, in_dims=(None, 0)), in_dims=(0, None))
    alike(outer(x, y), x[:, None] * y)


def test_the_inner_call_may_map_what_only_the_outer_one_sees():
    x, y = numbers(3, 2), numbers(5, 2)

    def rows(a):
        return vmap(lambda b: (a * b).sum() + b[0])(y)

    alike(vmap(rows)(x), x @ y.T + y[:, 0])


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a @ b,
        lambda a, b: (a * b[:, 0]).softmax(0),
        lambda a, b: ac.cat([a, b[0]]),
        lambda a, b: b[a.argmax()],
        F.linear,
        lambda a, b: ac.linalg.solve(b @ b.T + ac.eye(2, dtype=b.dtype), a),
        lambda a, b: F.conv1d(a[None, None], b[:, None], padding=1),
    ],
    ids=["matmul", "softmax", "cat", "index", "linear", "solve", "conv"],
)
def test_two_levels_equal_two_loops(function):
    x, y = numbers(3, 2), numbers(4, 2, 2)
    mapped = vmap(vmap(function, (None, 0)), (0, None))
    alike(mapped(x, y), loop(lambda a: loop(lambda b: function(a, b), y), x))
    mapped = vmap(vmap(function, (0, None)), (None, 0))
    alike(mapped(x, y), loop(lambda b: loop(lambda a: function(a, b), x), y))


def test_three_levels():
    x = numbers(2, 3, 4, 5)
    alike(vmap(vmap(vmap(ac.logsumexp, (0, None)), (1, None)), (2, None))(x, 0), (
        x.logsumexp(3).permute(2, 1, 0)))  # fmt: skip


def test_a_tensor_of_the_outer_level_is_used_in_the_inner_one():
    x, y = numbers(3, 2), numbers(4, 2)

    def function(a):
        doubled = a * 2
        return vmap(lambda b: doubled.dot(b) + doubled.sum())(y)

    alike(vmap(function)(x), 2 * (x @ y.T) + 2 * x.sum(1, keepdim=True))


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


# ---- random numbers ------------------------------------------------------------------

DRAWS = {
    "rand": lambda x: ac.rand(4),
    "randn": lambda x: ac.randn(4),
    "rand_like": ac.rand_like,
    "randint": lambda x: ac.randint(0, 10**9, (4,)),
    "bernoulli": lambda x: ac.bernoulli(ac.full((40,), 0.5)),
    "dropout": lambda x: F.dropout(ac.ones(40), 0.5),
    "dropout of an example": lambda x: F.dropout(x.new_ones(40), 0.5),
    "normal_": lambda x: x.clone().normal_(),
    "uniform_": lambda x: x.clone().uniform_(),
    "randperm": lambda x: ac.randperm(50),
    "multinomial": lambda x: ac.multinomial(ac.ones(50), 20),
    "exponential_": lambda x: x.clone().exponential_(),
    "distribution": lambda x: ac.distributions.Normal(ac.zeros(4), 1.0).sample(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_different_draws_other_numbers_for_each_example(name):
    x = numbers(3, 4)
    a, b, c = vmap(DRAWS[name], randomness="different")(x)
    assert not ac.equal(a, b)
    assert not ac.equal(b, c)
    assert not ac.equal(a, c)


@pytest.mark.parametrize("name", DRAWS)
def test_same_draws_one_number_for_all_examples(name):
    x = numbers(3, 4)
    a, b, c = vmap(DRAWS[name], randomness="same")(x)
    alike(a, b, 1e-9)
    alike(b, c, 1e-9)


@pytest.mark.parametrize("name", DRAWS)
def test_random_functions_are_refused_unless_randomness_is_chosen(name):
    with pytest.raises(VmapError, match=r"random function.*called random operation "
                       r"while in randomness error mode"):  # fmt: skip
        vmap(DRAWS[name])(numbers(3, 4))


@pytest.mark.parametrize("randomness", ["different", "same"])
def test_a_seed_repeats_the_numbers(randomness):
    def draw():
        ac.manual_seed(5)
        mapped = vmap(lambda x: x + ac.randn(3, dtype=x.dtype), randomness=randomness)
        return mapped(numbers(4, 3))

    assert ac.equal(draw(), draw())


def test_numbers_after_vmap_are_new_ones():
    ac.manual_seed(0)
    inside = vmap(lambda x: ac.rand(2), randomness="different")(numbers(3, 1))
    outside = ac.rand(2)
    assert not {*inside.flatten().tolist()} & {*outside.tolist()}


def test_nested_randomness_is_chosen_for_each_level():
    def draws(outer, inner):
        f = vmap(lambda x: ac.rand(()), randomness=inner)
        found = vmap(f, randomness=outer)(numbers(3, 4))
        return [len({*found[0].tolist()}), len({*found[:, 0].tolist()})]

    assert draws("different", "different") == [4, 3]
    assert draws("same", "different") == [4, 1]
    assert draws("different", "same") == [1, 3]
    assert draws("same", "same") == [1, 1]


@pytest.mark.filterwarnings("ignore::autocalc.errors.VmapWarning")
@pytest.mark.parametrize("name", ["rand_like", "dropout of an example", "normal_"])
def test_nested_randomness_of_tensors_with_both_levels(name):
    def draws(outer, inner):
        f = vmap(lambda x: DRAWS[name](x)[:40], randomness=inner)
        found = vmap(f, randomness=outer)(numbers(3, 4, 40))
        rows, columns = found[0].tolist(), found[:, 0].tolist()
        return [len({*map(tuple, rows)}), len({*map(tuple, columns)})]

    assert draws("different", "different") == [4, 3]
    assert draws("same", "different") == [4, 1]
    assert draws("different", "same") == [1, 3]
    assert draws("same", "same") == [1, 1]


def test_distributions_of_each_example():
    x = numbers(3, 4)
    normal = vmap(lambda m: ac.distributions.Normal(m, 1.0).log_prob(m + 1))(x)
    alike(normal, ac.distributions.Normal(x, 1.0).log_prob(x + 1))
    with pytest.raises(ArgumentError, match="`scale` of shape"):
        vmap(lambda s: ac.distributions.Normal(0.0, s).sample())(-x.abs() - 1)


DISTRIBUTIONS = {
    "Normal": lambda a: ac.distributions.Normal(a, a.exp()),
    "Uniform": lambda a: ac.distributions.Uniform(a, a + 1),
    "Laplace": lambda a: ac.distributions.Laplace(a, a.exp()),
    "Gamma": lambda a: ac.distributions.Gamma(a.exp(), a.exp()),
    "Beta": lambda a: ac.distributions.Beta(a.exp(), a.exp() + 1),
    "Dirichlet": lambda a: ac.distributions.Dirichlet(a.exp()),
    "Bernoulli": lambda a: ac.distributions.Bernoulli(logits=a),
    "Categorical": lambda a: ac.distributions.Categorical(logits=a),
    "Multinomial": lambda a: ac.distributions.Multinomial(5, logits=a),
    "MultivariateNormal": lambda a: ac.distributions.MultivariateNormal(
        a, ac.outer(a, a) + ac.eye(4, dtype=a.dtype)
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_with_parameters_of_each_example(name):
    x, make = numbers(3, 4), DISTRIBUTIONS[name]
    mapped = vmap(lambda a: make(a).sample((2,)), randomness="different")
    drawn = mapped(x)
    assert drawn.shape == (3, *make(x[0]).sample((2,)).shape)
    log_prob = vmap(lambda a, s: make(a).log_prob(s))
    alike(log_prob(x, drawn), loop(lambda a, s: make(a).log_prob(s), x, drawn))
    if name != "Multinomial":
        alike(
            vmap(lambda a: make(a).entropy())(x), loop(lambda a: make(a).entropy(), x)
        )


@pytest.mark.parametrize("draw", [lambda x: ac.poisson(x.exp()), lambda x: ac.binomial(
    x.exp().floor(), x.sigmoid())])  # fmt: skip
def test_draws_that_are_repeated_until_accepted_are_refused(draw):
    with pytest.raises(VmapError, match=r"needed by Python|depends on the values"):
        vmap(draw, randomness="different")(numbers(3, 4))


def test_dropped_elements_have_no_gradient():
    x = ac.ones(3, 50, dtype=ac.float64).requires_grad_()
    y = vmap(F.dropout, randomness="different")(x)
    (g,) = ac.autograd.grad(y.sum(), x)
    assert ac.equal(g, y.detach())


# ---- writes in place -----------------------------------------------------------------


def test_in_place_forms_of_functions():
    x, y = numbers(3, 2), numbers(3, 2, seed=1)
    alike(vmap(lambda a, b: a.clone().add_(b))(x, y), x + y)
    alike(vmap(lambda a, b: a.clone().mul_(b).clamp_(min=0))(x, y), (x * y).clamp(0))
    alike(vmap(lambda a: ac.zeros_like(a).copy_(a))(x), x)
    alike(vmap(lambda a: a.clone().fill_(2.0))(x), ac.full_like(x, 2.0))
    alike(vmap(lambda a: a.clone().fill_(a[1]))(x), x[:, 1:].expand(3, 2))


def test_a_write_into_an_argument_reaches_the_tensor_outside():
    x, y = numbers(3, 2), numbers(3, 2, seed=1)
    expected = x + y
    vmap(lambda a, b: a.add_(b))(x, y)
    alike(x, expected)


def test_a_write_into_an_argument_changes_its_version():
    x = numbers(3, 2).requires_grad_()
    y = x * 1
    z = y.exp() * y
    vmap(lambda a: a.add_(1))(y)
    with pytest.raises(RuntimeError, match=r"changed|modified|written"):
        z.sum().backward()


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("number", lambda a, v: a.__setitem__(0, v[0])),
        ("slice", lambda a, v: a.__setitem__(slice(1, None), v[0])),
        ("row", lambda a, v: a.__setitem__(1, v)),
        ("ellipsis", lambda a, v: a.__setitem__((..., 0), v[0])),
        ("list", lambda a, v: a.__setitem__([0, 2], v)),
        ("mask", lambda a, v: a.__setitem__(ac.tensor([True, False, True]), v)),
        ("shared value", lambda a, v: a.__setitem__(0, 7.0)),
        ("index_fill_", lambda a, v: a.index_fill_(0, ac.tensor([1]), 2.0)),
        ("view", lambda a, v: a.view(-1).__setitem__(4, v[1])),
        ("transposed", lambda a, v: a.T.__setitem__(0, v[0])),
        ("masked_fill_", lambda a, v: a.masked_fill_(a > 0, 0.0)),
        ("index_add_", lambda a, v: a.index_add_(0, ac.tensor([1]), v[None])),
    ],
)
def test_writes_at_an_index(name, write):
    x, v = numbers(4, 3, 2), numbers(4, 2)

    def function(a, b):
        a = a.clone()
        write(a, b)
        return a

    alike(vmap(function)(x, v), loop(function, x, v))


def test_writes_at_a_number_of_each_example():
    x, v, i = numbers(3, 4, 2), numbers(3, 2), ac.tensor([2, 0, 3])

    def function(a, v, i):
        a = a.clone()
        a[i] = v
        a[i, 0] += 1
        return a

    alike(vmap(function)(x, v, i), loop(function, x, v, i))


def test_memory_that_is_made_like_an_example_can_be_written():
    x = numbers(3, 2)

    def function(a):
        out = ac.zeros_like(a)
        for i in range(2):
            out[i] = a[i] * (i + 1)
        more = a.new_zeros(3)
        more[1:] = a
        return ac.cat([out, more])

    alike(vmap(function)(x), loop(function, x))


def test_writes_are_recorded():
    x = numbers(3, 2).requires_grad_()

    def function(a):
        out = ac.zeros_like(a)
        out[0] = a[1] ** 2
        out[1] = a[0] * out[0].clone()
        return out

    (g,) = ac.autograd.grad(vmap(function)(x).sum(), x)
    (expected,) = ac.autograd.grad(loop(function, x).sum(), x)
    alike(g, expected)


SHARED_WRITES = {
    "add_": lambda out, a: out.add_(a),
    "copy_": lambda out, a: out.copy_(a),
    "setitem": lambda out, a: out.__setitem__(0, a[0]),
    "slice": lambda out, a: out[:1].add_(a[:1]),
    "out": lambda out, a: ac.add(a, a, out=out),
}


@pytest.mark.parametrize("name", SHARED_WRITES)
def test_a_write_into_a_shared_tensor_is_refused(name):
    out = ac.zeros(2, dtype=ac.float64)
    with pytest.raises(VmapError, match=r"writes different values for each example "
                       r"into a tensor of shape .* that all examples share.*inplace "
                       r"arithmetic is not possible.*zeros_like"):  # fmt: skip
        vmap(lambda a: SHARED_WRITES[name](out, a) or a)(numbers(3, 2))
    assert out.tolist() == [0, 0]


def test_a_shared_value_may_be_written_into_a_shared_tensor():
    out = ac.zeros(2)
    vmap(lambda a: out.add_(1.0) * a)(ac.ones(3, 2))
    assert out.tolist() == [1, 1]


def test_a_tensor_of_the_outer_level_is_shared_by_the_inner_one():
    with pytest.raises(VmapError, match="that all examples share"):
        vmap(lambda a: vmap(a.add_)(numbers(4, 2)))(numbers(3, 2))


# ---- indices -------------------------------------------------------------------------

INDEXED = {
    "number": lambda a, i: a[i[0]],
    "numbers": lambda a, i: a[i[0], i[1]],
    "number and slice": lambda a, i: a[1:, i[0]],
    "number and row": lambda a, i: a[i[0], i],
    "number, new dimension": lambda a, i: a[i[0], None, ::2],
    "row of numbers": lambda a, i: a[i],
    "two": lambda a, i: a[i, i],
    "after a slice": lambda a, i: a[:, i],
    "before a slice": lambda a, i: a[i, 1:],
    "shared and own": lambda a, i: a[ac.tensor([0, 1]), i],
    "select": lambda a, i: a.index_select(1, i),
    "gather": lambda a, i: a.gather(1, i[:, None].expand(2, 3)),
    "take": lambda a, i: a.take(i),
    "take_along_dim": lambda a, i: a.take_along_dim(i[:, None], 0),
    "of its own": lambda a, i: a[a.argmax(0)],
    "negative": lambda a, i: a[i - 2],
    "where": lambda a, i: ac.where(i[:, None] > 0, a[:2], 0.0),
}


@pytest.mark.parametrize("name", INDEXED)
def test_indices_of_each_example(name):
    a, i = numbers(4, 3, 3), ac.tensor([[0, 1], [2, 0], [1, 1], [2, 2]])
    function = INDEXED[name]
    alike(vmap(function)(a, i), loop(function, a, i))
    alike(vmap(function, (None, 0))(a[0], i), loop(lambda j: function(a[0], j), i))
    alike(vmap(function, (0, None))(a, i[1]), loop(lambda b: function(b, i[1]), a))


@pytest.mark.parametrize(
    "write",
    [
        lambda a, i, v: a.index_put((i,), v),
        lambda a, i, v: a.index_put((i,), v, accumulate=True),
        lambda a, i, v: a.index_add(0, i, v),
        lambda a, i, v: a.index_copy(0, i, v),
        lambda a, i, v: a.scatter(0, i[:, None].expand(2, 3), v),
        lambda a, i, v: a.scatter_add(0, i[:, None].expand(2, 3), v),
    ],
    ids=["put", "accumulate", "add", "copy", "scatter", "scatter_add"],
)
def test_writes_at_indices_of_each_example(write):
    a, v = numbers(4, 3, 3), numbers(4, 2, 3)
    i = ac.tensor([[0, 1], [2, 0], [1, 0], [2, 1]])
    alike(vmap(write)(a, i, v), loop(write, a, i, v))


# ---- values in Python ----------------------------------------------------------------

READS = {
    "item": lambda x: x.sum().item(),
    "bool": lambda x: 1.0 if x.sum() > 0 else 0.0,
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x.sum()),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.detach().numpy(),
    "equal": lambda x: ac.equal(x, x + 1),
}


@pytest.mark.parametrize("name", READS)
def test_values_that_differ_between_examples_cannot_be_read(name):
    with pytest.raises(VmapError, match=r"the values of a tensor of shape .* are "
                       r"needed by Python, but they differ between the 3 examples.*"
                       r"data-dependent control flow. Use where"):  # fmt: skip
        vmap(lambda x: READS[name](x) and x)(numbers(3, 2))


def test_values_of_shared_tensors_can_be_read():
    y = ac.tensor([2.0])
    assert vmap(lambda x: x * y.item() if y > 1 else x)(ac.ones(3)).tolist() == [2] * 3


def test_a_batched_tensor_prints_all_examples():
    seen = []
    x = ac.arange(6.0).reshape(3, 2)
    vmap(lambda a: seen.append(repr(a * 1)) or a)(x)
    assert "".join(seen[0].split()).endswith("value=tensor([[0.,1.],[2.,3.],[4.,5.]]))")
    vmap(vmap(lambda a: seen.append(repr(a.long())) or a))(x)
    assert "".join(seen[1].split()).endswith("value=tensor([[0,1],[2,3],[4,5]])))")


def test_attributes_are_those_of_one_example():
    seen = []
    x = numbers(2, 3, 4)
    vmap(lambda a: seen.append((a.dtype, a.device, a.stride(), a.is_contiguous())) or a,
         in_dims=1)(x)  # fmt: skip
    assert seen == [(ac.float64, x.device, (12, 1), False)]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.nonzero(),
        lambda x: x[x > 0],
        lambda x: x.masked_select(x > 0),
        lambda x: x.unique(),
    ],
    ids=["nonzero", "mask", "masked_select", "unique"],
)
def test_results_whose_shape_depends_on_values_are_refused(function):
    with pytest.raises(VmapError, match=r"depends on the values.*We do not support "
                       r"batching operators that can output dynamic shape|"
                       r"results whose shape depends on values"):  # fmt: skip
        vmap(function)(numbers(3, 4))


# ---- refused arguments ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: vmap(ac.sin, randomness="maybe"),
            (
                r"`randomness` is 'maybe'; Only "
                r"allowed values for randomness are 'error', 'different', or 'same'"
            ),
        ),
        (
            lambda x: vmap(ac.sin, chunk_size=0),
            (
                r"chunk_size should be None or greater "
                r"than 0. \(got 0\)"
            ),
        ),
        (lambda x: vmap(ac.sin, chunk_size=1.5), r"chunk_size should be None or"),
        (vmap(ac.sin, in_dims="0"), r"`in_dims` is a str; expected"),
        (vmap(ac.sin, in_dims=None), r"`in_dims` is a NoneType"),
        (lambda x: vmap(lambda: x)(), r"got no inputs. Maybe you forgot to add inputs"),
        (
            vmap(ac.sin, in_dims=(0, 0)),
            (
                r"`in_dims`=\(0, 0\) is not "
                r"compatible with the structure of 1 arguments; give one number"
            ),
        ),
        (vmap(ac.sin, in_dims=((0,),)), r"is not compatible"),
        (lambda x: vmap(ac.sin, in_dims=({"a": 0},))({"b": x}), r"is not compatible"),
        (vmap(ac.sin, in_dims=(0.5,)), r"is not compatible"),
        (
            vmap(ac.sin, in_dims=(True,)),
            (
                r"an entry of `in_dims` is True; "
                r"expected `in_dims` to be an int or None"
            ),
        ),
        (
            lambda x: vmap(ac.add)(x, 2),
            (
                r"`in_dims` is 0 for an input of type int. We "
                r"cannot vmap over non-Tensor arguments, please use None"
            ),
        ),
        (
            lambda x: vmap(ac.sin)(x[0, 0]),
            (
                r"`in_dims` is 0 for some input, but that "
                r"input is a Tensor of dimensionality 0 so expected"
            ),
        ),
        (vmap(ac.sin, in_dims=2), r"-2 <= in_dim < 2"),
        (vmap(ac.sin, in_dims=-3), r"-2 <= in_dim < 2"),
        (
            vmap(ac.sin, in_dims=(None,)),
            (
                r"at least one input must have a "
                r"dimension of examples, but all entries of `in_dims` are None"
            ),
        ),
        (
            lambda x: vmap(ac.add)(x, x.T),
            (
                r"Expected all tensors to have the same size "
                r"in the mapped dimension, got sizes \[2, 3\]"
            ),
        ),
        (
            vmap(lambda a: 1.0),
            (
                r"must only return Tensors, got type float "
                r"as a return"
            ),
        ),
        (
            vmap(lambda a: (a, None)),
            (
                r"must only return Tensors, got type "
                r"NoneType"
            ),
        ),
        (
            vmap(ac.sin, out_dims=(0, 0)),
            (
                r"out_dims is not compatible with "
                r"the structure of outputs: it is \(0, 0\) for 1 results"
            ),
        ),
        (vmap(lambda a: (a, a), out_dims=(0,)), r"it is \(0,\) for 2"),
        (
            vmap(ac.sin, out_dims="0"),
            (
                r"must be an int or a python "
                r"collection of ints"
            ),
        ),
        (
            vmap(ac.sin, out_dims=2),
            (
                r"`out_dims` is 2 for a result of shape"
                r" \(3,\); it must be from -2 to 1"
            ),
        ),
        (vmap(ac.sin, out_dims=-3), r"it must be from -2 to 1"),
    ],
)
def test_refused_arguments(call, message):
    with pytest.raises(ArgumentError, match=message):
        call(numbers(2, 3))


def test_an_index_outside_of_the_table_of_each_example_is_refused():
    tables, i = numbers(3, 4, 2), ac.tensor([[0], [1], [4]])
    with pytest.raises(VmapError, match=r"embedding: an index is 0 or 4, but the table "
                       r"of each example has 4 rows. index out of range"):  # fmt: skip
        vmap(F.embedding)(i, tables)


def test_an_integer_of_each_example_apart_from_other_indices_is_refused():
    a, i, j = numbers(3, 4, 5, 6), ac.tensor([0, 1, 2]), ac.tensor([1, 0])
    with pytest.raises(VmapError, match=r"index: an integer that differs.*have "
                       r"dimensions between them. Index in two steps"):  # fmt: skip
        vmap(lambda a, i: a[i, :, j])(a, i)
    found = vmap(lambda a, i: a[i][:, j])(a, i)
    alike(found, loop(lambda a, i: a[i, :, j], a, i))


def test_a_view_that_needs_a_copy_is_refused_as_without_vmap():
    x = numbers(3, 2, 4)
    with pytest.raises(RuntimeError, match="view"):
        vmap(lambda a: a.T.view(-1))(x)


def test_an_error_inside_leaves_nothing_behind():
    def broken(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        vmap(broken)(numbers(3, 2))
    alike(vmap(ac.sin)(numbers(3, 2)), numbers(3, 2).sin())
    ac.rand(2)  # the generator is the one outside


# ---- kernels without a rule ----------------------------------------------------------


def test_a_kernel_without_a_rule_runs_in_a_loop_and_says_so_once(monkeypatch):
    from autocalc._batching import calls

    monkeypatch.setattr(calls, "_LOOPED", {})
    a = numbers(3, 3, 3)
    r = ac.tensor([0.1, 0.2, 0.3], dtype=ac.float64)

    def function(x, tolerance):
        return ac.linalg.pinv(x, rtol=tolerance)

    with pytest.warns(VmapWarning, match=r"pinv has no batching rule and runs once for "
                      r"each example. ac.func.loops\(\) lists"):  # fmt: skip
        found = vmap(function)(a, r)
    alike(found, loop(function, a, r))
    vmap(function)(a, r)  # no second warning: it would be an error
    assert ac.func.loops() == ["pinv"]


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


# ---- views, threads and memory -------------------------------------------------------


def test_a_result_can_be_a_view_of_an_argument():
    x = numbers(3, 4)
    row = vmap(lambda a: a[0])(x)
    row.add_(1)
    assert ac.equal(row, x[:, 0])


def test_views_of_results_are_ordinary_tensors():
    x = numbers(3, 4)
    y = vmap(lambda a: a.view(2, 2).T, out_dims=2)(x)
    assert y.device == x.device
    alike(y, x.view(3, 2, 2).permute(2, 1, 0))
    y.numpy()


def test_a_write_through_a_view_that_came_out_is_recorded():
    x = numbers(3, 4).requires_grad_()
    y = x * 1
    vmap(lambda a: a[0])(y).mul_(5)
    (g,) = ac.autograd.grad((x * 1).sum(), x)
    alike(g, ac.ones(3, 4, dtype=ac.float64))


def test_threads_map_at_the_same_time():
    x = numbers(6, 5)
    expected = x.softmax(1) @ x.T
    failures = []

    def work(count):
        for _ in range(20):
            found = vmap(lambda a: vmap(lambda b: a.softmax(0).dot(b))(x))(x[:count])
            if not np.allclose(found.numpy(), expected[:count].numpy()):
                failures.append(count)

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2, 4, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_nothing_is_left_after_a_call():
    from autocalc._dispatch.device.batches import _LEVELS

    x, w = numbers(3, 2).requires_grad_(), numbers(2).requires_grad_()

    def run():
        y = vmap(vmap(lambda a: a * w.sum()))(x)
        y.sum().backward()

    run()
    gc.collect()
    nodes, levels = ac.live_node_count(), len(_LEVELS)
    for _ in range(5):
        run()
    gc.collect()
    assert (ac.live_node_count(), len(_LEVELS)) == (nodes, levels)


def test_reference_counting_alone_frees_the_tensors_inside():
    kept = []

    def function(a):
        b = a * 2
        kept.append(weakref.ref(b))
        return b + 1

    gc.disable()
    try:
        vmap(function)(numbers(3, 2))
        assert kept[0]() is None
    finally:
        gc.enable()


def test_a_batched_tensor_that_escapes_says_what_it_is():
    escaped = []
    vmap(lambda a: escaped.append(a) or a)(numbers(3, 2))
    with pytest.raises(VmapError, match="differ between the 3 examples"):
        escaped[0].tolist()

# SPDX-License-Identifier: MIT
"""A `Function` inside of `vmap`: by its own rule, or by `forward` for all examples."""

from __future__ import annotations

import numpy as np
import pytest
from tests.func.cases import numbers

import autocalc as ac
from autocalc import vmap
from autocalc.autograd import Function
from autocalc.errors import GradError, NoFormulaError, VmapError
from autocalc.func import grad

pytestmark = pytest.mark.core


class Cube(Function):
    """The cube by NumPy, which needs the values of all examples."""

    seen: list = []  # noqa: RUF012  the calls of the rule

    @staticmethod
    def forward(x):
        return ac.tensor(x.detach().numpy() ** 3)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g

    @staticmethod
    def vmap(info, in_dims, x):
        Cube.seen.append((info.batch_size, info.randomness, in_dims))
        return Cube.apply(x), in_dims[0]


class Doubled(Cube):
    """A rule that no gradient goes through; the gradient is that of `backward`."""

    @staticmethod
    def vmap(info, in_dims, x):
        return ac.tensor(x.detach().numpy() ** 3), 0


def test_the_own_rule_computes_all_examples():
    x = numbers(3, 4)
    Cube.seen.clear()
    found = vmap(Cube.apply, in_dims=1, out_dims=1, randomness="same")(x)
    np.testing.assert_allclose(found.numpy(), x.numpy() ** 3)
    assert Cube.seen == [(4, "same", (0,))]


@pytest.mark.parametrize("function", [Cube, Doubled])
def test_gradients_of_examples_through_a_rule(function):
    x = numbers(3, 4)
    found = vmap(grad(lambda a: function.apply(a).sum()))(x)
    np.testing.assert_allclose(found.numpy(), 3 * x.numpy() ** 2)
    outside = grad(lambda a: vmap(function.apply)(a).sum())(x)
    np.testing.assert_allclose(outside.numpy(), 3 * x.numpy() ** 2)


def test_nested_examples_reach_the_rule_one_level_after_the_other():
    x = numbers(2, 3, 4)
    Cube.seen.clear()
    found = vmap(vmap(Cube.apply))(x)
    np.testing.assert_allclose(found.numpy(), x.numpy() ** 3)
    assert [size for size, _, _ in Cube.seen] == [3, 2]


def test_a_tensor_without_examples_does_not_reach_the_rule():
    shared = ac.tensor(2.0)
    Cube.seen.clear()
    found = vmap(lambda a: Cube.apply(shared) * a)(ac.ones(3))
    assert found.tolist() == [8.0, 8.0, 8.0]
    assert Cube.seen == []


class Pair(Function):
    """Lists of tensors, and an output that all examples share."""

    @staticmethod
    def forward(x, ys):
        return x + ys[0], ys[1]

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, in_dims, x, ys):
        assert in_dims == (0, [0, None])
        return (x + ys[0], ys[1]), (0, None)


def test_structures_of_arguments_and_outputs():
    shared = ac.tensor(5.0)
    x = ac.tensor([1.0, 2.0])
    first, second = vmap(lambda a: Pair.apply(a, [a, shared]))(x)
    assert (first.tolist(), second.tolist()) == ([2.0, 4.0], [5.0, 5.0])


def rule(result, **names):
    """Return a function whose rule returns what `result` makes of its argument."""
    names["vmap"] = staticmethod(lambda _info, _dims, x: result(x))
    names.setdefault("forward", staticmethod(lambda x: x * 2))
    names.setdefault("setup_context", staticmethod(lambda _ctx, _i, _o: None))
    return type("Odd", (Function,), names)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda x: x, r"Odd.vmap: it returned a Tensor; we expect it to have two ret"),
        (lambda x: (x, 0, 0), r"it returned a tuple of 3; we expect it to have two"),
        (lambda x: (x, (0, 0)), r"returned an incompatible \(outputs, out_dims\)"),
    ],
)
def test_rules_that_return_something_else_are_refused(result, message):
    with pytest.raises(VmapError, match=message):
        vmap(rule(result).apply)(ac.ones(2))


def test_two_rules_are_refused():
    both = rule(lambda x: (x, 0), generate_vmap_rule=True)
    with pytest.raises(VmapError, match=r"has generate_vmap_rule=True and a static"):
        vmap(both.apply)(ac.ones(2))


def test_a_rule_without_gradient_needs_setup_context():
    old = type(
        "Old",
        (Function,),
        {
            "forward": staticmethod(lambda _ctx, x: x * 2),
            "vmap": staticmethod(lambda _i, _d, x: (x.detach() * 2, 0)),
        },
    )
    with pytest.raises(GradError, match=r"override the setup_context staticmethod"):
        vmap(grad(old.apply))(ac.ones(2))


def test_tensors_by_keyword_are_refused_with_setup_context():
    class Named(Function):
        @staticmethod
        def forward(x, *, y):
            return x + y

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    with pytest.raises(NoFormulaError, match=r"kwarg-only Tensor args"):
        Named.apply(ac.ones(2), y=ac.ones(2))

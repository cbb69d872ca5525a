# SPDX-License-Identifier: MIT
"""The checker accepts right gradients and rejects wrong ones, saying where."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import AutocalcError, AutocalcWarning, GradError
from autocalc.testing import GradcheckError, assert_close, gradcheck, gradgradcheck


def leaf(*values, dtype=ac.float64):
    return ac.tensor(list(values), dtype=dtype, requires_grad=True)


def function(forward, backward):
    """Make an operator of one input from two plain functions."""

    class Made(ac.autograd.Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return forward(*inputs)

        @staticmethod
        def backward(ctx, g):
            return backward(g, *ctx.saved_tensors)

    return Made.apply


def test_right_gradients_pass():
    square = function(lambda x: x * x, lambda g, x: 2 * x * g)
    assert gradcheck(square, leaf(1.0, 2.0))
    assert gradgradcheck(square, leaf(1.0, 2.0))


def test_a_wrong_factor_is_named_with_its_place_and_values():
    wrong = function(lambda x: x * x, lambda g, x: 3 * x * g)
    message = (
        r"gradcheck: Jacobian mismatch for output 0 with respect to input 0: "
        r"the gradient of output 0 at element \(1,\) with respect to "
        r"`inputs\[0\]` at element \(1,\) is 6, by differences (4|3\.99\d*|4\.0\d*); "
        r"2 of 4 elements differ"
    )
    with pytest.raises(GradcheckError, match=message):
        gradcheck(wrong, leaf(1.0, 2.0))
    assert not gradcheck(wrong, leaf(1.0, 2.0), raise_exception=False)


def test_one_wrong_element_is_enough():
    mask = ac.tensor([1.0, 1.0, 1.01], dtype=ac.float64)
    wrong = function(lambda x: x * 1, lambda g, x: g * mask)
    with pytest.raises(GradcheckError, match=r"element \(2,\).* 1 of 9"):
        gradcheck(wrong, leaf(1.0, 2.0, 3.0))


def test_a_missing_sum_over_broadcast_dimensions():
    wrong = function(lambda a, b: a + b, lambda g, a, b: (g, g[0]))
    with pytest.raises(GradcheckError, match=r"`inputs\[1\]`"):
        gradcheck(
            wrong,
            (ac.rand(2, 3, dtype=ac.float64, requires_grad=True), leaf(1.0, 2.0, 3.0)),
        )


def test_a_wrong_second_derivative_only():
    wrong = function(lambda x: x * x, lambda g, x: 2 * x.detach() * g)
    assert gradcheck(wrong, leaf(1.0, 2.0))
    with pytest.raises(GradcheckError, match=r"gradgradcheck: .*`inputs\[0\]`"):
        gradgradcheck(wrong, leaf(1.0, 2.0))
    assert not gradgradcheck(wrong, leaf(1.0, 2.0), raise_exception=False)


def test_a_gradient_that_is_cut_off():
    with pytest.raises(GradcheckError, match="is 1, by differences 2"):
        gradcheck(lambda x: x.detach() + x, leaf(1.0))


def test_a_gradient_that_was_forgotten():
    with pytest.raises(GradcheckError, match=r"is 0, by differences 2"):
        gradcheck(lambda x: (x * x).detach(), leaf(1.0))


def test_a_gradient_of_nan():
    wrong = function(lambda x: x * 1, lambda g, x: g * float("nan"))
    with pytest.raises(GradcheckError, match="is nan"):
        gradcheck(wrong, leaf(1.0))


def test_float32_is_too_coarse():
    with pytest.warns(AutocalcWarning, match=r"`inputs\[0\]` is float32.*Use float64"):
        gradcheck(lambda x: x, leaf(1.0, dtype=ac.float32), raise_exception=False)


def test_something_must_require_a_gradient():
    with pytest.raises(GradError, match="no input requires a gradient"):
        gradcheck(lambda x: x, ac.ones(2, dtype=ac.float64))


def test_inputs_may_have_a_history():
    assert gradcheck(lambda x: x * x, leaf(1.0, 2.0) * 2)
    assert gradgradcheck(lambda x: x * x, leaf(1.0, 2.0) * 2)


def test_something_must_come_out():
    with pytest.raises(GradcheckError, match="returned no tensor of floating-point"):
        gradcheck(lambda x: x.argmax(), leaf(1.0, 2.0))


@pytest.mark.parametrize("shape", ["rows", "columns", "gaps"])
def test_a_function_may_change_its_inputs(shape):
    x = ac.rand(2, 3, dtype=ac.float64)
    x = {"rows": x, "columns": x.t(), "gaps": ac.cat([x, x], 1)[:, ::2]}[shape]
    x, y = x.requires_grad_(), ac.rand(x.shape, dtype=ac.float64)

    def changes(x, y):
        x.mul_(2).exp_()
        y[0] = x[0]
        return x, y

    before = x.tolist(), y.tolist()
    assert gradcheck(changes, (x, y))
    assert gradgradcheck(changes, (x, y))
    assert (x.tolist(), y.tolist()) == before


def test_gradients_that_change_from_walk_to_walk():
    calls = []

    def backward(g, x):
        calls.append(1)
        return g * (1 + 1e-6 * len(calls))

    with pytest.raises(
        GradcheckError, match="two backward passes over one graph gave different"
    ):
        gradcheck(function(lambda x: x * 1, backward), leaf(1.0))


def test_an_unused_output_counts_as_one_with_cotangent_0():
    class Two(ac.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 3

    def hooked(x):
        y, z = Two.apply(x)
        z.register_hook(lambda g: g if g.any() else g + 1)
        return y, z

    assert gradcheck(Two.apply, leaf(1.0))
    with pytest.raises(GradcheckError, match="from output 0 alone differs"):
        gradcheck(hooked, leaf(1.0))
    assert gradcheck(hooked, leaf(1.0), check_undefined_grad=False)


def test_several_inputs_and_outputs_and_things_that_are_no_tensors():
    def f(a, factor, b):
        return a * b * factor, (a - b), a.argmax()

    assert gradcheck(f, (leaf(1.0, 2.0), 3.0, leaf(3.0, 4.0)))
    assert gradgradcheck(f, (leaf(1.0, 2.0), 3.0, leaf(3.0, 4.0)))


def test_given_cotangents():
    g = ac.ones(2, dtype=ac.float64, requires_grad=True)
    assert gradgradcheck(lambda x: x**3, leaf(1.0, 2.0), g)
    assert gradgradcheck(lambda x: x**3, leaf(1.0, 2.0), [g])


def test_inputs_keep_their_layout():
    x = ac.rand(3, 2, dtype=ac.float64).t().requires_grad_()
    strides = []

    def f(x):
        strides.append(x.stride())
        return x * 2

    assert gradcheck(f, x)
    assert set(strides) == {(1, 2)}


def test_close_things_are_close():
    assert_close(ac.ones(2), ac.ones(2) * (1 + 1e-7))
    assert_close(ac.tensor([1, 2]), np.array([1, 2]))
    assert_close({"a": [1.0, ac.ones(1)]}, {"a": [1.0, ac.ones(1)]})
    assert_close(ac.tensor([float("inf")]), ac.tensor([float("inf")]))
    assert_close(float("nan"), float("nan"), equal_nan=True)
    assert_close(ac.zeros(0), ac.zeros(0))
    assert_close(1.0, 1.5, rtol=0.5, atol=0.0)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (ac.ones(2), ac.ones(3), r"shapes \(2,\) and \(3,\) differ"),
        (ac.ones(2), ac.ones(2).double(), "dtypes float32 and float64 differ"),
        (
            ac.tensor([1.0, 2.0]),
            ac.tensor([1.0, 2.5]),
            r"1 of 2 elements .* \(1,\): 2.0 in place of 2.5",
        ),
        ([1, 2], [1], "lengths 2 and 1"),
        ({"a": 1}, {"b": 1}, "keys"),
        (
            [ac.ones(1), ac.ones(1)],
            [ac.ones(1), ac.zeros(1)],
            r"assert_close\[1\]: 1 of",
        ),
        (float("nan"), float("nan"), "1 of 1"),
        (ac.tensor([1]), ac.tensor([2]), "1 of 1"),
    ],
)
def test_other_things_are_not(actual, expected, message):
    with pytest.raises(AssertionError, match=message):
        assert_close(actual, expected)


def test_the_message_stands_first_and_tolerances_come_in_pairs():
    with pytest.raises(AssertionError, match="after step 3\nassert_close"):
        assert_close(1.0, 2.0, msg="after step 3")
    with pytest.raises(ValueError, match="give both"):
        assert_close(1.0, 2.0, rtol=1.0)


def test_autograd_and_testing_share_one_check():
    assert ac.autograd.gradcheck is ac.testing.gradcheck
    assert ac.autograd.gradgradcheck is ac.testing.gradgradcheck
    assert ac.autograd.GradcheckError is ac.testing.GradcheckError


@pytest.mark.parametrize("check", [ac.autograd.gradcheck, ac.autograd.gradgradcheck])
@pytest.mark.parametrize(
    ("func", "inputs", "message"),
    [
        (5, leaf(1.0), "`func` is 5; it must be a function"),
        (ac.square, 5, "`inputs` is 5; give a tensor, or a tuple of them"),
    ],
)
def test_arguments_of_the_wrong_kind(check, func, inputs, message):
    with pytest.raises(ac.errors.ArgumentError, match=message):
        check(func, inputs)


def test_one_cotangent_for_each_output():
    with pytest.raises(ac.errors.ArgumentError, match="2 `grad_outputs` for 1 outputs"):
        ac.autograd.gradgradcheck(ac.square, leaf(1.0), (leaf(1.0), leaf(1.0)))


@pytest.mark.parametrize("check", [gradcheck, gradgradcheck])
def test_the_fast_mode_finds_what_elements_find(check):
    def cube(x):
        return x * x * x, x.exp().sum()

    assert check(cube, leaf(1.0, 2.0), fast_mode=True)
    first = function(lambda x: x * x, lambda g, x: 3 * x * g)
    second = function(lambda x: x * x, lambda g, x: 2 * x.detach() * g)
    wrong = first if check is gradcheck else second
    with pytest.raises(GradcheckError, match="along a random direction, by differ"):
        check(wrong, leaf(1.0, 2.0), fast_mode=True)
    with pytest.raises(GradcheckError, match=r"expected to be zero: .* is 0 along a"):
        gradcheck(lambda x: (x * x).detach(), leaf(1.0), fast_mode=True)


def test_walks_may_differ_by_a_tolerance():
    calls = []

    def backward(g, x):
        calls.append(1)
        return g * (1 + 1e-6 * len(calls))

    unsteady = function(lambda x: x * 1, backward)
    assert gradcheck(unsteady, leaf(1.0), nondet_tol=1e-4)
    with pytest.raises(GradcheckError, match="two backward passes over one graph"):
        gradcheck(unsteady, leaf(1.0), nondet_tol=1e-9)


def test_batches_of_cotangents_are_checked():
    calls = []

    def backward(g, x):
        calls.append(1)
        return g * (1 + 1e-6 * len(calls))

    assert gradcheck(lambda x: x * x, leaf(1.0, 2.0), check_batched_grad=True)
    assert gradgradcheck(lambda x: x**3, leaf(1.0, 2.0), check_batched_grad=True)
    x, w = ac.randn(1, 4, 9, 9).double(), ac.randn(4, 2, 3, 3).double()
    both = x.requires_grad_(), w.requires_grad_()
    convolve = partial(ac.nn.functional.conv2d, groups=2)
    assert gradcheck(convolve, both, check_batched_grad=True, fast_mode=True)
    unsteady = function(lambda x: x * 1, backward)
    with pytest.raises(GradcheckError, match="a batch of cotangents gives other"):
        gradcheck(unsteady, leaf(1.0), nondet_tol=1, check_batched_grad=True)


def test_cotangents_with_gaps():
    seen = []

    def backward(g, x):
        seen.append(g.is_contiguous())
        return g * 2

    double = function(lambda x: x * 2, backward)
    assert gradgradcheck(double, leaf(1.0, 2.0))
    assert all(seen)
    assert gradgradcheck(double, leaf(1.0, 2.0), gen_non_contig_grad_outputs=True)
    assert not all(seen)


@pytest.mark.parametrize(
    ("check", "words", "text"),
    [
        (
            gradcheck,
            {"check_batched_forward_grad": True},
            "`check_forward_ad` is False; Setting check_batched_forward_grad=True",
        ),
        (
            gradcheck,
            {
                "check_batched_grad": True,
                "check_backward_ad": False,
                "check_forward_ad": True,
            },
            "`check_backward_ad` is False; Setting check_batched_grad=True",
        ),
        (
            gradcheck,
            {"check_backward_ad": False},
            "Expected at least one of check_forward_ad or check_backward_ad",
        ),
        (gradcheck, {"masked": 3}, "`masked` is 3"),
        (gradcheck, {"fast_mode": "x"}, "`fast_mode` is 'x'"),
        (gradcheck, {"check_grad_dtypes": 3}, "`check_grad_dtypes` is 3"),
        (gradcheck, {"nondet_tol": "x"}, "`nondet_tol` is 'x'"),
        (gradgradcheck, {"check_rev_over_rev": False}, "Expected at least one of"),
        (gradgradcheck, {"masked": 3}, "`masked` is 3"),
        (gradgradcheck, {"gen_non_contig_grad_outputs": 3}, "`gen_non_contig_grad_"),
    ],
)
def test_other_modes_are_refused(check, words, text):
    with pytest.raises(AutocalcError, match=f"{check.__name__}: {text}"):
        check(lambda x: x * x, leaf(1.0), **words)


def test_zeros_for_no_gradient_have_derivatives_which_are_zero():
    x, z = leaf(1.0, 2.0), leaf(3.0)
    words = {"create_graph": True, "materialize_grads": True}
    (first,) = ac.autograd.grad(x.sum(), z, **words)
    (second,) = ac.autograd.grad(first.sum(), x, **words)
    assert (first.tolist(), second.tolist()) == ([0.0], [0.0, 0.0])
    (plain,) = ac.autograd.grad(x.sum(), z, materialize_grads=True)
    assert not plain.requires_grad


def test_batches_of_cotangents():
    x, z = leaf(1.0, 2.0), leaf(3.0)
    y = x * x
    eye = ac.eye(2, dtype=ac.float64)
    words = {"is_grads_batched": True, "retain_graph": True}
    (found,) = ac.autograd.grad(y, x, eye, **words)
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    found, none = ac.autograd.grad(y, [x, z], eye, allow_unused=True, **words)
    assert none is None
    _, zeros = ac.autograd.grad(y, [x, z], eye, materialize_grads=True, **words)
    assert zeros.tolist() == [[0.0], [0.0]]
    ones = ac.ones(2, dtype=ac.float64)
    (found,) = ac.autograd.grad([y, y.sum()], x, [eye, ones], **words)
    assert found.tolist() == [[4.0, 4.0], [2.0, 8.0]]
    (first,) = ac.autograd.grad(y, x, eye, create_graph=True, is_grads_batched=True)
    (second,) = ac.autograd.grad(first.sum(), x)
    assert second.tolist() == [2.0, 2.0]
    ac.autograd.grad(y, x, eye, is_grads_batched=True)
    with pytest.raises(GradError, match="freed"):
        ac.autograd.grad(y, x, ones)


@pytest.mark.parametrize("cotangents", ["left out", "number", "eye3", "none", "scalar"])
def test_batches_need_one_first_size(cotangents):
    x = leaf(1.0, 2.0)
    given = {
        "left out": None,
        "number": [1.0],
        "eye3": [ac.eye(2), ac.ones(3)],
        "none": [ac.zeros(0, 2), ac.zeros(0)],
        "scalar": [ac.tensor(1.0), ac.tensor(1.0)],
    }
    with pytest.raises(GradError, match="grad: `is_grads_batched` needs one"):
        ac.autograd.grad([x * x, x.sum()], x, given[cotangents],
                         is_grads_batched=True)  # fmt: skip


@pytest.mark.parametrize("fast_mode", [True, False])
def test_a_function_may_read_the_tensor_itself(fast_mode):
    layer = ac.nn.Linear(3, 2, dtype=ac.float64)
    x = ac.randn(4, 3, dtype=ac.float64, requires_grad=True)
    before = layer.weight.tolist()

    def forward(x, *_):
        return layer(x)

    inputs = (x, *layer.parameters())
    assert ac.autograd.gradcheck(forward, inputs, fast_mode=fast_mode)
    assert layer.weight.tolist() == before
    assert layer.weight.grad is None


def test_an_expanded_input_is_checked():
    x = ac.ones(1, dtype=ac.float64).expand(3).requires_grad_()
    assert ac.autograd.gradcheck(lambda x: x * x, (x,))


def test_tangents_are_compared_with_differences():
    class Cut(ac.autograd.Function):
        """A gradient that is right and cannot be differentiated in its cotangent."""

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g.detach()

    x = ac.rand(3, dtype=ac.float64, requires_grad=True)
    for words in ({}, {"fast_mode": True}, {"check_backward_ad": False}):
        right = {"check_forward_ad": True, "check_batched_forward_grad": True}
        assert gradcheck(lambda x: (x.exp() * x).sum(), x, **right, **words)
    assert gradcheck(Cut.apply, x)
    for fast in (False, True):
        with pytest.raises(GradcheckError, match="the tangent of output 0 along"):
            gradcheck(Cut.apply, x, check_forward_ad=True, fast_mode=fast)
    assert gradgradcheck(lambda x: x.sin(), x, check_fwd_over_rev=True)
    words = {"check_fwd_over_rev": True, "check_rev_over_rev": False}
    assert gradgradcheck(lambda x: x.sin(), x, **words)


def test_an_input_that_was_computed_may_be_used_by_name():
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0) * 2
    assert gradcheck(lambda x, _: x * b, (a, b))
    with pytest.raises(GradcheckError, match=r"with respect to `inputs\[1\]`"):
        gradcheck(lambda x, _: x * b.detach(), (a, b))

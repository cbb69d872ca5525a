# SPDX-License-Identifier: MIT
"""`autograd.Function`: operators that users write."""

from __future__ import annotations

import gc
import weakref

import pytest

import autocalc as ac
from autocalc.autograd import Function, once_differentiable
from autocalc.errors import GradError, ShapeError
from autocalc.testing import gradcheck, gradgradcheck


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


class Exp(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]


class SinCos(Function):
    @staticmethod
    def forward(ctx, x, scale):
        y, z = x.sin(), x.cos()
        ctx.save_for_backward(y, z)
        ctx.scale = scale
        return y * scale, z

    @staticmethod
    def backward(ctx, g, h):
        y, z = ctx.saved_tensors
        return g * z * ctx.scale - h * y, None


def leaf(*values):
    return ac.tensor(list(values), dtype=ac.float64, requires_grad=True)


@pytest.mark.parametrize(
    "function", [Cube.apply, Exp.apply], ids=["saved input", "saved output"]
)
def test_first_and_second_derivatives(function):
    assert gradcheck(function, leaf(0.5, -1.5))
    assert gradgradcheck(function, leaf(0.5, -1.5))


def test_second_derivative_of_outputs_saved_for_use_in_backward():
    # `y` and `z` are inner values here: their own history is not recorded, so a second
    # derivative through them needs them as outputs
    assert gradcheck(lambda x: SinCos.apply(x, 2.0), leaf(0.5, -1.5))


def test_one_of_several_outputs():
    x = leaf(0.5)
    y, z = SinCos.apply(x, 3.0)
    assert y.grad_fn is z.grad_fn
    z.backward()
    assert x.grad.item() == -x.sin().item()


def test_forward_is_not_recorded_and_runs_without_history_when_none_is_needed():
    modes = []

    class Look(Function):
        @staticmethod
        def forward(ctx, x):
            modes.append((ac.is_grad_enabled(), ctx.needs_input_grad))
            return x * 2

        @staticmethod
        def backward(ctx, g):
            modes.append(ac.is_grad_enabled())
            return g * 2

    assert not Look.apply(ac.ones(1)).requires_grad
    with ac.no_grad():
        assert not Look.apply(leaf(1.0)).requires_grad
    Look.apply(leaf(1.0)).backward()
    assert modes == [(False, (False,)), (False, (True,)), (False, (True,)), False]


def test_needs_input_grad_lets_a_rule_compute_less():
    class Mul(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(b if ctx.needs_input_grad[0] else None, a)
            return a * b

        @staticmethod
        def backward(ctx, g):
            b, a = ctx.saved_tensors
            return (
                g * b if ctx.needs_input_grad[0] else None,
                g * a if ctx.needs_input_grad[1] else None,
            )

    x = leaf(2.0)
    Mul.apply(x, leaf(3.0).detach()).backward()
    assert x.grad.item() == 3.0


def test_a_rule_may_return_what_belongs_to_others():
    constant = ac.ones(2, dtype=ac.float64)

    class Same(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x)
            return x + y

        @staticmethod
        def backward(ctx, g):
            return ctx.saved_tensors[0], constant

    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (Same.apply(x, y) + Same.apply(x, y)).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    assert x.tolist() == [1.0, 2.0]
    x.grad.add_(1)
    y.grad.add_(1)
    assert x.tolist() == [1.0, 2.0]
    assert constant.tolist() == [1.0, 1.0]


def test_gradients_of_another_dtype_are_cast():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            return x.double()

        @staticmethod
        def backward(ctx, g):
            return g

    x = ac.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.dtype is ac.float32


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (
            lambda g: (g, g),
            GradError,
            "Bad.backward: returned 2 gradients for 1 inputs",
        ),
        (
            lambda g: g.sum(),
            ShapeError,
            r"Bad\.backward: gradient 0 has shape \(\), but",
        ),
    ],
)
def test_rules_that_return_the_wrong_thing(result, error, message):
    class Bad(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return result(g)

    with pytest.raises(error, match=message):
        Bad.apply(leaf(1.0, 2.0)).sum().backward()


def test_gradients_where_none_is_wanted_are_ignored():
    class Two(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g, g

    x = leaf(1.0)
    Two.apply(x, ac.ones(1, dtype=ac.float64)).backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize(("kind", "saved"), [(Cube, "input"), (Exp, "output")])
def test_changed_saved_tensors_are_caught(kind, saved):
    x = leaf(1.0) * 1
    y = kind.apply(x)
    (x if saved == "input" else y).detach().add_(1)
    needed = f"`{kind.__name__}` needs was changed in place"
    with pytest.raises(GradError, match=needed):
        y.backward()


def test_a_second_walk_finds_saved_tensors_freed():
    x = leaf(1.0)
    y = Cube.apply(x)
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(GradError, match="`Cube` saved were freed"):
        y.backward()
    assert x.grad.item() == 6.0


def test_non_differentiable_outputs():
    class Sorted(Function):
        @staticmethod
        def forward(ctx, x):
            y, z, place = x * 2, x * 3, x.argmax()
            ctx.mark_non_differentiable(z)
            return y, z, place

        @staticmethod
        def backward(ctx, g, h, i):
            return g * 2

    x = leaf(1.0)
    y, z, place = Sorted.apply(x)
    assert (y.requires_grad, z.requires_grad, place.requires_grad) == (
        True,
        False,
        False,
    )
    y.backward()
    assert x.grad.item() == 2.0


def test_the_identity():
    class Reverse(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return -g

    x = leaf(2.0)
    y = Reverse.apply(x)
    assert y is not x
    assert x.is_leaf
    y.backward()
    assert x.grad.item() == -1.0


class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        assert not ac.is_grad_enabled()
        return 2 * ctx.saved_tensors[0] * g


def test_once_differentiable_gives_one_derivative_and_refuses_a_second():
    assert gradcheck(Once.apply, leaf(1.0, 2.0))
    x = leaf(3.0)
    (first,) = ac.autograd.grad(Once.apply(x), x, create_graph=True)
    assert first.item() == 6.0
    with pytest.raises(
        GradError, match="once_differentiable: the backward of this Function is"
    ):
        ac.autograd.grad(first, x)


def test_what_was_saved_is_freed_with_the_walk():
    class Big(Function):
        @staticmethod
        def forward(ctx, x):
            inner = x * 2
            alive.append(weakref.ref(inner._array))
            ctx.save_for_backward(inner)
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    alive = []
    x = leaf(1.0)
    gc.disable()
    try:
        y = Big.apply(x)
        assert alive[0]() is not None
        y.backward()
        assert alive[0]() is None
    finally:
        gc.enable()


class Scaled(Function):
    """PyTorch's newer style: `forward` without a context."""

    @staticmethod
    def forward(x, factor=2.0, *, power=1):
        return (x * factor) ** power, factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.inputs, ctx.factor = inputs, output[1]

    @staticmethod
    def backward(ctx, grad, of_a_number):
        assert of_a_number is None
        return grad * ctx.factor, None, None, None


@pytest.mark.parametrize(
    ("args", "words", "factor"),
    [((), {}, 2), ((3.0,), {}, 3), ((), {"factor": 4.0}, 4)],
)
def test_a_context_that_is_set_up_apart(args, words, factor):
    x = ac.ones(2, requires_grad=True)
    y, number = Scaled.apply(x, *args, **words)
    y.sum().backward()
    assert number == factor
    assert x.grad.tolist() == [factor, factor]


class Tripled(Function):
    @staticmethod
    def forward(ctx, x, times=None):
        x.mul_(3.0)
        ctx.mark_dirty(x)
        if times is not None:
            x.mul_(times)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        (after,) = ctx.saved_tensors
        others = [(grad * after / 2).sum()] * (len(ctx.needs_input_grad) - 1)
        return grad * 3, *others, None


def test_what_is_marked_dirty_is_the_result():
    x = ac.ones(2, requires_grad=True)
    y = x * 1
    z = Tripled.apply(y)
    assert z is y
    (z * ac.tensor([1.0, 2.0])).sum().backward()
    assert x.grad.tolist() == [3.0, 6.0]


def test_a_dirty_tensor_without_history_gets_one():
    x, times = ac.ones(2), ac.tensor(2.0, requires_grad=True)
    assert Tripled.apply(x, times) is x
    x.sum().backward()
    assert times.grad == 6.0


def test_a_dirty_view_writes_into_its_base():
    x = ac.ones(3, requires_grad=True)
    y = x * 1
    Tripled.apply(y[1:])
    y.sum().backward()
    assert y.tolist() == x.grad.tolist() == [1.0, 3.0, 3.0]


def test_a_dirty_tensor_that_an_operator_has_saved_is_noticed():
    x = ac.ones(2, requires_grad=True)
    y = x * 1
    z = y * y
    Tripled.apply(y)
    with pytest.raises(GradError, match="changed in place"):
        z.sum().backward()


def test_a_leaf_cannot_be_dirty():
    text = "Tripled: it writes into a leaf of shape"
    with pytest.raises(GradError, match=text):
        Tripled.apply(ac.ones(2, requires_grad=True))
    with pytest.raises(GradError, match=text):
        Tripled.apply(ac.ones(2, requires_grad=True)[1:])


class Parts(Function):
    @staticmethod
    def forward(ctx, x, zeros):
        ctx.set_materialize_grads(zeros)
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        ctx.needs_input_grad = ()
        return first if second is None else first + second + 5, None


@pytest.mark.parametrize(("zeros", "gradient"), [(True, 6.0), (False, 1.0)])
def test_zeros_for_outputs_that_are_not_used(zeros, gradient):
    x = ac.ones((), requires_grad=True)
    Parts.apply(x, zeros)[0].backward()
    assert x.grad == gradient


class Described(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, "two", None, {"n": 2}

    @staticmethod
    def backward(ctx, grad, *others):
        assert others == (None, None, None)
        return grad * 2, None, None


def test_outputs_that_are_no_tensors_pass_through():
    x = ac.ones((), requires_grad=True)
    y, *others = Described.apply(x)
    assert others == ["two", None, {"n": 2}]
    y.backward()
    assert x.grad == 2.0
    with ac.no_grad():
        assert Described.apply(x)[1] == "two"


def test_gradients_that_are_none_reach_a_once_differentiable_backward():
    class Twice(Described):
        backward = staticmethod(once_differentiable(Described.backward))

    x = ac.ones((), requires_grad=True)
    Twice.apply(x)[0].backward()
    assert x.grad == 2.0


def test_words_of_forward():
    class Power(Function):
        @staticmethod
        def forward(ctx, x, *, power=2):
            ctx.power = power
            return x**power

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.power

    x = ac.ones((), requires_grad=True)
    Power.apply(x, power=3).backward()
    assert x.grad == 3.0

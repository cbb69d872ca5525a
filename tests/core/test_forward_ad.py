# SPDX-License-Identifier: MIT
"""`autograd.forward_ad`: tensors with tangents, and how they meet everything else."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc._dispatch.selection.arrays import arrays
from autocalc.autograd import forward_ad
from autocalc.autograd.forward_ad import dual_level, make_dual, unpack_dual
from autocalc.errors import DeviceError, DTypeError, GradError, ShapeError
from autocalc.func import grad, hessian, jvp
from autocalc.nn import functional as F


def numbers(*shape, seed=0):
    values = np.random.default_rng([seed, *shape]).uniform(0.2, 0.9, shape)
    return ac.tensor(values, dtype=ac.float64)


@pytest.fixture
def dual():
    """Return a dual tensor in a level: the primal 1, 2 and the tangent 3, 4."""
    with dual_level():
        yield make_dual(ac.tensor([1.0, 2.0]), ac.tensor([3.0, 4.0]))


def tangent(x):
    found = unpack_dual(x).tangent
    return None if found is None else found.tolist()


# ---- levels --------------------------------------------------------------------------


def test_a_level_gives_and_takes_tangents():
    primal, direction = ac.tensor([1.0, 2.0]), ac.tensor([3.0, 4.0])
    with dual_level() as level:
        assert level == 0
        x = make_dual(primal, direction)
        parts = unpack_dual(x)
        assert isinstance(parts, forward_ad.UnpackedDualTensor)
        assert parts.primal.tolist() == [1.0, 2.0]
        assert parts.tangent.tolist() == [3.0, 4.0]
        assert tangent(primal) is None
        assert not x.requires_grad
        assert "tangent=tensor([3., 4.])" in str(x)
        y = x * x
    assert unpack_dual(y).tangent is None
    assert tangent(x) is None
    assert "tangent" not in str(x)
    with dual_level():
        assert tangent(y) is None
        assert tangent(make_dual(y, direction)) == [3.0, 4.0]


def test_levels_are_entered_by_calls_and_decorators():
    assert forward_ad._current_level == -1
    level = forward_ad.enter_dual_level()
    assert forward_ad._current_level == level == 0
    with pytest.raises(GradError, match="exit_dual_level: level 3 is not the last one"):
        forward_ad.exit_dual_level(level=3)
    forward_ad.exit_dual_level(level=0)

    @dual_level()
    def slope():
        return tangent(make_dual(ac.ones(1), ac.ones(1)) * 2)

    assert slope() == [2.0]
    with pytest.raises(GradError, match="exit_dual_level: level None is not the last"):
        forward_ad.exit_dual_level()
    with pytest.raises(AttributeError, match="has no attribute 'other'"):
        forward_ad.other  # noqa: B018


def test_levels_are_not_nested():
    with dual_level(), pytest.raises(GradError, match="Nested forward mode AD is not"):
        forward_ad.enter_dual_level()


def test_make_dual_refuses_what_does_not_fit():
    x, whole = ac.ones(2), ac.ones(2, dtype=ac.int64)
    with pytest.raises(GradError, match="make_dual: no level of forward mode is"):
        make_dual(x, x)
    with dual_level():
        with pytest.raises(
            ShapeError, match=r"primal has shape \(2,\).* different size"
        ):
            make_dual(x, ac.ones(3))
        with pytest.raises(DTypeError, match="Expected primal to be floating point"):
            make_dual(whole, x)
        with pytest.raises(DTypeError, match="Expected tangent to be floating point"):
            make_dual(x, whole)
        with pytest.raises(DTypeError, match="float32, and the tangent float64"):
            make_dual(x, x.double())
        with pytest.raises(DTypeError, match="`tangent` is None; it must be a tensor"):
            make_dual(x, None)
        with pytest.raises(GradError, match="make_dual: no level"):
            make_dual(x, x, level=1)
        dual = make_dual(x, x)
        assert unpack_dual(dual).tangent is x
        for pair in ((dual, x), (x, dual)):
            with pytest.raises(
                GradError, match="has a forward gradient at the same le"
            ):
                make_dual(*pair)
        nowhere = ac.ones(2, device="meta")
        with pytest.raises(DeviceError, match="tensors on meta have no tangents"):
            make_dual(nowhere, nowhere)


def test_tangents_are_switched_off(dual):
    with forward_ad._set_fwd_grad_enabled(False):
        assert not forward_ad._is_fwd_grad_enabled()
        y = dual * 2
        assert jvp(ac.sin, (ac.tensor(0.0),), (ac.tensor(2.0),))[1].item() == 2.0
    assert forward_ad._is_fwd_grad_enabled()
    assert tangent(y) is None
    assert tangent(dual * 2) == [6.0, 8.0]


# ---- history, views and writes -------------------------------------------------------


def test_detach_drops_tangents_and_no_grad_does_not(dual):
    assert tangent(dual.detach() * 2) is None
    with ac.no_grad():
        assert tangent(dual * 3) == [9.0, 12.0]
    assert dual.tolist() == [1.0, 2.0]
    assert dual[0].item() == 1.0
    assert dual.numpy().tolist() == [1.0, 2.0]
    assert (dual > 1.5).tolist() == [False, True]
    assert tangent(dual > 1.5) is None
    assert tangent(dual.long()) is None
    assert tangent(dual.double()) == [3.0, 4.0]


def test_views_and_writes_reach_each_other(dual):
    dual = dual.clone()
    part = dual[:1]
    part *= 2
    assert tangent(dual) == [6.0, 4.0]
    dual[1] = 5.0
    assert tangent(dual) == [6.0, 0.0]
    assert tangent(part) == [6.0]
    turned = dual.reshape(2, 1).t()
    turned.add_(dual)
    assert dual.tolist() == [4.0, 10.0]
    assert tangent(dual) == [12.0, 0.0]
    assert tangent(dual.as_strided((2,), (1,), 0)) == [12.0, 0.0]
    assert tangent(dual.diag().diagonal()) == [12.0, 0.0]


def test_a_write_makes_a_plain_tensor_dual(dual):
    whole = ac.zeros(3, 2)
    column = whole.t()[0]
    column.copy_(make_dual(ac.ones(3), ac.tensor([1.0, 2.0, 3.0])))
    assert tangent(whole) == [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]
    assert tangent(column) == [1.0, 2.0, 3.0]
    x = ac.zeros(2)
    other = x.detach()
    other += dual
    assert tangent(x) is None
    assert tangent(other) == [3.0, 4.0]
    assert x.tolist() == [1.0, 2.0]


WRITES = {
    "setitem": (lambda x, d: x.__setitem__(0, d[1]), [4.0, 0.0]),
    "a mask": (lambda x, d: x.__setitem__(ac.tensor([True, False]), d[0]), [3.0, 0.0]),
    "an index": (lambda x, d: x.__setitem__(ac.tensor([1, 0]), d), [4.0, 3.0]),
    "index_add_": (lambda x, d: x.index_add_(0, ac.tensor([1, 1]), d), [0.0, 7.0]),
    "masked_fill_": (
        lambda x, d: x.masked_fill_(ac.tensor([False, True]), d[0]), [0.0, 3.0],
    ),
    "add_": (lambda x, d: x.add_(d, alpha=2), [6.0, 8.0]),
    "addcmul_": (lambda x, d: x.addcmul_(d, d), [6.0, 16.0]),
    "lerp_": (lambda x, d: x.lerp_(d, 0.5), [1.5, 2.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_writes_of_duals(dual, name):
    write, expected = WRITES[name]
    x = ac.zeros(2)
    write(x, dual)
    assert tangent(x) == expected
    y = x.clone().requires_grad_().clone()
    write(y, dual)
    assert tangent(y) is not None


def test_out_has_no_room_for_a_tangent(dual):
    for call in (ac.sin, lambda x, out: ac.add(x, x, out=out)):
        with pytest.raises(GradError, match="an out= function does not support tangen"):
            call(dual, out=ac.zeros(2))
    with pytest.raises(GradError, match="add: an out= function does not support"):
        ac.add(ac.ones(2), ac.ones(2), out=dual)
    plain = ac.zeros(2)._array
    with pytest.raises(GradError, match=r"array of shape \(2,\) that was made with"):
        arrays.copy(dual._array, into=plain)
    with pytest.raises(GradError, match=r"array of shape \(2,\) that was made with"):
        arrays.sin(dual._array, into=plain)


def test_optimizers_refuse_tangents(dual):
    weight = ac.ones(2, requires_grad=True)
    (weight * dual).sum().backward()
    with pytest.raises(GradError, match="sgd updates its operands in place and has no"):
        ac.optim.SGD([weight], lr=0.1).step()


def test_gradients_outlive_the_level():
    weight = ac.ones(2, requires_grad=True)
    with dual_level():
        (weight * make_dual(ac.ones(2), ac.ones(2))).sum().backward()
        assert tangent(weight.grad) == [1.0, 1.0]
    ac.optim.SGD([weight], lr=0.5).step()
    assert weight.tolist() == [0.5, 0.5]


def test_a_kernel_without_a_derivative_is_named(dual, monkeypatch):
    from autocalc._forward import calls
    from autocalc._kernels.table import TABLE

    monkeypatch.setattr(calls.ways, "rule_of", lambda spec: None)
    kernel = calls.dual_kernel.__wrapped__(TABLE["tan"])
    array = dual._array
    with pytest.raises(
        GradError, match="tan has no forward derivative: it has no rule"
    ):
        kernel(array.dtype.empty(array.shape), array)


def test_views_by_strides_need_strides(dual):
    row = make_dual(ac.ones(3).expand(2, 3), ac.rand(2, 3))
    with pytest.raises(GradError, match="a view by strides of a tensor whose strides"):
        tangent(row.as_strided((3,), (1,), 0))


def test_the_norm_of_zeros_has_a_slope_of_zero():
    with dual_level():
        assert tangent(make_dual(ac.zeros(3), ac.ones(3)).norm()) == 0.0


# ---- both modes ----------------------------------------------------------------------


def test_gradients_pass_through_both_parts():
    p, t = ac.tensor([1.0, 2.0]), ac.tensor([3.0, 4.0])
    p.requires_grad_()
    t.requires_grad_()
    with dual_level():
        x = make_dual(p, t)
        primal, _ = unpack_dual(x)
        gp, gt = ac.autograd.grad(primal.sum(), (p, t), retain_graph=True)
        assert (gp.tolist(), gt.tolist()) == ([1.0, 1.0], [0.0, 0.0])
        slope = unpack_dual((x**3).sum()).tangent
    gp, gt = ac.autograd.grad(slope, (p, t))
    assert gp.tolist() == [18.0, 48.0]  # 6 p t
    assert gt.tolist() == [3.0, 12.0]  # 3 p^2


def test_the_gradient_of_a_dual_tensor_has_a_tangent():
    p = ac.tensor([1.0, 2.0], requires_grad=True)
    with dual_level():
        y = (make_dual(p, ac.tensor([3.0, 4.0])) ** 3).sum()
        (g,) = ac.autograd.grad(y, p)
        assert unpack_dual(g).primal.tolist() == [3.0, 12.0]
        assert tangent(g) == [18.0, 48.0]


def test_parameters_beside_duals_get_plain_gradients():
    weight = ac.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    weight.register_hook(lambda g: seen.append(g.tolist()))
    _, slope = jvp(lambda x: (weight * x**2).sum(), (ac.ones(2),), (ac.ones(2),))
    (slope + weight.sum()).backward()
    assert weight.grad.tolist() == [3.0, 3.0]
    assert seen == [[3.0, 3.0]]


def moved(f, x, t):
    """Return the derivative of `f` along `t` by differences."""
    return ((f(x + 1e-5 * t) - f(x - 1e-5 * t)) / 2e-5).detach()


FUNCTIONS = {
    "rms_norm": lambda x: F.rms_norm(x, (4,), x[0]),
    "layer_norm": lambda x: F.layer_norm(x, (4,), x[0], x[1]),
    "batch_norm": lambda x: F.batch_norm(x, None, None, x[0], x[1], training=True),
    "var": lambda x: x.var(0),
    "norm": lambda x: x.norm(dim=1),
    "activations": lambda x: F.leaky_relu(x.tanh() - 0.5) * F.gelu(x).sigmoid(),
    "linear": lambda x: F.linear(x, x, x[:, 0]).relu().log_softmax(1),
    "max_pool": lambda x: F.max_pool2d(x.reshape(1, 1, 3, 4), 2),
    "conv": lambda x: F.conv2d(
        x.reshape(1, 1, 3, 4), x[:2, :2].reshape(1, 1, 2, 2), x[0, :1]
    ),
    "attention": lambda x: F.scaled_dot_product_attention(
        x[None, None], x[None, None], x[None, None], is_causal=True
    ),
    "slices": lambda x: (x[:2, :2] @ x[:2, :2]).T @ x[:2],
    "solve": lambda x: ac.linalg.solve(x[:3, :3] + ac.eye(3).double(), x),
    "cumprod": lambda x: x.cumprod(1).logcumsumexp(0),
    "sort": lambda x: x.sort(1)[0].prod(1),
    "embedding": lambda x: F.embedding(ac.tensor([0, 2, 2]), x).softmax(0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_both_modes_to_the_third_order(name):
    x, t = numbers(3, 4), numbers(3, 4, seed=1) - 0.5

    def f(x):
        y = FUNCTIONS[name](x)
        return (y * y * numbers(*y.shape, seed=2)).sum()

    def slope(x):
        return jvp(f, (x,), (t,))[1]

    def close(found, expected):
        scale = 1 + float(expected.abs().max())
        assert float((found.detach() - expected).abs().max()) / scale < 1e-7

    close(slope(x), moved(f, x, t))
    close(jvp(grad(f), (x,), (t,))[1], moved(grad(f), x, t))
    close(grad(slope)(x), moved(grad(f), x, t))
    close(jvp(slope, (x,), (t,))[1], moved(slope, x, t))
    expected = moved(grad(slope), x, t)
    close(jvp(grad(slope), (x,), (t,))[1], expected)
    close(grad(lambda x: jvp(slope, (x,), (t,))[1])(x), expected)


# ---- functions of users --------------------------------------------------------------


class Cube(ac.autograd.Function):
    @staticmethod
    def forward(ctx, x, power):
        ctx.save_for_backward(x)
        return x**power, x * 0

    @staticmethod
    def backward(ctx, g, _):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g, None


class Slanted(Cube):
    """A function whose tangent is not that of its operations."""

    @staticmethod
    def forward(ctx, x, power):
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        return x**power, x * 0

    @staticmethod
    def jvp(ctx, t, _):
        (x,) = ctx.saved_tensors
        return 10 * x * t, None


def test_a_function_with_jvp_or_backward(dual):
    assert tangent(Cube.apply(dual, 3)[0]) == [9.0, 48.0]
    assert tangent(Slanted.apply(dual, 3)[0]) == [30.0, 80.0]
    x = ac.tensor(2.0)
    for function, expected in ((Cube, 12.0), (Slanted, 10.0)):

        def f(x, function=function):
            return function.apply(x, 3)[0]

        one = ac.tensor(1.0)
        again = jvp(lambda x: jvp(f, (x,), (one,))[1], (x,), (one,))[1]  # noqa: B023
        assert again.item() == expected
    assert jvp(grad(lambda x: Cube.apply(x, 3)[0]), (x,), (x,))[1].item() == 24.0


def test_vjp_is_another_name_of_backward(dual):
    class Double(ac.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    assert tangent(Double.apply(dual)) == [6.0, 8.0]


def test_a_function_written_in_place(dual):
    class Double(ac.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def jvp(ctx, t):
            return t * 2

    x = dual.clone()
    assert Double.apply(x) is x
    assert tangent(x) == [6.0, 8.0]


def test_a_function_without_a_derivative_is_named(dual):
    class Bare(ac.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    class Short(Bare):
        @staticmethod
        def jvp(ctx, t):
            return t, t

    with pytest.raises(
        GradError, match="Bare: a tangent arrives, but the class has nei"
    ):
        Bare.apply(dual)
    with pytest.raises(
        GradError, match=r"Short.jvp: returned 2 tangents for 1 outputs"
    ):
        Short.apply(dual)


@pytest.mark.parametrize("name", ["jvp", "of a gradient", "hessian"])
def test_compiled_functions_use_forward_mode(name):
    def f(x):
        return x.sin().cos().sum() * x[0]

    function = {
        "jvp": lambda x: jvp(f, (x,), (x,))[1],
        "of a gradient": lambda x: jvp(grad(f), (x,), (x,))[1],
        "hessian": hessian(f),
    }[name]
    compiled = ac.compile(function)
    for i in range(4):
        x = numbers(4, seed=i)
        assert ac.allclose(compiled(x), function(x), atol=1e-12)

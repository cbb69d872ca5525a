# SPDX-License-Identifier: MIT
"""What functions made of other operators refuse, and with which text."""

from __future__ import annotations

from functools import partial

import pytest

import autocalc as ac
from autocalc.errors import AutocalcError

F = ac.nn.functional
x = ac.ones(3, 4)
LEAF = ac.ones(3, 4, requires_grad=True)
SGD = ac.optim.SGD([LEAF], lr=0.1)

#: Text -> call.
REFUSED = {
    r"select_scatter: `src` has shape \(2,\); it must have \(3,\)":
        lambda: ac.select_scatter(x, ac.ones(2), 1, 0),
    r"diagonal_scatter: `src` has shape \(4,\); it must have \(3,\)":
        lambda: x.diagonal_scatter(ac.ones(4)),
    r"as_strided_scatter: `src` has shape \(4,\)":
        lambda: ac.as_strided_scatter(x, ac.ones(4), (2, 2), (1, 1)),
    r"slice_scatter: `step` is 0; it must be 1 or more":
        lambda: ac.slice_scatter(x, x, 0, 0, 3, 0),
    "slice_copy: a tensor without dimensions has no slices":
        lambda: ac.slice_copy(ac.ones(())),
    "slice_scatter: needs a Tensor, not int":
        lambda: ac.slice_scatter(3, x),
    "select_scatter: needs a Tensor, not float":
        lambda: ac.select_scatter(x, 1.0, 0, 0),
    "narrow: 1 slices from 9 on exceed dimension 0":
        lambda: ac.narrow_copy(x, 0, 9, 1),
    "gcd: got float32 and int64; both must hold integers":
        lambda: ac.gcd(ac.ones(2), ac.arange(2)),
    "lcm: takes numbers, not bool": lambda: ac.lcm(*[ac.arange(2) > 0] * 2),
    "gcd: needs a Tensor, not int": lambda: ac.gcd(ac.arange(2), 3),
    "frexp: takes float32 or float64, not int64": lambda: ac.frexp(ac.arange(2)),
    "ldexp: needs a Tensor, not int": lambda: ac.ldexp(x, 3),
    r"cov: `input` has shape \(1, 1, 1\); it must have two dimensions":
        lambda: ac.cov(ac.ones(1, 1, 1)),
    r"cov: `fweights` has shape \(3,\); it must have \(4,\)":
        lambda: ac.cov(x, fweights=ac.arange(3)),
    "cov: `fweights` is float32; it must hold integers":
        lambda: ac.cov(x, fweights=ac.ones(4)),
    "cov: `aweights` is int64; it must hold floats":
        lambda: ac.cov(x, aweights=ac.arange(4)),
    "cov: `aweights` holds a negative weight": lambda: ac.cov(x, aweights=-ac.ones(4)),
    r"corrcoef: `input` has shape \(1, 1, 1\)": lambda: ac.corrcoef(ac.ones(1, 1, 1)),
    "hann_window: `dtype` is int64; a window holds floats":
        lambda: ac.hann_window(3, dtype=ac.int64),
    "kaiser_window: `beta` is -1; it must be finite":
        lambda: ac.kaiser_window(3, beta=-1),
    "bartlett_window: `periodic` is 'x'": lambda: ac.bartlett_window(3, "x"),
    r"vander: `x` has shape \(3, 4\); it must be a vector": lambda: ac.vander(x),
    "vander: `N` is -1; it must be 0 or more": lambda: ac.vander(ac.ones(2), -1),
    "gradient: `edge_order` is 3; it must be 1 or 2":
        lambda: ac.gradient(x, edge_order=3),
    "gradient: `spacing` has 3 parts for 2 dimensions":
        lambda: ac.gradient(x, spacing=[1, 2, 3]),
    r"gradient: `spacing` has a tensor of shape \(3,\) for dimension 1 of size 4":
        lambda: ac.gradient(x, spacing=ac.ones(3), dim=1),
    r"gradient: dimension 0 of shape \(1,\) has 1 values":
        lambda: ac.gradient(ac.ones(1)),
    "cumulative_trapezoid: both `x` and `dx`=1.0 are given":
        lambda: ac.cumulative_trapezoid(x, x, dx=1.0),
    "cumulative_trapezoid: a tensor without dimensions":
        lambda: ac.cumulative_trapezoid(ac.ones(())),
    r"adjoint: a tensor of shape \(2,\) holds no matrices":
        lambda: ac.adjoint(ac.ones(2)),
    r"cholesky_solve: `L` has shape \(3, 4\); it must hold square":
        lambda: ac.cholesky_solve(x, x),
    r"cholesky_solve: `B` has shape \(3,\); it must be":
        lambda: ac.cholesky_solve(ac.ones(3), ac.eye(3)),
    r"cholesky_inverse: `L` has shape \(3, 4\)": lambda: ac.cholesky_inverse(x),
    "unravel_index: `indices` is float32": lambda: ac.unravel_index(x, (3, 4)),
    "unravel_index: `indices` holds numbers out of range for 2 elements":
        lambda: ac.unravel_index(ac.arange(3), 2),
    "unravel_index: `shape`=.* holds a negative size":
        lambda: ac.unravel_index(ac.arange(3), (-3, 4)),
    r"multilabel_soft_margin_loss: `target` has shape \(1, 3, 4\), more dimensions":
        lambda: F.multilabel_soft_margin_loss(x, x[None]),
    r"multilabel_soft_margin_loss: `weight` has shape \(1, 3, 4\), more dimensions":
        lambda: F.multilabel_soft_margin_loss(x, x, x[None]),
    "multilabel_soft_margin_loss: `target` is 'a'":
        lambda: F.multilabel_soft_margin_loss(x, "a"),
    "ldexp: takes numbers, not bool": lambda: ac.ldexp(x, x > 0),
    "gradient: takes numbers, not bool": lambda: ac.gradient(x[0], spacing=x[0] > 0),
    "unfold: takes float32 or float64, not int64":
        lambda: F.unfold(ac.ones(1, 1, 2, 2, dtype=ac.int64), 1),
    "cumsum_: `dtype` is autocalc.float64, the tensor has autocalc.float32":
        lambda: ac.ones(2).cumsum_(0, dtype=ac.float64),
    "where: `condition` has dtype int64":
        lambda: ac.where(ac.arange(2), ac.ones(2), ac.ones(2)),
    **{
        rf"kl_div: `reduction` is {text}; here it is a number": partial(
            ac.kl_div, x, x, given
        )
        for text, given in {"'mean'": "mean", "3": 3, "True": True}.items()
    },
    "poisson_nll_loss: `reduction` is 'sum'": lambda: ac.poisson_nll_loss(
        x, x, True, False, 1e-8, "sum"
    ),
    "grad: `outputs` is 3; it must be a list": lambda: ac.autograd.grad(3, x),
    r"grad: `inputs\[0\]` is 3; it must be a tensor":
        lambda: ac.autograd.grad((x * LEAF).sum(), [3]),
    "backward: `inputs` is 3; it must be a list":
        lambda: (x * LEAF).sum().backward(inputs=3),
    "vjp: `func` is 3; it must be a function of tensors":
        lambda: ac.autograd.functional.vjp(3, x),
    "jacobian: `inputs` is 3; it must be a list":
        lambda: ac.autograd.functional.jacobian(ac.exp, 3),
    r"jacobian: `func\(...\)` is 3; it must be a list":
        lambda: ac.autograd.functional.jacobian(lambda x: 3, x),
    r"vjp: `v\[0\]` is 3; it must be a tensor":
        lambda: ac.autograd.functional.vjp(ac.exp, x, [3]),
    "constant_: needs a Tensor, not int": lambda: ac.nn.init.constant_(3, 1.0),
    "xavier_normal_: needs a Tensor, not int": lambda: ac.nn.init.xavier_normal_(3),
    "xavier_normal_: `gain` is 'x'": lambda: ac.nn.init.xavier_normal_(x, "x"),
    "calculate_gain: unknown `nonlinearity`": lambda: ac.nn.init.calculate_gain([]),
    "MultiStepLR: `milestones` is 3; it must be a list":
        lambda: ac.optim.lr_scheduler.MultiStepLR(SGD, 3),
    "SequentialLR: `schedulers` is 3; it must be a list":
        lambda: ac.optim.lr_scheduler.SequentialLR(SGD, 3, []),
    "LambdaLR: `optimizer` is a int; it must be an Optimizer":
        lambda: ac.optim.lr_scheduler.LambdaLR(3, abs),
    "clip_grad_value_: `parameters` is 3; it must be a list":
        lambda: ac.nn.utils.clip_grad_value_(3, 1.0),
    "parameters_to_vector: `parameters` is 3; it must be a list":
        lambda: ac.nn.utils.parameters_to_vector(3),
    "vector_to_parameters: needs a Tensor, not int":
        lambda: ac.nn.utils.vector_to_parameters(x, [3]),
    "weight_norm: `module` is 3; it must be a module":
        lambda: ac.nn.utils.weight_norm(3),
    "conv_norm_relu: `conv` is 3, `norm` 4; they must be":
        lambda: ac.nn.utils.conv_norm_relu(3, 4, x),
    "get_total_norm: `norm_type` is 0": lambda: ac.nn.utils.get_total_norm(x, 0),
    "get_total_norm: the norm of the tensors is inf":
        lambda: ac.nn.utils.get_total_norm(x * ac.inf, error_if_nonfinite=True),
    r"clip_grads_with_norm_: `total_norm` is of shape \(3, 4\)":
        lambda: ac.nn.utils.clip_grads_with_norm_(x, 1.0, x),
    "set_anomaly_enabled: `enabled` is 'x'": lambda: ac.set_anomaly_enabled("x"),
    "log_normal_: `std` is 0; it must be positive":
        lambda: ac.ones(3).log_normal_(0, 0),
    "log_normal_: takes floats, not int64": lambda: ac.arange(3).log_normal_(),
    "cauchy_: `sigma` is -1; it must be positive": lambda: ac.ones(3).cauchy_(0, -1),
    "cauchy_: takes floats, not int64": lambda: ac.arange(3).cauchy_(),
    "geometric_: `p` is 1.0; it must be between 0 and 1":
        lambda: ac.ones(3).geometric_(1.0),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    with pytest.raises(AutocalcError, match=text):
        REFUSED[text]()


def test_draws_in_place_have_their_distributions():
    generator = ac.Generator().manual_seed(3)
    many = ac.empty(100_000, dtype=ac.float64)
    logs = many.log_normal_(0.5, 0.25, generator=generator).log()
    assert logs.mean().item() == pytest.approx(0.5, abs=0.01)
    assert logs.std().item() == pytest.approx(0.25, abs=0.01)
    drawn = many.cauchy_(2.0, 3.0, generator=generator)
    quarters = ac.quantile(drawn, ac.tensor([0.25, 0.5, 0.75], dtype=ac.float64))
    assert quarters.tolist() == pytest.approx([-1.0, 2.0, 5.0], abs=0.15)
    tries = ac.empty(100_000, dtype=ac.int64).geometric_(0.25, generator=generator)
    assert tries.min().item() == 1
    assert tries.double().mean().item() == pytest.approx(4.0, abs=0.1)
    assert (tries == 1).double().mean().item() == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize(
    "take",
    [lambda x: x.unfold(0, 1, 1), lambda x: x[None], lambda x: x[...]],
    ids=["unfold", "None", "Ellipsis"],
)
def test_a_number_gets_the_gradient_of_all_that_was_taken_of_it(take):
    x = ac.tensor(1.5, requires_grad=True)
    (3 * take(x)).sum().backward()
    assert x.grad.shape == ()
    assert x.grad.item() == 3.0

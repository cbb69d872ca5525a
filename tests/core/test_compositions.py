# SPDX-License-Identifier: MIT
"""What functions made of other operators refuse, and with which text."""

from __future__ import annotations

import pytest
from tests.refusals import refusals

import autocalc as ac

F = ac.nn.functional
x = ac.ones(3, 4)
LEAF = ac.ones(3, 4, requires_grad=True)
SGD = ac.optim.SGD([LEAF], lr=0.1)

test_refused = refusals(
    r"""
    ac.select_scatter(x, ac.ones(2), 1, 0) -> ShapeError: select_scatter: `src` has
        shape \(2,\); it must have shape \(3,\), that of
    x.diagonal_scatter(ac.ones(4)) -> ShapeError: diagonal_scatter: `src` has shape
        \(4,\); it must have shape \(3,\), that of
    ac.as_strided_scatter(x, ac.ones(4), (2, 2), (1, 1)) -> ShapeError:
        as_strided_scatter: `src` has shape \(4,\)
    ac.slice_scatter(x, x, 0, 0, 3, 0) -> ArgumentError: slice_scatter: `step` is 0; it
        must be 1 or more
    ac.slice_copy(ac.ones(())) -> DimensionError: slice_copy: a tensor without
        dimensions has no slices
    ac.slice_scatter(3, x) -> DTypeError: slice_scatter: needs a Tensor, not int
    ac.select_scatter(x, 1.0, 0, 0) -> DTypeError: select_scatter: needs a Tensor, not
        float
    ac.narrow_copy(x, 0, 9, 1) -> DimensionError: narrow: 1 slices from index 9 on
        extend beyond dimension 0 of size 3 in
    ac.gcd(ac.ones(2), ac.arange(2)) -> DTypeError: gcd: got float32 and int64; both
        must hold integers
    ac.lcm(*[ac.arange(2) > 0] * 2) -> DTypeError: lcm: needs numbers, not bool;
    ac.gcd(ac.arange(2), 3) -> DTypeError: gcd: needs a Tensor, not int
    ac.frexp(ac.arange(2)) -> DTypeError: frexp: needs float32 or float64, not int64
    ac.ldexp(x, 3) -> DTypeError: ldexp: needs a Tensor, not int
    ac.cov(ac.ones(1, 1, 1)) -> ShapeError: cov: `input` has shape \(1, 1, 1\); it must
        have at most two dimensions,
    ac.cov(x, fweights=ac.arange(3)) -> ShapeError: cov: `fweights` has shape \(3,\); it
        must have shape \(4,\), with one weight
    ac.cov(x, fweights=ac.ones(4)) -> DTypeError: cov: `fweights` is float32; it must
        hold integers
    ac.cov(x, aweights=ac.arange(4)) -> DTypeError: cov: `aweights` is int64; it must
        hold floats
    ac.cov(x, aweights=-ac.ones(4)) -> ArgumentError: cov: `aweights` holds a negative
        weight
    ac.corrcoef(ac.ones(1, 1, 1)) -> ShapeError: corrcoef: `input` has shape \(1, 1, 1\)
    ac.hann_window(3, dtype=ac.int64) -> DTypeError: hann_window: `dtype` is int64; the
        dtype of a window must be a
    ac.kaiser_window(3, beta=-1) -> ArgumentError: kaiser_window: `beta` is -1; it must
        be finite
    ac.bartlett_window(3, 'x') -> ArgumentError: bartlett_window: `periodic` is 'x'
    ac.vander(x) -> ShapeError: vander: x must be a one-dimensional tensor\. Its shape
    ac.vander(ac.ones(2), -1) -> ArgumentError: vander: N must be non-negative\. It is
    ac.gradient(x, edge_order=3) -> ArgumentError: gradient: `edge_order` is 3; it must
        be 1 or 2
    ac.gradient(x, spacing=[1, 2, 3]) -> ArgumentError: gradient: expected spacing to be
        one number, or to have 2 parts
    ac.gradient(x, spacing=ac.ones(3), dim=1) -> ShapeError: gradient: `spacing` has a
        tensor of shape \(3,\) for dimension 1 of size 4
    ac.gradient(ac.ones(1)) -> ShapeError: gradient: dimension 0 of shape \(1,\) has 1
        values
    ac.cumulative_trapezoid(x, x, dx=1.0) -> ArgumentError: cumulative_trapezoid: both
        `x` and `dx`=1.0 are given
    ac.cumulative_trapezoid(ac.ones(())) -> ShapeError: cumulative_trapezoid: a tensor
        without dimensions
    ac.adjoint(ac.ones(2)) -> DimensionError: adjoint: only supported on
        matrices
    ac.cholesky_solve(x, x) -> ShapeError: cholesky_solve: `L` has shape \(3, 4\); it
        must have at least 2 dimensions, and must be batches of square matrices
    ac.cholesky_solve(ac.ones(3), ac.eye(3)) -> ShapeError: cholesky_solve: `B` has
        shape \(3,\); it must be
    ac.cholesky_inverse(x) -> ShapeError: cholesky_inverse: `L` has shape \(3, 4\)
    ac.unravel_index(x, (3, 4)) -> DTypeError: unravel_index: expected 'indices' to be
    ac.unravel_index(ac.arange(3), 2) -> DimensionError: unravel_index: `indices`
        contains positions that are out of range for 2
    ac.unravel_index(ac.arange(3), (-3, 4)) -> ShapeError: unravel_index: 'shape' cannot
        have negative values, but got \(-3, 4\)
    F.multilabel_soft_margin_loss(x, x[None]) -> ShapeError:
        multilabel_soft_margin_loss: `target` has shape \(1, 3, 4\), more dimensions
    F.multilabel_soft_margin_loss(x, x, x[None]) -> ShapeError:
        multilabel_soft_margin_loss: `weight` has shape \(1, 3, 4\), more dimensions
    F.multilabel_soft_margin_loss(x, 'a') -> DTypeError: multilabel_soft_margin_loss:
        `target` is 'a'
    ac.ldexp(x, x > 0) -> DTypeError: ldexp: needs numbers, not bool;
    ac.gradient(x[0], spacing=x[0] > 0) -> DTypeError: gradient: needs numbers, not
    F.unfold(ac.ones(1, 1, 2, 2, dtype=ac.int64), 1) -> DTypeError: unfold: needs
        float32 or float64, not int64: it is not implemented for
    ac.ones(2).cumsum_(0, dtype=ac.float64) -> DTypeError: cumsum_: `dtype` is
        autocalc\.float64, but an in-place operation must keep
    ac.where(ac.arange(2), ac.ones(2), ac.ones(2)) -> DTypeError: where: only supports
        boolean masks: expected BoolTensor for condition, not int64
    ac.kl_div(x, x, 'mean') -> ArgumentError: kl_div: `reduction` is 'mean'; this
        function needs a number: 0 for none,
    ac.kl_div(x, x, 3) -> ArgumentError: kl_div: `reduction` is 3; this function needs a
    ac.kl_div(x, x, True) -> ArgumentError: kl_div: `reduction` is True; this function
        needs a number: 0 for none, 1
    ac.poisson_nll_loss(x, x, True, False, 1e-08, 'sum') -> ArgumentError:
        poisson_nll_loss: `reduction` is 'sum'
    ac.autograd.grad(3, x) -> DTypeError: grad: `outputs` is 3; it must be a list
    ac.autograd.grad((x * LEAF).sum(), [3]) -> DTypeError: grad: `inputs\[0\]` is 3; it
        must be a tensor
    (x * LEAF).sum().backward(inputs=3) -> DTypeError: backward: `inputs` is 3; it must
        be a list
    ac.autograd.functional.vjp(3, x) -> ArgumentError: vjp: `func` is 3; it must be a
        function of tensors
    ac.autograd.functional.jacobian(ac.exp, 3) -> DTypeError: jacobian: `inputs` is 3;
        it must be a list
    ac.autograd.functional.jacobian(lambda x: 3, x) -> DTypeError: jacobian:
        `func\(...\)` is 3; it must be a list
    ac.autograd.functional.vjp(ac.exp, x, [3]) -> DTypeError: vjp: The v given to
        vjp must be either a Tensor
    ac.nn.init.constant_(3, 1.0) -> DTypeError: constant_: needs a Tensor, not int
    ac.nn.init.xavier_normal_(3) -> DTypeError: xavier_normal_: needs a Tensor, not int
    ac.nn.init.xavier_normal_(x, 'x') -> DTypeError: xavier_normal_: `gain` is 'x'
    ac.nn.init.calculate_gain([]) -> ArgumentError: calculate_gain: `nonlinearity` \[\]
        is unknown; it must be one of linear,
    ac.optim.lr_scheduler.MultiStepLR(SGD, 3) -> DTypeError: MultiStepLR: `milestones`
        is 3; it must be a list
    ac.optim.lr_scheduler.SequentialLR(SGD, 3, []) -> DTypeError: SequentialLR:
        `schedulers` is 3; it must be a list
    ac.optim.lr_scheduler.LambdaLR(3, abs) -> DTypeError: LambdaLR: `optimizer` is a
        int; it must be an Optimizer
    ac.nn.utils.clip_grad_value_(3, 1.0) -> DTypeError: clip_grad_value_: `parameters`
        is 3; it must be a list
    ac.nn.utils.parameters_to_vector(3) -> DTypeError: parameters_to_vector:
        `parameters` is 3; it must be a list
    ac.nn.utils.vector_to_parameters(x, [3]) -> DTypeError: vector_to_parameters: needs
        a Tensor, not int
    ac.nn.utils.weight_norm(3) -> ModuleError: weight_norm: `module` is 3; it must be a
        module
    ac.nn.utils.conv_norm_relu(3, 4, x) -> ModuleError: conv_norm_relu: `conv` is 3 and
        `norm` is 4; they must be a convolution
    ac.nn.utils.get_total_norm(x, 0) -> ArgumentError: get_total_norm: `norm_type` is 0
    ac.nn.utils.get_total_norm(x * ac.inf, error_if_nonfinite=True) -> GradError:
        get_total_norm: the norm of the tensors is inf
    ac.nn.utils.clip_grads_with_norm_(x, 1.0, x) -> ArgumentError:
        clip_grads_with_norm_: `total_norm` has shape \(3, 4\); it
    ac.set_anomaly_enabled('x') -> ArgumentError: set_anomaly_enabled: `enabled` is 'x'
    ac.ones(3).log_normal_(0, 0) -> ArgumentError: log_normal_: `std` is 0; it must be
        positive
    ac.arange(3).log_normal_() -> DTypeError: log_normal_: needs floats, not int64: it
    ac.ones(3).cauchy_(0, -1) -> ArgumentError: cauchy_: `sigma` is -1; it must be
        positive
    ac.arange(3).cauchy_() -> DTypeError: cauchy_: needs floats, not int64: it
    ac.ones(3).geometric_(1.0) -> ArgumentError: geometric_: `p` is 1.0; it must be
        between 0 and 1
    """,
    globals(),
)


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

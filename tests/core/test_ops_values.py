# SPDX-License-Identifier: MIT
"""What operators compute, against NumPy; what they say when arguments do not fit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import bmm, mm
from autocalc.nn.functional import cross_entropy, linear
from autocalc.testing import assert_close

RNG = np.random.default_rng(0)
A = RNG.standard_normal((2, 3, 4)).astype(np.float32)
B = RNG.standard_normal((3, 1)).astype(np.float32)
P = np.abs(A) + 0.1


def t(array):
    return ac.tensor(array)


@pytest.mark.parametrize(
    ("function", "numpy", "x"),
    [
        (ac.neg, np.negative, A),
        (ac.abs, np.abs, A),
        (ac.exp, np.exp, A),
        (ac.log, np.log, P),
        (ac.sqrt, np.sqrt, P),
        (ac.rsqrt, lambda x: 1 / np.sqrt(x), P),
        (ac.sin, np.sin, A),
        (ac.cos, np.cos, A),
        (ac.tanh, np.tanh, A),
        (ac.erf, np.vectorize(math.erf), A),
        (ac.sigmoid, lambda x: 1 / (1 + np.exp(-x)), A),
        (ac.relu, lambda x: np.maximum(x, 0), A),
        (ac.floor, np.floor, A * 3),
        (ac.ceil, np.ceil, A * 3),
        (ac.trunc, np.trunc, A * 3),
        (ac.round, np.rint, A * 3),
        (lambda x: x.clamp(-0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5), A),
        (lambda x: +x, lambda x: x, A),
        (lambda x: 2 - x, lambda x: 2 - x, A),
        (lambda x: 2 / x, lambda x: 2 / x, P),
        (lambda x: 2**x, lambda x: 2**x, A),
        (lambda x: x**2, lambda x: x**2, A),
    ],
)
def test_unary(function, numpy, x):
    assert_close(function(t(x)), numpy(x).astype(np.float32), rtol=1e-6, atol=1e-6)
    assert_close(
        function(t(x[0].T)), numpy(x[0].T).astype(np.float32), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize(
    ("function", "numpy"),
    [
        (lambda a, b: a + b, np.add),
        (lambda a, b: a - b, np.subtract),
        (lambda a, b: a * b, np.multiply),
        (lambda a, b: a / b, np.divide),
        (lambda a, b: a == b, np.equal),
        (lambda a, b: a != b, np.not_equal),
        (lambda a, b: a < b, np.less),
        (lambda a, b: a <= b, np.less_equal),
        (lambda a, b: a > b, np.greater),
        (lambda a, b: a >= b, np.greater_equal),
        (lambda a, b: ac.add(a, b, alpha=2), lambda a, b: a + 2 * b),
        (lambda a, b: ac.sub(a, b, alpha=2), lambda a, b: a - 2 * b),
    ],
)
def test_binary_with_broadcasting(function, numpy):
    assert_close(function(t(A), t(B)), numpy(A, B))
    assert_close(function(t(B), t(A)), numpy(B, A))
    assert_close(function(t(A), 0.5), numpy(A, np.float32(0.5)))
    assert_close(function(t(A), t(np.float32(0.5))), numpy(A, np.float32(0.5)))


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_the_larger_and_the_smaller_with_broadcasting(name):
    function, numpy = getattr(ac, name), getattr(np, name)
    assert_close(function(t(A), t(B)), numpy(A, B))
    assert_close(function(t(B), t(A)), numpy(B, A))
    assert_close(function(t(A), t(np.float32(0.5))), numpy(A, np.float32(0.5)))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (1, -1), (0, 1, 2)])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(
    ("function", "numpy"),
    [
        (ac.sum, np.sum),
        (ac.mean, np.mean),
        (lambda x, d, k: ac.var(x, d, correction=0, keepdim=k), np.var),
        (lambda x, d, k: ac.std(x, d, correction=0, keepdim=k), np.std),
        (ac.amax, np.max),
        (ac.amin, np.min),
        (
            lambda x, d, k: ac.logsumexp(x, (0, 1, 2) if d is None else d, k),
            lambda x, axis, keepdims: np.log(np.exp(x).sum(axis, keepdims=keepdims)),
        ),
        (lambda x, d, k: (x > 0).all(d, k), lambda x, **k: (x > 0).all(**k)),
        (lambda x, d, k: (x > 0).any(d, k), lambda x, **k: (x > 0).any(**k)),
    ],
)
def test_reductions(function, numpy, axis, keepdim):
    expected = numpy(A, axis=axis, keepdims=keepdim)
    assert_close(
        function(t(A), axis, keepdim), np.asarray(expected), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(dim):
    e = np.exp(A - A.max(dim, keepdims=True))
    expected = e / e.sum(dim, keepdims=True)
    assert_close(t(A).softmax(dim), expected, rtol=1e-6, atol=1e-6)
    assert_close(t(A).log_softmax(dim), np.log(expected), rtol=1e-5, atol=1e-5)
    assert t(A).softmax(dim, dtype=ac.float64).dtype is ac.float64


def test_extrema_with_their_places():
    values, places = t(A).max(1)
    assert_close(values, A.max(1))
    assert_close(places, A.argmax(1))
    values, places = t(A).min(-1, keepdim=True)
    assert_close(values, A.min(-1, keepdims=True))
    assert_close(places, A.argmin(-1)[..., None])
    assert ac.tensor(3.0).max(0).values.item() == 3.0
    assert_close(ac.max(t(A), t(B)), np.maximum(A, B))
    assert_close(ac.min(t(A), t(B)), np.minimum(A, B))
    assert t(A).max().item() == A.max()
    assert t(A).min().item() == A.min()


def test_arguments_of_extrema():
    assert t(A).argmax().item() == A.argmax()
    assert t(A).argmin().item() == A.argmin()
    assert t(A).argmax(keepdim=True).shape == (1, 1, 1)
    assert ac.tensor([1.0, float("nan"), 2.0]).argmax().item() == 1
    assert ac.tensor([1.0, float("nan"), 2.0]).argmin().item() == 1
    assert ac.tensor([-128, 127], dtype=ac.int8).argmin().item() == 0
    assert ac.tensor([-(2**63), 5]).argmin().item() == 0
    assert ac.tensor([200, 3], dtype=ac.uint8).argmin().item() == 1
    assert ac.tensor(2.0).argmax(0).item() == 0


def test_special_values():
    inf, nan = float("inf"), float("nan")
    assert math.isnan(ac.tensor([1.0, nan]).max().item())
    assert math.isnan(ac.zeros(0).mean().item())
    assert ac.zeros(0).sum().item() == 0.0
    assert ac.zeros(0).logsumexp(0).item() == -inf
    assert ac.tensor([-inf, -inf]).logsumexp(0).item() == -inf
    assert ac.tensor([1e30]).exp().item() == inf
    assert ac.zeros(0, dtype=ac.bool).all().item()
    assert not ac.zeros(0).any().item()
    assert ac.zeros(3, 0).softmax(1).shape == (3, 0)
    assert_close(ac.zeros(2, 0) @ ac.zeros(0, 3), ac.zeros(2, 3))


def test_products():
    x, y = RNG.standard_normal((2, 1, 3, 4)), RNG.standard_normal((5, 4, 2))
    assert_close(t(x) @ t(y), x @ y)
    assert_close(t(x) @ t(y[0, :, 0]), x @ y[0, :, 0])
    assert_close(t(x[0, 0, 0]) @ t(y), x[0, 0, 0] @ y)
    assert_close(t(x[0, 0, 0]) @ t(y[0, :, 0]), x[0, 0, 0] @ y[0, :, 0])
    assert_close(mm(t(x[0, 0]), t(y[0])), x[0, 0] @ y[0])
    assert_close(bmm(t(y), t(y).transpose(1, 2)), y @ y.swapaxes(1, 2))
    w, b = RNG.standard_normal((2, 4)), RNG.standard_normal(2)
    assert_close(linear(t(x), t(w), t(b)), x @ w.T + b)


def test_a_product_of_vectors_may_be_changed_in_place():
    a = ac.ones(2, 2, requires_grad=True)
    y = a @ ac.ones(2)
    y += 1
    y.sum().backward()
    assert a.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]


def reference_cross_entropy(x, y, weight=None, smoothing=0.0, ignore=-100):
    """Return loss for each row, and the factor of each row in a mean."""
    logp = x - np.log(np.exp(x).sum(1, keepdims=True))
    weight = np.ones(x.shape[1]) if weight is None else weight
    keep = y != ignore
    label = np.where(keep, y, 0)
    picked = -logp[np.arange(len(y)), label] * weight[label]
    smooth = -(logp * weight).sum(1) / x.shape[1]
    loss = ((1 - smoothing) * picked + smoothing * smooth) * keep
    return loss, weight[label] * keep


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy(smoothing, weighted):
    x, y = RNG.standard_normal((5, 3)), np.array([0, 2, 1, -100, 2])
    weight = np.array([0.5, 1.0, 2.0]) if weighted else None
    loss, share = reference_cross_entropy(x, y, weight, smoothing)
    options = {
        "weight": None if weight is None else t(weight),
        "label_smoothing": smoothing,
    }
    assert_close(cross_entropy(t(x), t(y), reduction="none", **options), loss)
    assert_close(cross_entropy(t(x), t(y), reduction="sum", **options), loss.sum())
    assert_close(cross_entropy(t(x), t(y), **options), loss.sum() / share.sum())


def test_joins():
    assert_close(ac.cat([t(A), t(A[:1])]), np.concatenate([A, A[:1]]))
    assert_close(
        ac.cat([t(A), t(A[..., :2])], dim=-1), np.concatenate([A, A[..., :2]], -1)
    )
    assert_close(ac.stack([t(A), t(-A)], 1), np.stack([A, -A], 1))
    assert ac.cat([ac.tensor([1]), ac.tensor([1.5])]).dtype is ac.float32


def test_choice():
    assert_close(
        ac.where(t(A) > 0, t(A), t(B)), np.where(A > 0, A, np.broadcast_to(B, A.shape))
    )
    assert_close(
        ac.where(t(A) > 0, 1.0, 0), np.where(A > 0, np.float32(1), np.float32(0))
    )
    assert_close(t(A).where(t(A) > 0, 0.0), np.where(A > 0, A, np.float32(0)))


def test_comparisons_of_whole_tensors():
    assert ac.equal(t(A), t(A))
    assert not ac.equal(t(A), t(A[0]))
    assert ac.allclose(t(A), t(A) + 1e-9)
    assert not ac.allclose(t(A), t(A) + 1)
    nan = ac.tensor([float("nan")])
    assert not ac.allclose(nan, nan)
    assert ac.allclose(nan, nan, equal_nan=True)
    assert ac.allclose(ac.tensor([float("inf")]), ac.tensor([float("inf")]))


INDEX = ac.tensor([0, 1])
M = ac.ones(2, 3)
test_errors_say_what_does_not_fit = refusals(
    r"""
    M + ac.ones(4) -> ShapeError: add: shapes \(2, 3\) and \(4,\) do not
    M @ ac.ones(4, 2) -> ShapeError: `input`.shape\[-1\] is 3, .* is 4
    M @ ac.tensor(1.0) -> ShapeError: \(2, 3\) and \(\): both operands need
    ac.ones(2, 2, 3) @ ac.ones(3, 3, 2) -> ShapeError: gemm.*broadcast|broadcast
    mm(M, ac.ones(3)) -> ShapeError: mm: Shape mismatch: .*must be\s+matrices
    bmm(M, M) -> ShapeError: bmm: shapes .*\[B, M, K\]
    linear(M, ac.ones(2, 4)) -> ShapeError: `weight` \(2, 4\)
    linear(M, ac.ones(2, 3), ac.ones(3)) -> ShapeError: `bias` has shape \(3,\)
    linear(M, ac.ones(2, 3).double()) -> DTypeError: dtypes float32, float64
    M.sum(2) -> DimensionError: sum: Dimension out of range: `dim`=2 for 2
    M.sum((0, -2)) -> DimensionError: sum: dim 0 appears multiple times in the
    ac.zeros(0).amax() -> ShapeError: amax: .*\(0,\) has no elements
    ac.tensor([1]).mean() -> DTypeError: mean: needs float32 .*not int64
    M.clamp() -> ArgumentError: clamp: At least one of 'min' or 'max' must not be
    ac.where(M, M, M) -> DTypeError: expected BoolTensor for
        condition, not float32
    M.reshape(4) -> ShapeError: 6 elements cannot have the shape \(4,\)
    M.reshape(-1, -1) -> ShapeError: them may be -1\.
    ac.zeros(0).reshape(-1, 0) -> ShapeError: reshape: cannot make \(-1, 0\) of a
    M.t().view(6) -> ShapeError: strides \(1, 3\) cannot be viewed as \(6,\)
    M.permute(0, 0) -> DimensionError: an order of the 2 dimensions of
    M.flatten(1, 0) -> DimensionError: start_dim=1 is after
    ac.ones(2, 2, 2).t() -> ShapeError: t: is only supported on matrices
    M.expand(3, 3) -> ShapeError: cannot be expanded to \(3, 3\)
    M.expand(3) -> ShapeError: cannot be expanded
    ac.cat([]) -> ArgumentError: at least one tensor
    ac.cat([M, ac.ones(3, 2)]) -> ShapeError: `tensors\[1\]` has shape \(3, 2\)
    ac.cat([ac.tensor(1.0)]) -> ShapeError: cat
    ac.stack([]) -> ArgumentError: stack: needs at least one
    ac.stack([M, ac.ones(3)]) -> ShapeError: stack: `tensors\[1\]`
    M[2] -> DimensionError: index: index 2 is out of bounds for dimension 0 with size 2
    M[0, 0, 0] -> DimensionError: were given for a tensor of shape \(2, 3\) with
    M[::-1] -> ArgumentError: step -1
    M['a'] -> DTypeError: index: 'a' is a str; use integers
    M[M] -> DTypeError: tensor of float32 cannot be an index
    M[0:1.5] -> DTypeError: index: slice indices must be integers, not 1\.5, a
    M[ac.tensor([5])] -> KernelDataError: index: `index\[0\]` holds 5 .*-2 to 1
    ac.tensor(1.0)[ac.tensor([0])] -> DimensionError: were given for a tensor of
    M.gather(2, INDEX) -> DimensionError: gather: Dimension out of range: `dim`=2 for 2
    M + 'a' -> DTypeError: add: an operand is a str
    M * np.ma.ones(3) -> DTypeError: mul: an operand is a MaskedArray
    ac.exp(1.0) -> DTypeError: exp: needs a Tensor, not float
    ac.sum([1.0]) -> DTypeError: sum: needs a Tensor, not list
    ac.tensor([1], dtype=ac.uint8) + 300 -> ArgumentError: 300 does not fit
    cross_entropy(M, ac.tensor([0, 3])) -> KernelDataError: holds 3 at element 1
    cross_entropy(M, ac.tensor([0])) -> ShapeError: cross_entropy: `input` has shape
        \(2, 3\) and `target` has shape \(1,\); for
    cross_entropy(M, ac.ones(2)) -> DTypeError: `target` has dtype float32
    cross_entropy(M, INDEX, reduction='x') -> ArgumentError: `reduction`='x'
    cross_entropy(M, INDEX, label_smoothing=2) -> ArgumentError: must be
        between 0.0 and 1.0, not 2.0
    cross_entropy(M, INDEX, ac.ones(3, requires_grad=True)) -> GradError: `weight`
        requires a gradient.*detach
    """,
    globals(),
)


def test_negative_positions_in_an_index_tensor_count_from_the_end():
    x = ac.arange(6).reshape(3, 2)
    assert x[ac.tensor([-1, 0])].tolist() == [[4, 5], [0, 1]]
    assert x[[2, -3]].tolist() == [[4, 5], [0, 1]]
    assert x[ac.tensor(1)].tolist() == [2, 3]
    assert x[ac.tensor([1], dtype=ac.int32)].tolist() == [[2, 3]]

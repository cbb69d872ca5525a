# SPDX-License-Identifier: MIT
"""Texts of errors that contain what programs for PyTorch look for."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.autograd import functional
from autocalc.errors import AutocalcWarning, DTypeError, GradError

L = ac.linalg
X = ac.arange(6.0).reshape(2, 3)
INDEX = ac.tensor([[0, 1, 2]])
SINGULAR = ac.eye(3) * ac.tensor([1.0, 1.0, 0.0])
BATCH = ac.stack([ac.eye(3), SINGULAR])
LOOP = [0]
LOOP.append(LOOP)

test_shapes = refusals(
    r"""
    ac.fliplr(ac.ones(3)) -> IndexError: Input must be >= 2-d
    ac.movedim(X, 5, 0) -> IndexError: Dimension out of range
    ac.movedim(X, (0, 1), (0,)) -> RuntimeError: Invalid source or destination dims
    ac.movedim(X, (0, 1), (1, 1)) -> RuntimeError: repeated dim in `destination`
    ac.tensor_split(ac.tensor(1.0), 2) -> RuntimeError: at least a 1-dimensional
    ac.tensor_split(X, ac.tensor(1.0)) -> RuntimeError: dtype of long, but got Float
    ac.tensor_split(X, ac.ones(1, 1).long()) -> RuntimeError: a tensor with 2 dims
    ac.vsplit(X, 4) -> RuntimeError: torch.vsplit attempted to split along dimension
    ac.dsplit(X, 2) -> RuntimeError: torch.dsplit requires a tensor with at least 3
    X.unfold(0, -1, 1) -> RuntimeError: size is -1 but must be >= 0
    X.unfold(0, 1, -1) -> RuntimeError: step is -1 but must be > 0
    ac.vander(X) -> RuntimeError: x must be a one-dimensional tensor\.
    ac.vander(X[0], -1) -> RuntimeError: N must be non-negative\.
    ac.roll(X, (), 1) -> RuntimeError: shifts and dimensions must align.*required
    ac.roll(X, ()) -> RuntimeError: is required
    X.as_strided((1,), ()) -> RuntimeError: mismatch in length of strides and shape
    X.as_strided((1,), (-1,)) -> RuntimeError: Negative strides are not .* \[-1\]
    ac.zeros(0).view(-1, 0) -> RuntimeError: size -1 can be any value
    ac.empty(0, 4, 2**61) -> RuntimeError: Stride calculation overflowed
    ac.empty(2**31, 2**31) -> RuntimeError: Storage size calculation overflowed
    ac.eye(-1, 1) -> RuntimeError: must be greater or equal to 0
    X[0].H -> RuntimeError: only supported on matrices
    ac.adjoint(X[0]) -> RuntimeError: only supported on matrices
    ac.sum(X, (0, 0)) -> RuntimeError: dim 0 appears multiple times in the list of dims
    ac.zeros(2, 0).kthvalue(1) -> IndexError: Expected reduction dim 1
    """,
    globals(),
)

test_indices = refusals(
    r"""
    X["0":] -> TypeError: slice indices must be integers
    ac.tensor(1.0)[0] -> IndexError: invalid index of a 0-dim tensor
    X[5] -> IndexError: index 5 is out of bounds for dimension 0 with size 2
    ac.ones(3, 0)[:, [0]] -> IndexError: for dimension with size 0
    ac.unravel_index(X, (2, 3)) -> TypeError: expected 'indices' to be integer
    ac.unravel_index(INDEX, INDEX) -> TypeError: expected 'shape' to be int or sequence
    ac.unravel_index(INDEX, (1, 2.0)) -> TypeError: to only contain ints
    ac.unravel_index(INDEX, (-1, 2)) -> ValueError: negative values, but got \(-1, 2\)
    ac.take_along_dim(X, INDEX.bool(), 0) -> RuntimeError: indices should be Long
    ac.take_along_dim(X, INDEX[0], 0) -> RuntimeError: the same number of dimensions
    X + ac.ones(2) -> RuntimeError: do not broadcast: shape mismatch
    """,
    globals(),
)

test_values = refusals(
    r"""
    ac.tensor(LOOP) -> TypeError: self-referential lists are incompatible
    ac.tensor(["a"]) -> TypeError: invalid data type
    ac.asarray(np.float64(1), copy=False) -> ValueError: can't alias NumPy scalars\.
    ac.asarray([1.0], copy=False) -> ValueError: can't alias arbitrary sequence
    ac.asarray(X, dtype=ac.float64, copy=False) -> ValueError: dtype 'float32' into
        dtype 'float64'
    ac.meshgrid(X[0], X[0].long()) -> RuntimeError: tensors to have the same dtype
    ac.meshgrid([]) -> RuntimeError: expects a non-empty TensorList
    ac.arange(1, 0, 0) -> RuntimeError: unsupported range
    ac.hann_window(3, dtype=ac.int64) -> RuntimeError: floating point
    ac.zeros(2).uniform_(1, 0) -> RuntimeError: uniform_ expects to return
    ac.zeros(2).uniform_(-3e38, 3e38) -> RuntimeError: uniform_ expects to-from
    ac.clamp(X) -> RuntimeError: At least one of 'min' or 'max' must not be None
    ac.polygamma(-1, X) -> RuntimeError: does not support negative n\.
    ac.nanmean(INDEX) -> RuntimeError: nanmean\(\): expected input to have floating
    ac.bincount(INDEX[0], minlength=-1) -> RuntimeError: minlength should be >= 0
    ac.bincount(INDEX) -> RuntimeError: 1-d non-negative integral
    ac.bincount(INDEX[0], X[0][:2]) -> RuntimeError: 1-d and have the same length
    ac.histc(X, 4, 5, 1) -> RuntimeError: max must be larger than min
    ac.quantile(X[:0], 0.5) -> RuntimeError: quantile\(\) input tensor must be non-empty
    ac.quantile(X, X) -> RuntimeError: quantile\(\) q must be a scalar or 1D tensor
    ac.quantile(INDEX, 0.5) -> RuntimeError: must be either float or double dtype
    ac.quantile(X, X[0].double()) -> RuntimeError: q tensor must be same dtype as the
    ac.quantile(X, X[0]) -> RuntimeError: q values must be in the range \[0, 1\]
    ac.gradient(X, spacing=[1, 2, 3]) -> RuntimeError: expected spacing to be
    ac.addr(INDEX, INDEX[0][:1], INDEX[0], beta=2.0) -> RuntimeError: argument beta
        must not be a floating point number\.
    ac.addr(INDEX, INDEX[0][:1], INDEX[0], alpha=1.0) -> RuntimeError: argument alpha
    ac.addr(INDEX, INDEX[0][:1], INDEX[0], beta=True) -> RuntimeError: Boolean beta
    """,
    globals() | {"np": np},
)

test_products = refusals(
    r"""
    ac.mm(X, X) -> RuntimeError: \(2x3 and 2x3\)
    ac.dot(X[0], X[0].double()) -> RuntimeError: dot : expected both vectors to have
    ac.dot(X[0], X[0][:2]) -> RuntimeError: inconsistent tensor size
    ac.vdot(X, X[0]) -> RuntimeError: 1D tensors expected
    ac.inner(X, X[:, :2]) -> RuntimeError: got shapes \[2, 3\] and \[2, 2\]
    ac.chain_matmul() -> RuntimeError: Expected one or more matrices
    ac.chain_matmul(X[0], X) -> RuntimeError: Tensor dimension is 1, expected 2
    L.multi_dot([ac.tensor(1.0), X]) -> RuntimeError: the first tensor must be 1D or 2D
    L.multi_dot([X, ac.tensor(1.0)]) -> RuntimeError: the last tensor must be 1D or 2D
    L.multi_dot([X, X[0], X]) -> RuntimeError: tensor 1 must be 2D
    L.multi_dot([X, X.double()]) -> RuntimeError: all tensors must have be the same
    L.multi_dot([X, X]) -> RuntimeError: cannot be multiplied
    """,
    globals(),
)

test_matrices = refusals(
    r"""
    L.cholesky(SINGULAR) -> RuntimeError: leading minor of order 3 is not positive-def
    L.cholesky(BATCH) -> RuntimeError: \(Batch element 1\): The factorization could not
    L.inv(SINGULAR) -> RuntimeError: diagonal element 3 is zero, the inversion could not
    L.inv(BATCH) -> RuntimeError: \(Batch element 1\): The diagonal element 3 is zero
    L.inv(BATCH.reshape(1, 2, 3, 3)) -> RuntimeError: \(Batch element 1\).*\(0, 1\)
    ac.cholesky_inverse(SINGULAR) -> RuntimeError: cholesky_inverse: The diagonal el
    ac.cholesky_inverse(BATCH) -> RuntimeError: \(Batch element 1\): The diagonal elem
    L.inv(X) -> RuntimeError: must be batches of square matrices
    L.matrix_exp(X[:, :2].long()) -> RuntimeError: Expected a floating point or complex
    L.matrix_exp(X[0]) -> RuntimeError: must have at least 2 dimensions
    L.matrix_exp(X) -> RuntimeError: must be batches of square matrices
    L.qr(X[0]) -> RuntimeError: linalg.qr: The input tensor A must have at least 2 dim
    L.qr(X, "x") -> RuntimeError: qr received unrecognized mode 'x'
    L.eigh(SINGULAR, "x") -> RuntimeError: be 'L' or 'U'
    L.inv(ac.eye(2), out=ac.ones(2, 2).int()) -> RuntimeError: but got int instead
    L.cond(X, 1) -> RuntimeError: must be batches of square matrices
    L.cond(X, "x") -> RuntimeError: linalg.cond got an invalid norm type: x
    L.matrix_norm(X[0]) -> RuntimeError: linalg.matrix_norm:.*at least 2 dimensions
    L.matrix_norm(X, dim=(0,)) -> RuntimeError: linalg.matrix_norm:.*must be a 2-tuple
    L.matrix_norm(X, dim=(0, 0)) -> RuntimeError: dims must be different
    L.matrix_norm(X, 3.5) -> RuntimeError: matrix_norm: Order 3.5 not supported
    L.norm(X[None], 1) -> RuntimeError: If dim is not specified but ord is
    L.norm(X[None], 1, (0, 1, 2)) -> RuntimeError: it must be of length 1 or 2\.
    L.lstsq(X, ac.tensor(1.0)) -> RuntimeError: other must have at least 1 dimension
    L.lstsq(X, X[0]) -> RuntimeError: input.size\(-2\) should match other.size\(-1\)
    L.lstsq(X, X.T) -> RuntimeError: input.size\(-2\) should match other.size\(-2\)
    L.lstsq(X, X, driver="x") -> RuntimeError: one of \(gels, gelsy, gelsd, gelss\)
    L.householder_product(X[0], X[0]) -> RuntimeError: at least 2 dimensions
    L.householder_product(X, X[0]) -> RuntimeError: input.shape\[-2\] must be greater
    L.householder_product(X.T, X[0]) -> RuntimeError: or equal to tau.shape\[-1\]
    L.householder_product(X.T, X[:, :1]) -> RuntimeError: the batch dimensions of both
    """,
    globals(),
)


def test_a_factor_without_zeros_on_the_diagonal_keeps_its_error():
    factor = ac.tensor([[1e-300, 0.0], [1e300, 1e-300]], dtype=ac.float64)
    with pytest.raises(L.LinAlgError, match="solve: The diagonal element 2 is zero"):
        ac.cholesky_inverse(factor)


def test_strict_functions_name_the_input_and_the_output():
    both = (ac.ones(2), ac.ones(2))

    def one(x, y):
        return (x * x).sum()

    def flat(x, y):
        return (x + y).sum()

    with pytest.raises(GradError, match=r"The output of .* is independent of input 1"):
        functional.vjp(one, both, ac.tensor(1.0), strict=True)
    with pytest.raises(GradError, match=r"Output 0 of .* is independent of input 1"):
        functional.jacobian(one, both, strict=True)
    with pytest.raises(GradError, match=r"jacobian of .* is independent of input 0"):
        functional.jacobian(flat, both, create_graph=True, strict=True)
    with pytest.raises(GradError, match=r"jacobian of .* with respect to input 0 is"):
        functional.hvp(flat, both, both, strict=True)
    with pytest.raises(DTypeError, match="The v given to hvp must be either a Tensor"):
        functional.hvp(one, both, (ac.ones(2), 2))
    with pytest.raises(DTypeError, match="The inputs given to hvp must be either"):
        functional.hvp(one, (ac.ones(2), 2), both)


def test_jacobians_are_recorded_under_no_grad():
    with ac.no_grad():
        found = functional.jacobian(ac.exp, ac.zeros(2), create_graph=True)
        assert found.requires_grad
        assert not functional.jacobian(ac.exp, ac.zeros(2)).requires_grad


def test_a_function_without_forward_says_so():
    class Bad(ac.autograd.Function):
        pass

    with pytest.raises(NotImplementedError, match="must implement the forward"):
        Bad.apply(ac.ones(1))


def test_the_old_name_of_saved_tensors_gives_a_warning():
    class Double(ac.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_variables[0].tolist() == [1.0]
            return g * 2

    x = ac.ones(1, requires_grad=True)
    with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated"):
        Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_a_variance_without_degrees_of_freedom_gives_a_warning():
    with pytest.warns(AutocalcWarning, match="var: degrees of freedom is <= 0"):
        assert ac.ones(1, 2).var(0).isnan().all()
    with pytest.warns(AutocalcWarning, match="std: degrees of freedom is <= 0"):
        ac.ones(3).std(correction=20)


def test_a_histogram_of_equal_ends_uses_those_of_the_data():
    x = ac.tensor([1.0, 2.0, 1.0])
    assert ac.histc(x, bins=4, min=5, max=5).tolist() == [2, 0, 0, 1]
    assert ac.histc(x, bins=4).tolist() == [2, 0, 0, 1]

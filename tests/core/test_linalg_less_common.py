# SPDX-License-Identifier: MIT
"""Pseudoinverses, ranks, least squares, triangles, conditions: values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.testing import gradcheck, gradgradcheck

pytestmark = pytest.mark.core

L = ac.linalg
RNG = np.random.default_rng(0)


def normal(*shape):
    return RNG.normal(size=shape)


def of_rank(rank, *shape):
    """Return matrices of a rank."""
    *batch, m, n = shape
    return normal(*batch, m, rank) @ normal(*batch, rank, n)


def leaf(a):
    return ac.tensor(a, requires_grad=True)


SHAPES = [(3, 3), (4, 2), (2, 4), (2, 3, 5, 2), (1, 1), (0, 3), (3, 0), (2, 0, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_pseudoinverses_fulfil_the_four_conditions(shape):
    a = ac.tensor(normal(*shape))
    p = L.pinv(a)
    assert p.shape == (*shape[:-2], shape[-1], shape[-2])
    np.testing.assert_allclose(p.numpy(), np.linalg.pinv(a.numpy()), 1e-9, 1e-12)
    assert ac.allclose(a @ p @ a, a)
    assert ac.allclose(p @ a @ p, p)
    assert ac.allclose((a @ p).mT, a @ p)
    assert ac.allclose((p @ a).mT, p @ a)
    assert ac.equal(ac.pinverse(a), p)
    assert ac.equal(a.pinverse(), p)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_pseudoinverses_of_a_smaller_rank(rank):
    a = of_rank(rank, 2, 4, 3)
    p = L.pinv(ac.tensor(a)).numpy()
    np.testing.assert_allclose(p, np.linalg.pinv(a, 1e-12), 1e-9, 1e-12)
    assert L.matrix_rank(ac.tensor(a)).tolist() == [rank, rank]


def test_limits():
    a = ac.tensor(np.diag([8.0, 2.0, 0.5]))

    def kept(**words):
        return (L.pinv(a, **words).diagonal() != 0).sum().item()

    assert kept() == 3
    assert kept(atol=0.5) == kept(atol=1) == 2
    assert kept(atol=2.0, rtol=0.0) == kept(rtol=0.25) == kept(rcond=0.25) == 1
    assert kept(atol=1e-9, rtol=1e-3) == 3
    assert kept(atol=9.0) == 0
    assert kept(atol=ac.tensor(1), rtol=ac.tensor(0.1)) == 2
    for words in ({"atol": 1.0}, {"rtol": 0.1}, {"tol": 1.0}, {"atol": ac.tensor(1)}):
        assert L.matrix_rank(a, **words).item() == 2
    both = a.expand(2, 3, 3)
    each = ac.tensor([0.1, 1.0], dtype=ac.float64)
    assert L.matrix_rank(both, atol=each).tolist() == [3, 2]
    assert L.matrix_rank(both, rtol=each).tolist() == [2, 0]
    found = L.pinv(both, atol=each)
    assert (found.diagonal(0, 1, 2) != 0).sum(1).tolist() == [3, 2]
    # An `atol` of 0 leaves the default of `rtol`, one above 0 does not.
    small = ac.tensor(np.diag([1.0, 1e-17]))
    assert L.matrix_rank(small).item() == L.matrix_rank(small, atol=0).item() == 1
    assert L.matrix_rank(small, atol=1e-18).item() == 2
    assert L.matrix_rank(ac.tensor(np.diag([1.0, 1e-8]), dtype=ac.float32)).item() == 1


def test_symmetric_matrices():
    a = normal(2, 3, 3)
    a = a + a.swapaxes(1, 2)
    a[1] = np.outer([1.0, -2.0, 0.5], [1.0, -2.0, 0.5])
    x = ac.tensor(a)
    np.testing.assert_allclose(
        L.pinv(x, hermitian=True).numpy(), np.linalg.pinv(a), 1e-9, 1e-12
    )
    assert L.matrix_rank(x, hermitian=True).tolist() == [3, 1]
    assert L.matrix_rank(x.tril(), hermitian=True).tolist() == [3, 1]
    assert ac.allclose(L.pinv(x.tril(), hermitian=True), L.pinv(x))
    assert L.matrix_rank(-x, 1e-9, True).tolist() == [3, 1]


def test_gradients_of_a_smaller_rank_and_of_equal_values():
    """Differences keep the rank where the factors are moved."""

    def product(x, y):
        return L.pinv(x @ y, rtol=1e-9)

    operands = [leaf(normal(4, 2)), leaf(normal(2, 3))]
    assert gradcheck(product, operands)
    assert gradgradcheck(product, operands)
    turned, _ = np.linalg.qr(normal(3, 3))
    assert gradcheck(L.pinv, [leaf(2 * turned)])
    assert gradgradcheck(L.pinv, [leaf(2 * turned)])
    x = leaf(np.zeros((2, 3)))
    L.pinv(x).sum().backward()
    assert not x.grad.any()


def test_pseudoinverses_of_float32_and_halves():
    a = normal(5, 3).astype(np.float32)
    x = ac.tensor(a, requires_grad=True)
    p = L.pinv(x)
    assert p.dtype is ac.float32
    np.testing.assert_allclose(p.detach().numpy(), np.linalg.pinv(a), 1e-4, 1e-6)
    p.sum().backward()
    assert x.grad.dtype is ac.float32
    out = ac.zeros(3, 5)
    assert L.pinv(x.detach(), out=out) is out
    assert ac.equal(out, p.detach())


# ---- least squares -------------------------------------------------------------------


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
def test_least_squares(shape, driver):
    a, b = normal(*shape), normal(shape[0], 2)
    found = L.lstsq(ac.tensor(a), ac.tensor(b), driver=driver)
    solution, residuals, rank, values = np.linalg.lstsq(a, b, rcond=None)
    np.testing.assert_allclose(found.solution.numpy(), solution, 1e-9, 1e-12)
    wanted = residuals if driver not in (None, "gelsy") else np.zeros(0)
    np.testing.assert_allclose(found.residuals.numpy(), wanted, 1e-9)
    assert found.rank.tolist() == ([] if driver == "gels" else rank)
    full = values if driver in ("gelsd", "gelss") else np.zeros(0)
    np.testing.assert_allclose(found.singular_values.numpy(), full, 1e-9)


def test_least_squares_of_vectors_batches_and_a_smaller_rank():
    a, b = normal(2, 1, 5, 3), normal(4, 5, 2)
    found = L.lstsq(ac.tensor(a), ac.tensor(b[None]), driver="gelsd")
    assert found.solution.shape == (2, 4, 3, 2)
    assert found.residuals.shape == (2, 4, 2)
    assert found.rank.tolist() == [[3], [3]]
    assert found.singular_values.shape == (2, 1, 3)
    one = L.lstsq(ac.tensor(a[1, 0]), ac.tensor(b[2]), driver="gelsd")
    np.testing.assert_allclose(found.solution[1, 2].numpy(), one.solution.numpy(), 1e-9)
    np.testing.assert_allclose(found.residuals[1, 2].numpy(), one.residuals.numpy())
    line = L.lstsq(ac.tensor(a[:, 0]), ac.tensor(b[:2, :, 0]))
    assert line.solution.shape == (2, 3)
    np.testing.assert_allclose(
        line.solution[1].numpy(), np.linalg.lstsq(a[1, 0], b[1, :, 0], None)[0], 1e-9
    )
    flat = of_rank(2, 5, 3)
    found = L.lstsq(ac.tensor(flat), ac.tensor(b[0]), driver="gelss")
    assert found.rank.item() == 2
    assert found.residuals.shape == (0,)
    wanted = np.linalg.lstsq(flat, b[0], 1e-12)[0]
    np.testing.assert_allclose(found.solution.numpy(), wanted, 1e-9, 1e-12)
    cut = L.lstsq(ac.tensor(np.diag([1.0, 0.1])), ac.ones(2, 1, dtype=ac.float64), 0.5)
    assert cut.solution.tolist() == [[1.0], [0.0]]


# ---- triangles, tensors, reflections -------------------------------------------------


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangles(upper, left, unit):
    a, b = normal(2, 3, 3) + 3 * np.eye(3), normal(4, 1, 3, 3)
    half = np.triu(a) if upper else np.tril(a)
    half = half - half * np.eye(3) + np.eye(3) if unit else half
    words = {"upper": upper, "left": left, "unitriangular": unit}
    found = L.solve_triangular(ac.tensor(a), ac.tensor(b), **words)
    assert found.shape == (4, 2, 3, 3)
    back = half @ found.numpy() if left else found.numpy() @ half
    np.testing.assert_allclose(back, np.broadcast_to(b, back.shape), 1e-9, 1e-12)


def test_tensors_as_systems():
    a = normal(2, 3, 6)
    b = normal(2, 3)
    x = L.tensorsolve(ac.tensor(a), ac.tensor(b))
    np.testing.assert_allclose(ac.tensordot(ac.tensor(a), x, 1).numpy(), b, 1e-9)
    found = L.tensorsolve(ac.tensor(a), ac.tensor(b)).numpy()
    np.testing.assert_allclose(found, np.linalg.tensorsolve(a, b), 1e-9)
    moved = a.transpose(2, 0, 1)
    found = L.tensorsolve(ac.tensor(moved), ac.tensor(b), dims=(0,)).numpy()
    np.testing.assert_allclose(found, np.linalg.tensorsolve(moved, b, (0,)), 1e-9)
    wanted = np.linalg.tensorinv(a, 2)
    np.testing.assert_allclose(L.tensorinv(ac.tensor(a)).numpy(), wanted, 1e-9)
    wanted = np.linalg.tensorinv(moved, 1)
    np.testing.assert_allclose(L.tensorinv(ac.tensor(moved), 1).numpy(), wanted, 1e-9)


def test_reflections():
    a, tau = normal(2, 4, 3), normal(2, 2)
    found = L.householder_product(ac.tensor(a), ac.tensor(tau)).numpy()
    for i in range(2):
        q = np.eye(4)
        for j in range(2):
            v = np.r_[np.zeros(j), 1.0, a[i, j + 1 :, j]]
            q = q @ (np.eye(4) - tau[i, j] * np.outer(v, v))
        np.testing.assert_allclose(found[i], q[:, :3], 1e-9, 1e-12)


# ---- vectors and conditions ----------------------------------------------------------


def test_vectors():
    a, b = normal(2, 4, 3), normal(1, 4, 3)
    found = L.cross(ac.tensor(a), ac.tensor(b)).numpy()
    np.testing.assert_allclose(found, np.cross(a, b), 1e-12)
    found = L.cross(ac.tensor(a.swapaxes(1, 2)), ac.tensor(b.swapaxes(1, 2)), dim=1)
    np.testing.assert_allclose(found.numpy().swapaxes(1, 2), np.cross(a, b), 1e-12)
    found = L.vecdot(ac.tensor(a), ac.tensor(b), dim=1).numpy()
    np.testing.assert_allclose(found, (a * b).sum(1), 1e-12)
    x = ac.tensor(a)
    assert L.diagonal(x).tolist() == np.diagonal(a, 0, 1, 2).tolist()
    assert (
        L.diagonal(x, offset=1, dim1=0, dim2=2).tolist()
        == np.diagonal(a, 1, 0, 2).tolist()
    )
    L.diagonal(x).zero_()
    assert x[0, 1, 1].item() == 0.0
    found = L.vander(ac.tensor(a[0]), N=4).numpy()
    np.testing.assert_allclose(found, a[0][..., None] ** np.arange(4), 1e-12)
    assert L.vander(ac.tensor([1, 2], dtype=ac.int32)).dtype is ac.int64
    assert L.vander(ac.tensor(2.0), N=3).tolist() == [[1.0, 2.0, 4.0]]
    assert gradgradcheck(L.vander, [leaf(np.array([0.0, 2.0, -1.0]))])


ORDERS = [None, 2, -2, 1, -1, math.inf, -math.inf, "fro", "nuc"]


@pytest.mark.parametrize("p", ORDERS)
def test_conditions(p):
    a = normal(3, 4, 4)
    found = L.cond(ac.tensor(a), p).numpy()
    np.testing.assert_allclose(found, np.linalg.cond(a, p), 1e-9)
    a[1] = 0
    a[1, 0] = 1.0
    found = L.cond(ac.tensor(a), p).numpy()
    assert np.isfinite(found[[0, 2]]).all()
    assert found[1] == 0.0 if p == -2 else math.isinf(found[1])
    assert L.cond(ac.zeros(2, 0, 0), p).tolist() == [0.0, 0.0]


M, SQUARE = ac.ones(3, 2), ac.eye(3)


test_what_is_refused = refusals(
    r"""
    L.pinv(ac.ones(3)) -> ShapeError: pinv: `A` has shape \(3,\); it
    L.pinv(M.long()) -> DTypeError: pinv: needs float32 or
    L.pinv([[1.0]]) -> DTypeError: pinv: needs a Tensor
    L.pinv(M, hermitian=True) -> ShapeError: batches of square matrices, not matrices of
        3 by 2\.
    L.pinv(M, hermitian=1) -> ArgumentError: pinv: `hermitian` is 1
    L.pinv(M, 0.1, atol=1.0) -> ArgumentError: pinv: `rcond` is the old name
    L.pinv(M, atol='a') -> DTypeError: pinv: `atol` is 'a'
    L.pinv(M, rtol=ac.ones(2)) -> ShapeError: pinv: `atol` has shape \(\) and `rtol` has
        shape \(2,\); they must broadcast
    L.pinv(M * math.nan) -> LinAlgError: pinv: `a`, .* holds nan in row 0
    L.pinv(SQUARE * math.inf, hermitian=True) -> LinAlgError: pinv: `a`
    ac.pinverse(ac.ones(3)) -> ShapeError: pinverse: `A` has shape
    ac.pinverse(M, None) -> DTypeError: pinverse: `rcond` is None
    L.matrix_rank(ac.ones(3)) -> ShapeError: matrix_rank: `A` has shape
    L.matrix_rank(M, 1.0, rtol=1.0) -> ArgumentError: matrix_rank: `tol` is the old name
        of `atol`; give `atol` and `rtol`
    L.matrix_rank(M, hermitian='x') -> ArgumentError: `hermitian` is 'x'
    L.lstsq(M, ac.ones(2, 1)) -> ShapeError: lstsq: `A` has shape \(3, 2\) and `B` has
        shape \(2, 1\); input.size\(-2\) should match other.size\(-2\)
    L.lstsq(M, ac.ones(2, 3, 1)) -> ShapeError: lstsq: `A` has shape
    L.lstsq(ac.ones(2, 3, 2), ac.ones(3, 3, 1)) -> ShapeError: lstsq:
    L.lstsq(M, ac.ones(3).double()) -> DTypeError: lstsq: the tensors
    L.lstsq(M, ac.ones(3), driver='x') -> ArgumentError: `driver` should be one of
    L.lstsq(M, ac.ones(3), 'a') -> DTypeError: lstsq: `rcond` is 'a'
    L.solve_triangular(M, M, upper=True) -> ShapeError: solve_triangular: `A` has shape
        \(3, 2\) and `B` has shape \(3, 2\); they
    L.solve_triangular(SQUARE, ac.ones(3), upper=True) -> ShapeError: solve_triangular:
        `A` has shape \(3, 3\) and `B` has shape \(3,\)
    L.solve_triangular(SQUARE - 1, M, upper=True) -> LinAlgError: singu
    L.solve_triangular(SQUARE, M, upper=1) -> ArgumentError: `upper` is
    L.solve_triangular(SQUARE, M.double(), upper=True) -> DTypeError: one
    L.tensorinv(ac.ones(4, 2, 2), 0) -> ArgumentError: `ind` is 0. Expected
    L.tensorinv(ac.ones(1)) -> ArgumentError: at most the 1 dimensions
    L.tensorinv(ac.ones(4, 2, 2), 2) -> ShapeError: Expected self to satisfy the
        requirement that the product of the first 2
    L.tensorsolve(ac.ones(2, 3, 5), ac.ones(2, 3)) -> ShapeError: tensorsolve: Expected
        self to satisfy the requirement that the product of
    L.householder_product(ac.ones(2, 3), ac.ones(2)) -> ShapeError: householder_product:
        `A` has shape \(2, 3\) and `tau` has shape \(2,\); input
    L.cross(SQUARE, ac.ones(3)) -> ShapeError: cross: the shapes are \(3,
    L.vecdot(M, M.double()) -> DTypeError: vecdot: the tensors
    L.vecdot(M.long(), M.long()) -> DTypeError: vecdot: needs float32
    L.vander(ac.ones(1)) -> ArgumentError: vander: `N` is 1; it must be 2
    L.vander(ac.tensor([True])) -> DTypeError: vander: needs numbers, not
    L.cond(ac.ones(3)) -> ShapeError: cond: `A` has shape
    L.cond(M, 1) -> ShapeError: cond: A must be batches of square matrices for
    L.cond(SQUARE, 3) -> ArgumentError: linalg\.cond got an invalid norm type: 3\. It
    L.cond(SQUARE, [1]) -> ArgumentError: linalg\.cond got an invalid norm type:
    L.cond(SQUARE.long()) -> DTypeError: cond: needs float32
    """,
    globals(),
)

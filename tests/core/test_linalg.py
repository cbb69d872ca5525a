# SPDX-License-Identifier: MIT
"""Inverses, determinants and factors: values, gradients, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.errors import GradError, KernelDataError
from autocalc.testing import gradcheck

pytestmark = pytest.mark.core

L = ac.linalg


def leaf(*sizes, seed=0):
    rng = np.random.default_rng((seed, *sizes))
    return ac.from_numpy(rng.normal(size=sizes)).requires_grad_()


def turned(x):
    return x.transpose(-1, -2)


def positive(x):
    return x @ turned(x) + 2 * ac.eye(x.shape[-1], dtype=x.dtype)


def symmetric(x):
    return x + turned(x)


def sizes_of(*results):
    """Vectors are unique up to a sign."""
    return [ac.abs(x) for x in results]


def test_the_determinant_of_singular_matrices_has_a_gradient():
    flat = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 2.0])
    rank_2 = np.diag([1.0, 2.0, 0.0])
    x = ac.from_numpy(np.stack([flat, rank_2])).requires_grad_()
    assert gradcheck(L.det, x)


@pytest.mark.parametrize("dtype", [ac.float32, ac.float64])
def test_factors_multiply_back(dtype):
    close = {"rtol": 1e-5, "atol": 1e-5} if dtype is ac.float32 else {}
    for sizes in ((3, 3), (2, 5, 3), (2, 3, 5)):
        x = leaf(*sizes).detach().to(dtype)
        q, r = L.qr(x)
        u, s, vh = L.svd(x, full_matrices=False)
        assert ac.allclose(q @ r, x, **close)
        assert not np.tril(r.numpy(), -1).any()
        assert ac.allclose((u * s.unsqueeze(-2)) @ vh, x, **close)
        assert ac.allclose(L.svdvals(x), s)
        full = L.svd(x)
        assert full.U.shape == (*sizes[:-2], sizes[-2], sizes[-2])
        assert full.Vh.shape == (*sizes[:-2], sizes[-1], sizes[-1])
    x = positive(leaf(2, 4, 4).detach()).to(dtype)
    low, (w, v) = L.cholesky(x), L.eigh(x)
    assert ac.allclose(low @ turned(low), x, **close)
    assert ac.allclose((v * w.unsqueeze(-2)) @ turned(v), x, **close)
    assert ac.allclose(L.eigvalsh(x), w)
    assert ac.allclose(L.inv(x) @ x, ac.eye(4, dtype=dtype).expand(2, 4, 4), **close)
    assert ac.allclose(x.inverse(), L.inv(x))
    sign, log = x.slogdet()
    assert ac.allclose(x.det().log(), log, **close)
    assert ac.allclose(x.logdet(), log)
    assert sign.tolist() == [1.0, 1.0]
    assert low.dtype is dtype


def test_powers_and_chains():
    x = leaf(3, 3).detach()
    assert x.matrix_power(0).tolist() == ac.eye(3).tolist()
    for n in (1, 2, 3, 5, 8):
        expected = np.linalg.matrix_power(x.numpy(), n)
        np.testing.assert_allclose(x.matrix_power(n).numpy(), expected, rtol=1e-12)
    parts = [leaf(*s).detach() for s in ((20, 2), (2, 30), (30, 3), (3, 4))]
    expected = np.linalg.multi_dot([p.numpy() for p in parts])
    np.testing.assert_allclose(L.multi_dot(parts).numpy(), expected, rtol=1e-12)


def test_norms_of_singular_values():
    x = leaf(2, 3, 4).detach()
    for order in ("nuc", 2, -2, "fro", 1, math.inf):
        expected = np.linalg.norm(x.numpy(), order, axis=(-2, -1), keepdims=True)
        result = L.norm(x, order, (-2, -1), keepdim=True).numpy()
        np.testing.assert_allclose(result, expected, rtol=1e-12)


def singular():
    x = ac.eye(3).expand(2, 2, 3, 3).clone().numpy()
    x[1, 0, 2] = 2 * x[1, 0, 1]
    return ac.from_numpy(x)


def test_a_matrix_without_an_inverse_is_named():
    where = r"matrix \(1, 0\) of `a`, of shape \(3, 3\), is singular: .* 0 and 2\.24"
    for call in (L.inv, lambda x: L.solve(x, ac.ones(3, 1))):
        with pytest.raises(L.LinAlgError, match=where) as caught:
            call(singular())
        assert isinstance(caught.value, (KernelDataError, RuntimeError))
    assert L.det(singular()).tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert L.slogdet(singular())[1].tolist() == [[0.0, 0.0], [-math.inf, 0.0]]


def test_a_matrix_without_factors_is_named():
    bad = ac.tensor([[[2.0, 0.0], [0.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]])
    with pytest.raises(
        L.LinAlgError, match=r"matrix \(1,\).*smallest eigenvalue is -1"
    ):
        L.cholesky(bad)
    with pytest.raises(L.LinAlgError, match=r"svd: `a`.*holds nan in row 1, column 0"):
        L.svd(ac.tensor([[1.0, 2.0], [math.nan, 1.0]]))


def test_a_matrix_whose_eigenvalues_are_not_found_is_named(monkeypatch):
    find = np.linalg.eig

    def find_but_of_sevens(a):
        if (a == 7).any():
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return find(a)

    monkeypatch.setattr(np.linalg, "eig", find_but_of_sevens)
    bad = ac.stack([ac.eye(2), ac.full((2, 2), 7.0)])
    with pytest.raises(L.LinAlgError, match=r"matrix \(1,\) .* LAPACK did not find"):
        L.eig(bad)


test_errors = refusals(
    r"""
    L.inv(ac.ones(2, 3)) -> ShapeError: inv: `a` has shape \(2, 3\).*square
    L.det(ac.ones(3)) -> ShapeError: linalg\.det: The input tensor A must have at least
    L.inv(ac.ones(2, 2, dtype=ac.int64)) -> DTypeError: not int64
    L.solve(ac.eye(2), ac.ones(3, 1)) -> ShapeError: solve: .*\(2, 2\).*\(3, 1\)
    L.qr(ac.eye(2), 'full') -> ArgumentError: qr received unrecognized mode 'full'; use
    L.eigh(ac.eye(2), 'X') -> ArgumentError: eigh: expected UPLO to be 'L' or 'U', not
    L.svd(ac.eye(2), driver='gesvd') -> ArgumentError: svd: `driver` is 'gesvd'; it
    L.matrix_power(ac.ones(2, 3), 2) -> ShapeError: matrix_power: .*\(2, 3\)
    L.matrix_power(ac.eye(2), 0.5) -> ArgumentError: matrix_power: `n`=0.5
    L.multi_dot([ac.eye(2)]) -> ArgumentError: multi_dot: 1 tensors
    L.multi_dot([ac.eye(2), ac.eye(3)]) -> ShapeError: multi_dot: the shapes \(2, 2\),
    L.norm(ac.ones(2, 2, 2), 2) -> ArgumentError: norm: If dim is not specified but ord
    L.matrix_norm(ac.eye(2), 'abc') -> ArgumentError: linalg\.matrix_norm: Order abc
    """,
    globals(),
)


def test_the_added_columns_of_a_complete_q_have_no_gradient():
    q, r = L.qr(leaf(3, 2), "complete")
    assert q.shape == (3, 3)
    with pytest.raises(GradError, match=r"qr: .*mode='complete'.*not unique"):
        (q.sum() + r.sum()).backward()

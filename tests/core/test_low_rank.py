# SPDX-License-Identifier: MIT
"""The largest singular values of matrices, by products with random numbers."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.autograd import gradcheck
from autocalc.errors import ArgumentError, DTypeError, ShapeError

pytestmark = pytest.mark.core


def of_rank(rank, *shape):
    *batch, m, n = shape
    left, right = ac.randn(*batch, m, rank), ac.randn(*batch, rank, n)
    return (left @ right).double()


@pytest.mark.parametrize("shape", [(7, 5), (5, 7), (2, 6, 6), (2, 3, 4, 9)])
def test_matrices_of_small_rank_are_found(shape):
    ac.manual_seed(0)
    x = of_rank(2, *shape)
    u, s, v = ac.svd_lowrank(x, q=3)
    assert (u.shape, s.shape) == ((*shape[:-1], 3), (*shape[:-2], 3))
    assert v.shape == (*shape[:-2], shape[-1], 3)
    assert ac.allclose(u @ ac.diag_embed(s) @ v.mT, x)
    assert ac.allclose(s[..., :2], ac.linalg.svdvals(x)[..., :2])
    assert ac.allclose(u.mT @ u, ac.eye(3).double().expand(*shape[:-2], 3, 3))


def test_largest_values_of_any_matrix():
    ac.manual_seed(0)
    x = ac.randn(40, 30) * ac.logspace(0, -3, 30)
    found = ac.svd_lowrank(x, q=8, niter=4).S[:4]
    assert ac.allclose(found, ac.linalg.svdvals(x)[:4], rtol=1e-3)
    assert ac.svd_lowrank(x).S.shape == (6,)
    assert ac.svd_lowrank(x[:3], q=9).S.shape == (3,)


def test_what_is_subtracted():
    x, mean = of_rank(2, 6, 4), ac.randn(1, 4).double()
    found = ac.svd_lowrank(x + mean, 3, M=mean)
    assert ac.allclose(found.S[:2], ac.linalg.svdvals(x)[:2])


def test_principal_components():
    x = ac.randn(20, 4).double() + 5
    centred = x - x.mean(0)
    assert ac.allclose(ac.pca_lowrank(x).S, ac.linalg.svdvals(centred))
    assert ac.allclose(ac.pca_lowrank(x, 4, False).S, ac.linalg.svdvals(x))
    variances = ac.pca_lowrank(x, q=4).S ** 2 / 19
    covariance = ac.linalg.eigvalsh(ac.cov(x.T)).flip(0)
    assert ac.allclose(variances, covariance)


def test_gradients():
    x = (of_rank(3, 4, 3) + ac.eye(4, 3)).requires_grad_()
    assert gradcheck(lambda x: ac.svd_lowrank(x, 3).S, x)
    assert gradcheck(lambda x: ac.pca_lowrank(x, 2).S.sum(), x[:, :2])


@pytest.mark.parametrize("dtype", [ac.float32, ac.bfloat16])
def test_dtypes(dtype):
    assert {x.dtype for x in ac.svd_lowrank(ac.ones(4, 4, dtype=dtype), 1)} == {dtype}


def test_refusals():
    x = ac.ones(4, 3)
    with pytest.raises(ArgumentError, match="svd_lowrank: `q` is -1; it must be 0 or"):
        ac.svd_lowrank(x, -1)
    with pytest.raises(ArgumentError, match="svd_lowrank: `niter` is -1; it must be 0"):
        ac.svd_lowrank(x, 2, -1)
    with pytest.raises(ArgumentError, match="pca_lowrank: `q` is 4, but matrices"):
        ac.pca_lowrank(x, 4)
    with pytest.raises(ShapeError, match=r"`A` has shape \(3,\); it must be \[..., m,"):
        ac.svd_lowrank(x[0])
    with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
        ac.pca_lowrank(x.long())

# SPDX-License-Identifier: MIT
"""LU factors and what is solved by them; values are PyTorch 2.13's."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, LinAlgError, ShapeError

pytestmark = pytest.mark.core

L = ac.linalg
SHAPES = [(1, 1), (3, 3), (4, 2), (2, 4), (2, 3, 5, 5), (2, 5, 3), (0, 3), (3, 0)]


def normal(*shape, dtype=ac.float64):
    rng = np.random.default_rng(len(shape) + sum(shape))
    return ac.tensor(rng.normal(size=shape), dtype=dtype)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_product_of_the_factors(shape):
    a = normal(*shape)
    p, low, up = L.lu(a)
    m, n = shape[-2:]
    k = min(m, n)
    assert (p.shape, low.shape, up.shape) == (
        (*shape[:-2], m, m),
        (*shape[:-2], m, k),
        (*shape[:-2], k, n),
    )
    assert ac.allclose(p @ low @ up, a)
    assert ac.equal(low, low.tril())
    assert ac.equal(up, up.triu())
    assert (low.diagonal(0, -2, -1) == 1).all()
    assert low.numel() == 0 or low.abs().max().item() <= 1


def test_values():
    a = ac.tensor([[1.0, 2, 3], [4, 5, 6], [7, 8, 10]])
    lu, pivots = L.lu_factor(a)
    assert pivots.tolist() == [3, 3, 3]
    assert pivots.dtype is ac.int32
    expected = [[7, 8, 10], [0.1429, 0.8571, 1.5714], [0.5714, 0.5, -0.5]]
    assert ac.allclose(lu, ac.tensor(expected), atol=1e-4)
    assert L.lu(a).P.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_older_names():
    a = normal(2, 3, 3)
    for found in (ac.lu(a), a.lu(), ac.lu(a, True, True)[:2], L.lu_factor_ex(a)[:2]):
        assert all(map(ac.equal, found, L.lu_factor(a)))
    assert ac.lu(a, get_infos=True).info.tolist() == [0, 0]
    for one, other in zip(ac.lu_unpack(*ac.lu(a)), L.lu(a), strict=True):
        assert ac.equal(one, other)
    p, low, up = ac.lu_unpack(*ac.lu(a), unpack_data=False)
    assert (p.shape, low.shape, up.shape) == ((2, 3, 3), (0,), (0,))
    p, low, up = ac.lu_unpack(*ac.lu(a), unpack_pivots=False)
    assert (p.shape, low.shape, up.shape) == ((0,), (2, 3, 3), (2, 3, 3))


def test_singular_matrices():
    a = ac.stack([ac.eye(3), ac.tensor([[1.0, 2, 3], [2, 4, 6], [0, 0, 1]])])
    found = L.lu_factor_ex(a)
    assert found.info.tolist() == [0, 2]
    assert found.info.dtype is ac.int32
    p, low, up = L.lu(a)
    assert ac.allclose(p @ low @ up, a)
    with pytest.raises(LinAlgError, match=r"lu_factor: matrix 1 of `A`, of shape \(3,"):
        L.lu_factor(a)
    with pytest.raises(LinAlgError, match=r"lu_factor_ex: `A`.* is singular: U\[1, 1"):
        L.lu_factor_ex(a[1], check_errors=True)
    assert ac.lu(ac.zeros(2, 2))[1].tolist() == [1, 2]


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
@pytest.mark.parametrize(
    ("batch", "other"), [((), ()), ((2,), (2,)), ((2, 1), (3,)), ((), (2,))]
)
def test_solutions(left, adjoint, batch, other):
    a = normal(*batch, 4, 4)
    b = normal(*other, 4, 2) if left else normal(*other, 2, 4)
    matrix = a.mT if adjoint else a
    found = L.lu_solve(*L.lu_factor(a), b, left=left, adjoint=adjoint)
    product = matrix @ found if left else found @ matrix
    assert ac.allclose(product, b.expand(product.shape))
    if left and not adjoint:
        assert ac.equal(found, ac.lu_solve(b, *ac.lu(a)))
        assert ac.equal(found, b.lu_solve(*ac.lu(a)))


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("unitriangular", [True, False])
def test_triangular_solve(upper, transpose, unitriangular):
    a, b = normal(2, 3, 3) + 3 * ac.eye(3), normal(2, 3, 4)
    words = {"upper": upper, "transpose": transpose, "unitriangular": unitriangular}
    found, copy = ac.triangular_solve(b, a, **words)
    triangle = a.triu() if upper else a.tril()
    if unitriangular:
        triangle = triangle - ac.diag_embed(triangle.diagonal(0, -2, -1)) + ac.eye(3)
    assert ac.allclose((triangle.mT if transpose else triangle) @ found, b)
    assert ac.equal(copy, a)
    assert copy.data_ptr() != a.data_ptr()
    assert ac.equal(b.triangular_solve(a, **words).solution, found)


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16, ac.float32])
def test_dtypes(dtype):
    a = normal(3, 3, dtype=dtype)
    p, low, up = L.lu(a)
    assert {p.dtype, low.dtype, up.dtype} == {dtype}
    assert ac.allclose((p @ low @ up).double(), a.double(), atol=0.05)


def test_out():
    a, lu, pivots = normal(3, 3), ac.empty(0), ac.empty(0, dtype=ac.int32)
    L.lu_factor(a.float(), out=(lu, pivots))
    assert ac.equal(lu, L.lu_factor(a.float()).LU)
    assert pivots.shape == (3,)


def test_compiled():
    a, b = normal(3, 3, dtype=ac.float32), normal(3, 2, dtype=ac.float32)
    solve = ac.compile(lambda a, b: L.lu_solve(*L.lu_factor_ex(a)[:2], b))
    for turn in range(3):
        matrix = a.roll(turn, 0)
        assert ac.allclose(solve(matrix, b), L.solve(matrix, b), atol=1e-5)


def test_compiled_checks():
    factor = ac.compile(lambda a: L.lu_factor(a).LU)
    for _ in range(3):
        assert factor(ac.eye(3)).equal(ac.eye(3))
    with pytest.raises(LinAlgError, match=r"of shape \(3, 3\), is singular: U\[0, 0\]"):
        factor(ac.zeros(3, 3))


def test_refusals():
    a = ac.eye(3)
    lu, pivots = L.lu_factor(a)
    for function in (L.lu, L.lu_factor, L.lu_factor_ex):
        with pytest.raises(ArgumentError, match=r"lu.*: LU without pivoting is not"):
            function(a, pivot=False)
        with pytest.raises(ShapeError, match=r"`A` has shape \(3,\); it must be \[..."):
            function(ac.ones(3))
        with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
            function(ac.ones(3, 3, dtype=ac.int64))
    with pytest.raises(DTypeError, match="lu_solve: `pivots` is int64; it must be the"):
        L.lu_solve(lu, pivots.long(), a)
    with pytest.raises(ShapeError, match=r"`pivots` has shape \(2,\); for factors of"):
        L.lu_solve(lu, pivots[:2], a)
    with pytest.raises(
        ShapeError, match=r"lu_solve: `LU` has shape \(2, 3\); it must be batches"
    ):
        L.lu_solve(lu[:2], pivots[:2], a)
    with pytest.raises(ShapeError, match=r"`B` has shape \(3,\); it must be \[..., n,"):
        L.lu_solve(lu, pivots, ac.ones(3))
    with pytest.raises(DTypeError, match="lu_unpack: `LU_pivots` is int64; it must be"):
        ac.lu_unpack(lu, pivots.long())
    with pytest.raises(ShapeError, match=r"triangular_solve: `A` has shape \(3,\); it"):
        ac.triangular_solve(a, ac.ones(3))

# SPDX-License-Identifier: MIT
"""Factors of matrices: LAPACK's signs, any strides, values at the ends, and LU."""

import math

import numpy as np
import pytest

import autocalc as ac

SHAPES = [
    (1, 1),
    (2, 5),
    (5, 2),
    (8, 8),
    (9, 4),
    (16, 17),
    (31, 32),
    (32, 31),
    (32, 32),
]
ROOM = {"float32": 3e-6, "float64": 1e-13}


def _factors(kernels, a, mode="reduced"):
    *batch, m, n = a.shape
    k = m if mode == "complete" else min(m, n)
    q, r = np.full((*batch, m, k), 7, a.dtype), np.full((*batch, k, n), 7, a.dtype)
    kernels["qr"](q, r, a, mode)
    return q, r


def _definite(rng, *shape):
    a = rng.normal(size=shape)
    return a @ np.swapaxes(a, -1, -2) + shape[-1] * np.eye(shape[-1])


@pytest.mark.parametrize("dtype", ROOM)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr_has_the_signs_of_lapack(kernels, rng, dtype, shape, mode):
    a = rng.normal(size=(3, *shape)).astype(dtype)
    found = _factors(kernels, a, mode)
    for x, expected in zip(found, np.linalg.qr(a.astype("f8"), mode), strict=True):
        assert np.allclose(x, expected, rtol=ROOM[dtype], atol=10 * ROOM[dtype])
    assert not np.tril(found[1], -1).any()


@pytest.mark.parametrize("dtype", ROOM)
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 17, 31, 32])
def test_cholesky_is_lapacks(kernels, rng, dtype, n):
    a = _definite(rng, 2, 3, n, n).astype(dtype)
    lower = np.tril(a) + np.triu(np.full_like(a, np.nan), 1)  # above it is not read
    out = np.full_like(a, 7)
    kernels["cholesky"](out, lower)
    expected = np.linalg.cholesky(a.astype(np.float64))
    assert np.allclose(out, expected, rtol=ROOM[dtype], atol=ROOM[dtype])
    assert not np.triu(out, 1).any()


def test_matrices_may_lie_anyhow(kernels, rng):
    a = rng.normal(size=(7, 2, 6, 4))
    turned = a.transpose(3, 1, 0, 2)[::2, :, ::2]
    for found, dense in zip(
        _factors(kernels, turned), _factors(kernels, turned.copy()), strict=True
    ):
        assert np.array_equal(found, dense)
    one = np.broadcast_to(_definite(rng, 4, 4), (5, 4, 4))
    out = np.empty((4, 4, 5)).transpose(2, 0, 1)
    kernels["cholesky"](out, one)
    assert np.allclose(out, np.linalg.cholesky(one))


@pytest.mark.parametrize(
    "a",
    [
        [[1e200, 1e-200], [1e200, 3e-200]],
        [[1e-310, 1.0], [2e-310, 1.0]],
        [[1e-170, 2e-170], [3e-170, 4e-170]],
        [[0.0, 1.0], [0.0, 1.0]],
        [[-0.0, 1.0], [1.0, 1.0]],
        [[math.nan, 1.0], [1.0, 1.0]],
    ],
)
def test_ends_of_the_range_are_as_lapack_has_them(kernels, a):
    a = np.array(a)
    for found, expected in zip(_factors(kernels, a), np.linalg.qr(a), strict=True):
        assert np.allclose(found, expected, rtol=1e-12, atol=0, equal_nan=True)


def test_the_same_bits_for_any_number_of_threads(kernels, rng, set_team):
    a, p = rng.normal(size=(99, 12, 9)), _definite(rng, 200, 9, 9)
    found = []
    for threads in (1, 3):
        set_team(threads)
        lower = np.empty_like(p)
        kernels["cholesky"](lower, p)
        found.append([*_factors(kernels, a), lower])
    assert all(np.array_equal(x, y) for x, y in zip(*found, strict=True))


def test_large_matrices_are_refused():
    chosen = [str(ac.kernels.explain("qr", np.eye(n), "reduced")) for n in (32, 33)]
    assert "32 rows and columns" not in chosen[0]
    assert "32 rows and columns" in chosen[1]


LARGE = [33, 64, 65, 100, 131]


@pytest.mark.parametrize("dtype", ROOM)
@pytest.mark.parametrize("n", LARGE)
def test_large_cholesky_reads_the_lower_triangle(kernels, rng, dtype, n):
    a = _definite(rng, n, n).astype(dtype)
    out = np.full_like(a, 7)
    kernels["cholesky"](out, np.tril(a) + np.triu(np.full_like(a, np.nan), 1))
    room = 30 * ROOM[dtype]
    assert np.allclose(out @ out.T, a, rtol=room, atol=room * n)
    assert not np.triu(out, 1).any()


@pytest.mark.parametrize("dtype", ROOM)
@pytest.mark.parametrize("n", [1, 2, 31, *LARGE])
def test_lu_answers_as_lapack_does(kernels, rng, dtype, n):
    a = rng.normal(size=(2, n, n)) + 0.2 * n * np.eye(n)[::-1]  # rows change places
    b, a = rng.normal(size=(2, n, 37)).astype(dtype), a.astype(dtype)
    wide = a.astype(np.float64)
    found = {
        name: np.full(shape, 7, dtype)
        for name, shape in (("det", 2), ("sign", 2), ("log", 2), ("inv", a.shape))
    }
    x, turned = np.full_like(b, 7), np.full_like(a.transpose(0, 2, 1), 7)
    kernels["det"](found["det"], a)
    kernels["slogdet"](found["sign"], found["log"], a)
    kernels["inv"](found["inv"], a)
    kernels["solve"](x, a, b)
    columns = a.transpose(0, 2, 1).copy().transpose(0, 2, 1)
    kernels["inv"](turned.transpose(0, 2, 1), columns)
    sign, log = np.linalg.slogdet(wide)
    room = 100 * ROOM[dtype]
    with np.errstate(over="ignore"):
        assert np.allclose(found["det"], np.linalg.det(wide).astype(dtype), rtol=room)
    assert np.array_equal(found["sign"], sign)
    assert np.allclose(found["log"], log, rtol=room, atol=room)
    assert np.allclose(found["inv"], np.linalg.inv(wide), rtol=room, atol=room)
    assert np.allclose(x, np.linalg.solve(wide, b), rtol=room, atol=room)
    assert np.array_equal(turned.transpose(0, 2, 1), found["inv"])


def test_a_matrix_is_broadcast_over_right_hand_sides(kernels, rng):
    a, b = rng.normal(size=(3, 1, 40, 40)), rng.normal(size=(2, 40, 3))
    x = np.empty((3, 2, 40, 3))
    kernels["solve"](x, a, b)
    assert np.allclose(x, np.linalg.solve(a, b))


@pytest.mark.parametrize("n", [2, 5, 40])
@pytest.mark.parametrize("rank", [0, 1, 2, -1])
def test_cofactors_of_singular_matrices(kernels, rng, n, rank):
    rank = n + rank if rank < 0 else min(rank, n)
    a = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n)) / math.sqrt(n)
    out = np.full_like(a, 7)
    kernels["cofactor"](out, a)
    u, s, v = np.linalg.svd(a)
    others = [np.prod(np.delete(s, i)) for i in range(n)]
    expected = np.linalg.det(u @ v) * (u * others) @ v
    room = 1e-13 * np.linalg.norm(a, 2) ** (n - 1)
    assert np.allclose(out, expected, rtol=0, atol=room)


@pytest.mark.parametrize("name", ["inv", "det"])
def test_a_matrix_without_an_answer_is_told_as_by_the_reference(name):
    function = getattr(ac.linalg, name)
    for n in (2, 50):
        x = ac.ones(n, n)
        with ac.kernels.use("reference", only=True):
            if name == "det":
                expected = function(x).item()
            else:
                with pytest.raises(ac.linalg.LinAlgError) as reference:
                    function(x)
        if name == "det":
            assert function(x).item() == pytest.approx(expected, abs=1e-6)
            assert math.isnan(function(x * math.nan).item())
        else:
            with pytest.raises(ac.linalg.LinAlgError) as caught:
                function(x)
            assert str(caught.value) == str(reference.value)


@pytest.mark.parametrize(
    "a",
    [
        [[[2.0, 0.0], [0.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]],
        [[1.0, 0.0], [math.inf, 1.0]],
        [[0.0, 0.0], [0.0, 0.0]],
    ],
)
def test_a_matrix_without_a_factor_is_told_as_by_the_reference(a):
    x = ac.tensor(a)
    compiled = ac.compile(ac.linalg.cholesky)
    for _ in range(4):
        compiled(ac.eye(2).expand(*x.shape).clone())
    texts = set()
    for function in (ac.linalg.cholesky, compiled):
        with pytest.raises(ac.linalg.LinAlgError) as caught:
            function(x)
        texts.add(str(caught.value))
    with (
        ac.kernels.use("reference", only=True),
        pytest.raises(ac.linalg.LinAlgError) as caught,
    ):
        ac.linalg.cholesky(x)
    assert texts == {str(caught.value)}

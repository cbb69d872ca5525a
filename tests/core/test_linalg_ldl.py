# SPDX-License-Identifier: MIT
"""L D L' factors and their systems, compared with those of PyTorch 2.13 (LAPACK)."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc import linalg as L
from autocalc.errors import (
    ArgumentError,
    DTypeError,
    GradError,
    LinAlgError,
    ShapeError,
)

pytestmark = pytest.mark.core

#: Matrices, their LD and pivots.
FACTORS = {
    "one row each": ([[4.0, 1.0], [1.0, 3.0]], [[4.0, 0.0], [0.25, 2.75]], [1, 2]),
    "two rows": (
        [[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]],
        [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.5, 0.5, -3.0]],
        [-3, -3, 3],
    ),
    "the upper triangle is not read": (
        [[0.0, 7.0, 8.0], [1.0, 0.0, 9.0], [2.0, 3.0, 0.0]],
        [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.5, 0.5, -3.0]],
        [-3, -3, 3],
    ),
}


def square(dtype=ac.float64):
    return ac.tensor(FACTORS["two rows"][0], dtype=dtype)


@pytest.mark.parametrize("name", FACTORS)
@pytest.mark.parametrize("dtype", [ac.float32, ac.float64])
def test_factors_as_lapack_gives_them(name, dtype):
    a, ld, pivots = FACTORS[name]
    found = L.ldl_factor(ac.tensor(a, dtype=dtype))
    assert found.LD.dtype is dtype
    assert found.LD.tolist() == ld
    assert found.pivots.dtype is ac.int32
    assert found.pivots.tolist() == pivots
    again = L.ldl_factor_ex(ac.tensor(a, dtype=dtype), hermitian=True)
    assert again.LD.tolist() == ld
    assert again.info.item() == 0


@pytest.mark.parametrize(
    ("a", "info", "ld"),
    [
        (np.zeros((3, 3)), 1, np.zeros((3, 3))),
        (np.ones((3, 3)), 2, [[1, 0, 0], [1, 0, 0], [1, 0, 0]]),
        ([[np.nan, 1.0], [1.0, 2.0]], 2, [[2.0, 0.0], [0.5, np.nan]]),
    ],
    ids=["zeros", "ones", "NaN"],
)
def test_the_code_names_the_first_zero_of_d(a, info, ld):
    found = L.ldl_factor_ex(ac.tensor(a))
    assert found.info.item() == info
    np.testing.assert_array_equal(found.LD.numpy(), ld)


def test_singular_matrices_are_named():
    both = ac.stack([ac.eye(2), ac.zeros(2, 2)])
    assert L.ldl_factor_ex(both).info.tolist() == [0, 1]
    with pytest.raises(LinAlgError, match=r"ldl_factor: matrix 1 of `A`.* D\[0, 0\]"):
        L.ldl_factor(both)
    with pytest.raises(LinAlgError, match=r"ldl_factor_ex: `A`.* is singular: D\[1, 1"):
        L.ldl_factor_ex(ac.ones(3, 3), check_errors=True)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 20, 40])
@pytest.mark.parametrize("kind", ["any", "hollow", "integers"])
def test_systems(n, kind):
    a = np.random.default_rng(n).normal(size=(2, n, n))
    a = a + np.swapaxes(a, 1, 2)
    if kind == "integers":
        a = np.round(a) + 5 * np.eye(n)
    elif kind == "hollow" and n > 1:
        a[:, np.arange(n), np.arange(n)] = 0
    b = np.random.default_rng(n + 1).normal(size=(n, 3))
    found = L.ldl_solve(*L.ldl_factor(ac.tensor(a)), ac.tensor(b)).numpy()
    np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-8, atol=1e-10)


def test_a_system_beside_pytorch():
    b = ac.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=ac.float64)
    found = L.ldl_solve(*L.ldl_factor(square()), b)
    expected = [[2.0, 2.0], [1 / 3, 2 / 3], [1 / 3, 2 / 3]]
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)
    ld, pivots = L.ldl_factor(square())
    wide = L.ldl_solve(ld.expand(4, 1, 3, 3), pivots.expand(4, 1, 3), b.expand(2, 3, 2))
    assert wide.shape == (4, 2, 3, 2)
    assert L.ldl_solve(ld, pivots.long(), b).equal(found)


def test_matrices_without_elements():
    found = L.ldl_factor(ac.ones(0, 0))
    assert (found.LD.shape, found.pivots.shape) == ((0, 0), (0,))
    assert L.ldl_factor_ex(ac.ones(0, 2, 2)).info.shape == (0,)
    assert L.ldl_solve(*found, ac.ones(0, 3)).shape == (0, 3)
    ld, pivots = L.ldl_factor(ac.eye(3))
    assert L.ldl_solve(ld, pivots, ac.ones(3, 0)).shape == (3, 0)


def test_the_right_side_has_a_gradient():
    b = ac.ones(3, 2, dtype=ac.float64, requires_grad=True)
    ld, pivots = L.ldl_factor(square())
    assert ac.testing.gradcheck(lambda b: L.ldl_solve(ld, pivots, b), b)
    assert ac.testing.gradgradcheck(lambda b: L.ldl_solve(ld, pivots, b) ** 2, b)


def test_factors_have_no_gradient_as_in_pytorch():
    found = L.ldl_factor(square().requires_grad_())
    with pytest.raises(
        GradError, match=r"ldl_factor: the derivative of .* is not impl"
    ):
        found.LD.sum().backward()
    ld, pivots = L.ldl_factor(square())
    x = L.ldl_solve(ld.requires_grad_(), pivots, ac.ones(3, 1, dtype=ac.float64))
    with pytest.raises(
        GradError, match="ldl_solve: the derivative with respect to `LD"
    ):
        x.sum().backward()


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (
            lambda p: L.ldl_factor(ac.ones(3, 2)),
            ShapeError,
            "ldl_factor: `A` has shape",
        ),
        (
            lambda p: L.ldl_factor_ex(ac.ones(2)),
            ShapeError,
            "ldl_factor_ex: `A` has sh",
        ),
        (
            lambda p: L.ldl_factor(ac.ones(2, 2).long()),
            DTypeError,
            "needs float32 or float64, not int64",
        ),
        (
            lambda p: L.ldl_solve(ac.ones(3, 2), p, ac.ones(3, 1)),
            ShapeError,
            r"ldl_solve: `LD` has shape \(3, 2\); it must be batches of square",
        ),
        (
            lambda p: L.ldl_solve(ac.eye(3), p, ac.ones(3)),
            ShapeError,
            r"ldl_solve: `B` has shape \(3,\)",
        ),
        (
            lambda p: L.ldl_solve(ac.eye(3), p, ac.ones(2, 2)),
            ShapeError,
            r"`b` must be \[\.\.\., 3, columns\]",
        ),
        (
            lambda p: L.ldl_solve(ac.eye(3), p, ac.ones(3, 2).double()),
            DTypeError,
            "the tensors are float32 and float64",
        ),
        (
            lambda p: L.ldl_solve(ac.eye(3), p.double(), ac.ones(3, 2)),
            DTypeError,
            "`pivots` is float64; it must be the integer tensor",
        ),
        (
            lambda p: L.ldl_solve(ac.eye(3), p[:2], ac.ones(3, 2)),
            ShapeError,
            r"`pivots` has shape \(2,\); for factors of shape \(3, 3\)",
        ),
        *(
            (
                lambda p, n=n: L.ldl_solve(ac.eye(3), ac.tensor(n), ac.ones(3, 2)),
                ArgumentError,
                r"ldl_solve: `pivots` are .*; they must be those",
            )
            for n in ([1, 2, 4], [0, 2, 3], [1, -2, 3], [1, 2, -3], [2, 1, 3])
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(ac.tensor([1, 2, 3], dtype=ac.int32))

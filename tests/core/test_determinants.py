# SPDX-License-Identifier: MIT
"""Derivatives of determinants, of every order and at matrices of every rank.

They are compared with differences of a determinant in rational numbers, whose step is
so small that they are exact to more digits than float64 has.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

import autocalc as ac
from autocalc.autograd import grad
from autocalc.autograd.functional import hessian

pytestmark = pytest.mark.core

STEP = Fraction(1, 2**300)


def determinant(rows):
    """Return the determinant of a matrix of rational numbers, by its definition."""
    total = Fraction(0)
    for order in permutations(range(len(rows))):
        pairs = [(i, j) for j in range(len(order)) for i in range(j)]
        term = Fraction((-1) ** sum(order[i] > order[j] for i, j in pairs))
        for row, column in enumerate(order):
            term *= rows[row][column]
        total += term
    return total


def rational(a):
    return [[Fraction(float(x)) for x in row] for row in a]


def mixed_derivative(a, directions):
    """Return the derivative of det at `a` along all directions, one after another."""
    n, total = len(a), Fraction(0)
    parts = [rational(d) for d in directions]
    for chosen in product((0, 1), repeat=len(parts)):
        moved = rational(a)
        for take, part in zip(chosen, parts, strict=True):
            for i, j in product(range(n), repeat=2):
                moved[i][j] += take * STEP * part[i][j]
        total += (-1) ** (len(parts) - sum(chosen)) * determinant(moved)
    return float(total / STEP ** len(parts))


def derivative(a, directions, dtype=ac.float64):
    """Return the same by one backward pass for each direction."""
    x = ac.tensor(a, dtype=dtype).requires_grad_()
    value = ac.linalg.det(x)
    for d in directions:
        (slope,) = grad(value, x, create_graph=True)
        value = (slope * ac.tensor(d, dtype=dtype)).sum()
    return value.item()


def singular_matrices(n):
    """Return matrices of n rows of every rank, of several kinds."""
    rng = np.random.default_rng(n)
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    kinds = {
        "zeros": np.zeros((n, n)),
        "ones": np.ones((n, n)),
        "nilpotent": np.eye(n, k=1),
        "numbers in order": np.arange(1.0, n * n + 1).reshape(n, n),
        "identity": np.eye(n),
        "orthogonal": q,
        "regular": rng.normal(size=(n, n)),
    }
    for rank in range(n):
        kinds[f"diagonal of rank {rank}"] = np.diag([1.0] * rank + [0.0] * (n - rank))
        wide = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
        kinds[f"rank {rank}"] = wide
        for distance in (1e-12, 1e-8, 1e-5, 1e-3, 1e-1):
            near = wide + distance * rng.normal(size=(n, n))
            kinds[f"{distance} from rank {rank}"] = near
    return kinds


@pytest.mark.parametrize(("dtype", "room"), [(ac.float64, 1e-13), (ac.float32, 1e-6)])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_second_derivatives_at_and_near_singular_matrices(n, dtype, room):
    rng = np.random.default_rng(7)
    for kind, wide in singular_matrices(n).items():
        a = wide.astype(np.float32)
        d, e = rng.normal(size=(2, n, n)).astype(np.float32)
        expected = mixed_derivative(a, (d, e))
        norms = np.linalg.norm(a) ** (n - 2) if n > 1 else 1.0
        size = norms * np.linalg.norm(d) * np.linalg.norm(e)
        found = derivative(a, (d, e), dtype)
        assert abs(found - expected) <= room * max(size, abs(expected)), kind


@pytest.mark.parametrize(("n", "order"), [(2, 3), (3, 3), (4, 3), (3, 4), (4, 4)])
def test_further_derivatives_at_and_near_singular_matrices(n, order):
    rng = np.random.default_rng(8)
    for kind, a in list(singular_matrices(n).items())[::3]:
        directions = rng.normal(size=(order, n, n)) * 10.0 ** rng.integers(-9, 9)
        expected = mixed_derivative(a, directions)
        found = derivative(a, directions)
        size = (np.linalg.norm(a) or 1.0) ** (n - order)
        size *= np.prod([np.linalg.norm(d) for d in directions])
        assert abs(found - expected) <= 1e-11 * size, kind


def test_the_hessian_of_a_singular_matrix():
    t = ac.arange(1.0, 10, dtype=ac.float64).reshape(3, 3)
    found = hessian(ac.linalg.det, t)
    assert found[0, 0, 1, 1].item() == pytest.approx(9, abs=1e-13)
    assert found[0, 1, 1, 0].item() == pytest.approx(-9, abs=1e-13)
    assert found[0, 0, 1, 2].item() == pytest.approx(-8, abs=1e-13)
    assert found[0, 1, 2, 0].item() == pytest.approx(6, abs=1e-13)
    assert found[0, 2, 2, 0].item() == pytest.approx(-5, abs=1e-13)
    assert found[1, 0, 0, 2].item() == pytest.approx(8, abs=1e-13)
    assert found[2, 1, 1, 0].item() == pytest.approx(3, abs=1e-13)
    assert found[2, 1, 0, 0].item() == pytest.approx(-6, abs=1e-13)
    assert found[0, 2, 1, 0].item() == pytest.approx(8, abs=1e-13)


def test_second_derivatives_of_a_batch_are_those_of_its_matrices():
    kinds = list(singular_matrices(4).values())
    a = np.stack(kinds[:24]).reshape(2, 12, 4, 4)
    x = ac.tensor(a).requires_grad_()
    (slope,) = grad(ac.linalg.det(x).sum(), x, create_graph=True)
    (found,) = grad((slope * slope).sum(), x)
    for i, j in product(range(2), range(12)):
        one = ac.tensor(a[i, j]).requires_grad_()
        (slope,) = grad(ac.linalg.det(one), one, create_graph=True)
        (expected,) = grad((slope * slope).sum(), one)
        assert ac.allclose(found[i, j], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", [17, 40, 70])
def test_second_derivatives_of_large_matrices(n):
    rng = np.random.default_rng(n)
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    r, _ = np.linalg.qr(rng.normal(size=(n, n)))
    sizes = rng.uniform(0.5, 1.5, n)
    sizes[:2] = 0
    d = rng.normal(size=(n, n))
    m = q.T @ d @ r.T
    sign = np.linalg.det(q) * np.linalg.det(r) * np.prod(sizes[2:])
    # Of rank n - 2 the second derivative is that of the part that has no rank.
    expected = 2 * sign * np.linalg.det(m[:2, :2])
    found = derivative(q * sizes @ r, (d, d))
    assert found == pytest.approx(expected, rel=1e-9)

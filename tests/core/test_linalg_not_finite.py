# SPDX-License-Identifier: MIT
"""Matrices that hold NaN or infinity: an error that names them, or NaN for them alone.

What LAPACK finds step by step, singular values and eigenvalues, is refused, as is a
factor of Cholesky; what follows from a fixed number of sums and products becomes NaN.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import LinAlgError

pytestmark = pytest.mark.core

L = ac.linalg


def ones_for(a):
    return ac.ones(*a.shape[:-1], 1, dtype=a.dtype)


#: Those that refuse such a matrix.
REFUSING = {
    "svd": L.svd,
    "svdvals": L.svdvals,
    "pinv": L.pinv,
    "pinverse": ac.pinverse,
    "matrix_rank": L.matrix_rank,
    "lstsq": lambda a: L.lstsq(a, ones_for(a)),
    "cond": L.cond,
    "cond, smallest": lambda a: L.cond(a, -2),
    "spectral norm": lambda a: L.matrix_norm(a, 2),
    "nuclear norm": lambda a: L.matrix_norm(a, "nuc"),
}
#: Those that do so, and read the lower triangle alone.
OF_TRIANGLES = {
    "cholesky": L.cholesky,
    "cholesky, upper": lambda a: L.cholesky(a, upper=True),
    "cholesky_ex, strict": lambda a: L.cholesky_ex(a, check_errors=True).L,
    "eigh": lambda a: L.eigh(a)[0],
    "eigvalsh": L.eigvalsh,
    "pinv of symmetric": lambda a: L.pinv(a, hermitian=True),
    "matrix_rank of symmetric": lambda a: L.matrix_rank(a, hermitian=True),
}
#: Those whose result is NaN for such a matrix.
COMPUTING = {
    "inv": L.inv,
    "inv_ex": lambda a: L.inv_ex(a).inverse,
    "det": L.det,
    "slogdet": lambda a: L.slogdet(a).logabsdet,
    "logdet": ac.logdet,
    "solve": lambda a: L.solve(a, ones_for(a)),
    "solve_ex": lambda a: L.solve_ex(a, ones_for(a)).result,
    "qr": lambda a: L.qr(a).R,
    "lu_factor_ex": lambda a: L.lu_factor_ex(a).LU,
    "matrix_exp": L.matrix_exp,
    "matrix_power": lambda a: L.matrix_power(a, 3),
    "matrix_power of the inverse": lambda a: L.matrix_power(a, -2),
    "Frobenius norm": L.matrix_norm,
    "cond by norms": lambda a: L.cond(a, "fro"),
}
BATCHES = [((), ()), ((3,), (2,)), ((2, 3), (1, 0)), ((2, 1, 2), (1, 0, 1))]
SETS = ["reference", None]


def chosen(kernels):
    return ac.kernels.use(kernels) if kernels else ac.enable_grad()


def positive_matrices(batch, n):
    rng = np.random.default_rng((n, *batch))
    a = rng.normal(size=(*batch, n, n))
    return a @ a.swapaxes(-1, -2) / n + 2 * np.eye(n)


def text_of(place, n, value, row, column):
    which = f"matrix {place} of `a`" if place else "`a`"
    return re.escape(
        f"{which}, of shape ({n}, {n}), holds {value} in row {row}, column {column}."
    )


@pytest.mark.parametrize("kernels", SETS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(("batch", "place"), BATCHES)
@pytest.mark.parametrize("name", [*REFUSING, *OF_TRIANGLES])
def test_an_error_names_the_matrix_and_the_place(name, batch, place, value, kernels):
    function = (REFUSING | OF_TRIANGLES)[name]
    for dtype in (np.float32, np.float64):
        for n, row, column in ((1, 0, 0), (2, 1, 0), (4, 3, 3), (40, 35, 2)):
            a = positive_matrices(batch, n).astype(dtype)
            a[(*place, row, column)] = value
            text = text_of(place, n, value, row, column)
            with chosen(kernels), pytest.raises(LinAlgError, match=text):
                function(ac.tensor(a))


@pytest.mark.parametrize("kernels", SETS)
@pytest.mark.parametrize("name", OF_TRIANGLES)
def test_the_upper_triangle_is_not_read(name, kernels):
    a = positive_matrices((2, 2), 3)
    with chosen(kernels):
        expected = OF_TRIANGLES[name](ac.tensor(a))
        a[1, 0, 0, 2] = math.nan
        assert ac.equal(OF_TRIANGLES[name](ac.tensor(a)), expected)


@pytest.mark.parametrize("kernels", SETS)
@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(("batch", "place"), BATCHES)
@pytest.mark.parametrize("name", COMPUTING)
def test_only_the_result_of_that_matrix_changes(name, batch, place, value, kernels):
    for n, row, column in ((1, 0, 0), (2, 1, 0), (4, 3, 3), (40, 35, 2)):
        a = positive_matrices(batch, n)
        with chosen(kernels):
            expected = COMPUTING[name](ac.tensor(a)).numpy().copy()
            a[(*place, row, column)] = value
            found = COMPUTING[name](ac.tensor(a)).numpy()
        assert not math.isnan(value) or np.isnan(found[place]).any()
        others = np.ones(batch, bool)
        others[place] = False
        assert np.allclose(found[others], expected[others], rtol=1e-12)


@pytest.mark.parametrize("kernels", SETS)
@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(("batch", "place"), BATCHES)
def test_the_code_of_a_matrix_without_a_factor(batch, place, value, kernels):
    for n, row, column in ((1, 0, 0), (2, 1, 0), (4, 3, 3), (40, 35, 2)):
        a = positive_matrices(batch, n)
        a[(*place, row, column)] = value
        with chosen(kernels):
            factor, code = L.cholesky_ex(ac.tensor(a))
        expected = np.zeros(batch, np.int32)
        expected[place] = row + 1
        assert np.array_equal(code.numpy(), expected)
        assert np.isnan(factor.numpy()[place]).all()
        assert np.isfinite(factor.numpy()[expected == 0]).all()


@pytest.mark.parametrize("kernels", SETS)
@pytest.mark.parametrize("name", ["inv", "solve", "cholesky"])
def test_an_error_names_the_matrix_at_fault_beside_one_with_nan(name, kernels):
    function = {**COMPUTING, **OF_TRIANGLES}[name]
    a = positive_matrices((2, 2), 3)
    a[0, 1] = math.nan if name != "cholesky" else a[0, 1]
    a[1, 0] = np.zeros((3, 3))
    with chosen(kernels), pytest.raises(LinAlgError, match=r"matrix \(1, 0\) of `a`"):
        function(ac.tensor(a))


def test_finite_numbers_whose_sum_overflows_are_taken():
    a = np.diag([1e308, 1.2e308, 1.5e308])
    assert L.matrix_rank(ac.tensor(a), rtol=0.0).item() == 3
    assert np.allclose(L.svdvals(ac.tensor(a)).numpy(), np.diag(a)[::-1])


def test_exponentials_of_a_batch_are_those_of_its_matrices():
    rng = np.random.default_rng(3)
    sizes = (0.0, 1e-9, 0.3, 1.0, 30.0, 1e6)
    a = np.stack([size * -np.diag(rng.uniform(size=3)) for size in sizes])
    found = L.matrix_exp(ac.tensor(a)).numpy()
    expected = np.zeros_like(a)
    for i in range(3):
        expected[:, i, i] = np.exp(a[:, i, i])
    assert np.allclose(found, expected, rtol=1e-13, atol=1e-16)

# SPDX-License-Identifier: MIT
"""`inv_ex`, `solve_ex`, `cholesky_ex`: codes for matrices that others refuse."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac

pytestmark = pytest.mark.core

L = ac.linalg
RNG = np.random.default_rng(0)
#: Definite, singular, symmetric and not definite, zero.
MATRICES = np.array(
    [
        [[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]],
        [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]],
        [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, -1.0]],
        [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]],
    ]
)
SIDES = RNG.normal(size=(4, 3, 2))


def test_codes_and_results():
    x, b = ac.tensor(MATRICES), ac.tensor(SIDES)
    inverse, info = L.inv_ex(x)
    assert info.tolist() == [0, 2, 0, 1]
    assert info.dtype is ac.int32
    assert ac.equal(inverse[[0, 2]], L.inv(x[[0, 2]]))
    assert inverse[[1, 3]].isnan().all()
    found = L.solve_ex(x, b)
    assert found.info.tolist() == [0, 2, 0, 1]
    assert ac.equal(found.result[[0, 2]], L.solve(x[[0, 2]], b[[0, 2]]))
    assert found.result[[1, 3]].isnan().all()
    vectors = L.solve_ex(x, b[:, :, 0])
    assert vectors.result.shape == (4, 3)
    assert ac.allclose(vectors.result[0], found.result[0, :, 0])
    turned = L.solve_ex(x, b.mT, left=False).result
    assert ac.allclose(turned[2] @ x[2], b[2].mT)
    factor = L.cholesky_ex(x)
    assert factor.info.tolist() == [0, 2, 3, 1]
    assert ac.equal(factor.L[0], L.cholesky(x[0]))
    assert factor.L[1:].isnan().all()
    assert ac.equal(L.cholesky_ex(x[0], upper=True).L, L.cholesky(x[0]).mT)
    grid = L.inv_ex(x.reshape(2, 2, 3, 3)).info
    assert grid.tolist() == [[0, 2], [0, 1]]
    assert L.inv_ex(ac.zeros(0, 2, 2)).info.shape == (0,)
    out = (ac.zeros(0), ac.zeros(0, dtype=ac.int32))
    assert L.inv_ex(x[0].float(), out=out).info is out[1]
    assert ac.allclose(out[0], inverse[0].float())


def test_gradients_of_those_that_have_a_result():
    x, b = ac.tensor(MATRICES, requires_grad=True), ac.tensor(SIDES)
    for function in (L.inv_ex, lambda y: L.solve_ex(y, b), L.cholesky_ex):
        (found,) = ac.autograd.grad(function(x)[0][0].sum(), x)
        assert found[0].isfinite().all()
        assert found[0].any()
        assert not found[1:].any()


test_what_is_refused = refusals(
    r"""
    L.inv_ex(ac.tensor(MATRICES), check_errors=True) -> LinAlgError: matrix \(1,\)
    L.solve_ex(ac.tensor(MATRICES), ac.tensor(MATRICES), check_errors=True) ->
        LinAlgError: is singular
    L.cholesky_ex(ac.tensor(MATRICES), check_errors=True) -> LinAlgError: not positive
    L.inv_ex(ac.tensor(MATRICES), check_errors=1) -> ArgumentError: `check_errors` is 1
    L.inv_ex(ac.tensor(MATRICES)[:, :2]) -> ShapeError: inv_ex: `A` has shape \(4, 2, 3
    L.solve_ex(ac.tensor(MATRICES)[0, 0], ac.tensor(MATRICES)) -> ShapeError: solve_ex:
        `A` has shape \(3,
    L.solve_ex(ac.tensor(MATRICES), ac.tensor(MATRICES).float()) -> DTypeError:
        solve_ex: the tensors are
    L.cholesky_ex(ac.tensor(MATRICES).long()) -> DTypeError: cholesky_ex: needs float32
    L.cholesky_ex(ac.tensor(MATRICES), upper=1) -> ArgumentError: `upper` is 1
    """,
    globals(),
)


@pytest.mark.torch
def test_codes_are_those_of_pytorch():
    torch = pytest.importorskip("torch")

    def seen(m):
        x, b = m.tensor(MATRICES), m.tensor(SIDES)
        found = [m.linalg.inv_ex(x), m.linalg.solve_ex(x, b), m.linalg.cholesky_ex(x)]
        codes = [info.tolist() for _, info in found]
        pairs = zip(found, codes, strict=True)
        return codes, [one[0].numpy()[np.array(code) == 0] for one, code in pairs]

    (codes, good), (wanted, results) = seen(ac), seen(torch)
    assert codes == wanted
    for a, b in zip(good, results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)

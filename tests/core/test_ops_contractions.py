# SPDX-License-Identifier: MIT
"""Products of vectors and matrices, einsum and norms: values, errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.testing import gradcheck, gradgradcheck

pytestmark = pytest.mark.core


def leaf(*sizes, seed=0):
    values = np.random.default_rng(seed).normal(size=sizes)
    values = np.where(np.abs(values) < 0.05, 0.3, values)
    return ac.tensor(values, dtype=ac.float64, requires_grad=True)


NAN = math.nan
V, M, B = (4,), (3, 4), (2, 3, 4)


def test_a_factor_of_0_hides_what_is_not_finite():
    a, b = leaf(3, 4), leaf(4, 3)
    assert ac.addmm(a[:1, :3] * NAN, a, b, beta=0).isfinite().all()


EQUATIONS = {
    "i,i->": [(3,), (3,)],
    "ij,jk->ik": [(2, 3), (3, 2)],
    "ij,kj": [(2, 3), (4, 3)],
    "bij,bjk->bik": [(2, 2, 3), (2, 3, 2)],
    "ii->i": [(3, 3)],
    "ii": [(3, 3)],
    "iji->j": [(2, 3, 2)],
    "ij->ji": [(2, 3)],
    "ij->": [(2, 3)],
    "i,j,k->kij": [(2,), (3,), (2,)],
    "ij,jk,kl->il": [(2, 3), (3, 2), (2, 4)],
    "...ij,...jk->...ik": [(2, 2, 3), (3, 2)],
    "...i->...": [(2, 3)],
    "ij,ij->ij": [(2, 3), (2, 3)],
    "a...,b...->ab...": [(2, 3), (2, 3)],
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum(equation):
    inputs = [leaf(*size, seed=i) for i, size in enumerate(EQUATIONS[equation])]
    expected = np.einsum(equation, *(x.detach().numpy() for x in inputs))
    result = ac.einsum(equation, *inputs)
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-12)
    assert result.shape == expected.shape
    assert gradcheck(lambda *x: ac.einsum(equation, *x), inputs)
    assert gradgradcheck(lambda *x: ac.einsum(equation, *x), inputs)


def test_einsum_says_what_is_wrong():
    x = ac.ones(2, 3)
    with pytest.raises(ArgumentError, match=r"'ij,jk' has 2 terms for 1 operands"):
        ac.einsum("ij,jk", x)
    with pytest.raises(ArgumentError, match=r"the term 'ijk' for an operand of 2 dim"):
        ac.einsum("ijk->i", x)
    with pytest.raises(ArgumentError, match="has a letter twice or only after '->'"):
        ac.einsum("ij->iz", x)
    with pytest.raises(ArgumentError, match=r"has the term 'i1'"):
        ac.einsum("i1->i", x)
    with pytest.raises(ShapeError, match="dimension 'j' has the sizes 3 and 2"):
        ac.einsum("ij,jk", x, x)
    with pytest.raises(ShapeError, match="'i' has the sizes 2 and 3 in shape"):
        ac.einsum("ii", x)


def test_products_say_what_is_wrong():
    with pytest.raises(
        ShapeError, match=r"dot: 1D tensors expected, .* `input` \(2, 3\)"
    ):
        ac.dot(ac.ones(2, 3), ac.ones(3))
    with pytest.raises(
        ArgumentError, match=r"expects dims >= 0 and at most 1 .* not 3"
    ):
        ac.tensordot(ac.ones(3), ac.ones(3), 3)
    with pytest.raises(ArgumentError, match="names 2 dimensions of `a` and 1 of `b`"):
        ac.tensordot(ac.ones(3, 3), ac.ones(3), ([0, 1], [0]))
    with pytest.raises(ShapeError, match=r"have the sizes \[3\] and \[2\]"):
        ac.tensordot(ac.ones(3), ac.ones(2), 1)


def test_norms():
    x = ac.tensor([[3.0, -4.0], [0.0, 1.0]])
    assert x.norm().item() == pytest.approx(26**0.5)
    assert ac.norm(x, 0, 1).tolist() == [2.0, 1.0]
    assert ac.linalg.matrix_norm(x, 1).item() == 5.0
    assert ac.linalg.matrix_norm(x, math.inf).item() == 7.0
    assert ac.linalg.matrix_norm(x, -1, keepdim=True).tolist() == [[3.0]]
    zero = ac.zeros(2, requires_grad=True)
    zero.norm().backward()
    assert zero.grad.tolist() == [0.0, 0.0]


def test_norms_say_what_is_wrong():
    with pytest.raises(
        ArgumentError, match=r"linalg\.matrix_norm: Order max not supported; use"
    ):
        ac.linalg.matrix_norm(ac.ones(2, 2), "max")
    with pytest.raises(
        ShapeError, match=r"must have at least 2 dimensions, not shape \(2,\)"
    ):
        ac.linalg.matrix_norm(ac.ones(2))
    with pytest.raises(ArgumentError, match="norm: `p`='x' is not available"):
        ac.norm(ac.ones(2, 2), "x")
    with pytest.raises(ShapeError, match="A must have at least 2 dimensions"):
        ac.linalg.norm(ac.ones(2), "fro")
    with pytest.raises(DTypeError, match=": needs float32 or float64, not"):
        ac.norm(ac.tensor([1, 2]))


def test_in_place():
    x = ac.zeros(2, 2)
    assert x.addmm_(ac.ones(2, 3), ac.ones(3, 2), alpha=2) is x
    assert x.addr_(ac.ones(2), ac.ones(2), beta=0).tolist() == [[1.0, 1.0]] * 2


def test_the_nuclear_norm_adds_singular_values():
    a = ac.tensor([[[3.0, 0.0], [0.0, -4.0]], [[1.0, 0.0], [0.0, 0.0]]])
    assert ac.norm(a, "nuc").tolist() == pytest.approx([7.0, 1.0])
    assert a.norm("nuc", dim=(1, 2), keepdim=True).shape == (2, 1, 1)
    assert ac.chain_matmul(a[0]).equal(a[0])

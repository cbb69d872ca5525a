# SPDX-License-Identifier: MIT
"""Names of complex numbers, of real tensors; answers are PyTorch 2.13's."""

from __future__ import annotations

import math

import pytest

import autocalc as ac
from autocalc.errors import DTypeError, ShapeError

pytestmark = pytest.mark.core

DTYPES = [ac.float32, ac.bfloat16, ac.int64, ac.bool]
THEMSELVES = ["real", "conj", "conj_physical", "resolve_conj", "resolve_neg"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", THEMSELVES)
def test_real_tensors_are_themselves(name, dtype):
    x = ac.ones(2, dtype=dtype)
    assert getattr(ac, name)(x) is x
    assert (x.real if name == "real" else getattr(x, name)()) is x


@pytest.mark.parametrize("dtype", DTYPES)
def test_questions(dtype):
    x = ac.ones(2, dtype=dtype)
    for name in ("is_complex", "is_conj", "is_neg"):
        assert (getattr(ac, name)(x), getattr(x, name)()) == (False, False)
    assert x.isreal().tolist() == ac.isreal(x).tolist() == [True, True]
    assert x.conj_physical_() is x
    assert ac.conj_physical_(x) is x


def test_gradients_pass():
    x = ac.tensor([1.0, -2.0], requires_grad=True)
    for name in THEMSELVES:
        assert ac.autograd.grad(getattr(ac, name)(x).sum(), x)[0].tolist() == [1, 1]
    assert ac.autograd.grad(x.angle().sum(), x)[0].tolist() == [0, 0]


def test_angle():
    x = ac.tensor([1.0, -2.0, 0.0, -0.0, math.inf, -math.inf, math.nan])
    expected = [0, math.pi, 0, 0, 0, math.pi, math.nan]
    assert ac.allclose(x.angle(), ac.tensor(expected), equal_nan=True)
    assert math.copysign(1, x.angle()[3].item()) == 1
    assert ac.angle(ac.tensor([1, -2])).dtype is ac.float32
    assert ac.angle(ac.tensor([True])).tolist() == [0]
    assert ac.angle(x.bfloat16()).dtype is ac.bfloat16


def test_there_is_no_imaginary_part():
    x = ac.ones(2)
    for look in (ac.imag, lambda x: x.imag):
        with pytest.raises(
            DTypeError, match="imag: the tensor is float32, which is real, but"
        ):
            look(x)
    with pytest.raises(DTypeError, match="view_as_real: the tensor is int64, which is"):
        ac.view_as_real(ac.tensor([1]))
    with pytest.raises(DTypeError, match="real: needs a Tensor, not int"):
        ac.real(3)


def test_transposes():
    x = ac.arange(6).view(2, 3)
    for one in (x.H, x.mH, x.adjoint(), ac.adjoint(x)):
        assert ac.equal(one, x.t())
    assert ac.ones(2, 3, 4).mH.shape == (2, 4, 3)
    with pytest.raises(
        ShapeError, match=r"H: only supported on matrices, not on shape \(3,\);"
    ):
        _ = x[0].H
    with pytest.raises(ShapeError, match=r"only supported on matrices, .*\(1, 2, 3\)"):
        _ = x[None].H
    with pytest.raises(ShapeError, match=r"mH: only supported on matrices .*\(3,\)"):
        _ = x[0].mH

# SPDX-License-Identifier: MIT
"""Functions made of several operators: of halves in float32, rounded once."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

FUNCTIONS = {
    "local_response_norm": lambda x: F.local_response_norm(x, 3, 0.5),
    "lp_pool1d": lambda x: F.lp_pool1d(x[0].abs(), 3, 2),
    "lp_pool2d": lambda x: F.lp_pool2d(x, 2, 2),
    "grid_sample": lambda x: F.grid_sample(x, x[:, :2].permute(0, 2, 3, 1)),
    "ctc_loss": lambda x: F.ctc_loss(
        x[0].log_softmax(-1), ac.tensor([[1, 2]] * 6), [4] * 6, [2] * 6
    ),
}


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_they_are_rounded_once(name, dtype):
    ac.manual_seed(0)
    x = ac.randn(2, 4, 6, 6).to(dtype)
    if name == "ctc_loss":
        wide, half = x[0].log_softmax(-1).float(), x[0].log_softmax(-1)
        texts = ac.tensor([[1, 2]] * 6), [4] * 6, [2] * 6
        expected, found = F.ctc_loss(wide, *texts), F.ctc_loss(half, *texts)
    else:
        expected, found = FUNCTIONS[name](x.float()), FUNCTIONS[name](x)
    assert found.dtype is dtype
    assert ac.equal(found, expected.to(dtype))


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_their_gradients_are_finite_and_close(name, dtype):
    ac.manual_seed(0)
    x = ac.randn(2, 4, 6, 6).to(dtype).requires_grad_()
    y = x.detach().float().requires_grad_()
    FUNCTIONS[name](x).sum().backward()
    FUNCTIONS[name](y).sum().backward()
    room = 0.05 * y.grad.abs().max().item()
    assert (x.grad.float() - y.grad).abs().max().item() < room


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
@pytest.mark.parametrize(
    "words",
    [
        {"mode": "bicubic"},
        {"mode": "bicubic", "antialias": True},
        {"mode": "bilinear", "antialias": True},
        {"mode": "nearest-exact"},
        {"mode": "area"},
    ],
)
def test_resizing_is_rounded_once_in_each_dimension(dtype, words):
    x = ac.randn(2, 3, 6, 6).to(dtype)
    found = F.interpolate(x, (6, 4), **words)
    expected = F.interpolate(x.float(), (6, 4), **words)
    assert found.dtype is dtype
    assert ac.equal(found, expected.to(dtype))

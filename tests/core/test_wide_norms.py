# SPDX-License-Identifier: MIT
"""Normalisation of half precision with parameters of float32, as PyTorch rounds it."""

from __future__ import annotations

import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import DTypeError
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

STATISTICS = ac.linspace(-0.3, 0.4, 4), ac.linspace(0.5, 2, 4)
NORMS = {
    "group_norm": lambda x, w, b: F.group_norm(x, 2, w, b),
    "layer_norm": lambda x, w, b: F.layer_norm(x, (4,), w, b),
    "layer_norm of two dimensions": lambda x, w, b: F.layer_norm(
        x, (3, 4), w.expand(3, 4), b.expand(3, 4)
    ),
    "batch_norm": lambda x, w, b: F.batch_norm(x.mT, None, None, w, b, training=True),
    "batch_norm, running": lambda x, w, b: F.batch_norm(x.mT, *STATISTICS, w, b),
    "instance_norm": lambda x, w, b: F.instance_norm(x.mT, None, None, w, b),
    "rms_norm": lambda x, w, b: F.rms_norm(x, (4,), w) + 0 * b.to(x.dtype),
}


@pytest.mark.parametrize("dtype", [ac.float16, ac.bfloat16])
@pytest.mark.parametrize("name", NORMS)
def test_results_and_gradients_have_the_dtypes_of_their_inputs(name, dtype):
    x = ac.randn(2, 4 if name == "group_norm" else 3, 4).to(dtype)
    w, b = ac.randn(4), ac.randn(4)
    found = []
    for kind in (dtype, ac.float32):
        leaves = [t.clone().requires_grad_() for t in (x.to(kind), w, b)]
        y = NORMS[name](*leaves)
        assert y.dtype is kind
        weights = ac.arange(y.numel()).view(y.shape).cos()
        (y.float() * weights).sum().backward()
        found.append((y, *(leaf.grad for leaf in leaves)))
        assert [leaf.grad.dtype for leaf in leaves] == [kind, ac.float32, ac.float32]
    half, wide = found
    eps = ac.finfo(dtype).eps
    assert ac.allclose(half[0].float(), wide[0], rtol=2 * eps, atol=eps / 8)
    for mine, theirs in zip(half[1:], wide[1:], strict=True):
        assert ac.allclose(mine.float(), theirs, rtol=0.03, atol=0.03)


def test_group_norm_of_a_model_that_is_half():
    norm = nn.GroupNorm(2, 4)
    assert norm(ac.ones(1, 4, 3, dtype=ac.bfloat16)).dtype is ac.bfloat16


def test_other_pairs_are_refused():
    x = ac.ones(2, 4, 3)
    for a, b in ((ac.bfloat16, ac.float64), (ac.float32, ac.bfloat16)):
        with pytest.raises(DTypeError, match="group_norm: the tensors are"):
            F.group_norm(x.to(a), 2, ac.ones(4, dtype=b))

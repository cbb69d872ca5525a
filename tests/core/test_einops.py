# SPDX-License-Identifier: MIT
"""einops knows tensors without a line of the user's, whichever is imported first."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn

einops = pytest.importorskip("einops", reason="einops is not installed")

pytestmark = pytest.mark.core

X = np.random.default_rng(0).standard_normal((2, 6, 4, 3)).astype(np.float32)

CALLS = {
    "rearrange": lambda m, x: m.rearrange(x, "b (h p) w c -> (b h) p (w c)", p=2),
    "repeat": lambda m, x: m.repeat(x, "b h w c -> b h (r w) c n", r=2, n=3),
    "tile": lambda m, x: m.repeat(x, "b h w c -> b h w (3 c)"),
    "einsum": lambda m, x: m.einsum(x, x, "b h w c, b h v c -> b w v"),
    **{
        name: lambda m, x, name=name: m.reduce(x, "b (h p) w c -> b h c", name, p=3)
        for name in ("sum", "mean", "max", "min", "prod")
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_it_computes_as_with_numpy(name):
    expected = CALLS[name](einops, X)
    x = ac.tensor(X, requires_grad=True)
    found = CALLS[name](einops, x)
    assert isinstance(found, ac.Tensor)
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-5, atol=1e-6)
    found.sum().backward()
    assert x.grad.shape == x.shape


def test_any_and_all():
    x = ac.tensor(X > 0)
    found = (
        einops.reduce(x, "b h w c -> b", "any"),
        einops.reduce(x, "b ... -> b", "all"),
    )
    assert [f.tolist() for f in found] == [[True, True], [False, False]]


def test_pack_and_unpack():
    parts = [ac.ones(2, 3), ac.zeros(2), ac.ones(2, 2, 2)]
    packed, shapes = einops.pack(parts, "b *")
    assert packed.shape == (2, 8)
    again = einops.unpack(packed, shapes, "b *")
    assert [t.tolist() for t in again] == [t.tolist() for t in parts]


def test_layers_are_modules():
    from einops.layers.autocalc import EinMix, Rearrange, Reduce

    net = nn.Sequential(
        Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=2, q=2),
        EinMix("b n d -> b n e", weight_shape="d e", bias_shape="e", d=12, e=5),
        nn.ReLU(),
        Reduce("b n e -> b e", "mean"),
    )
    out = net(ac.randn(2, 3, 4, 4))
    assert out.shape == (2, 5)
    out.sum().backward()
    assert [tuple(p.shape) for p in net.parameters()] == [(12, 5), (1, 1, 5)]
    assert all(p.grad is not None for p in net.parameters())
    assert "Rearrange('b c (h p) (w q)" in repr(net)


@pytest.mark.parametrize("first", ["einops", "autocalc"])
def test_the_order_of_the_imports_does_not_matter(first):
    second = {"einops": "autocalc", "autocalc": "einops"}[first]
    program = (
        f"import {first}, {second}; "
        "x = einops.rearrange(autocalc.ones(2, 3), 'a b -> b a'); "
        "print(tuple(x.shape))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout == "(3, 2)\n"


def test_without_einops_nothing_is_imported():
    program = "import sys, autocalc; print('einops' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout == "False\n"

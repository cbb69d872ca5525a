# SPDX-License-Identifier: MIT
"""Gradients of attention where scores are large: in every set, as of small ones."""

import numpy as np
import pytest

import autocalc as ac
from autocalc.nn import functional as F

SIMD = [name for name in ac.kernels.available() if name.startswith("simd-")]
SETS = ["reference", *SIMD]
#: dtype -> its eps, and the largest number whose neighbours are 1 apart
DTYPES = {"float32": (2.0**-23, 2.0**20), "float64": (2.0**-52, 2.0**48),
          "float16": (2.0**-10, 2.0**9), "bfloat16": (2.0**-7, 2.0**6)}  # fmt: skip


def operands(dtype, size, ties):
    """Return q, k, v, g whose scores are `size` and small numbers, exactly."""
    rng = np.random.default_rng(3)
    near = rng.integers(0, 1 if ties else 4, (1, 2, 9))
    k = np.stack([np.full((1, 2, 9), size), near], axis=-1)
    v, g = rng.integers(-3, 4, (2, 1, 2, 9, 2))
    return [ac.tensor(x, dtype=dtype) for x in (np.ones((1, 2, 9, 2)), k, v, g)]


def wanted(q, k, v, g, allowed):
    """Return gradients in long double, and the sums of the terms' sizes."""
    q, k, v, g = (x.to(ac.float64).numpy().astype(np.longdouble) for x in (q, k, v, g))
    s = np.where(allowed, q @ k.swapaxes(-1, -2), -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    w = e / e.sum(-1, keepdims=True)
    dw = g @ v.swapaxes(-1, -2)
    size = w * (np.abs(dw) + (w * np.abs(dw)).sum(-1, keepdims=True))
    ds = w * (dw - (w * dw).sum(-1, keepdims=True))
    exact = ds @ k, ds.swapaxes(-1, -2) @ q, w.swapaxes(-1, -2) @ g
    sizes = (
        size @ np.abs(k),
        size.swapaxes(-1, -2) @ np.abs(q),
        w.swapaxes(-1, -2) @ np.abs(g),
    )
    return exact, sizes


MASKS = {
    "none": np.ones((9, 9), bool),
    "causal": np.tril(np.ones((9, 9), bool)),
    "mask": (np.arange(81).reshape(9, 9) % 3 != 1),
}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", SETS)
def test_gradients(name, dtype, kind, ties):
    eps, most = DTYPES[dtype]
    largest = {"float16": 2.0**14}.get(dtype, 1e30)
    sizes = {1.0, 1e2, 1e4, 1e6, 1e8, 1e12, 1e20, 1e30, most}
    for size in sorted(size for size in sizes if size <= largest):
        # Beyond `most` small numbers are rounded off: all scores are equal.
        q, k, v, g = operands(dtype, size, ties or size > most)
        allowed = MASKS[kind]
        exact, scales = wanted(q, k, v, g, allowed)
        given = [x.requires_grad_() for x in (q, k, v)]
        mask = ac.tensor(allowed) if kind == "mask" else None
        with ac.kernels.use(name):
            out = F.scaled_dot_product_attention(
                *given, attn_mask=mask, is_causal=kind == "causal", scale=1.0
            )
            out.backward(g)
        for x, right, scale in zip(given, exact, scales, strict=True):
            off = np.abs(x.grad.to(ac.float64).numpy() - right)
            assert np.all(off <= 16 * eps * scale), (size, float(np.max(off / scale)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SETS)
def test_many_keys_and_dropout(name, dtype):
    """Several blocks of keys; equal scores, so that dropout's mask is all there is."""
    options = {"dtype": dtype, "requires_grad": True}
    q, v = ac.ones(1, 2, 150, 4, **options), ac.ones(1, 2, 300, 4, **options)
    k = ac.full((1, 2, 300, 4), 2.0**60, **options)
    with ac.kernels.use(name):
        ac.manual_seed(5)
        F.scaled_dot_product_attention(q, k, v, dropout_p=0.25).sum().backward()
    weights = (v.grad[..., 0] * 300 * 0.75).numpy()  # how often a key is kept
    np.testing.assert_allclose(weights, np.round(weights), rtol=1e-4)
    assert 0.7 < weights.mean() / 150 < 0.8


@pytest.mark.parametrize("size", [1.0, 1e4, 1e8, 1e30])
@pytest.mark.parametrize("function", ["logsumexp", "log_softmax", "cross_entropy"])
@pytest.mark.parametrize("name", SETS)
def test_relatives(name, function, size):
    """Three equal numbers: each has a third of the gradient."""
    x = ac.full((2, 3), size, requires_grad=True)
    with ac.kernels.use(name):
        if function == "logsumexp":
            ac.logsumexp(x, 1).sum().backward()
            right = [1 / 3] * 3
        else:
            loss = -x.log_softmax(1)[:, 0].sum()
            if function == "cross_entropy":
                loss = F.cross_entropy(x, ac.tensor([0, 0]), reduction="sum")
            loss.backward()
            right = [-2 / 3, 1 / 3, 1 / 3]
    np.testing.assert_allclose(x.grad.numpy(), [right, right], rtol=1e-6)

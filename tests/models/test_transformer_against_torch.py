# SPDX-License-Identifier: MIT
"""Attention of several heads and transformers follow PyTorch's."""

import itertools

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DOUBLE = torch.float64


def ours(t):
    return None if t is None else ac.from_numpy(t.detach().numpy().copy())


def twins(kind, *sizes, **options):
    torch.manual_seed(0)
    theirs = getattr(torch.nn, kind)(*sizes, **options, dtype=DOUBLE)
    mine = getattr(ac.nn, kind)(*sizes, **options, dtype=ac.float64)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    mine.load_state_dict({k: ours(t) for k, t in theirs.state_dict().items()})
    return mine, theirs


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-9, 1e-11)


MASKS = (None, torch.ones(3, 3).triu(1) > 0, torch.randn(6, 3, 3, dtype=DOUBLE))
PADDINGS = (
    None,
    torch.tensor([[False] * 2 + [True], [False, True, True], [False] * 3]),
)


@pytest.mark.filterwarnings("ignore:Support for mismatched")
@pytest.mark.parametrize(
    "options",
    [
        {"batch_first": True},
        {"kdim": 5, "vdim": 7},
        {"bias": False, "add_bias_kv": True, "add_zero_attn": True},
    ],
)
def test_attention(options):
    mine, theirs = twins("MultiheadAttention", 8, 2, **options)
    query = torch.randn(3, 3, 8, dtype=DOUBLE, requires_grad=True)
    key, value = (
        torch.randn(3, 3, options.get(name, 8), dtype=DOUBLE)
        for name in ("kdim", "vdim")
    )
    for mask, padding, need in itertools.product(MASKS, PADDINGS, (True, False)):
        q = ours(query).requires_grad_()
        out, weights = mine(q, ours(key), ours(value), ours(padding), need, ours(mask))
        expected = theirs(query, key, value, padding, need, mask)
        close(out, expected[0])
        if need:
            close(weights, expected[1])
        query.grad = None
        (out * out).sum().backward()
        (expected[0] ** 2).sum().backward()
        close(q.grad, query.grad)
    for a, b in zip(mine.parameters(), theirs.parameters(), strict=True):
        close(a.grad, b.grad)


def test_self_attention_has_the_same_gradients():
    mine, theirs = twins("MultiheadAttention", 8, 2)
    x = torch.randn(4, 3, 8, dtype=DOUBLE, requires_grad=True)
    y = ours(x).requires_grad_()
    (mine(y, y, y)[0] ** 2).sum().backward()
    (theirs(x, x, x)[0] ** 2).sum().backward()
    close(y.grad, x.grad)
    close(mine.in_proj_weight.grad, theirs.in_proj_weight.grad)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize(
    "options", [{}, {"norm_first": True, "activation": "gelu", "bias": False}]
)
def test_transformers(options):
    mine, theirs = twins("Transformer", 8, 2, 2, 1, 12, dropout=0.0, **options)
    source, target = (
        torch.randn(5, 3, 8, dtype=DOUBLE),
        torch.randn(4, 3, 8, dtype=DOUBLE),
    )
    mask = theirs.generate_square_subsequent_mask(4, dtype=DOUBLE)
    expected = theirs(source, target, tgt_mask=mask)
    close(mine(ours(source), ours(target), tgt_mask=ours(mask)), expected)
    words = {"tgt_mask": ours(mask), "tgt_is_causal": True}
    close(mine(ours(source), ours(target), **words), expected)

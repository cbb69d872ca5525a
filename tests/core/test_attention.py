# SPDX-License-Identifier: MIT
"""Scaled dot-product attention: values, gradients, masks, grouped heads, errors."""

import math

import numpy as np
import pytest
from tests.dispatcher import arrays

import autocalc as ac
from autocalc.errors import ArgumentError, DTypeError, ShapeError
from autocalc.nn.attention import SDPBackend, sdpa_kernel
from autocalc.testing import assert_close

F = ac.nn.functional
attend = F.scaled_dot_product_attention


def operands(*shape, keys=None, dtype=ac.float64, grad=False):
    """Return query, key and value; `keys` positions of the latter two."""
    ac.manual_seed(1)
    short = (*shape[:-2], keys or shape[-2], shape[-1])
    return [
        ac.randn(*s, dtype=dtype, requires_grad=grad) for s in (shape, short, short)
    ]


def formula(q, k, v, mask=None, scale=None):
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.transpose(-2, -1) * scale
    if mask is not None:
        scores = ac.where(mask, scores, ac.tensor(-math.inf, dtype=q.dtype))
    return ac.softmax(scores, -1) @ v


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 3, 5, 4), (2, 1, 3, 5, 4)])
def test_is_the_formula_for_any_number_of_leading_dimensions(shape):
    q, k, v = operands(*shape)
    assert_close(attend(q, k, v), formula(q, k, v))


def test_takes_a_scale():
    q, k, v = operands(2, 3, 5, 4)
    assert_close(attend(q, k, v, scale=0.1), formula(q, k, v, scale=0.1))


def test_a_causal_query_sees_the_keys_up_to_its_own():
    q, k, v = operands(2, 3, 5, 4)
    mask = ac.from_numpy(np.tril(np.ones((5, 5), bool)))
    causal = attend(q, k, v, is_causal=True)
    assert_close(causal, formula(q, k, v, mask))
    assert_close(causal, attend(q, k, v, mask))


def test_a_mask_narrows_what_causal_allows():
    q, k, v = operands(2, 3, 5, 4)
    allowed = np.random.default_rng(0).random((5, 5)) < 0.7
    np.fill_diagonal(allowed, True)
    both = ac.from_numpy(allowed & np.tril(np.ones((5, 5), bool)))
    narrowed = attend(q, k, v, ac.from_numpy(allowed), is_causal=True)
    assert_close(narrowed, formula(q, k, v, both))


@pytest.mark.parametrize("shape", [(5, 7), (3, 5, 7), (1, 1, 5, 7), (2, 3, 1, 7)])
def test_a_mask_of_booleans_broadcasts(shape):
    q, k, v = operands(2, 3, 5, 4, keys=7)
    allowed = np.random.default_rng(0).random(shape) < 0.7
    allowed[..., 0] = True
    mask = ac.from_numpy(allowed)
    assert_close(attend(q, k, v, mask), formula(q, k, v, mask))


def test_a_mask_of_numbers_is_added_and_has_a_gradient():
    q, k, v = operands(2, 3, 5, 4, keys=7)
    mask = ac.randn(3, 5, 7, dtype=ac.float64, requires_grad=True)
    scores = q @ k.transpose(-2, -1) / 2 + mask
    assert_close(attend(q, k, v, mask), ac.softmax(scores, -1) @ v)


def test_a_query_that_may_attend_to_nothing_has_result_and_gradient_0():
    q, k, v = operands(1, 1, 3, 4, grad=True)
    allowed = np.ones((3, 3), bool)
    allowed[1] = False
    out = attend(q, k, v, ac.from_numpy(allowed))
    out.sum().backward()
    assert not out.detach().numpy()[0, 0, 1].any()
    assert not q.grad.numpy()[0, 0, 1].any()
    assert q.grad.numpy()[0, 0, 0].any()


def test_one_head_of_keys_serves_several_of_queries():
    q, _, _ = operands(2, 6, 5, 4)
    _, k, v = operands(2, 2, 5, 4)
    repeated = [ac.stack([x, x, x], 2).reshape(2, 6, 5, 4) for x in (k, v)]
    assert_close(attend(q, k, v, enable_gqa=True), formula(q, *repeated))


def test_gradients_that_nobody_needs_are_not_computed():
    q, k, v = operands(1, 2, 3, 4)
    k.requires_grad_()
    attend(q, k, v).sum().backward()
    assert q.grad is None
    assert v.grad is None
    assert k.grad.shape == k.shape


def test_heads_side_by_side_in_a_projection_need_no_copy():
    batch, length, heads, features = 2, 5, 3, 4
    projected = ac.randn(batch, length, 3 * heads * features, dtype=ac.float64)
    parts = [
        projected[..., i * 12 : (i + 1) * 12].reshape(batch, length, heads, features)
        for i in range(3)
    ]
    with ac.kernels.count() as calls:
        out = attend(*(x.transpose(1, 2) for x in parts))
    joined = out.transpose(1, 2).reshape(batch, length, heads * features)
    own = [x.transpose(1, 2).clone() for x in parts]
    assert_close(joined, attend(*own).transpose(1, 2).reshape(joined.shape))
    assert calls  # by (kernel, set)


def test_dropout_keeps_the_mean_and_draws_anew_each_time():
    v = ac.ones(1, 1, 1000, 1)
    q = k = ac.zeros(1, 1, 1000, 1)
    ac.manual_seed(3)
    one, two = (attend(q, k, v, dropout_p=0.5) for _ in range(2))
    assert abs(one.mean().item() - 1) < 0.01
    assert not ac.equal(one, two)
    ac.manual_seed(3)
    assert ac.equal(attend(q, k, v, dropout_p=0.5), one)


@pytest.mark.parametrize(
    ("shapes", "match"),
    [
        (
            ((3,), (3,), (3,)),
            r"got query \(3,\), key \(3,\), value \(3,\); all must be \[\.\.\.,",
        ),
        (((2, 3), (2, 4), (2, 4)), r"; the shapes must be \[\.\.\., S, D\],"),
        (((2, 3), (2, 3), (5, 3)), r"key \(2, 3\), value \(5, 3\); the shapes must"),
        (
            ((4, 2, 3), (2, 2, 3), (2, 2, 3)),
            "heads of queries and 2 heads of keys. Pass enable_gqa=True if several",
        ),
        (((2, 1, 2, 3), (3, 1, 2, 3), (3, 1, 2, 3)), "leading dimensions that are"),
    ],
)
def test_shapes_that_do_not_fit(shapes, match):
    with pytest.raises(ShapeError, match=match):
        attend(*(ac.zeros(*shape) for shape in shapes))


def test_leading_dimensions_broadcast():
    q, k, v = operands(2, 3, 5, 4)
    expected = formula(q[0], k, v)
    assert_close(attend(q[0], k, v), expected)
    assert_close(attend(q[:1], k, v), expected)
    assert_close(attend(q, k[:1, :1], v[0, 0]), formula(q, k[:1, :1], v[0, 0]))


def test_heads_that_do_not_divide():
    q, k = ac.zeros(1, 3, 2, 4), ac.zeros(1, 2, 2, 4)
    with pytest.raises(ShapeError, match="3 heads of queries, and 2 heads of keys"):
        attend(q, k, k, enable_gqa=True)


def test_a_mask_that_does_not_fit():
    q = ac.zeros(1, 2, 3, 4)
    with pytest.raises(
        ShapeError, match=r"`attn_mask` has shape \(4, 3\); it must broad"
    ):
        attend(q, q, q, ac.zeros(4, 3))


def test_a_probability_out_of_range():
    q = ac.zeros(1, 2, 3, 4)
    with pytest.raises(
        ArgumentError, match=r": `dropout_p` is 1\.5; it must be between 0 and 1\."
    ):
        attend(q, q, q, dropout_p=1.5)


def test_leaves_keep_their_gradients_without_a_copy(monkeypatch):
    """What the kernel wrote is the gradient, whichever way the kernel is run."""
    q, k, v = (ac.randn(2, 3, 5, 4, requires_grad=True) for _ in range(3))
    written = []
    kernel = arrays.attention_backward
    monkeypatch.setattr(
        arrays,
        "attention_backward",
        lambda *a, **w: written.extend(w["into"]) or kernel(*a, **w),
    )
    out = ac.nn.functional.scaled_dot_product_attention(q, k, v)
    out.backward(ac.randn(2, 3, 5, 4))
    for x, array in zip((q, k, v), written, strict=True):
        assert np.shares_memory(x.grad.numpy(), array)
        assert x.grad.is_contiguous()


def test_a_backend_that_is_named_changes_nothing():
    q, k, v = operands(2, 3, 5, 4)
    plain = attend(q, k, v, is_causal=True)
    for backends in (SDPBackend.MATH, [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        with sdpa_kernel(backends):
            assert (attend(q, k, v, is_causal=True) == plain).all()
    assert [one.value for one in SDPBackend] == [-1, 0, 1, 2, 3, 4]


def test_a_backend_that_is_none_is_an_error():
    with pytest.raises(DTypeError, match=r"sdpa_kernel: `backends` is 'flash'"):
        sdpa_kernel("flash").__enter__()
    with pytest.raises(ArgumentError, match=r"sdpa_kernel: `backends` is empty"):
        sdpa_kernel([]).__enter__()

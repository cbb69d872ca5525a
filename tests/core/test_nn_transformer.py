# SPDX-License-Identifier: MIT
"""Attention of several heads and the layers of transformers: values, masks, errors."""

import math

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.errors import ArgumentError
from autocalc.testing import assert_close

nn = ac.nn
F = nn.functional


def attention(**options):
    ac.manual_seed(0)
    return nn.MultiheadAttention(8, 2, batch_first=True, dtype=ac.float64, **options)


def inputs(*lengths):
    ac.manual_seed(1)
    return [ac.randn(2, n, 8, dtype=ac.float64) for n in lengths]


def test_is_the_formula():
    layer = attention()
    query, key = inputs(3, 5)
    out, weights = layer(query, key, key, average_attn_weights=False)
    blocks = [layer.in_proj_weight[i * 8 : (i + 1) * 8] for i in range(3)]
    ends = zip((query, key, key), blocks, strict=True)
    q, k, v = (x @ w.t() for x, w in ends)  # the biases are zero at first
    for b in range(2):
        heads = []
        for h in range(2):
            at = slice(4 * h, 4 * h + 4)
            scores = q[b, :, at] @ k[b, :, at].t() / 2
            heads.append(ac.softmax(scores, -1) @ v[b, :, at])
            assert_close(weights[b, h], ac.softmax(scores, -1))
        assert_close(out[b], ac.cat(heads, 1) @ layer.out_proj.weight.t())


def test_weights_or_not_the_output_is_the_same():
    layer = attention(add_bias_kv=True, add_zero_attn=True)
    x, y = inputs(3, 5)
    padding = ac.tensor([[False] * 5, [False, True, True, False, True]])
    with_weights, weights = layer(x, y, y, padding)
    alone, none = layer(x, y, y, padding, need_weights=False)
    assert_close(alone, with_weights)
    assert none is None
    assert weights.shape == (2, 3, 7)
    assert_close(weights.sum(-1), ac.ones(2, 3, dtype=ac.float64))
    assert weights[1, :, 1:3].abs().max().item() == 0


def test_one_sequence_and_sequences_first():
    layer = attention()
    x, y = inputs(3, 5)
    expected, weights = layer(x, y, y)
    out, own = layer(x[1], y[1], y[1])
    assert_close(out, expected[1])
    assert_close(own, weights[1])
    layer.batch_first = False
    out, _ = layer(x.transpose(0, 1), y.transpose(0, 1), y.transpose(0, 1))
    assert_close(out.transpose(0, 1), expected)


def test_causal_is_a_mask():
    layer = attention()
    (x,) = inputs(4)
    mask = nn.Transformer.generate_square_subsequent_mask(4, dtype=ac.float64)
    expected, weights = layer(x, x, x, attn_mask=mask)
    booleans = mask == -math.inf
    for words in (
        {"attn_mask": booleans},
        {"is_causal": True, "attn_mask": booleans},
        {"is_causal": True, "attn_mask": mask, "need_weights": False},
    ):
        assert_close(layer(x, x, x, **words)[0], expected)
    assert_close(layer(x, x, x, attn_mask=mask, is_causal=True)[1], weights)
    with pytest.raises(
        ArgumentError, match=": `is_causal` is True, but `attn_mask` is missing;"
    ):
        layer(x, x, x, is_causal=True)


def test_a_mask_for_each_head_and_numbers_with_booleans():
    layer = attention()
    (x,) = inputs(3)
    added = ac.randn(4, 3, 3, dtype=ac.float64)
    padding = ac.tensor([[False, False, True], [False, True, False]])
    numbers = ac.where(padding, -math.inf, 0.0).double()
    expected = layer(x, x, x, numbers, attn_mask=added)[0]
    assert_close(layer(x, x, x, padding, attn_mask=added)[0], expected)
    assert_close(layer(x, x, x, padding, False, added)[0], expected)


def test_who_may_attend_to_nothing_gets_the_bias_alone():
    layer = attention()
    (x,) = inputs(2)
    blind = ac.ones(2, 2) > 0
    for need_weights in (True, False):
        out, _ = layer(x, x, x, blind, need_weights)
        assert out.abs().max().item() == 0
    assert layer(x, x, x, blind)[1].abs().max().item() == 0


def test_dropout_is_for_training():
    layer = attention(dropout=1.0)
    (x,) = inputs(3)
    assert layer(x, x, x)[0].abs().max().item() == 0
    assert layer.eval()(x, x, x)[0].abs().max().item() > 0


@pytest.mark.parametrize("norm_first", [False, True])
def test_an_encoder_layer_is_its_formula(norm_first):
    ac.manual_seed(0)
    layer = nn.TransformerEncoderLayer(
        8, 2, 16, 0.0, "gelu", batch_first=True, norm_first=norm_first
    )
    x = ac.randn(2, 3, 8)

    def attend(x):
        return layer.self_attn(x, x, x)[0]

    def feed(x):
        return layer.linear2(F.gelu(layer.linear1(x)))

    if norm_first:
        y = x + attend(layer.norm1(x))
        expected = y + feed(layer.norm2(y))
    else:
        y = layer.norm1(x + attend(x))
        expected = layer.norm2(y + feed(y))
    assert_close(layer(x), expected)


def test_a_stack_begins_with_copies_that_are_trained_apart():
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    stack = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8))
    first, second = (one.linear1.weight for one in stack.layers)
    assert first is not second
    assert (first == second).all()
    stack(ac.randn(2, 3, 8)).sum().backward()
    assert first.grad is not None
    assert layer.linear1.weight.grad is None


def test_a_causal_decoder_does_not_look_ahead():
    ac.manual_seed(0)
    layer = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    decoder = nn.TransformerDecoder(layer, 2).eval()
    target, memory = ac.randn(2, 4, 8), ac.randn(2, 3, 8)
    causal = nn.Transformer.generate_square_subsequent_mask
    whole = decoder(target, memory, causal(4), tgt_is_causal=True)
    first = decoder(target[:, :2], memory, causal(2), tgt_is_causal=True)
    assert_close(first, whole[:, :2])
    ahead = decoder(target, memory)
    assert (ahead[:, 0] - whole[:, 0]).abs().max().item() > 1e-3


def test_bags():
    table = ac.tensor([[0.0, 5.0], [1.0, 2.0], [3.0, 1.0]], requires_grad=True)
    words, starts = ac.tensor([1, 2, 2, 0]), ac.tensor([0, 3, 3])

    def bag(mode, **words_):
        return F.embedding_bag(words, table, starts, mode=mode, **words_).tolist()

    assert bag("sum") == [[7.0, 4.0], [0.0, 0.0], [0.0, 5.0]]
    assert bag("max") == [[3.0, 2.0], [0.0, 0.0], [0.0, 5.0]]
    assert bag("mean", padding_idx=2) == [[1.0, 2.0], [0.0, 0.0], [0.0, 5.0]]
    assert bag("max", padding_idx=-3)[2] == [0.0, 0.0]
    assert len(bag("sum", include_last_offset=True)) == 2
    factors = ac.tensor([1.0, 2.0, 0.0, 1.0], requires_grad=True)
    out = F.embedding_bag(words, table, starts, mode="sum", per_sample_weights=factors)
    assert out[0].tolist() == [7.0, 4.0]
    out.sum().backward()
    assert factors.grad.tolist() == [3.0, 4.0, 4.0, 5.0]
    assert table.grad.tolist() == [[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]]


def test_bags_in_rows_and_the_layer():
    layer = nn.EmbeddingBag(4, 3, mode="sum", padding_idx=0)
    numbers = ac.tensor([[1, 2, 0], [3, 3, 1]])
    expected = layer.weight[numbers.reshape(-1)].reshape(2, 3, 3).sum(1)
    assert_close(layer(numbers), expected)
    assert_close(layer(numbers.reshape(-1), ac.tensor([0, 3])), expected)
    assert layer.weight[0].tolist() == [0.0] * 3
    assert repr(layer) == "EmbeddingBag(4, 3, mode='sum', padding_idx=0)"
    assert not nn.EmbeddingBag.from_pretrained(ac.ones(2, 2)).weight.requires_grad


X = ac.ones(2, 3, 8)
test_errors = refusals(
    r"""
    nn.MultiheadAttention(8, 3) -> ArgumentError: `embed_dim` is 8 and `num_heads` 3;
    nn.MultiheadAttention(4, 2)(X, X, X) -> ShapeError: have shapes \(2, 3, 8\), .* they
        must be \(S, B, 4\)
    nn.MultiheadAttention(8, 2)(X, X, X, ac.ones(2, 4) > 0) -> ShapeError:
        `key_padding_mask` has shape \(2, 4\); .* \(3, 2\)
    nn.MultiheadAttention(8, 2)(X, X, X, attn_mask=ac.ones(3, 3)) -> ShapeError:
        `attn_mask` has shape \(3, 3\); it must be \(2, 2\) or \(6
    nn.MultiheadAttention(8, 2)(X, X, X, ac.ones(3, 2).long()) -> DTypeError:
        `key_padding_mask` has dtype int64; it must be bool, or
    nn.TransformerEncoderLayer(8, 2, activation='sin') -> ArgumentError:
        `activation`='sin'; use 'relu', 'gelu' or a func
    F.embedding_bag(ac.tensor([[0]]), X[0], mode='min') -> ArgumentError: `mode`='min';
        use 'sum', 'mean' or 'max'
    F.embedding_bag(ac.tensor([0, 1]), X[0], ac.tensor([1])) -> ArgumentError: `offsets`
        are \[1\]; they must begin with 0
    F.embedding_bag(ac.tensor([0, 1]), X[0]) -> ArgumentError: needs `offsets`
    F.embedding_bag(ac.tensor([[0]]), X[0], ac.tensor([0])) -> ArgumentError:
        each row of `input`
    F.embedding_bag(ac.ones(2, 2), X[0]) -> DTypeError: embedding_bag: the index has
        dtype float32; it must be int64
    F.embedding_bag(ac.tensor([[0]]), X[0], per_sample_weights=ac.ones(1, 1)) ->
        ArgumentError: are only supported for mode='sum', not 'mean'
    F.embedding_bag(ac.tensor([[0]]), X[0], mode='sum', per_sample_weights=ac.ones(1, 1,
        dtype=ac.float64)) -> DTypeError: must have the same type as `weight`, float32,
    F.embedding_bag(ac.tensor([[0]]), X[0], mode='sum', per_sample_weights=ac.ones(2))
        -> ShapeError: has shape \(2,\); it must have the same shape as the
    F.embedding_bag(ac.tensor([[0]]), X) -> ShapeError: must be \(B, L\) or \(N,\),
    nn.EmbeddingBag(2, 2, _weight=ac.ones(3, 2)) -> ShapeError: EmbeddingBag: `_weight`
        has shape \(3, 2\)
    """,
    globals(),
)

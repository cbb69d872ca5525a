# SPDX-License-Identifier: MIT
"""Sequences of different lengths: padded, packed, and through recurrent layers."""

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.nn.utils import rnn
from autocalc.testing import assert_close

LENGTHS = [2, 5, 3, 3]


def sequences(*shape):
    ac.manual_seed(0)
    return [ac.randn(n, *shape, dtype=ac.float64) for n in LENGTHS]


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("batch_first", [False, True])
def test_padding(side, batch_first):
    given = sequences(2)
    padded = rnn.pad_sequence(given, batch_first, -7.0, side)
    padded = padded if batch_first else padded.transpose(0, 1)
    assert padded.shape == (4, 5, 2)
    for row, x in zip(padded, given, strict=True):
        n = x.shape[0]
        inside, beside = (row[:n], row[n:]) if side == "right" else (row[-n:], row[:-n])
        assert_close(inside, x)
        assert (beside == -7.0).all()


@pytest.mark.parametrize("batch_first", [False, True])
def test_what_is_packed_comes_back(batch_first):
    given = sequences(2)
    padded = rnn.pad_sequence(given, batch_first)
    packed = rnn.pack_padded_sequence(padded, LENGTHS, batch_first, False)
    assert packed.data.shape == (13, 2)
    assert packed.batch_sizes.tolist() == [4, 4, 3, 1, 1]
    assert packed.sorted_indices.tolist() == [1, 2, 3, 0]
    again, lengths = rnn.pad_packed_sequence(packed, batch_first)
    assert_close(again, padded)
    assert lengths.tolist() == LENGTHS
    for a, b in zip(rnn.unpack_sequence(packed), given, strict=True):
        assert_close(a, b)
    longer, _ = rnn.pad_packed_sequence(packed, True, 9.0, 6)
    assert (longer[:, 5:] == 9.0).all()


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_a_layer_takes_each_sequence_as_if_it_were_alone(kind):
    given = sequences(3)
    layer = getattr(ac.nn, kind)(3, 4, 2, bidirectional=True, dtype=ac.float64)
    h0 = ac.randn(4, 4, 4, dtype=ac.float64)
    first = (h0, h0 * 2) if kind == "LSTM" else h0
    out, last = layer(rnn.pack_sequence(given, enforce_sorted=False), first)
    for b, (x, y) in enumerate(zip(given, rnn.unpack_sequence(out), strict=True)):
        one = (h0[:, b], h0[:, b] * 2) if kind == "LSTM" else h0[:, b]
        expected, ended = layer(x, one)
        assert_close(y, expected)
        whole, alone = (last, ended) if kind == "LSTM" else ([last], [ended])
        for a, c in zip(whole, alone, strict=True):
            assert_close(a[:, b], c)


def test_sorted_sequences_keep_no_order():
    given = sorted(sequences(3), key=lambda x: -x.shape[0])
    packed = rnn.pack_sequence(given)
    assert packed.sorted_indices is packed.unsorted_indices is None
    out, h = ac.nn.GRU(3, 4, dropout=0.5, num_layers=2, dtype=ac.float64)(packed)
    assert out.data.shape == (13, 4)
    assert h.shape == (2, 4, 4)


PADDED = ac.ones(3, 2, 1)
test_errors = refusals(
    r"""
    rnn.pack_padded_sequence(PADDED, [1, 3]) -> ArgumentError: `lengths` must be
        sorted in decreasing order, but they are \[1, 3\]\. You can pass `enforce_sort
    rnn.pack_padded_sequence(PADDED, [4, 1]) -> ArgumentError: there must be one for
        each sequence, between 1 and 3\.
    rnn.pack_padded_sequence(ac.ones(3), [3]) -> ShapeError: `input` has shape \(3,\);
        it must be \(T, B, ...\)
    rnn.pack_padded_sequence(ac.ones(0, 2), []) -> ShapeError: `input` has shape \(0,
        2\); an empty tensor cannot be packed
    rnn.pad_packed_sequence(rnn.pack_sequence([PADDED]), total_length=2) ->
        ArgumentError: Expected total_length to be at least the length of the longest
        sequence in input, 3, but it is 2
    rnn.pad_sequence(5) -> ArgumentError: Expected iterable for input sequences, but got
    rnn.pad_sequence([PADDED], padding_side='top') -> ArgumentError:
        `padding_side`='top'; use 'right' or 'left'
    rnn.pad_sequence([PADDED, ac.ones(3)]) -> ShapeError: shapes \(3, 2, 1\), \(3,\);
        give at least one
    ac.nn.GRU(3, 4)(rnn.pack_padded_sequence(PADDED, [3, 1])) -> ShapeError: GRU:
        `PackedSequence.data` has shape \(4, 1\); it must
    """,
    globals(),
)

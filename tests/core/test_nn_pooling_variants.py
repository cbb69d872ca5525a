# SPDX-License-Identifier: MIT
"""Power means, maxima put back, and norms by neighbours; PyTorch is asked elsewhere."""

from __future__ import annotations

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn
from autocalc.nn import functional as F

pytestmark = pytest.mark.core


def test_maxima_go_back_to_where_they_were():
    x = ac.randn(2, 3, 6, 8)
    y, places = nn.MaxPool2d(2, return_indices=True)(x)
    back = nn.MaxUnpool2d(2)(y, places)
    assert back.shape == x.shape
    assert ac.equal(back[back != 0], x[back != 0])
    assert (back != 0).sum().item() == y.numel()
    assert nn.MaxUnpool2d(2)(y, places, (7, 9)).shape == (2, 3, 7, 9)


def test_a_place_named_twice_holds_one_value_and_gives_one_gradient():
    x = ac.tensor([[2.0, 2.0]], requires_grad=True)
    out = F.max_unpool1d(x, ac.tensor([[1, 1]]), 2, 1)
    assert out.tolist() == [[0, 2, 0]]
    out.sum().backward()
    assert x.grad.sum().item() == 1


def test_no_rows_and_one_row_have_no_pairs():
    assert ac.pdist(ac.zeros(0, 3)).shape == (0,)
    assert ac.pdist(ac.zeros(1, 3)).shape == (0,)
    x = ac.ones(2, 3, requires_grad=True)
    ac.pdist(x).sum().backward()
    assert x.grad.tolist() == [[0] * 3] * 2


X, PLACES = ac.ones(1, 2, 4), ac.zeros(1, 2, 4, dtype=ac.int64)


test_what_is_wrong = refusals(
    r"""
    F.lp_pool1d(X, 0, 2) -> ArgumentError: lp_pool1d: `norm_type` is 0\.0
    nn.LPPool2d(ac.inf, 2) -> ArgumentError: LPPool2d: `norm_type` is inf
    nn.LPPool1d(2, 0) -> ArgumentError: LPPool1d: `kernel_size` is 0
    F.max_unpool1d(X, PLACES[0], 2) -> ShapeError: `indices` has shape
    F.max_unpool1d(X, X, 2) -> DTypeError: `indices` has dtype float32
    F.max_unpool1d(X, PLACES, 2, output_size=4) -> ArgumentError: max_unpool1d:
    F.max_unpool1d(X, PLACES + 8, 2) -> KernelDataError: 8
    F.max_unpool1d(X[..., :0], PLACES[..., :0], 2) -> ShapeError: are empty
    nn.MaxUnpool2d(2)(X, PLACES, 2) -> ArgumentError: `output_size` is
    F.local_response_norm(X, 0) -> ArgumentError: `size` is 0; it must be
    F.local_response_norm(X[0], 2) -> ShapeError: it must be \(N, C, ...\)
    nn.LocalResponseNorm(-1) -> ArgumentError: LocalResponseNorm: `size`
    ac.pdist(X) -> ShapeError: pdist: `input` has shape .* \[N, M\]
    ac.pdist(X[0], -1) -> ArgumentError: pdist: `p` is -1\.0; it must be 0
    F.channel_shuffle(X, 3) -> ShapeError: must be a multiple of groups = 3
    nn.ChannelShuffle(0)(X) -> ArgumentError: `groups` is 0; it must be an
    """,
    globals(),
)

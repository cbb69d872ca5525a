# SPDX-License-Identifier: MIT
"""Modules and functions of `nn`, with the shapes of their inputs for one example."""

from __future__ import annotations

import numpy as np

import autocalc as ac
from autocalc import nn
from autocalc.nn import functional as F


def numbers(*shape, seed=0):
    """Return float64 numbers of a normal distribution, the same in each run."""
    values = np.random.default_rng([seed, *shape]).normal(size=shape)
    return ac.tensor(values, dtype=ac.float64)


def first(module):
    """Return a function of the first result of a module, such as an LSTM."""
    return lambda *args: module(*args)[0]


MODULES = {
    "Linear": (lambda: nn.Linear(4, 3), [(4,)]),
    "Linear of rows": (lambda: nn.Linear(4, 3), [(2, 5, 4)]),
    "Linear without bias": (lambda: nn.Linear(4, 3, bias=False), [(5, 4)]),
    "Bilinear": (lambda: nn.Bilinear(3, 2, 4), [(5, 3), (5, 2)]),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, padding=1), [(2, 4, 9)]),
    "Conv1d with groups": (lambda: nn.Conv1d(4, 6, 3, groups=2), [(2, 4, 9)]),
    "Conv1d, one image": (lambda: nn.Conv1d(4, 6, 3, stride=2), [(4, 9)]),
    "Conv2d": (lambda: nn.Conv2d(2, 4, 3, padding=1), [(2, 2, 6, 5)]),
    "Conv2d with groups": (lambda: nn.Conv2d(4, 8, 3, groups=4), [(1, 4, 6, 5)]),
    "Conv2d, one image": (lambda: nn.Conv2d(2, 4, 3, dilation=2), [(2, 7, 8)]),
    "Conv2d circular": (
        lambda: nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular"), [(2, 6, 6)]),
    "Conv3d": (lambda: nn.Conv3d(2, 3, 2), [(1, 2, 4, 4, 4)]),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 2, 3, groups=2), [(2, 4, 5)]),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 2, 3, stride=2), [(2, 3, 4, 4)]),
    "LayerNorm": (lambda: nn.LayerNorm(4), [(5, 4)]),
    "LayerNorm of planes": (lambda: nn.LayerNorm((3, 4)), [(2, 3, 4)]),
    "RMSNorm": (lambda: nn.RMSNorm(4), [(5, 4)]),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), [(2, 4, 5)]),
    "InstanceNorm": (lambda: nn.InstanceNorm2d(3), [(2, 3, 4, 4)]),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(4), [(5, 4)]),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3), [(2, 3, 4, 4)]),
    "MultiheadAttention": (
        lambda: first(nn.MultiheadAttention(4, 2, batch_first=True).double()),
        [(2, 3, 4), (2, 5, 4), (2, 5, 4)]),
    "MultiheadAttention, one": (
        lambda: first(nn.MultiheadAttention(4, 2).double()), [(3, 4)] * 3),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), [(2, 3, 4)]),
    "TransformerDecoderLayer": (
        lambda: nn.TransformerDecoderLayer(4, 2, 8), [(3, 2, 4), (5, 2, 4)]),
    "RNN": (lambda: first(nn.RNN(3, 4).double()), [(5, 2, 3)]),
    "LSTM": (lambda: first(nn.LSTM(3, 4, 2).double()), [(5, 2, 3)]),
    "LSTM in both directions": (
        lambda: first(nn.LSTM(3, 4, bidirectional=True).double()), [(5, 3)]),
    "GRU": (lambda: first(nn.GRU(3, 4, batch_first=True).double()), [(2, 5, 3)]),
    "LSTMCell": (lambda: first(nn.LSTMCell(3, 4).double()), [(2, 3)]),
    "GRUCell": (lambda: nn.GRUCell(3, 4), [(3,)]),
    "MaxPool1d": (lambda: nn.MaxPool1d(2), [(2, 3, 8)]),
    "MaxPool2d": (lambda: nn.MaxPool2d(3, 2, 1), [(2, 3, 7, 6)]),
    "MaxPool2d, one image": (lambda: nn.MaxPool2d(2), [(3, 6, 6)]),
    "MaxPool3d": (lambda: nn.MaxPool3d(2), [(1, 2, 4, 4, 4)]),
    "AvgPool1d": (lambda: nn.AvgPool1d(2), [(3, 8)]),
    "AvgPool2d": (lambda: nn.AvgPool2d(3, 2, 1), [(2, 3, 7, 6)]),
    "AvgPool3d": (lambda: nn.AvgPool3d(2), [(2, 4, 4, 4)]),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((2, 3)), [(2, 3, 7, 5)]),
    "AdaptiveMaxPool1d": (lambda: nn.AdaptiveMaxPool1d(2), [(2, 3, 5)]),
    "LPPool2d": (lambda: nn.LPPool2d(2, 2), [(2, 3, 4, 4)]),
    "Upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), [(2, 3, 4, 3)]),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), [(2, 8, 3, 3)]),
    "Unfold": (lambda: nn.Unfold(2), [(2, 3, 4, 4)]),
    "Fold": (lambda: nn.Fold((4, 4), 2), [(2, 12, 9)]),
    "ZeroPad2d": (lambda: nn.ZeroPad2d(1), [(3, 4, 4)]),
    "ReflectionPad1d": (lambda: nn.ReflectionPad1d(2), [(3, 5)]),
    "PReLU": (lambda: nn.PReLU(3), [(2, 3, 4)]),
    "GELU": (lambda: nn.GELU("tanh"), [(3, 4)]),
    "GLU": (nn.GLU, [(3, 4)]),
    "Softmax": (lambda: nn.Softmax(-1), [(3, 4)]),
    "LogSoftmax": (lambda: nn.LogSoftmax(0), [(3, 4)]),
    "Flatten": (lambda: nn.Flatten(0), [(3, 4)]),
    "CosineSimilarity": (lambda: nn.CosineSimilarity(0), [(5,), (5,)]),
    "PairwiseDistance": (nn.PairwiseDistance, [(3, 5), (3, 5)]),
    "MSELoss": (nn.MSELoss, [(3, 4), (3, 4)]),
    "L1Loss": (lambda: nn.L1Loss(reduction="sum"), [(3, 4), (3, 4)]),
    "HuberLoss": (nn.HuberLoss, [(3, 4), (3, 4)]),
    "SmoothL1Loss": (lambda: nn.SmoothL1Loss(reduction="none"), [(3, 4), (3, 4)]),
    "KLDivLoss": (lambda: nn.KLDivLoss(reduction="sum", log_target=True),
                  [(3, 4), (3, 4)]),
    "BCEWithLogitsLoss": (
        lambda: lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
        [(3, 4), (3, 4)]),
    "GaussianNLLLoss": (
        lambda: lambda x, y, v: F.gaussian_nll_loss(x, y, v.exp()), [(3, 4)] * 3),
    "CosineEmbeddingLoss": (
        lambda: lambda x, y: F.cosine_embedding_loss(x, y, ac.tensor([1, -1, 1])),
        [(3, 4), (3, 4)]),
    "TripletMarginLoss": (nn.TripletMarginLoss, [(3, 4)] * 3),
    "CrossEntropyLoss of probabilities": (
        lambda: lambda x, y: F.cross_entropy(x, y.softmax(1)), [(3, 4), (3, 4)]),
    "attention": (lambda: F.scaled_dot_product_attention, [(2, 3, 5, 4)] * 3),
    "causal attention": (
        lambda: lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        [(3, 5, 4)] * 3),
    "normalize": (lambda: lambda x: F.normalize(x, dim=-1), [(3, 4)]),
    "interpolate": (
        lambda: lambda x: F.interpolate(x, size=(5, 7), mode="bicubic"),
        [(1, 2, 4, 4)]),
    "grid_sample": (
        lambda: lambda x, g: F.grid_sample(x, g.tanh(), align_corners=False),
        [(2, 3, 4, 4), (2, 3, 3, 2)]),
}  # fmt: skip


def mlp():
    """Return a small network, with the same parameters each time."""
    ac.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 5), nn.GELU(), nn.Linear(5, 3)).double()

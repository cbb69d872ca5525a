# SPDX-License-Identifier: MIT
"""Small networks and their data, the same on all ranks."""

from __future__ import annotations

import numpy as np

import autocalc as ac
from autocalc import nn
from autocalc.nn import functional as F

#: Samples of a step, on all ranks together: 1, 2, 3 and 4 ranks get as many each.
BATCH = 12


class CharLM(nn.Module):
    """The decoder of `autocalc train charlm`, small."""

    def __init__(self):
        super().__init__()
        self.decoder = ac.models.Decoder(16, 8, 16, 2, 1)

    def forward(self, inputs, targets):
        return self.decoder.loss(inputs, targets)


class CNN(nn.Module):
    """What `autocalc train mnist` has, small; `norm` follows the convolution."""

    def __init__(self, norm=nn.Identity):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 6, 3, padding=1), norm(6), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(6, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 4),
        )  # fmt: skip

    def forward(self, images, labels):
        return F.cross_entropy(self.body(images), labels)


def identity(channels):
    return nn.Identity()


NETWORKS = {
    "charlm": CharLM,
    "cnn": lambda: CNN(identity),
    "cnn-norm": lambda: CNN(nn.SyncBatchNorm),
}


def batch(name, step, dtype):
    """Return the samples of a step."""
    draw = np.random.default_rng(1000 + step)
    if name == "charlm":
        first = draw.integers(0, 16, (BATCH, 1))
        tokens = (first + 3 * np.arange(9)) % 16
        return ac.tensor(tokens[:, :-1]), ac.tensor(tokens[:, 1:])
    labels = draw.integers(0, 4, BATCH)
    images = draw.standard_normal((BATCH, 1, 8, 8))
    images.reshape(BATCH, 4, 16)[np.arange(BATCH), labels] += 1
    return ac.tensor(images).to(dtype), ac.tensor(labels)


def part(tensors, rank, n):
    """Return this rank's samples."""
    return [x[rank::n] for x in tensors]

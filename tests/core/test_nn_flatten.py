# SPDX-License-Identifier: MIT
"""Flatten."""

from __future__ import annotations

import autocalc as ac
from autocalc import nn


def test_the_batch_stays_by_default():
    x = ac.arange(24).reshape(2, 3, 4)
    assert nn.Flatten()(x).tolist() == x.reshape(2, 12).tolist()
    assert nn.Flatten(0, 1)(x).shape == (6, 4)
    assert nn.Flatten(0)(x).shape == (24,)
    assert repr(nn.Flatten(0, 1)) == "Flatten(start_dim=0, end_dim=1)"

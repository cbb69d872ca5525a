# SPDX-License-Identifier: MIT
"""Muon's steps are PyTorch's, whose rounding to bfloat16 is left out here."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

SETTINGS = [
    {},
    {"lr": 0.05, "weight_decay": 0.3, "adjust_lr_fn": "match_rms_adamw"},
    {"momentum": 0.6, "nesterov": False, "ns_steps": 2, "eps": 1e-3},
    {"ns_coefficients": (2.0, -1.5, 0.5), "adjust_lr_fn": "original"},
]


def steps(library, settings, count=6):
    """Return parameters after steps, and the optimizer."""
    rng = np.random.default_rng(3)
    params = []
    for shape in ((4, 7), (7, 4), (3, 3)):
        values = library.tensor(rng.normal(size=shape), requires_grad=True)
        params.append(values)
    muon = library.optim.Muon(params, **settings)
    for _ in range(count):
        for p in params:
            p.grad = library.tensor(rng.normal(size=tuple(p.shape)))
        muon.step()
    return params, muon


@pytest.mark.parametrize("settings", SETTINGS)
def test_steps_in_float64(settings, monkeypatch):
    monkeypatch.setattr(torch.Tensor, "bfloat16", torch.Tensor.clone)
    mine, muon = steps(ac, settings)
    theirs, other = steps(torch, settings)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.detach(), b.detach(), rtol=1e-9, atol=1e-12)
    states = muon.state_dict()["state"], other.state_dict()["state"]
    assert [list(s) for s in states[0].values()] == [
        list(s) for s in states[1].values()
    ]
    np.testing.assert_allclose(
        states[0][0]["momentum_buffer"], states[1][0]["momentum_buffer"], rtol=1e-12
    )
    muon.load_state_dict(other.state_dict())


def test_pytorch_s_own_steps_differ_by_what_bfloat16_rounds():
    """Two digits of an update, of which six are made with a rate of 0.001."""
    mine, theirs = steps(ac, {})[0], steps(torch, {})[0]
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.detach(), b.detach(), atol=6 * 0.001 * 0.05)

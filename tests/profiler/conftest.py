# SPDX-License-Identifier: MIT
"""A small network with its step, and a machine whose peaks are known."""

from __future__ import annotations

import pytest
from tests.dispatcher import tuning

import autocalc as ac
from autocalc.profiler import Peaks, _peaks


class Net(ac.nn.Module):
    """Layers within another module, and one next to it."""

    def __init__(self, size, blocks):
        super().__init__()
        layers = [(ac.nn.Linear(size, size), ac.nn.GELU()) for _ in range(blocks)]
        self.block = ac.nn.Sequential(*(one for pair in layers for one in pair))
        self.out = ac.nn.Linear(size, 4)

    def forward(self, x):
        return self.out(self.block(x))


class Training:
    """A step of training, eager or compiled."""

    def __init__(self, size=32, batch=16, blocks=1):
        self.net = Net(size, blocks)
        self.optimizer = ac.optim.AdamW(self.net.parameters(), lr=1e-3)
        self.x = ac.randn(batch, size)
        self.y = ac.randint(0, 4, (batch,))
        self.compiled = ac.compile(self.step)

    def step(self):
        self.optimizer.zero_grad()
        loss = ac.nn.functional.cross_entropy(self.net(self.x), self.y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


@pytest.fixture
def make_training():
    return Training


@pytest.fixture
def training(make_training):
    return make_training()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Let peaks be kept in a new folder, and none be known."""
    from tests.dispatcher import config

    monkeypatch.setenv("AUTOCALC_CACHE_DIR", str(tmp_path / "cache"))
    config.reload()
    _peaks.forget()
    yield tmp_path / "cache"
    monkeypatch.undo()
    config.reload()
    _peaks.forget()


@pytest.fixture
def known(cache, monkeypatch):
    """The peaks of a machine of 100 GFLOP/s and 10 GB/s, 40 in its caches."""
    flops = {"float32": 1e11, "float64": 5e10}
    bandwidth = ((1e4, 4e10), (1e6, 1e10))
    threads = ac.get_num_threads()
    found = Peaks("paper", threads, flops, bandwidth, tuning.packages())
    monkeypatch.setitem(_peaks._known, threads, found)
    return found

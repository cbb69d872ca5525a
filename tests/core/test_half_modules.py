# SPDX-License-Identifier: MIT
"""Modules, optimizers and clipping in half precision: one rounding of each result."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from tests.core.half_checks import check, check_rounded, tensors_in

import autocalc as ac
from autocalc import nn
from autocalc.nn import functional as F
from autocalc.nn.utils import parametrizations

pytestmark = pytest.mark.core

HALVES = [ac.float16, ac.bfloat16]
KINDS = ac.float32, ac.float64

MODULES = {
    "batch_norm": (lambda: nn.BatchNorm1d(3), (4, 3)),
    "batch_norm of images": (lambda: nn.BatchNorm2d(3, momentum=0.3), (4, 3, 2, 2)),
    "instance_norm": (
        lambda: nn.InstanceNorm1d(3, affine=True, track_running_stats=True),
        (4, 3, 5),
    ),
    "linear": (lambda: nn.Linear(3, 4), (4, 3)),
    "conv": (lambda: nn.Conv2d(2, 3, 3), (1, 2, 5, 5)),
    "lstm": (lambda: nn.LSTM(3, 4), (5, 2, 3)),
    "lstm, projected": (lambda: nn.LSTM(3, 4, proj_size=2), (5, 2, 3)),
    "gru": (lambda: nn.GRU(3, 4), (5, 2, 3)),
    "rnn": (lambda: nn.RNN(3, 4), (5, 2, 3)),
    "lstm cell": (lambda: nn.LSTMCell(3, 4), (4, 3)),
    "gru cell": (lambda: nn.GRUCell(3, 4), (4, 3)),
    "rnn cell": (lambda: nn.RNNCell(3, 4, nonlinearity="relu"), (4, 3)),
    "prelu": (lambda: nn.PReLU(3), (4, 3)),
}


@pytest.fixture(params=HALVES, ids=lambda dtype: dtype.name)
def half(request):
    return request.param


@pytest.mark.parametrize("scale", [1, 300])
@pytest.mark.parametrize("name", MODULES)
def test_a_module_and_what_it_keeps(name, scale, half):
    """Results, running statistics and the gradients of parameters."""
    make, shape = MODULES[name]
    ac.manual_seed(0)
    module = make().to(half)
    weights = [p.detach() for p in module.parameters()]
    x = ac.tensor(np.random.default_rng(0).standard_normal(shape) * scale).to(half)

    def results(weights, x):
        mine = copy.deepcopy(module).to(x.dtype)
        with ac.no_grad():
            for p, value in zip(mine.parameters(), weights, strict=True):
                p.copy_(value)
        out = tensors_in(mine(x))
        slopes = ac.autograd.grad(out[0].sum(), list(mine.parameters()))
        return [*(y.detach() for y in out), *mine.buffers(), *slopes]

    check(results, half, (weights, x), {}, name, held="all")


@pytest.mark.parametrize("scale", [1, 500, 1e-3])
@pytest.mark.parametrize(
    "normed",
    [
        nn.utils.weight_norm,
        parametrizations.weight_norm,
        nn.utils.spectral_norm,
        parametrizations.spectral_norm,
    ],
    ids=["weight", "weight, parametrized", "spectral", "spectral, parametrized"],
)
def test_a_weight_with_a_norm(normed, scale, half):
    def weight(dtype):
        ac.manual_seed(0)
        layer = nn.Linear(3, 4)
        with ac.no_grad():
            layer.weight.mul_(scale)
        layer = normed(layer).to(half).to(dtype).eval()
        layer(ac.ones(1, 3, dtype=dtype))
        return layer.weight.detach().double().numpy()

    check_rounded(*map(weight, (half, *KINDS)), half, "weight")


OPTIMIZERS = {
    "SGD": {"momentum": 0.9, "weight_decay": 0.1, "nesterov": True},
    "Adam": {"weight_decay": 0.1},
    "AdamW": {"amsgrad": True},
    "NAdam": {"weight_decay": 0.1},
    "RAdam": {},
    "Adamax": {},
    "Adagrad": {},
    "Adadelta": {},
    "RMSprop": {"centered": True, "momentum": 0.9},
    "Rprop": {},
    "ASGD": {},
    "Adafactor": {},
    "Muon": {},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_of_an_optimizer(name, half):
    def stepped(dtype):
        start = ac.tensor([[1.5, -2.25], [0.5, 3.0]])
        p = nn.Parameter(start.to(half).to(dtype))
        settings = {"lr": 0.1, **OPTIMIZERS[name]}
        if name == "Adafactor":  # by default that of the dtype
            settings["eps"] = (1e-3, 1e-3)
        optimizer = getattr(ac.optim, name)([p], **settings)
        p.grad = ac.tensor([[300.0, -200.0], [1e-3, 5.0]]).to(half).to(dtype)
        optimizer.step()
        assert all(
            x.dtype is dtype
            for x in tensors_in(optimizer.state_dict()["state"][0])
            if x.shape == p.shape and x.is_floating_point()
        )
        return p.detach().double().numpy()

    check_rounded(*map(stepped, (half, *KINDS)), half, name)


@pytest.mark.parametrize("scale", [1, 300, 30000, 1e-4])
@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, math.inf])
def test_clipping_by_the_norm(order, scale):
    def clipped(dtype):
        params = [nn.Parameter(ac.zeros(n, dtype=dtype)) for n in (4, 3)]
        for p, g in zip(params, ([1.0, -2, 2, 0.3], [2.0, 1, 1.5]), strict=True):
            p.grad = (ac.tensor(g) * scale).half().to(dtype)
        norm = nn.utils.clip_grad_norm_(params, 0.7 * scale, order)
        assert norm.dtype is dtype
        return [x.double().numpy() for x in (norm, *(p.grad for p in params))]

    for found in zip(*map(clipped, (ac.float16, *KINDS)), strict=True):
        check_rounded(*found, ac.float16, f"norm of order {order}")


@pytest.mark.parametrize("lookup", [F.embedding, F.embedding_bag])
@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
def test_rows_of_a_table_that_are_shortened(half, order, lookup):
    start = np.random.default_rng(0).standard_normal((5, 4)) * 300

    def shortened(dtype):
        weight = ac.tensor(start).to(half).to(dtype)
        rows = ac.tensor([[0, 2, 2]])
        lookup(rows, weight, max_norm=150.0, norm_type=order)
        return weight.double().numpy()

    found = shortened(half)
    assert np.abs(found).sum() < 0.9 * np.abs(start).sum()
    check_rounded(found, *map(shortened, KINDS), half, "rows")


def test_averages_of_weights(half):
    average = ac.optim.swa_utils.get_ema_avg_fn(0.999)
    a, b = ac.tensor([60000.0, 1.0]).to(half), ac.tensor([-60000.0, 3.0]).to(half)
    check(average, half, (a, b, 3), {}, "ema", held="all")
    check(ac.optim.swa_utils.get_swa_avg_fn(), half, (a, b, 3), {}, "swa", held="all")


@pytest.mark.parametrize("name", ["exponential_", "cauchy_", "log_normal_"])
def test_draws_are_those_of_float32(name, half):
    def drawn(dtype):
        ac.manual_seed(1)
        return getattr(ac.empty(100, dtype=dtype), name)()

    assert ac.equal(drawn(half), drawn(ac.float32).to(half))

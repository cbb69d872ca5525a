# SPDX-License-Identifier: MIT
"""`histogram` and `histogramdd`: PyTorch's counts, edges, dtypes and refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(40, 7))
POINTS = RNG.normal(size=(20, 15, 3))
#: Of eighths, many of which are on edges, and exactly so.
EIGHTHS = RNG.integers(-16, 17, size=(40, 7)) / 8.0
WEIGHTS = RNG.uniform(size=POINTS.shape[:-1])
NAN, INF = float("nan"), float("inf")

CASES = {
    "bins": lambda m, x: m.histogram(x, 10),
    "a method": lambda m, x: x.histogram(bins=10, range=(-1.0, 1.0)),
    "a range": lambda m, x: m.histogram(x, 7, range=(-1, 0.3)),
    "no range": lambda m, x: m.histogram(x, 7, range=(1.0, 1.0)),
    "edges": lambda m, x: m.histogram(x, m.tensor([-1.0, 0.1, 0.5]).to(x.dtype)),
    "equal edges": lambda m, x: m.histogram(x, m.tensor([-1.0, 0.5, 0.5]).to(x.dtype)),
    "one edge": lambda m, x: m.histogram(x, m.tensor([0.5]).to(x.dtype)),
    "density": lambda m, x: m.histogram(x, 10, density=True),
    "weights": lambda m, x: m.histogram(x, 10, weight=x * x, density=True),
    "weights of another shape": lambda m, x: m.histogram(
        x, 10, weight=(x * x).reshape(-1)
    ),
    "density of edges": lambda m, x: m.histogram(
        x, m.tensor([-1.0, 0.1, 0.5]).to(x.dtype), density=True
    ),
    "equal values": lambda m, x: m.histogram(x * 0 + 3, 5),
    "nothing": lambda m, x: m.histogram(x[:0], 5),
    "no dimension": lambda m, x: m.histogram(x[0, 0], 5),
    "NaN in a range": lambda m, x: m.histogram(x / x.round(), 5, range=(0.0, 1.0)),
    "NaN between edges": lambda m, x: m.histogram(
        x / x.round(), m.tensor([0.0, 0.9, INF]).to(x.dtype)
    ),
    "NaN": lambda m, x: m.histogram(x * NAN, 5),
    "infinity": lambda m, x: m.histogram(x * INF, 5),
    "integers": lambda m, x: m.histogram(x.long(), 5),
    "booleans": lambda m, x: m.histogram(x > 0, 5),
    "no bins": lambda m, x: m.histogram(x, 0),
    "ends that fall": lambda m, x: m.histogram(x, 5, range=(1.0, 0.0)),
    "infinite ends": lambda m, x: m.histogram(x, 5, range=(0.0, INF)),
    "edges of two dimensions": lambda m, x: m.histogram(x, x),
    "edges of integers": lambda m, x: m.histogram(x, m.tensor([0, 1])),
    "weights of integers": lambda m, x: m.histogram(x, 5, weight=x.long()),
    "weights of another number": lambda m, x: m.histogram(x, 5, weight=x[:3]),
    "a float of bins": lambda m, x: m.histogram(x, 5.0),
    "a range with edges": lambda m, x: m.histogram(
        x, m.tensor([0.0, 0.9]).to(x.dtype), range=(0.0, 1.0)
    ),
}


def outcome(m, call, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = call(m, given)
        except Exception as error:
            return type(error).__name__
    edges = found.bin_edges
    edges = [edges] if isinstance(edges, m.Tensor) else list(edges)
    return [found.hist.numpy(), *(edge.numpy() for edge in edges)]


def compare(case, array):
    ours, theirs = (
        outcome(ac, case, ac.tensor(array)),
        outcome(torch, case, torch.tensor(array)),
    )
    if isinstance(theirs, str):
        assert isinstance(ours, str), theirs
        return
    assert not isinstance(ours, str), ours
    for found, wanted in zip(ours, theirs, strict=True):
        assert found.dtype == wanted.dtype
        rtol = 1e-5 if found.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(found, wanted, rtol, rtol / 10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("title", CASES)
def test_histograms(title, dtype):
    compare(CASES[title], VALUES.astype(dtype))


GRIDS = {
    "bins": lambda m, x: m.histogramdd(x, 3),
    "bins of each": lambda m, x: m.histogramdd(x, [3, 4, 5]),
    "a tuple": lambda m, x: m.histogramdd(x, (3, 4, 5)),
    "a range": lambda m, x: m.histogramdd(
        x, [3, 4, 5], range=[-1.0, 1.0, 0.0, 0.0, 0.2, 2.0]
    ),
    "edges": lambda m, x: m.histogramdd(
        x, [m.tensor(e).to(x.dtype) for e in ([-1.0, 0.5], [0.0, 0.1, 0.2], [0.0, 9.0])]
    ),
    "density": lambda m, x: m.histogramdd(x, [3, 4, 5], density=True),
    "weights": lambda m, x: m.histogramdd(
        x, [3, 4, 5], weight=m.tensor(WEIGHTS).to(x.dtype), density=True
    ),
    "weights of another shape": lambda m, x: m.histogramdd(
        x, 3, weight=m.tensor(WEIGHTS).to(x.dtype).reshape(-1)
    ),
    "no points": lambda m, x: m.histogramdd(x[:0], 3),
    "one point": lambda m, x: m.histogramdd(x[0, 0], 3),
    "rows": lambda m, x: m.histogramdd(x[0], 3),
    "NaN": lambda m, x: m.histogramdd(x * NAN, 3),
    "NaN in a range": lambda m, x: m.histogramdd(
        x / x.round(), 3, range=[-1.0, 1.0, -2.0, 2.0, -1.5, 2.0]
    ),
    "too few bins": lambda m, x: m.histogramdd(x, [3, 4]),
    "too few ends": lambda m, x: m.histogramdd(x, 3, range=[0.0, 1.0]),
    "no bins": lambda m, x: m.histogramdd(x, [3, 0, 2]),
    "integers": lambda m, x: m.histogramdd(x.long(), 3),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bins", [1, 2, 4, 16])
@pytest.mark.parametrize("ends", [None, (-1.0, 1.0), (0.0, 0.0), (0.5, 4.5)])
def test_values_on_edges(bins, ends, dtype):
    eighths = EIGHTHS.astype(dtype)
    compare(lambda m, x: m.histogram(x, bins, range=ends), eighths)
    edges = np.linspace(-1, 2, bins + 1).astype(dtype)
    compare(lambda m, x: m.histogram(x, m.tensor(edges)), eighths)
    compare(
        lambda m, x: m.histogramdd(x[:, :2], bins, range=ends and ends * 2), eighths
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("title", GRIDS)
def test_grids(title, dtype):
    compare(GRIDS[title], POINTS.astype(dtype))


def test_an_out():
    for m in (ac, torch):
        hist, edges = m.zeros(4), m.zeros(5)
        m.histogram(m.ones(3), 4, out=(hist, edges))
        assert hist.tolist() == [0.0, 0.0, 3.0, 0.0]
        assert edges.tolist() == [0.5, 0.75, 1.0, 1.25, 1.5]

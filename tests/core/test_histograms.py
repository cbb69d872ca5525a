# SPDX-License-Identifier: MIT
"""`histogram` and `histogramdd`: NumPy's counts, ends, weights, what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.errors import ArgumentError, GradError

pytestmark = pytest.mark.core

RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(40, 7)).round(1)  # some are at edges
WEIGHTS = RNG.uniform(size=VALUES.shape)
POINTS = RNG.normal(size=(300, 3)).round(1)


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ends", [None, (-1.0, 0.5), (0, 0)])
@pytest.mark.parametrize("bins", [1, 7, 40])
def test_equal_bins(bins, ends, weighted, density):
    weights = WEIGHTS if weighted else None
    wanted = np.histogram(VALUES, bins, ends, density, weights)
    found = ac.histogram(
        ac.tensor(VALUES),
        bins,
        range=ends,
        weight=ac.tensor(weights) if weighted else None,
        density=density,
    )
    np.testing.assert_allclose(found.hist.numpy(), wanted[0], 1e-12)
    np.testing.assert_allclose(found.bin_edges.numpy(), wanted[1], 1e-14, 1e-15)
    assert found.hist.dtype is found.bin_edges.dtype is ac.float64


@pytest.mark.parametrize("density", [False, True])
def test_edges(density):
    edges = np.array([-1.0, -0.5, 0.1, 2.0])
    wanted, _ = np.histogram(VALUES, edges, density=density, weights=WEIGHTS)
    given = ac.tensor(edges)
    found = ac.tensor(VALUES).histogram(
        given, weight=ac.tensor(WEIGHTS), density=density
    )
    np.testing.assert_allclose(found.hist.numpy(), wanted, 1e-12)
    assert found.bin_edges.tolist() == edges.tolist()
    given.zero_()
    assert found.bin_edges.tolist() == edges.tolist()


def test_ends_that_are_equal_move_apart():
    found = ac.histogram(ac.full((3,), 2.0), 4)
    assert found.bin_edges.tolist() == [1.5, 1.75, 2.0, 2.25, 2.5]
    assert found.hist.tolist() == [0.0, 0.0, 3.0, 0.0]
    found = ac.histogram(ac.zeros(0), 2)
    assert found.bin_edges.tolist() == [0.0, 0.5, 1.0]
    assert found.hist.tolist() == [0.0, 0.0]
    assert ac.histogram(ac.zeros(0), 2, density=True).hist.isnan().all()


def test_the_last_bin_has_both_its_edges():
    x = ac.tensor([0.0, 1.0, 2.0, 2.0, 2.5, -0.1])
    assert ac.histogram(x, 2, range=(0, 2)).hist.tolist() == [1.0, 3.0]
    assert ac.histogram(x, ac.tensor([0.0, 2.0, 2.0])).hist.tolist() == [2.0, 2.0]


def test_what_is_no_number_is_left_out_between_known_ends():
    x = ac.tensor([0.0, math.nan, 1.0, math.inf, -math.inf])
    assert ac.histogram(x, 2, range=(0, 1)).hist.tolist() == [1.0, 1.0]
    assert ac.histogram(x, ac.tensor([0.0, 2.0])).hist.tolist() == [2.0]
    ends = ac.tensor([-math.inf, 0.0, math.inf])
    assert ac.histogram(x, ends).hist.tolist() == [1.0, 3.0]
    for bad in (math.nan, math.inf):
        with pytest.raises(ArgumentError, match="histogram: the bins would be"):
            ac.histogram(ac.tensor([0.0, bad]), 2)


def test_there_is_no_gradient():
    x = ac.ones(3, requires_grad=True)
    found = ac.histogram(x, 2, weight=ac.ones(3, requires_grad=True))
    assert not found.hist.requires_grad
    assert not found.bin_edges.requires_grad
    assert not ac.histogramdd(x[:, None], 2).hist.requires_grad


def test_results_in_tensors_of_one_s_own():
    hist, edges = ac.zeros(2), ac.zeros(0)
    found = ac.histogram(ac.tensor([0.0, 1.0, 1.0]), 2, out=(hist, edges))
    assert found.hist is hist
    assert found.bin_edges is edges
    assert hist.tolist() == [1.0, 2.0]
    assert edges.tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(ArgumentError, match="histogram: `out` is Tensor"):
        ac.histogram(ac.ones(2), 2, out=hist)
    with pytest.raises(GradError, match="histogram: functions with out="):
        ac.histogram(ac.ones(2), 2, out=(ac.zeros(2, requires_grad=True), edges))


@pytest.mark.parametrize("density", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ends", [None, (-1.0, 0.5, -2.0, 2.0, 0.0, 0.0)])
@pytest.mark.parametrize("bins", [3, [2, 5, 4]])
def test_grids(bins, ends, weighted, density):
    weights = WEIGHTS.ravel()[:280] if weighted else None
    points = POINTS[:280]
    pairs = None if ends is None else [ends[:2], ends[2:4], ends[4:]]
    wanted = np.histogramdd(points, bins, pairs, density, weights)
    shape = (28, 10)
    found = ac.histogramdd(
        ac.tensor(points.reshape(*shape, 3)),
        bins,
        range=ends,
        weight=ac.tensor(weights.reshape(shape)) if weighted else None,
        density=density,
    )
    np.testing.assert_allclose(found.hist.numpy(), wanted[0], 1e-12)
    for edge, other in zip(found.bin_edges, wanted[1], strict=True):
        np.testing.assert_allclose(edge.numpy(), other, 1e-14, 1e-15)


def test_grids_of_given_edges():
    edges = [np.array([-1.0, 0.0, 2.0]), np.array([-9.0, 9.0]), np.arange(-2.0, 3)]
    wanted, _ = np.histogramdd(POINTS, edges)
    found = ac.histogramdd(ac.tensor(POINTS), [ac.tensor(e) for e in edges])
    np.testing.assert_array_equal(found.hist.numpy(), wanted)
    assert isinstance(found.bin_edges, tuple)
    assert [e.tolist() for e in found.bin_edges] == [e.tolist() for e in edges]
    assert ac.histogramdd(ac.zeros(0, 2), 2).hist.tolist() == [[0.0, 0.0]] * 2


X = ac.ones(3)
XY = ac.ones(3, 2)


test_what_is_refused = refusals(
    r"""
    ac.histogram(ac.tensor([1, 2]), 2) -> DTypeError: histogram: needs float32 or
    ac.histogram([1.0], 2) -> DTypeError: histogram: needs a Tensor
    ac.histogram(X, 0) -> ArgumentError: histogram: `bins` is 0; it must be at least 1\.
    ac.histogram(X, 2.5) -> DTypeError: `bins` is 2.5; it must be an int
    ac.histogram(X, True) -> DTypeError: `bins` is True; it must be
    ac.histogram(X, 'a') -> DTypeError: `bins` is 'a'; it must be an int
    ac.histogram(X, 2, range=(1, 0)) -> ArgumentError: the bins would be between 1 and
        0; both must be finite
    ac.histogram(X, 2, range=(0, math.inf)) -> ArgumentError: 0 and inf
    ac.histogram(X, 2, range=(0, 1, 2)) -> ArgumentError: `range` has 3 numbers; for 1
        dimensions it needs 2, two for each\.
    ac.histogram(X, 2, range=3) -> DTypeError: `range` is 3; it must be a
    ac.histogram(X, 2, range='ab') -> DTypeError: `range` is 'ab'
    ac.histogram(X, 2, range=(0, 'b')) -> DTypeError: `range` is 'b'
    ac.histogram(X, X, range=(0, 1)) -> ArgumentError: `range`=\(0, 1\) was given
        together with edges; it can only be used with
    ac.histogram(X, ac.tensor([1.0, 0.0])) -> ArgumentError: the edges \[1\.0, 0\.0\]
        are not in ascending order\.
    ac.histogram(X, X * math.nan) -> ArgumentError: histogram: the edges \[nan,
    ac.histogram(X, XY) -> ShapeError: the edges have shape .3, 2.
    ac.histogram(X, ac.zeros(1)) -> ShapeError: the edges have shape .1,.
    ac.histogram(X, X.double()) -> DTypeError: input tensor and bins tensors should
        have the same dtype: they are float32 and float64
    ac.histogram(X, 2, weight=X.double()) -> DTypeError: input tensor and weight
        tensor should have the same dtype: they are float32 and float64
    ac.histogram(X, 2, weight=ac.ones(2)) -> ShapeError: `weight` has 2 elements; there
        must be one for each of 3 values
    ac.histogram(X, 2, weight=2.0) -> DTypeError: needs a Tensor, not f
    ac.histogram(X, 2, density=1) -> ArgumentError: `density` is 1
    ac.histogramdd(XY, [2, 2, 2]) -> ArgumentError: histogramdd: `bins` has 3 entries
        for 2 dimensions
    ac.histogramdd(XY, [2, X]) -> DTypeError: dd: `bins` is tensor
    ac.histogramdd(XY, [2, 0]) -> ArgumentError: `bins` is 0
    ac.histogramdd(ac.tensor(1.0), 2) -> ShapeError: histogramdd: `input` has shape
        \(\); it must be \[..., points, D\]
    ac.histogramdd(X, 2) -> ShapeError: `input` has shape \(3,\)
    ac.histogramdd(ac.ones(3, 0), 2) -> ShapeError: D\] with D at least 1\.
    ac.histogramdd(XY, 2, weight=ac.ones(2, 3)) -> ShapeError: histogramdd: `weight` has
        shape \(2, 3\); for points of shape \(3, 2\) it
    ac.histogramdd(XY, 2, range=(0, 1)) -> ArgumentError: `range` has 2 numbers; for 2
        dimensions it needs 4, two for each\.
    """,
    globals(),
)

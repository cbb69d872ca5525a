# SPDX-License-Identifier: MIT
"""Images read at the places of a grid; PyTorch is asked elsewhere."""

from __future__ import annotations

import math

import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc.errors import AutocalcWarning
from autocalc.nn import functional as F

pytestmark = pytest.mark.core


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_the_grid_of_no_change_reads_the_image(mode, corners):
    image = ac.randn(2, 3, 4, 5, dtype=ac.float64)
    same = ac.tensor([[[1.0, 0, 0], [0, 1, 0]]] * 2, dtype=ac.float64)
    grid = F.affine_grid(same, image.shape, corners)
    assert ac.allclose(F.grid_sample(image, grid, mode, align_corners=corners), image)


def test_places_that_are_nowhere():
    image = ac.ones(1, 1, 2, 2)
    places = [math.nan, math.inf, -math.inf, 1e30, -1e30]
    grid = ac.tensor([[[[p, 0.0] for p in places]]], requires_grad=True)
    for mode in ("bilinear", "nearest", "bicubic"):
        assert F.grid_sample(image, grid, mode).tolist() == [[[[0.0] * 5]]]
        out = F.grid_sample(image, grid, mode, "border")
        assert ac.allclose(out, ac.ones(1, 1, 1, 5))
    F.grid_sample(image, grid).sum().backward()
    assert grid.grad.abs().sum().item() == 0


READINGS = [
    (mode, padding, corners)
    for mode in ("bilinear", "nearest", "bicubic")
    for padding in ("zeros", "border", "reflection")
    for corners in (False, True)
]


@pytest.mark.parametrize(("mode", "padding", "corners"), READINGS)
def test_gradients_are_the_same_with_a_graph_and_without(mode, padding, corners):
    ac.manual_seed(1)
    image = ac.randn(2, 3, 4, 5, dtype=ac.float64, requires_grad=True)
    ends = ac.tensor([-1.0, 1.0, 0.0, -0.6, 1.4, math.inf, math.nan, -3.0])
    places = ac.stack([ends, ends.flip(0)], -1).double().reshape(1, 2, 4, 2)
    grid = ac.cat([places, ac.randn(1, 2, 4, 2, dtype=ac.float64)]).requires_grad_()
    out = F.grid_sample(image, grid, mode, padding, corners)
    seed = ac.randn(*out.shape, dtype=ac.float64)
    plain = ac.autograd.grad(out, [image, grid], seed)
    out = F.grid_sample(image, grid, mode, padding, corners)
    found = ac.autograd.grad(out, [image, grid], seed, create_graph=True)
    for one, other in zip(plain, found, strict=True):
        assert ac.allclose(one, other.detach(), 1e-12, 1e-12)


def test_the_nearest_pixel_leads_no_gradient_to_the_grid():
    grid = ac.zeros(1, 2, 2, 2, requires_grad=True)
    F.grid_sample(ac.ones(1, 1, 3, 3), grid, "nearest").sum().backward()
    assert grid.grad.tolist() == ac.zeros(1, 2, 2, 2).tolist()


X, G, T = ac.ones(2, 3, 4, 5), ac.zeros(2, 1, 1, 2), ac.zeros(2, 2, 3)


def test_a_grid_of_one_position_has_no_corners():
    with pytest.warns(AutocalcWarning, match="See the documentation of affine_grid"):
        F.affine_grid(T, (2, 3, 4, 1), align_corners=True)
    F.affine_grid(T, (2, 3, 4, 1), align_corners=False)


test_what_is_wrong = refusals(
    r"""
    F.grid_sample(X, G, 'cubic') -> ArgumentError: expected mode to be one of
        bilinear, nearest, bicubic, but got: 'cubic'
    F.grid_sample(X, G, padding_mode='x') -> ArgumentError: but got: 'x'
    F.grid_sample(X, G[:1]) -> ShapeError: they must be .*: expected grid and input to
        have same batch size
    F.grid_sample(X[0], G) -> ShapeError: they must be .*: expected grid to have size 1
        in last dimension
    F.grid_sample(X, G[..., None, :]) -> ShapeError: the same number of dimensions
    F.grid_sample(X, G.double()) -> DTypeError: `grid` is float64; convert one of
    F.grid_sample(X[:, :, :0], G) -> ShapeError: expected input to have non-empty spa
    F.grid_sample(X[None], ac.zeros(1, 1, 1, 1, 3), 'bicubic') -> ArgumentError:
        bicubic interpolation only supports 4D input, images, not volumes
    F.affine_grid(T, (2, 3, 4)) -> NoFormulaError: affine_grid only supports 4D and 5D
    F.affine_grid(T, (1, 3, 4, 5)) -> ShapeError: Expected a batch of 2D affine matrices
        of shape Nx2x3 for .* `theta` has shape
    F.affine_grid(T, (2, 3, 0, 5)) -> ShapeError: no size may be below 1
    F.affine_grid(T, 3) -> NoFormulaError: but `size`=\(3,\)
    F.affine_grid(T.long(), (2, 3, 4, 5)) -> DTypeError: Expected theta to have floating
        point type, but it is int64
    """,
    globals(),
)

# SPDX-License-Identifier: MIT
"""Maxima over windows by steps that are drawn; PyTorch is asked in `tests/models`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn
from autocalc.errors import ShapeError

F = nn.functional


def starts(u, n, k, m):
    step = (n - k) / (m - 1) if m > 1 else 0
    return [int((i + u) * step) - int(u * step) for i in range(m - 1)] + [n - k]


def pooled(x, kernel, sizes, samples):
    """Return the maxima of (N, C, H, W) by loops."""
    out = np.empty((*x.shape[:2], *sizes))
    for n, c, i, j in np.ndindex(out.shape):
        rows = starts(samples[n, c, 1], x.shape[2], kernel[0], sizes[0])
        columns = starts(samples[n, c, 0], x.shape[3], kernel[1], sizes[1])
        window = x[n, c, rows[i] :, columns[j] :][: kernel[0], : kernel[1]]
        out[n, c, i, j] = window.max()
    return out


@pytest.mark.parametrize("sizes", [(4, 5), (1, 1), (6, 7), (2, 1)])
def test_windows_lie_as_the_draws_say(sizes):
    rng = np.random.default_rng(0)
    x, samples = rng.normal(size=(3, 2, 7, 9)), rng.uniform(size=(3, 2, 2))
    out, places = F.fractional_max_pool2d(
        ac.tensor(x), (2, 3), sizes, None, True, ac.tensor(samples)
    )
    np.testing.assert_array_equal(out, pooled(x, (2, 3), sizes, samples))
    flat = x.reshape(3, 2, -1)
    taken = np.take_along_axis(flat, places.numpy().reshape(3, 2, -1), 2)
    np.testing.assert_array_equal(taken.reshape(out.shape), out)


def test_more_draws_than_images_are_left_over():
    x, draws = ac.randn(2, 3, 8, 8, 8), ac.rand(3, 3, 3)
    settings = {"output_size": 4}
    pool = F.fractional_max_pool3d
    all_of_them = pool(x, 2, _random_samples=draws, **settings)
    assert ac.equal(all_of_them, pool(x, 2, _random_samples=draws[:2], **settings))
    single = pool(x[0], 2, _random_samples=draws, **settings)
    assert ac.equal(single, all_of_them[0])
    match = r"of shape \(2, 3, 3\), or with more .*, but they have shape \(1, 3, 3\)"
    with pytest.raises(ShapeError, match=match):
        pool(x, 2, _random_samples=draws[:1], **settings)


def test_draws_come_from_the_generator():
    x = ac.randn(2, 3, 20, 20)
    seen = []
    for seed in (0, 0, 1):
        ac.manual_seed(seed)
        seen.append(nn.FractionalMaxPool2d(2, output_ratio=0.6)(x).tolist())
    assert seen[0] == seen[1] != seen[2]


def test_sizes_by_ratio_and_inputs_without_a_batch():
    x = ac.randn(3, 10, 15)
    assert F.fractional_max_pool2d(x, 2, output_ratio=(0.5, 0.7)).shape == (3, 5, 10)
    layer = nn.FractionalMaxPool3d((1, 2, 2), 3, return_indices=True)
    out, places = layer(ac.randn(2, 4, 5, 6))
    assert out.shape == places.shape == (2, 3, 3, 3)
    assert places.dtype is ac.int64
    assert layer.output_size == (3, 3, 3)
    fixed = nn.FractionalMaxPool2d(2, 3, _random_samples=ac.full((1, 3, 2), 0.5))
    assert ac.equal(fixed(x), fixed(x))
    assert list(fixed.state_dict()) == ["_random_samples"]
    assert F.fractional_max_pool2d(x.half(), 2, 4).dtype is ac.float16


def test_a_result_without_elements():
    x = ac.randn(2, 3, 7, 7, requires_grad=True)
    out, places = nn.FractionalMaxPool2d(2, (0, 1), return_indices=True)(x)
    assert out.shape == places.shape == (2, 3, 0, 1)
    assert places.dtype is ac.int64
    out.sum().backward()
    assert not x.grad.any()
    assert F.fractional_max_pool3d(x[0, :, None], 1, (1, 0, 2)).shape == (3, 1, 0, 2)


test_impossible_calls = refusals(
    r"""
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2) -> ArgumentError: neither of
        `output_
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, 3, 0.5) -> ArgumentError:
        fractional_max_pool2d: both of `output_size` and `output_ratio` are given
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, output_ratio=1.5) -> ArgumentError:
        `output_ratio` is 1\.5; it must be one number between 0 and 1, or 2 such
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, output_ratio=(0.5, 0.5, 0.5)) ->
        ArgumentError: or 2 such numbers
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, output_ratio='x') -> DTypeError:
        `output_ratio` is 'x'; it must be one number
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, 7) -> ShapeError: windows of 2 and
        a result of 7 are too large relative to input height, 7: it must be 8 or more
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, (2, 7)) -> ShapeError: input width
    F.fractional_max_pool3d(ac.randn(1, 2, 7, 7, 7), 2, (8, 2, 2)) -> ShapeError: time
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), (2,), 3) -> ArgumentError: kernel_size
        must either be one integer or 2 of them, not \(2,\)
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, ()) -> ArgumentError: output_size
        must either be
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, output_ratio=0.1) -> ShapeError:
        fractional_max_pool2d: `output_ratio` is 0.1, which gives a result of size \(0,
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 0, 2) -> ArgumentError: `kernel_size`
        is 0; it must be an integer or 2 of them, 1 or more
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, 2, None, 3) -> ArgumentError:
        fractional_max_pool2d: `return_indices` is 3
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7), 2, 2, _random_samples=ac.randn(1, 2,
        7, 7)[0, 0]) -> ShapeError: Expect _random_samples of shape \(1, 2, 2\), .* they
        have shape \(7, 7\)
    F.fractional_max_pool2d(ac.randn(1, 2, 7, 7).long(), 2, 2) -> DTypeError:
        fractional_max_pool2d: needs float32 or float64, not int64
    F.fractional_max_pool3d(ac.randn(1, 2, 7, 7)[0, 0], 2, 2) -> ShapeError:
        fractional_max_pool3d: `input` has shape \(7, 7\)
    F.fractional_max_pool3d(ac.randn(1, 2, 7, 7), 2, 2, None, None) -> ArgumentError:
        fractional_max_pool3d: `return_indices` is None
    nn.FractionalMaxPool2d(2) -> ArgumentError: FractionalMaxPool2d: neither of
        `output_size` and `output_ratio` are giv
    nn.FractionalMaxPool3d(2, 3, return_indices=3) -> ArgumentError:
        FractionalMaxPool3d: `return_indices` is 3
    nn.FractionalMaxPool3d(2, 3, _random_samples=3) -> DTypeError: FractionalMaxPool3d:
    """,
    globals(),
)

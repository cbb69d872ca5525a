# SPDX-License-Identifier: MIT
"""Interpolation, pixels and channels, windows as columns: values, errors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn

F = nn.functional


def leaf(*shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return ac.tensor(values, requires_grad=True)


def test_the_nearest_pixel():
    x = ac.tensor([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])[None]
    assert F.interpolate(x, (4, 5)).tolist() == [
        [[[1, 1, 2, 2, 3]] * 2 + [[4, 4, 5, 5, 6]] * 2]
    ]
    assert F.interpolate(x, scale_factor=(0.5, 1.4)).tolist() == [[[[1, 1, 2, 3]]]]
    assert F.interpolate(x, 1).tolist() == [[[[1]]]]
    assert F.interpolate(x.flatten(2), scale_factor=2.0).shape == (1, 1, 12)
    assert F.interpolate(x[None], (1, 4, 3)).shape == (1, 1, 1, 4, 3)


@pytest.mark.parametrize("align_corners", [True, False])
@pytest.mark.parametrize("sizes", [(2, 3), (7, 11), (9, 1), (3, 6)])
def test_linear_modes_are_numpys_interpolation(sizes, align_corners):
    x = np.random.default_rng(0).normal(size=(2, 3, 5, 6))
    expected = x
    for axis, size in zip((2, 3), sizes, strict=True):
        n, i = x.shape[axis], np.arange(size)
        if align_corners:
            place = i * ((n - 1) / max(size - 1, 1))
        else:
            place = (i + 0.5) * (n / size) - 0.5
        expected = np.apply_along_axis(
            lambda line, place=place, n=n: np.interp(place, np.arange(n), line),
            axis,
            expected,
        )
    out = F.interpolate(ac.tensor(x), sizes, None, "bilinear", align_corners)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-12, atol=1e-14)


def test_a_factor_is_the_distance_of_pixels_unless_it_is_computed_again():
    x = ac.tensor([[[0.0, 1.0, 2.0, 3.0, 4.0]]], dtype=ac.float64)
    out = F.interpolate(x, scale_factor=1.5, mode="linear", align_corners=False)
    assert out.shape == (1, 1, 7)
    np.testing.assert_allclose(out[0, 0, 1].item(), 1.5 / 1.5 - 0.5)
    again = F.interpolate(
        x, scale_factor=1.5, mode="linear", recompute_scale_factor=True
    )
    np.testing.assert_allclose(again[0, 0, 1].item(), 1.5 * 5 / 7 - 0.5)


def test_the_same_size_is_a_copy():
    x = ac.ones(1, 1, 2)
    for out in (F.interpolate(x, 2), F.pixel_shuffle(x, 1), F.unfold(x, 1)):
        out.add_(1)
        assert x.tolist() == [[[1, 1]]]
    assert F.fold(x[0], (1, 2), 1).data_ptr() != x.data_ptr()


def test_pixels_and_channels():
    x = ac.arange(2 * 8 * 3 * 2).reshape(2, 8, 3, 2)
    out = F.pixel_shuffle(x, 2)
    a = x.numpy().reshape(2, 2, 2, 2, 3, 2).transpose(0, 1, 4, 2, 5, 3)
    np.testing.assert_array_equal(out.numpy(), a.reshape(2, 2, 6, 4))
    assert F.pixel_unshuffle(out, 2).tolist() == x.tolist()
    assert F.pixel_shuffle(x[0], 2).tolist() == out[0].tolist()


def test_columns_are_windows_and_a_convolution_is_a_product():
    x, weight = leaf(2, 3, 5, 6), leaf(4, 3, 2, 3, seed=1)
    lie = {"stride": (1, 2), "padding": (0, 1), "dilation": (2, 1)}
    columns = F.unfold(x, (2, 3), **lie)
    product = weight.reshape(4, 18) @ columns
    expected = F.conv2d(x, weight, **lie)
    np.testing.assert_allclose(
        product.reshape(*expected.shape).detach().numpy(), expected.detach().numpy()
    )
    ones = F.fold(ac.ones_like(columns), (5, 6), (2, 3), **lie)
    counts = F.conv_transpose2d(
        ac.ones(2, 1, *expected.shape[2:]),
        ac.ones(1, 3, 2, 3),
        output_padding=(0, 1),
        **lie,
    )
    assert ones.tolist() == counts.tolist()
    one = F.unfold(x[0], (2, 3), **lie)
    assert one.tolist() == columns[0].tolist()
    back = F.fold(one, (5, 6), (2, 3), **lie)
    assert back.tolist() == F.fold(columns, (5, 6), (2, 3), **lie)[0].tolist()


LAYERS = {
    "Upsample(scale_factor=2.0, mode='nearest')": (
        nn.Upsample(scale_factor=2),
        (1, 4, 3, 3),
        (1, 4, 6, 6),
    ),
    "Upsample(size=(2, 5), mode='bilinear')": (
        nn.Upsample((2, 5), mode="bilinear", align_corners=True),
        (1, 4, 3, 3),
        (1, 4, 2, 5),
    ),
    "Upsample(scale_factor=(2.0, 1.0), mode='nearest')": (
        nn.Upsample(scale_factor=(2, 1)),
        (1, 4, 3, 3),
        (1, 4, 6, 3),
    ),
    "PixelShuffle(upscale_factor=2)": (nn.PixelShuffle(2), (4, 3, 3), (1, 6, 6)),
    "PixelUnshuffle(downscale_factor=3)": (nn.PixelUnshuffle(3), (1, 3, 3), (9, 1, 1)),
    "Unfold(kernel_size=(2, 3), dilation=1, padding=1, stride=2)": (
        nn.Unfold((2, 3), padding=1, stride=2),
        (1, 4, 4, 5),
        (1, 24, 9),
    ),
    "Fold(output_size=(4, 5), kernel_size=(2, 3), dilation=1, padding=1, stride=2)": (
        nn.Fold((4, 5), (2, 3), padding=1, stride=2),
        (1, 24, 9),
        (1, 4, 4, 5),
    ),
}


@pytest.mark.parametrize("text", LAYERS)
def test_layers(text):
    layer, given, expected = LAYERS[text]
    assert repr(layer) == text
    assert layer(ac.zeros(*given)).shape == expected


IMAGE = ac.ones(1, 1, 3, 3)
test_what_does_not_fit_is_an_error = refusals(
    r"""
    F.interpolate(IMAGE) -> ArgumentError: interpolate: `size` is None and
        `scale_factor` is None; give exactly one
    F.interpolate(IMAGE, 2, mode='cubic') -> ArgumentError: `mode`='cubic'; use one of
        nearest, nearest-exact, linear, bilinear, trilin
    F.interpolate(IMAGE, 2, mode='linear') -> ShapeError: has shape \(1, 1, 3, 3\); mode
        'linear' takes 3 dimensions
    F.interpolate(IMAGE, 2, align_corners=False) -> ArgumentError: `align_corners`=False
        was given with mode='nearest'; it is an option of
    F.interpolate(IMAGE, 2, antialias=True) -> ArgumentError: antialias=True was given
        with mode='nearest'; it can only be used with
    F.interpolate(IMAGE, 2, mode='area', align_corners=True) -> ArgumentError:
        `align_corners`=True was given with mode='area'; it is an option of the linear
    F.interpolate(IMAGE[0], 2, mode='bicubic') -> ShapeError: mode 'bicubic' takes 4
        dimensions
    F.interpolate(IMAGE, 2, recompute_scale_factor=True) -> ArgumentError:
        recompute_scale_factor=True needs `scale_factor`
    F.interpolate(IMAGE, scale_factor=(1.0, -2.0)) -> ArgumentError: `scale_factor` is
        \(1\.0, -2\.0\); it must be a number above 0, or 2 of them
    F.interpolate(IMAGE, scale_factor=0.1) -> ShapeError: interpolate: the sizes are
        \(3, 3\) before and \(0, 0\) after; neither may be
    F.interpolate(IMAGE, scale_factor=1e+30) -> ShapeError: interpolate: the sizes are
        \(3, 3\) before and
    F.interpolate(IMAGE, (2.0, 3)) -> ArgumentError: expected size to be one of int or
    F.interpolate(IMAGE, 2 ** 70) -> ArgumentError: interpolate: `size` is \d+; it must
        be .* 1 or more and below 2\^31
    F.interpolate(IMAGE, (2, 3, 4)) -> ArgumentError: interpolate: `size` is \(2, 3,
        4\); it must be an integer or 2 of them
    F.interpolate(ac.ones(1, 1, 3, dtype=ac.int64), 2) -> DTypeError: interpolate: needs
        float32 or float64, not int64
    nn.Upsample(scale_factor=(2, 'x')) -> ArgumentError: Upsample: `scale_factor` is
        'x'; it must be a number, 0 or more
    F.pixel_shuffle(ac.ones(6, 3, 3), 2) -> ShapeError: its 6 channels must be a
        multiple of upscale_factor\^2 = 4
    F.pixel_shuffle(ac.ones(3, 3), 2) -> ShapeError: pixel_shuffle: `input` has shape
        \(3, 3\); it must be \(\.\.\., C, H, W\)
    F.pixel_unshuffle(ac.ones(1, 3, 4), 2) -> ShapeError: height and width must be
        multiples of downscale_factor = 2
    F.pixel_unshuffle(ac.ones(1, 4, 4), 0) -> ArgumentError: `downscale_factor` is 0; it
        must be an integer, 1 or more
    F.unfold(ac.ones(3, 3), 2) -> ShapeError: unfold: `input` has shape \(3, 3\); it
        must be \(N, C, H, W\)
    F.fold(ac.ones(6, 4), 3, 2) -> ShapeError: has 6 rows; their number must be
        divisible by the product of kernel_size, 4
    F.unfold(ac.ones(1, 2, 2, 2), (2, 3)) -> ShapeError: shape of the array of sliding
        blocks as \(1, 0\), but its components must be at least one
    F.fold(ac.ones(8, 5), 3, 2) -> ShapeError: fold: `x` has shape \(1, 8, 5\); its last
        size must match the calculated number of sliding blocks, 4
    F.fold(ac.ones(8), 3, 2) -> ShapeError: fold: `input` has shape \(8,\); it must be
        \(N, rows, windows\)
    """,
    globals(),
)


def test_smaller_images_keep_their_mean_and_fine_stripes_vanish():
    stripes = (ac.arange(64) % 2).float().expand(1, 1, 64, 64)
    for mode in ("bilinear", "bicubic"):
        rough = F.interpolate(stripes, (64, 11), mode=mode)
        fine = F.interpolate(stripes, (64, 11), mode=mode, antialias=True)
        assert (fine - 0.5).abs().max().item() < 0.06
        assert (rough - 0.5).abs().max().item() > 0.4
    flat = ac.full((1, 1, 9, 9), 3.0)
    for mode in ("bilinear", "bicubic"):
        small = F.interpolate(flat, (4, 20), mode=mode, antialias=True)
        assert ac.allclose(small, ac.full((1, 1, 4, 20), 3.0))


@pytest.mark.slow
def test_the_last_pixel_of_a_row_that_float32_cannot_number():
    x = ac.zeros(1, 1, 1, 2**24 + 4)
    x[..., -1] = 1
    out = F.interpolate(x, (1, 2), mode="bicubic", align_corners=True)
    assert out[..., -1].item() == 1

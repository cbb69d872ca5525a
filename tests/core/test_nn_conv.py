# SPDX-License-Identifier: MIT
"""Convolutions: values by the formula, layers, errors."""

from __future__ import annotations

import numpy as np
import pytest
from tests.refusals import refusals

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError

F = nn.functional


def leaf(*shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return ac.tensor(values, requires_grad=True)


def by_the_formula(x, weight, bias, stride, padding, dilation, groups):
    """Loop over every number that a convolution of images multiplies."""
    x = np.pad(x, ((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2))
    outs, ins, *kernel = weight.shape
    counts = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation, strict=True)
    ]
    out = np.zeros((x.shape[0], outs, *counts))
    for n, o, h, w in np.ndindex(*out.shape):
        first = o // (outs // groups) * ins
        for c, i, j in np.ndindex(ins, *kernel):
            place = h * stride[0] + i * dilation[0], w * stride[1] + j * dilation[1]
            out[n, o, h, w] += weight[o, c, i, j] * x[(n, first + c, *place)]
    return out + bias[:, None, None]


GEOMETRIES = [
    ((1, 1), (0, 0), (1, 1), 1),
    ((2, 1), (1, 2), (1, 2), 2),
    ((1, 3), (2, 0), (2, 1), 4),
]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_it_is_the_formula(geometry):
    groups = geometry[-1]
    x, weight, bias = leaf(2, 4, 6, 7), leaf(8, 4 // groups, 3, 2), leaf(8)
    arrays = [t.detach().numpy() for t in (x, weight, bias)]
    expected = by_the_formula(*arrays, *geometry)
    stride, padding, dilation, _ = geometry
    out = F.conv2d(x, weight, bias, stride, padding, dilation, groups)
    np.testing.assert_allclose(out.detach().numpy(), expected, rtol=1e-12)
    lone = F.conv2d(x[1], weight, bias, stride, padding, dilation, groups)
    np.testing.assert_allclose(lone.detach().numpy(), expected[1], rtol=1e-12)


def test_one_dimension_is_two_of_which_one_is_1():
    x, weight = leaf(2, 4, 9), leaf(6, 2, 3)
    out = F.conv1d(x, weight, None, 2, 1, 2, 2)
    flat = F.conv2d(
        x.unsqueeze(2), weight.unsqueeze(2), None, (1, 2), (0, 1), (1, 2), 2
    )
    np.testing.assert_array_equal(out.detach().numpy(), flat[:, :, 0].detach().numpy())


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_the_transposed_convolution_is_the_gradient_of_the_input(geometry):
    stride, padding, dilation, groups = geometry
    x, weight = leaf(1, 4, 7, 7), leaf(8, 4 // groups, 3, 2, seed=1)
    out = F.conv2d(x, weight, None, stride, padding, dilation, groups)
    g = leaf(*out.shape, seed=2)
    (expected,) = ac.autograd.grad(out, x, g)
    plain = F.conv_transpose2d(g, weight, None, stride, padding, 0, groups, dilation)
    extra = tuple(7 - n for n in plain.shape[2:])
    whole = F.conv_transpose2d(
        g, weight, None, stride, padding, extra, groups, dilation
    )
    assert whole.shape == (1, 4, 7, 7)
    np.testing.assert_array_equal(whole.detach().numpy(), expected.numpy())


def test_output_padding_up_to_the_dilation():
    # Of the five places that two elements reach at a distance of 2, padding 1 leaves
    # three; the fourth is one that it had cut off.
    x, weight = ac.tensor([[[1.0, 10.0]]]), ac.tensor([[[1.0, 2.0]]])
    out = F.conv_transpose1d(x, weight, padding=1, dilation=2)
    assert out.tolist() == [[[10.0, 2.0]]]
    out = F.conv_transpose1d(x, weight, padding=1, output_padding=1, dilation=2)
    assert out.tolist() == [[[10.0, 2.0, 20.0]]]


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("kernel", [1, 2, 3, (2, 5)])
def test_same_padding_keeps_the_size(kernel, dilation):
    layer = nn.Conv2d(2, 3, kernel, padding="same", dilation=dilation)
    assert layer(ac.zeros(1, 2, 9, 8)).shape == (1, 3, 9, 8)


BORDERS = {
    "zeros": [0, 1, 2, 3, 0],
    "reflect": [2, 1, 2, 3, 2],
    "replicate": [1, 1, 2, 3, 3],
    "circular": [3, 1, 2, 3, 1],
}


@pytest.mark.parametrize("mode", BORDERS)
def test_padding_modes(mode):
    layer = nn.Conv1d(1, 1, 2, padding=1, padding_mode=mode, bias=False)
    layer.weight.data.copy_(ac.tensor([[[1.0, 10.0]]]))
    a = np.array(BORDERS[mode])
    out = layer(ac.tensor([[[1.0, 2.0, 3.0]]]))
    assert out.tolist() == [[(a[:-1] + 10 * a[1:]).tolist()]]
    same = nn.Conv2d(1, 1, (2, 3), padding="same", padding_mode=mode)
    assert same(ac.ones(1, 1, 4, 4)).shape == (1, 1, 4, 4)


def test_parameters_and_repr():
    ac.manual_seed(0)
    layer = nn.Conv2d(4, 6, (3, 5), groups=2, dtype=ac.float64)
    assert {k: p.shape for k, p in layer.state_dict().items()} == {
        "weight": (6, 2, 3, 5),
        "bias": (6,),
    }
    bound = 30**-0.5  # 1 / sqrt(2 * 3 * 5)
    weight = np.abs(layer.weight.detach().numpy())
    assert 0.9 * bound < weight.max() <= bound
    assert layer.bias.abs().max().item() <= bound
    assert layer.weight.dtype is ac.float64
    layer = nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2, bias=False, dilation=2)
    assert {k: p.shape for k, p in layer.state_dict().items()} == {
        "weight": (4, 3, 3, 3)
    }
    assert repr(layer) == (
        "ConvTranspose2d(4, 6, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), "
        "dilation=(2, 2), output_padding=(1, 1), groups=2, bias=False)"
    )
    assert repr(nn.Conv1d(2, 4, 3, padding="same", padding_mode="reflect")) == (
        "Conv1d(2, 4, kernel_size=(3,), stride=(1,), padding=same, "
        "padding_mode=reflect)"
    )


def test_an_output_size_is_reached():
    layer = nn.ConvTranspose1d(1, 1, 3, stride=3, padding=1)
    x = ac.zeros(2, 1, 4)
    assert [layer(x, output_size=(n,)).shape[2] for n in (10, 11, 12)] == [10, 11, 12]
    with pytest.raises(ArgumentError, match=r"ConvTranspose1d: `output_size` is"):
        layer(x, output_size=(13,))


test_what_does_not_fit_is_an_error = refusals(
    r"""
    F.conv2d(ac.ones(3, 3), ac.ones(1, 1, 2, 2)) -> ShapeError: conv2d: `input` has
        shape \(3, 3\); it must be \(N, C, H, W\)
    F.conv1d(ac.ones(1, 2, 3), ac.ones(1, 2)) -> ShapeError: conv1d: `weight` has shape
        \(1, 2\); it must have 3 dimensions
    F.conv1d(ac.ones(1, 0, 3), ac.ones(1, 0, 2)) -> ShapeError: conv1d: `weight` has
        shape \(1, 0, 2\); it must not be empty
    F.conv1d(ac.ones(1, 2, 3), ac.ones(4, 2, 2), groups=2) -> ShapeError: `input` has 2
        channels, but `weight` \(4, 2, 2\) with groups=2 takes 4
    F.conv1d(ac.ones(1, 2, 3), ac.ones(4, 2, 2), groups=3) -> ShapeError: 4 channels of
        `weight` are not a multiple of
    F.conv1d(ac.ones(1, 2, 3), ac.ones(4, 2, 2), groups=0) -> ArgumentError: `groups` is
        0; it must be an integer, 1 or more
    F.conv1d(ac.ones(1, 2, 3), ac.ones(4, 2, 2), ac.ones(3)) -> ShapeError: `bias` has
        shape \(3,\); it must be \(4,\)
    F.conv1d(ac.ones(1, 2, 3), ac.ones(4, 2, 4)) -> ShapeError: a window of \(4,\) does
        not fit into the input
    F.conv1d(ac.ones(1, 2, 3), ac.ones(4, 2, 2), stride=0) -> ArgumentError: conv1d:
        `stride` is 0; it must be an integer, 1 or more
    F.conv2d(ac.ones(1, 1, 3, 3), ac.ones(1, 1, 2, 2), padding=(1, 2, 3)) ->
        ArgumentError: `padding` is \(1, 2, 3\); it must be an integer or 2 of them, 0
        or more
    F.conv1d(ac.ones(1, 1, 3), ac.ones(1, 1, 2), padding='full') -> ArgumentError:
        `padding`='full'; use integers, 'valid' or 'same'
    F.conv1d(ac.ones(1, 1, 3), ac.ones(1, 1, 2), None, 2, 'same') -> ArgumentError:
        padding='same' was given with
    F.conv1d(ac.ones(1, 1, 3, dtype=ac.int64), ac.ones(1, 1, 2)) -> DTypeError: conv1d:
        the tensors are int64 and float32
    F.conv1d(ac.ones(1, 1, 3), ac.ones(1, 1, 2, dtype=ac.float64)) -> DTypeError: conv:
        the operands have the dtypes float32,
    F.conv_transpose1d(ac.ones(1, 3, 3), ac.ones(2, 1, 2)) -> ShapeError:
        conv_transpose1d: `input` has 3 channels, but `weight` \(2, 1, 2\) .* takes 2
    F.conv_transpose1d(ac.ones(1, 1, 1), ac.ones(1, 1, 2), padding=1) -> ShapeError: the
        output would have size \(0,\);
    F.conv_transpose1d(ac.ones(1, 1, 3), ac.ones(1, 1, 2), None, 2, 0, 2) ->
        ArgumentError: `output_padding` is \(2,\); it must be below `stride` \(2,\)
    nn.Conv2d(3, 4, 3, groups=2) -> ArgumentError: Conv2d: `in_channels`=3 and
        `out_channels`=4 must both be multiples of
    nn.Conv2d(3.0, 4, 3) -> ArgumentError: Conv2d: in_channels must be a positive
        integer, not 3\.0
    nn.Conv2d(3, 4, 3, groups=0) -> ArgumentError: groups must be a positive integer
    nn.Conv1d(1, 1, 3, padding_mode='mirror') -> ArgumentError: padding_mode must be
        one of \('zeros', .*\), not 'mirror'
    nn.Conv1d(1, 1, 3, padding='most') -> ArgumentError: Conv1d: Invalid
        padding string 'most'
    nn.Conv1d(1, 1, 3, 2, padding='same') -> ArgumentError: Conv1d: padding='same' was
        given with `stride`=2, but it needs stride 1
    nn.Conv2d(1, 1, 3, (1, 1, 3), padding='same') -> ArgumentError: Conv2d:
        padding='same' was given with `stride`=\(1, 1, 3\)
    nn.ConvTranspose1d(1, 1, 3, padding_mode='reflect') -> ArgumentError:
        ConvTranspose1d: .*; Only "zeros" padding mode and numbers are supported
    nn.Conv1d(1, 1, 9, padding=4, padding_mode='reflect')(ac.ones(1, 1, 4)) ->
        ShapeError: Padding size should be less than the corresponding input dimension
        in mode 'reflect': the padding is 4 for a dimension of size 4
    """,
    globals(),
)

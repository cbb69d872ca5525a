# SPDX-License-Identifier: MIT
"""Borders as modules, thresholds, and parted dimensions."""

from __future__ import annotations

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc import nn
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn import functional as F

MODES = {"Reflection": "reflect", "Replication": "edge", "Circular": "wrap"}


def pairs(padding, ndim):
    """Return the padding as NumPy takes it: first dimension first."""
    both = list(zip(padding[::2], padding[1::2], strict=True))[::-1]
    return [(0, 0)] * (ndim - len(both)) + both


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", MODES)
def test_borders(kind, dims, batch):
    x = np.random.default_rng(0).normal(size=(*batch, 3, *(4, 5, 6)[:dims]))
    padding = (1, 2, 3, 0, 2, 1)[: 2 * dims]
    value = getattr(nn, f"{kind}Pad{dims}d")(padding)(ac.tensor(x))
    expected = np.pad(x, pairs(padding, x.ndim), MODES[kind])
    assert value.tolist() == expected.tolist()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_borders_of_a_value(dims):
    x = np.random.default_rng(0).normal(size=(3, *(4, 5, 6)[:dims]))
    widths = pairs((2,) * 2 * dims, x.ndim)
    value = getattr(nn, f"ConstantPad{dims}d")(2, 3.5)(ac.tensor(x))
    assert value.tolist() == np.pad(x, widths, constant_values=3.5).tolist()
    zero = getattr(nn, f"ZeroPad{dims}d")(2)(ac.tensor(x))
    assert zero.tolist() == np.pad(x, widths).tolist()


def test_how_borders_print():
    assert repr(nn.ConstantPad1d(1, 2.0)) == "ConstantPad1d(padding=(1, 1), value=2.0)"
    assert repr(nn.ZeroPad2d(1)) == "ZeroPad2d((1, 1, 1, 1))"
    assert repr(nn.CircularPad1d((1, 2))) == "CircularPad1d((1, 2))"


def test_borders_that_do_not_fit():
    with pytest.raises(ArgumentError, match=r"ZeroPad2d: `padding` is \(1, 2\); giv"):
        nn.ZeroPad2d((1, 2))
    with pytest.raises(
        ShapeError, match=r"ReflectionPad1d: expected 2D or 3D input \(got 1D input\)"
    ):
        nn.ReflectionPad1d(1)(ac.zeros(3))


def test_unflatten():
    x = ac.arange(12).reshape(2, 6)
    layer = nn.Unflatten(1, (3, -1))
    assert layer(x).tolist() == x.reshape(2, 3, 2).tolist()
    assert repr(layer) == "Unflatten(dim=1, unflattened_size=(3, -1))"
    with pytest.raises(ShapeError, match=r"of size 6 .* cannot be split"):
        nn.Unflatten(1, (4, 2))(x)


X = ac.tensor([-2.0, -0.5, 0.25, 0.5, 1.0, math.inf])


def test_shrinking():
    assert nn.Hardshrink()(X).tolist() == [-2, 0, 0, 0, 1, math.inf]
    assert nn.Softshrink(0.25)(X).tolist() == [-1.75, -0.25, 0, 0.25, 0.75, math.inf]
    for shrink in (F.hardshrink, F.softshrink):
        assert shrink(ac.tensor([math.nan])).isnan().all()
    assert repr(nn.Softshrink(0.25)) == "Softshrink(0.25)"
    with pytest.raises(ArgumentError, match=r"softshrink: `lambd` is -1.0; it must"):
        F.softshrink(X, -1)


def test_shrinking_has_no_slope_at_its_limits():
    for shrink in (F.hardshrink, F.softshrink):
        x = ac.tensor([-0.5, 0.5, 0.75], requires_grad=True)
        shrink(x).sum().backward()
        assert x.grad.tolist() == [0, 0, 1]


def test_threshold():
    layer = nn.Threshold(0.25, -7.0)
    assert layer(X).tolist() == [-7, -7, -7, 0.5, 1, math.inf]
    assert F.threshold(ac.tensor([1, 3]), 1, 0).tolist() == [0, 3]
    assert repr(layer) == "Threshold(threshold=0.25, value=-7.0)"
    x = X.clone()
    assert nn.Threshold(0.25, -7.0, inplace=True)(x) is x
    assert x.tolist() == layer(X).tolist()
    assert F.threshold_(x, 0.5, 0.0) is x
    assert x.tolist() == [0, 0, 0, 0, 1, math.inf]


@pytest.mark.parametrize("name", ["Softmax", "LogSoftmax", "Softmin"])
@pytest.mark.parametrize(("shape", "dim"), [((4,), 0), ((2, 3), 1), ((2, 3, 4), 0)])
def test_the_dimension_of_classes_is_guessed_with_a_warning(name, shape, dim):
    x = ac.randn(shape)
    with pytest.warns(
        UserWarning, match=f"`dim` is missing .* dimension {dim} is used"
    ):
        value = getattr(nn, name)()(x)
    assert value.tolist() == getattr(nn, name)(dim)(x).tolist()

# SPDX-License-Identifier: MIT
"""Convolutions of bfloat16 in tiles: any geometry, layout and type of what is written.

Kernels are called as they are, below the dispatcher.
"""

import ml_dtypes
import numpy as np
import pytest
from tests.engine import native
from tests.kernel_table import TABLE, xp
from tests.simd.products import subject_of

import autocalc as ac

SET = "bfloat16-amx"
pytestmark = pytest.mark.skipif(
    SET not in ac.kernels.available(), reason="this CPU has no tiles"
)
HALF = ml_dtypes.bfloat16

#: Shapes of x and weight, stride, padding, dilation: the layers of residual networks,
#: their first ones, and every remainder.
LAYERS = [
    ((2, 32, 28, 28), (32, 32, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((3, 64, 14, 14), (64, 64, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((4, 128, 7, 7), (96, 128, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 32, 14, 14), (64, 32, 3, 3), (2, 2), (1, 1), (1, 1)),
    ((2, 33, 15, 13), (40, 33, 1, 1), (2, 2), (0, 0), (1, 1)),
    ((2, 3, 30, 31), (64, 3, 7, 7), (2, 2), (3, 3), (1, 1)),
    ((2, 1, 28, 28), (8, 1, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((2, 16, 9, 9), (24, 16, 3, 3), (1, 1), (0, 0), (1, 1)),
    ((1, 48, 11, 6), (70, 48, 3, 2), (1, 1), (2, 2), (2, 3)),
    ((2, 20, 10, 12), (9, 20, 4, 3), (3, 2), (1, 3), (1, 2)),
    ((5, 64, 4, 4), (33, 64, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((1, 8, 300, 5), (16, 8, 5, 5), (1, 1), (2, 2), (1, 1)),
    ((1, 3, 5, 90), (16, 3, 2, 16), (2, 1), (0, 9), (3, 1)),
    ((2, 320, 5, 5), (64, 320, 3, 3), (1, 1), (1, 1), (1, 1)),
    ((1, 64, 6, 6), (64, 64, 1, 1), (1, 1), (2, 2), (1, 1)),
    ((1, 32, 9, 9), (32, 32, 2, 2), (3, 3), (0, 0), (1, 1)),
]
CASES = [(layer, "last") for layer in LAYERS] + [
    (layer, "planes") for layer in LAYERS[1::3]
]


def arranged(a, layout):
    """Return images, or filters, in a layout."""
    if layout == "planes":
        return np.ascontiguousarray(a)
    return np.ascontiguousarray(np.moveaxis(a, 1, -1)).transpose(0, 3, 1, 2)


class Draws:
    """Operands of a layer, drawn."""

    def __init__(self, layer, layout, seed=5):
        self.x_shape, self.w_shape, *geometry = layer
        self.geometry = (*geometry, 1)
        self.layout = layout
        self.rng = np.random.default_rng(seed)
        span = [
            d * (k - 1) + 1 for d, k in zip(geometry[2], self.w_shape[2:], strict=True)
        ]
        sizes = zip(self.x_shape[2:], *geometry[:2], span, strict=True)
        counts = [(n + 2 * p - k) // s + 1 for n, s, p, k in sizes]
        self.out_shape = (self.x_shape[0], self.w_shape[0], *counts)

    def images(self, shape, dtype=HALF):
        drawn = self.rng.standard_normal(shape).astype(dtype)
        return arranged(drawn, self.layout)

    def filters(self, shape, dtype=HALF):
        drawn = self.rng.standard_normal(shape).astype(dtype)
        return arranged(drawn, ("planes", "last")[int(self.rng.integers(2))])

    def vector(self, count, dtype=HALF):
        return self.rng.standard_normal(count).astype(dtype)


def wide(*arrays):
    return [None if a is None else a.astype(np.float64) for a in arrays]


def sums_of(name, operands, attributes):
    """Return the exact results of a kernel, and the sums of its terms' sizes."""
    reference = TABLE[name].reference
    exact = reference(xp, *wide(*operands), *attributes)
    sizes = reference(
        xp, *(a if a is None else np.abs(a) for a in wide(*operands)), *attributes
    )
    return (exact, sizes) if isinstance(exact, tuple) else ((exact,), (sizes,))


def check(found, exact, sizes):
    eps = 2.0**-8 if found.dtype == HALF else 2.0**-23
    limit = eps * np.abs(exact) + 2e-6 * sizes
    error = np.abs(found.astype(np.float64) - exact)
    assert (error <= limit).all(), (error / limit).max()


def kernel(name):
    return subject_of(SET).kernels[name].function


@pytest.mark.parametrize(("layer", "layout"), CASES)
@pytest.mark.parametrize("to", [HALF, np.float32])
def test_conv(layer, layout, to):
    draws = Draws(layer, layout)
    bias = draws.vector(layer[1][0])
    operands = draws.images(layer[0]), draws.filters(layer[1]), bias
    out = draws.images(draws.out_shape, to)
    kernel("conv")(out, *operands, *draws.geometry)
    exact, sizes = sums_of("conv", operands, draws.geometry)
    check(out, exact[0], sizes[0])


@pytest.mark.parametrize(("layer", "layout"), CASES)
@pytest.mark.parametrize("accumulate", [0, 1])
def test_conv_dx(layer, layout, accumulate):
    draws = Draws(layer, layout)
    bias = None if accumulate else draws.vector(layer[0][1])
    operands = draws.images(draws.out_shape), draws.filters(layer[1]), bias
    out = draws.images(layer[0], np.float32 if accumulate else HALF)
    prior = out.astype(np.float64) * accumulate
    attributes = layer[0][2:], *draws.geometry
    kernel("conv_dx")(out, *operands, *attributes, accumulate)
    exact, sizes = sums_of("conv_dx", operands, attributes)
    check(out, exact[0] + prior, sizes[0] + np.abs(prior))


@pytest.mark.parametrize(("layer", "layout"), CASES)
@pytest.mark.parametrize("accumulate", [0, 0b11])
def test_conv_dweight(layer, layout, accumulate):
    draws = Draws(layer, layout)
    to = np.float32 if accumulate else HALF
    operands = draws.images(draws.out_shape), draws.images(layer[0])
    outs = draws.filters(layer[1], to), draws.vector(layer[1][0], to)
    priors = [out.astype(np.float64) * bool(accumulate) for out in outs]
    attributes = layer[1][2:], *draws.geometry
    kernel("conv_dweight")(*outs, *operands, *attributes, accumulate)
    for out, prior, exact, sizes in zip(
        outs, priors, *sums_of("conv_dweight", operands, attributes), strict=True
    ):
        check(out, exact + prior, sizes + np.abs(prior))


@pytest.mark.parametrize("what", ["none", "relu", "hardtanh", "leaky_relu", "silu"])
def test_what_follows_is_fused(what):
    draws = Draws(LAYERS[2], "last")
    operands = draws.images(LAYERS[2][0]), draws.filters(LAYERS[2][1]), None
    operands = *operands, draws.images(draws.out_shape)
    out = draws.images(draws.out_shape)
    attributes = *draws.geometry, what, -0.5, 0.75
    kernel("conv_activation")(out, *operands, *attributes)
    exact = TABLE["conv_activation"].reference(xp, *wide(*operands), *attributes)
    _, (sizes,) = sums_of("conv", operands[:3], draws.geometry)
    check(out, exact, 1.1 * (sizes + 2))


@pytest.mark.parametrize("layer", [LAYERS[0], LAYERS[3], LAYERS[5], LAYERS[13]])
def test_threads_change_no_bit(layer):
    draws = Draws(layer, "last")
    x, weight, g = (
        draws.images(layer[0]),
        draws.filters(layer[1]),
        draws.images(draws.out_shape),
    )
    threads, found = native.num_threads(), set()
    try:
        for count in (1, 2, 3):
            native.set_num_threads(count)
            outs = [np.empty_like(a) for a in (g, x, weight)]
            kernel("conv")(outs[0], x, weight, None, *draws.geometry)
            kernel("conv_dx")(
                outs[1], g, weight, None, layer[0][2:], *draws.geometry, 0
            )
            kernel("conv_dweight")(
                outs[2], None, g, x, layer[1][2:], *draws.geometry, 0
            )
            found.add(b"".join(out.tobytes() for out in outs))
    finally:
        native.set_num_threads(threads)
    assert len(found) == 1


@pytest.mark.parametrize("layer", [LAYERS[2], LAYERS[5], LAYERS[7], LAYERS[8]])
def test_what_no_window_reads_touches_no_gradient(layer):
    """An infinity in a corner of x reaches the filters' elements that read it alone."""
    draws = Draws(layer, "last")
    g, x = draws.images(draws.out_shape), draws.images(layer[0])
    x[0, 0, 0, 0] = x[-1, 0, -1, -1] = np.inf
    out = draws.filters(layer[1])
    attributes = layer[1][2:], *draws.geometry
    kernel("conv_dweight")(out, None, g, x, *attributes, 0)
    with np.errstate(invalid="ignore"):
        exact = TABLE["conv_dweight"].reference(xp, *wide(g, x), *attributes)[0]
    x[np.isinf(x)] = 0
    _, (sizes, _) = sums_of("conv_dweight", (g, x), attributes)
    finite = np.isfinite(exact)
    assert np.array_equal(np.isfinite(out), finite)
    assert not finite.all()
    check(out[finite], exact[finite], sizes[finite])


def test_a_step_under_autocast_runs_in_tiles():
    conv = ac.nn.Conv2d(32, 48, 3, padding=1)
    x = ac.randn(2, 32, 9, 9, requires_grad=True)
    with ac.profiler.profile() as prof:
        with ac.autocast("cpu"):
            out = conv(x)
        out.sum().backward()
    sets = {row.name: row.chosen for row in prof.table("kernel").rows}
    for name in ("conv", "conv_dx", "conv_dweight"):
        assert sets[name] == SET
    assert x.grad.dtype is conv.weight.grad.dtype is ac.float32
    assert out.is_contiguous(memory_format=ac.channels_last)


def test_explain_says_why_a_call_is_refused():
    x, grouped = np.ones((2, 32, 9, 9), HALF), np.ones((48, 16, 3, 3), HALF)
    geometry = (1, 1), (1, 1), (1, 1)
    found = str(ac.kernels.explain("conv", x, grouped, None, *geometry, 2))
    assert "refused: channels are in groups" in found
    whole = np.ones((48, 32, 3, 3), HALF)
    found = str(ac.kernels.explain("conv", x, whole, None, *geometry, 1))
    assert "tiles of bfloat16 by tdpbf16ps" in found

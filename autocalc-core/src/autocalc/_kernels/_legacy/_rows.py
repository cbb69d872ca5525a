# SPDX-License-Identifier: MIT
"""Benchmark cases of kernels that have not yet moved to their family's folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels.cases import (
    PARAMETERS,
    SIZES,
    Operands,
    absent,
    bools,
    counter,
    floats,
    indices,
    join,
    parameters,
    positive,
)

#: M, N, K.
GEMM_SHAPES = (
    (64, 64, 64),
    (128, 128, 128),
    (256, 256, 256),
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (256, 1024, 784),
    (784, 1024, 256),
    (64, 3072, 768),
    (64, 2304, 768),
    (32, 4096, 1024),
    (256, 10, 1024),
    (25088, 64, 288),
    (100352, 32, 288),
    (1024, 128, 128),
    (1024, 512, 128),
    (1, 4096, 1024),
    (17, 33, 65),
)


class Row(NamedTuple):
    """One row of the table."""

    kernel: str
    operands: str
    make: Operands  # the inputs
    attributes: tuple[Any, ...] = ()
    want: int = 0  # which optional outputs, bit by bit


def products() -> list[Row]:
    """`gemm` over the shapes of models, `linear` and its backward kernel."""
    plain = (1.0, 0.0, "none")
    rows = [
        Row("gemm", f"{m}x{n}x{k}", join(floats(m, k), floats(k, n), absent), plain)
        for m, n, k in GEMM_SHAPES
    ]
    batch, features, hidden = 256, 784, 1024
    x, weight = floats(batch, features), floats(hidden, features)
    rows.append(
        Row("linear", "256x784 to 1024", join(x, weight, floats(hidden)), ("none",))
    )
    rows.append(
        Row(
            "linear_backward",
            "256x784 to 1024",
            join(floats(batch, hidden), x, weight),
            want=0b111,
        )
    )
    return rows


def convolutions() -> list[Row]:
    """Layers of residual networks: images, weights, stride; then padding of 1."""
    layers = (
        ("128x32x28x28, 32 of 3x3", (128, 32, 28, 28), (32, 32, 3, 3), 1),
        ("128x64x14x14, 64 of 3x3", (128, 64, 14, 14), (64, 64, 3, 3), 1),
        ("128x128x7x7, 128 of 3x3", (128, 128, 7, 7), (128, 128, 3, 3), 1),
        ("128x32x28x28, 64 of 3x3 by 2", (128, 32, 28, 28), (64, 32, 3, 3), 2),
    )
    return [row for layer in layers for row in _convolution(*layer)]


def _convolution(
    label: str, images: tuple[int, ...], weights: tuple[int, ...], stride: int
) -> list[Row]:
    side = (images[2] - 1) // stride + 1
    x, weight = floats(*images), floats(*weights)
    g = floats(images[0], weights[0], side, side)
    lie = ((stride, stride), (1, 1), (1, 1), 1)
    return [
        Row("conv", label, join(x, weight, absent), lie),
        Row("conv_dx", label, join(g, weight, absent), (images[2:], *lie)),
        Row("conv_dweight", label, join(g, x), ((3, 3), *lie)),
    ]


def sequences() -> list[Row]:
    """Attention, and recurrent layers over a whole sequence."""
    rows = []
    for batch, steps, heads, size in ((8, 128, 4, 32), (1, 2048, 8, 64)):
        q = floats(batch, steps, heads, size)
        label = f"{batch}x{steps}x{heads}x{size}, causal"
        causal = (size**-0.5, "upper_left", 0.0)
        operands = join(q, q, q, *[absent] * 3)
        rows.append(Row("attention", label, operands, causal))
    batch, steps, features, hidden = 128, 28, 28, 128
    for kernel, gates, states in (("lstm", 4, 2), ("gru", 3, 1)):
        operands = join(
            floats(steps, batch, features),
            floats(gates * hidden, features),
            floats(gates * hidden, hidden),
            *[floats(gates * hidden)] * 2,
            *[floats(batch, hidden)] * states,
        )
        label = f"{steps} steps of {batch}x{features} to {hidden}"
        rows.append(Row(kernel, label, operands, (False,)))
    return rows


def sized(kernel: str, make: Callable[[int], Operands], *attributes: Any) -> list[Row]:
    """One row for each size."""
    label = "".join(f"{a} " for a in attributes if isinstance(a, str) and a != "none")
    return [
        Row(kernel, f"{label}{name}", make(n), attributes) for name, n in SIZES.items()
    ]


def elementwise() -> list[Row]:
    """Same shapes at four sizes; other layouts and kernels at one."""
    rows = sized("add", lambda n: join(floats(n), floats(n)))
    rows += sized("exp", floats) + sized("tanh", floats)
    rows += sized("gelu", floats, "none") + sized("gelu", floats, "tanh")
    n = SIZES["1 Mi"]
    rows += [
        Row(kernel, "1 Mi", floats(n))
        for kernel in ("neg", "abs", "relu", "sigmoid", "silu", "erf", "sin", "cos")
    ]
    rows += [Row(kernel, "1 Mi", positive(n)) for kernel in ("log", "sqrt", "rsqrt")]
    rows += [
        Row(kernel, "1 Mi", join(floats(n), positive(n)))
        for kernel in ("sub", "mul", "div", "maximum", "minimum")
    ]
    rows += [
        Row("pow", "1 Mi", join(positive(n), floats(n))),
        Row("softplus", "1 Mi", floats(n), (1.0, 20.0)),
        Row("compare", "1 Mi", join(floats(n), floats(n)), ("lt",)),
        Row("where", "1 Mi", join(bools(n), floats(n), floats(n))),
        Row("relu_backward", "1 Mi", join(floats(n), floats(n))),
        Row("gelu_backward", "1 Mi", join(floats(n), floats(n)), ("none",)),
        Row("add", "1024x1024 + row", join(floats(1024, 1024), floats(1024))),
        Row("add", "1024x1024 + column", join(floats(1024, 1024), floats(1024, 1))),
        Row("add", "64x32x28x28 + channel", join(floats(64, 32, 28, 28), channels(32))),
        Row("add", "1024x1024 + transposed", join(floats(1024, 1024), turned(1024))),
        Row("copy", "1024x1024 transposed", turned(1024)),
    ]
    return rows


def channels(count: int) -> Operands:
    """One value for each channel of ``[N, C, H, W]``."""
    return lambda rng: (rng.random((count, 1, 1), np.float32),)


def turned(n: int) -> Operands:
    """A square with its dimensions swapped: columns lie in rows."""
    return lambda rng: (rng.random((n, n), np.float32).T,)


def reductions() -> list[Row]:
    """Over the last and the first axis, and over all."""
    square = floats(1024, 1024)
    rows = [
        Row(kernel, f"1024x1024 over {axis}", square, ((axis,), False))
        for kernel in ("sum", "mean", "max", "logsumexp")
        for axis in (1, 0)
    ]
    rows += [
        Row("sum", "1024x1024 over all", square, ((0, 1), False)),
        Row("var", "1024x1024 over 1", square, ((1,), False, 1.0)),
        Row("argmax", "1024x1024 over 1", square, (1, False)),
    ]
    for n, d in ((4096, 128), (512, 4096), (64, 50257)):
        rows.append(Row("softmax", f"{n}x{d}", floats(n, d), (1,)))
    rows += [
        Row("log_softmax", "512x4096", floats(512, 4096), (1,)),
        Row("softmax_backward", "512x4096", join(*[floats(512, 4096)] * 2), (1,)),
    ]
    return rows


def rows_of_models() -> list[Row]:
    """Norms, losses, embeddings, random numbers."""
    n, d, vocabulary = 4096, 768, 50257
    x, vector, column = floats(n, d), floats(d), positive(n)
    loss = ("mean", -100, 0.0)
    return [
        Row("layer_norm", f"{n}x{d}", join(x, vector, vector), (1e-5,), 0b111),
        Row(
            "layer_norm_backward",
            f"{n}x{d}",
            join(x, x, column, column, vector),
            want=0b111,
        ),
        Row(
            "cross_entropy",
            "256x10, gradient",
            join(floats(256, 10), indices(10, 256), absent),
            loss,
            0b11,
        ),
        Row(
            "cross_entropy",
            f"512x{vocabulary}, gradient",
            join(floats(512, vocabulary), indices(vocabulary, 512), absent),
            loss,
            0b11,
        ),
        Row(
            "embedding",
            f"{vocabulary}x256, 4096 rows",
            join(floats(vocabulary, 256), indices(vocabulary, 4096)),
        ),
        Row("dropout", "1 Mi", join(floats(1 << 20), counter), (0.1,), 0b11),
    ]


def updates() -> list[Row]:
    """A step over all parameters of a small model in one call."""
    lr, step = np.asarray(1e-3, np.float32), np.asarray(2, np.int64)
    adam = (0.9, 0.999, 1e-8, 0.01, True, False)
    label = f"{sum(int(np.prod(s)) for s in PARAMETERS):,} parameters"
    return [
        Row(
            "sgd",
            label,
            parameters(3, lr, step),
            (0.9, 0.0, 0.0, False, False),
        ),
        Row("adamw", label, parameters(4, lr, step), adam),
        Row("grad_norm", label, parameters(1)),
    ]


LEGACY_ROWS = [
    *products(),
    *convolutions(),
    *sequences(),
    *elementwise(),
    *reductions(),
    *rows_of_models(),
    *updates(),
]

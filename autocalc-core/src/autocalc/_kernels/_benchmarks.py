# SPDX-License-Identifier: MIT
"""Which kernels, over which operands: the calls by which kernels are timed.

A row is a call of the kernel table: inputs and attributes in the order of the kernel's
signature, of the sizes that models have.  Its work comes from the kernel's spec:
floating-point operations where a matrix product leads, bytes moved everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels._spec import meta_of
from autocalc._kernels._table import TABLE

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
SIZES = {"4 Ki": 4 << 10, "64 Ki": 64 << 10, "1 Mi": 1 << 20, "16 Mi": 16 << 20}

#: The parameters of a small transformer: embedding, two blocks of eight, a norm.
PARAMETERS = [(1000, 256), *[(768, 256), (768,), (256, 256), (256,)] * 2, (256,)]

Maker = Callable[[np.random.Generator], tuple[Any, ...]]


class Row(NamedTuple):
    """One row of the table."""

    kernel: str
    operands: str
    make: Maker  # the inputs
    attributes: tuple[Any, ...] = ()
    want: int = 0  # which optional outputs, bit by bit

    @property
    def name(self) -> str:
        """What identifies the row."""
        return f"{self.kernel} {self.operands}"

    @property
    def by_products(self) -> bool:
        """Whether a matrix product leads: operations count then, otherwise bytes."""
        return TABLE[self.kernel].lead == "gemm"

    def work(self, operands: Sequence[Any]) -> float:
        """Return the floating-point operations of the call, or the bytes it moves."""
        metas = map(meta_of, operands)
        total = TABLE[self.kernel].work(*metas, *self.attributes)
        return float(total.flops if self.by_products else total.bytes)


def floats(*shape: int) -> Maker:
    """One float32 operand."""
    return lambda rng: (rng.standard_normal(shape, np.float32),)


def both(*makers: Maker) -> Maker:
    """Operands one after the other."""
    return lambda rng: tuple(one for maker in makers for one in maker(rng))


def positive(*shape: int) -> Maker:
    """One float32 operand in [0.5, 1.5)."""
    return lambda rng: (rng.random(shape, np.float32) + np.float32(0.5),)


def indices(below: int, *shape: int) -> Maker:
    """One int64 operand."""
    return lambda rng: (rng.integers(below, size=shape),)


def bools(*shape: int) -> Maker:
    """One bool operand."""
    return lambda rng: (rng.random(shape) < 0.5,)


def absent(rng: np.random.Generator) -> tuple[None]:
    """Leave an optional operand out."""
    return (None,)


def counter(rng: np.random.Generator) -> tuple[Any, ...]:
    """Seed and offset of random bits."""
    return np.asarray(1, np.int64), np.asarray(0, np.int64)


def parameters(copies: int, *scalars: Any) -> Maker:
    """Lists of arrays as an optimizer has them, and 0-d operands."""

    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        lists = tuple(
            [rng.random(shape, np.float32) for shape in PARAMETERS]
            for _ in range(copies)
        )
        return (*lists, *scalars)

    return make


def products() -> list[Row]:
    """`gemm` over the shapes of models, `linear` and its backward kernel."""
    plain = (1.0, 0.0, "none")
    rows = [
        Row("gemm", f"{m}x{n}x{k}", both(floats(m, k), floats(k, n), absent), plain)
        for m, n, k in GEMM_SHAPES
    ]
    batch, features, hidden = 256, 784, 1024
    x, weight = floats(batch, features), floats(hidden, features)
    rows.append(
        Row("linear", "256x784 to 1024", both(x, weight, floats(hidden)), ("none",))
    )
    rows.append(
        Row(
            "linear_backward",
            "256x784 to 1024",
            both(floats(batch, hidden), x, weight),
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
        Row("conv", label, both(x, weight, absent), lie),
        Row("conv_dx", label, both(g, weight, absent), (images[2:], *lie)),
        Row("conv_dweight", label, both(g, x), ((3, 3), *lie)),
    ]


def sequences() -> list[Row]:
    """Attention, and recurrent layers over a whole sequence."""
    rows = []
    for batch, steps, heads, size in ((8, 128, 4, 32), (1, 2048, 8, 64)):
        q = floats(batch, steps, heads, size)
        label = f"{batch}x{steps}x{heads}x{size}, causal"
        causal = (size**-0.5, "upper_left", 0.0)
        operands = both(q, q, q, *[absent] * 3)
        rows.append(Row("attention", label, operands, causal))
    batch, steps, features, hidden = 128, 28, 28, 128
    for kernel, gates, states in (("lstm", 4, 2), ("gru", 3, 1)):
        operands = both(
            floats(steps, batch, features),
            floats(gates * hidden, features),
            floats(gates * hidden, hidden),
            *[floats(gates * hidden)] * 2,
            *[floats(batch, hidden)] * states,
        )
        label = f"{steps} steps of {batch}x{features} to {hidden}"
        rows.append(Row(kernel, label, operands, (False,)))
    return rows


def sized(kernel: str, make: Callable[[int], Maker], *attributes: Any) -> list[Row]:
    """One row for each size."""
    label = "".join(f"{a} " for a in attributes if isinstance(a, str) and a != "none")
    return [
        Row(kernel, f"{label}{name}", make(n), attributes) for name, n in SIZES.items()
    ]


def elementwise() -> list[Row]:
    """Same shapes at four sizes; other layouts and kernels at one."""
    rows = sized("add", lambda n: both(floats(n), floats(n)))
    rows += sized("exp", floats) + sized("tanh", floats)
    rows += sized("gelu", floats, "none") + sized("gelu", floats, "tanh")
    n = SIZES["1 Mi"]
    rows += [
        Row(kernel, "1 Mi", floats(n))
        for kernel in ("neg", "abs", "relu", "sigmoid", "silu", "erf", "sin", "cos")
    ]
    rows += [Row(kernel, "1 Mi", positive(n)) for kernel in ("log", "sqrt", "rsqrt")]
    rows += [
        Row(kernel, "1 Mi", both(floats(n), positive(n)))
        for kernel in ("sub", "mul", "div", "maximum", "minimum")
    ]
    rows += [
        Row("pow", "1 Mi", both(positive(n), floats(n))),
        Row("softplus", "1 Mi", floats(n), (1.0, 20.0)),
        Row("compare", "1 Mi", both(floats(n), floats(n)), ("lt",)),
        Row("where", "1 Mi", both(bools(n), floats(n), floats(n))),
        Row("relu_backward", "1 Mi", both(floats(n), floats(n))),
        Row("gelu_backward", "1 Mi", both(floats(n), floats(n)), ("none",)),
        Row("add", "1024x1024 + row", both(floats(1024, 1024), floats(1024))),
        Row("add", "1024x1024 + column", both(floats(1024, 1024), floats(1024, 1))),
        Row("add", "64x32x28x28 + channel", both(floats(64, 32, 28, 28), channels(32))),
        Row("add", "1024x1024 + transposed", both(floats(1024, 1024), turned(1024))),
        Row("copy", "1024x1024 transposed", turned(1024)),
    ]
    return rows


def channels(count: int) -> Maker:
    """One value for each channel of ``[N, C, H, W]``."""
    return lambda rng: (rng.random((count, 1, 1), np.float32),)


def turned(n: int) -> Maker:
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
        Row("softmax_backward", "512x4096", both(*[floats(512, 4096)] * 2), (1,)),
    ]
    return rows


def rows_of_models() -> list[Row]:
    """Norms, losses, embeddings, random numbers."""
    n, d, vocabulary = 4096, 768, 50257
    x, vector, column = floats(n, d), floats(d), positive(n)
    loss = ("mean", -100, 0.0)
    return [
        Row("layer_norm", f"{n}x{d}", both(x, vector, vector), (1e-5,), 0b111),
        Row(
            "layer_norm_backward",
            f"{n}x{d}",
            both(x, x, column, column, vector),
            want=0b111,
        ),
        Row("rms_norm", f"{n}x{d}", both(x, vector), (1e-5,), 0b11),
        Row(
            "rms_norm_backward",
            f"{n}x{d}",
            both(x, x, positive(n, 1), vector),
            want=0b11,
        ),
        Row(
            "cross_entropy",
            "256x10, gradient",
            both(floats(256, 10), indices(10, 256), absent),
            loss,
            0b11,
        ),
        Row(
            "cross_entropy",
            f"512x{vocabulary}, gradient",
            both(floats(512, vocabulary), indices(vocabulary, 512), absent),
            loss,
            0b11,
        ),
        Row(
            "embedding",
            f"{vocabulary}x256, 4096 rows",
            both(floats(vocabulary, 256), indices(vocabulary, 4096)),
        ),
        Row("dropout", "1 Mi", both(floats(1 << 20), counter), (0.1,), 0b11),
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


ROWS = {
    row.name: row
    for row in [
        *products(),
        *convolutions(),
        *sequences(),
        *elementwise(),
        *reductions(),
        *rows_of_models(),
        *updates(),
    ]
}


def arguments(row: Row) -> tuple[Any, ...]:
    """Return the operands; the same numbers for each peer."""
    return row.make(np.random.default_rng(0))

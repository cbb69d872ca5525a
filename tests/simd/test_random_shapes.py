# SPDX-License-Identifier: MIT
"""10,000 shapes that nobody chose, of each instruction set, against float64.

Operands have all kinds of layouts between guards; outputs, gaps and guards hold NaN,
and so does the scratch memory that earlier calls left: a kernel that reads what was
never written spoils the result, and one that writes outside is caught.
"""

import math
import zlib

import numpy as np
import pytest
from tests.kernel_table import TABLE, Sample
from tests.kernel_table import xp as numpy_xp
from tests.oracle import LAYOUTS, limits_of
from tests.oracle import expected as expected_of
from tests.simd.products import FLOAT32, SETS, subject_of

SHAPES = 10_000
#: Kernels whose answers in float64 take long: 20 ms each.
FEWER = {"attention": 80, "attention_backward": 80}


def size(rng, largest=260):
    """A size whose logarithm is uniform: 1, 2, 3 as often as 60 to 200; rarely 0."""
    return 0 if rng.random() < 0.01 else int(largest ** rng.random())


def shape_of(rng, dims, elements=30_000):
    """A shape that does not hold too much for 10,000 of its kind."""
    shape = [size(rng) for _ in range(dims)]
    while math.prod(shape) > elements:
        shape[shape.index(max(shape))] //= 2
    return tuple(shape)


def normal(rng, *shape):
    return rng.standard_normal(shape, FLOAT32)


def maybe(rng, operand):
    return operand if rng.random() < 0.5 else None


def some_axes(rng, dims):
    count = int(rng.integers(1, dims + 1))
    return tuple(sorted(rng.choice(dims, count, replace=False).tolist()))


def gemm(rng):
    m, n, k = (size(rng) for _ in range(3))
    batch = tuple(rng.integers(1, 4, rng.choice(3, p=[0.7, 0.2, 0.1])).tolist())
    one = tuple(d if rng.random() < 0.8 else 1 for d in batch)
    bias = maybe(rng, normal(rng, n))
    activation = str(rng.choice(["none", "relu", "gelu", "gelu_tanh"]))
    alpha = float(rng.choice([1.0, -0.5]))
    return (
        (normal(rng, *batch, m, k), normal(rng, *one, k, n), bias),
        (alpha, 0.0, activation),
    )


def linear(rng):
    rows, inputs, outputs = (size(rng) for _ in range(3))
    operands = normal(rng, rows, inputs), normal(rng, outputs, inputs)
    return (*operands, maybe(rng, normal(rng, outputs))), ("none",)


def linear_backward(rng):
    rows, inputs, outputs = (size(rng) for _ in range(3))
    g = normal(rng, rows, outputs)
    return (g, normal(rng, rows, inputs), normal(rng, outputs, inputs)), ()


def over_axis(rng, copies=1):
    shape = shape_of(rng, int(rng.integers(1, 4)))
    axis = int(rng.integers(len(shape)))
    return tuple(normal(rng, *shape) for _ in range(copies)), (axis,)


def softmax_backward(rng):
    (g, a), attributes = over_axis(rng, 2)
    if a.size:
        a = np.exp(a - a.max(attributes[0], keepdims=True))
        a /= a.sum(attributes[0], keepdims=True)
    return (g, a), attributes


def reduction(rng, *more):
    shape = shape_of(rng, int(rng.integers(1, 5)))
    axes = some_axes(rng, len(shape))
    return (normal(rng, *shape),), (axes, bool(rng.random() < 0.5), *more)


def never_empty(make):
    """Keep to what has a value: no maximum of nothing."""

    def again(rng):
        while True:
            operands, attributes = make(rng)
            if operands[0].size:
                return operands, attributes

    return again


def argmax(rng):
    (a,), (axis,) = over_axis(rng)
    return (a,), (axis, bool(rng.random() < 0.5))


def rms_norm(rng):
    x = normal(rng, *shape_of(rng, 2))
    return (x, maybe(rng, normal(rng, x.shape[-1]))), (1e-5,)


def layer_norm(rng):
    (x, weight), attributes = rms_norm(rng)
    return (x, weight, maybe(rng, normal(rng, x.shape[-1]))), attributes


def layer_norm_backward(rng):
    (x, weight, _), (eps,) = layer_norm(rng)
    mean = x.mean(-1)
    rstd = (1 / np.sqrt(x.var(-1) + eps)).astype(FLOAT32)
    return (normal(rng, *x.shape), x, mean, rstd, weight), ()


def rms_norm_backward(rng):
    (x, weight), (eps,) = rms_norm(rng)
    rstd = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    return (normal(rng, *x.shape), x, rstd.astype(FLOAT32), weight), ()


def scores_mask(rng, shape):
    """None, booleans or numbers, repeated along some of the scores' dimensions."""
    kind = rng.integers(3)
    shape = tuple(n if rng.random() < 0.7 else 1 for n in shape)
    if kind == 0:
        return None
    return rng.random(shape) < 0.7 if kind == 1 else normal(rng, *shape)


def attention(rng):
    b, groups, times = (int(n) for n in rng.integers(1, 4, 3))
    queries, keys, d, e = (size(rng, 150) for _ in range(4))
    heads = groups * times
    q, k = normal(rng, b, queries, heads, d), normal(rng, b, keys, groups, d)
    mask = scores_mask(rng, (b, heads, queries, keys))
    p = float(rng.choice([0.0, 0.0, 0.3]))
    counter = (np.int64(3), np.int64(5)) if p else (None, None)
    seed, offset = (None if n is None else np.array(n) for n in counter)
    causal = str(rng.choice(["none", "upper_left", "lower_right"]))
    operands = (q, k, normal(rng, b, keys, groups, e), mask, seed, offset)
    return operands, (max(d, 1) ** -0.5, causal, p)


def attention_backward(rng):
    operands, attributes = attention(rng)
    q, k, v, *rest = operands
    with np.errstate(all="ignore"):
        out, lse = TABLE["attention"].reference(numpy_xp, *operands, *attributes)
    g = normal(rng, *q.shape[:3], v.shape[3])
    return (g, q, k, v, out, lse, *rest), attributes


def lie(rng):
    """Return groups, a weight, sizes of the input, and the windows' geometry."""
    dims = int(rng.integers(1, 3))
    groups = int(rng.choice([1, 1, 2, 5]))
    kernel, stride, padding, dilation = (
        tuple(int(n) for n in rng.integers(least, most, dims))
        for least, most in ((1, 5), (1, 4), (0, 4), (1, 3))
    )
    spans = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    sizes = tuple(
        max(1, span - 2 * p) + size(rng, 24)
        for span, p in zip(spans, padding, strict=True)
    )
    weight = normal(rng, groups * size(rng, 20), size(rng, 20), *kernel)
    return groups, weight, sizes, (stride, padding, dilation)


def counts(weight, sizes, how):
    each = zip(sizes, weight.shape[2:], *how, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in each)


def conv(rng):
    groups, weight, sizes, how = lie(rng)
    x = normal(rng, int(rng.integers(0, 4)), groups * weight.shape[1], *sizes)
    return (x, weight, maybe(rng, normal(rng, weight.shape[0]))), (*how, groups)


def conv_dx(rng):
    groups, weight, sizes, how = lie(rng)
    outs = counts(weight, sizes, how)
    g = normal(rng, int(rng.integers(0, 4)), weight.shape[0], *outs)
    bias = maybe(rng, normal(rng, groups * weight.shape[1]))
    return (g, weight, bias), (sizes, *how, groups)


def conv_dweight(rng):
    groups, weight, sizes, how = lie(rng)
    batch = int(rng.integers(0, 12))
    g = normal(rng, batch, weight.shape[0], *counts(weight, sizes, how))
    x = normal(rng, batch, groups * weight.shape[1], *sizes)
    return (g, x), (weight.shape[2:], *how, groups)


MAKERS = {
    "attention": attention,
    "attention_backward": attention_backward,
    "conv": conv,
    "conv_dx": conv_dx,
    "conv_dweight": conv_dweight,
    "gemm": gemm,
    "linear": linear,
    "linear_backward": linear_backward,
    "softmax": over_axis,
    "log_softmax": over_axis,
    "softmax_backward": softmax_backward,
    "sum": reduction,
    "mean": never_empty(reduction),
    "max": never_empty(reduction),
    "min": never_empty(reduction),
    "logsumexp": never_empty(reduction),
    "var": never_empty(lambda rng: reduction(rng, 0.0)),
    "std": never_empty(lambda rng: reduction(rng, 0.0)),
    "norm": reduction,
    "argmax": never_empty(argmax),
    "rms_norm": never_empty(rms_norm),
    "layer_norm": never_empty(layer_norm),
    "rms_norm_backward": never_empty(rms_norm_backward),
    "layer_norm_backward": never_empty(layer_norm_backward),
}


def fill_scratch_with_nan(subject):
    """Leave NaN where products pack their operands."""
    n = 600
    nan = np.full((n, n), np.nan, FLOAT32)
    out = np.empty((n, n), FLOAT32)
    arguments = (out, None, nan, nan.T, None, 1.0, 0.0, "none", 0)
    subject.kernels["gemm"].function(*arguments)
    assert np.isnan(out).all()


@pytest.mark.filterwarnings(
    "ignore:(Mean of empty|Degrees of freedom|invalid value|divide by zero)"
)
@pytest.mark.parametrize("name", MAKERS)
def test_random_shapes(name):
    spec = TABLE[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    subjects = [subject for subject in map(subject_of, SETS) if name in subject.kernels]
    assert subjects, f"no set has {name}"
    every_output = (1 << len(spec.outputs)) - 1
    optional = sum(1 << i for i, out in enumerate(spec.outputs) if out.optional)
    share = -(-(SHAPES - sum(FEWER.values())) // (len(MAKERS) - len(FEWER)))
    for i in range(FEWER.get(name, share)):
        operands, attributes = MAKERS[name](rng)
        shapes = [None if x is None else x.shape for x in operands]
        label = f"shape {i}: {shapes} {attributes}"
        sample = Sample(label, operands, attributes, every_output & optional)
        layouts = tuple(rng.choice(LAYOUTS, 3).tolist())
        expected = expected_of(spec, sample, FLOAT32)
        limits = limits_of(spec, sample, FLOAT32, expected)
        for subject in subjects:
            if i % 100 == 0:
                fill_scratch_with_nan(subject)
            outputs = subject.run(spec, sample, FLOAT32, layouts=layouts)
            try:
                subject.judge(spec, sample, FLOAT32, outputs, expected, limits=limits)
            except AssertionError as error:
                pytest.fail(f"{subject.name}, {label}, layouts {layouts}: {error}")

# SPDX-License-Identifier: MIT
"""Reductions and scans of 10^7 elements: errors that do not grow with the number.

All elements are 0.1, rounded to the dtype: what each addition rounds off has the same
sign then, so that a plain sum in float32 is several per cent off, and every exact
result is a product.
"""

import math

import numpy as np
import pytest

import autocalc as ac
from autocalc.nn import functional as F

N = 10_000_000
SIMD = [name for name in ac.kernels.available() if name.startswith("simd-")]
SETS = ["reference", *SIMD]
EPS = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10,
       "bfloat16": 2.0**-7}  # fmt: skip
#: eps of the sum of the terms' sizes, of sums of n terms and of products of matrices.
SUM = math.log2(N) + 16
PRODUCT = 4096

#: Of a vector x of N elements v: the result, and what is exact.
SUMS = {
    "sum": lambda x, v: (x.sum(), N * v),
    "sum, rows": lambda x, v: (x.reshape(-1, 4).sum(0), N / 4 * v),
    "sum, strided": lambda x, v: (x.reshape(-1, 4)[:, 1].sum(), N / 4 * v),
    "mean": lambda x, v: (x.mean(), v),
    "nansum": lambda x, v: (x.nansum(), N * v),
    "nanmean": lambda x, v: (x.nanmean(), v),
    "norm": lambda x, v: (ac.linalg.vector_norm(x), math.sqrt(N) * v),
    "norm, 1": lambda x, v: (ac.linalg.vector_norm(x, 1), N * v),
    "vecdot": lambda x, v: (ac.linalg.vecdot(x, x), N * v * v),
    "logsumexp": lambda x, v: (x.logsumexp(0), math.log(N) + v),
    "softmax": lambda x, v: (x.softmax(0)[:3], 1 / N),
    "log_softmax": lambda x, v: (x.log_softmax(0)[:3], -math.log(N)),
    "mse_loss": lambda x, v: (F.mse_loss(x, x * 0), v * v),
    "l1_loss": lambda x, v: (F.l1_loss(x, x * 0), v),
    "smooth_l1_loss": lambda x, v: (F.smooth_l1_loss(x, x * 0), v * v / 2),
    "huber_loss": lambda x, v: (F.huber_loss(x, x * 0), v * v / 2),
    "bce": lambda x, v: (F.binary_cross_entropy(x, x * 0), -math.log1p(-v)),
    "bce with logits": lambda x, v: (
        F.binary_cross_entropy_with_logits(x, x * 0),
        math.log1p(math.exp(v)),
    ),
    "cross_entropy": lambda x, v: (
        F.cross_entropy(x.reshape(-1, 10), ac.zeros(N // 10, dtype=ac.int64)),
        math.log(10),
    ),
    "nll_loss": lambda x, v: (
        F.nll_loss(x.reshape(-1, 10), ac.zeros(N // 10, dtype=ac.int64)),
        -v,
    ),
    "trapezoid": lambda x, v: (ac.trapezoid(x), (N - 1) * v),
    "adaptive_avg_pool1d": lambda x, v: (
        F.adaptive_avg_pool1d(x.reshape(1, 1, -1), 1),
        v,
    ),
    "sum_to": lambda x, v: (gradient_of_bias(x), N / 4 * v),
    "clip_grad_norm_": lambda x, v: (norm_of_gradient(x), math.sqrt(N) * v),
    "count_nonzero": lambda x, v: (ac.count_nonzero(x), N),
}
SCANS = {
    "cumsum": lambda x, v: (x.cumsum(0), steps(N) * v),
    "cumsum, columns": lambda x, v: (
        x.reshape(-1, 4).cumsum(0),
        steps(N // 4)[:, None] * v,
    ),
    "cumsum, strided": lambda x, v: (x[1::4].cumsum(0), steps(N // 4) * v),
    "cumulative_trapezoid": lambda x, v: (ac.cumulative_trapezoid(x), steps(N - 1) * v),
    "logcumsumexp": lambda x, v: (x.logcumsumexp(0), np.log(steps(N)) + v),
    "logcumsumexp, columns": lambda x, v: (
        x.reshape(-1, 4).logcumsumexp(0),
        np.log(steps(N // 4))[:, None] + v,
    ),
}
#: NumPy multiplies in turn, in the next wider format: 4096 eps are what is stated.
FACTORS = {
    "prod": lambda x, v: (near_one(x).prod(), products(near_one(x), N)[-1]),
    "cumprod": lambda x, v: (near_one(x).cumprod(0), products(near_one(x), N)),
}
ONE_PLACE = {
    "index_add": lambda x, v: (two(x).index_add(0, nowhere(N), x)[0], N * v),
    "index_add, rows": lambda x, v: (
        two(x, 4).index_add(0, nowhere(N // 4), x.reshape(-1, 4))[0],
        N / 4 * v,
    ),
    "scatter_add": lambda x, v: (two(x).scatter_add(0, nowhere(N), x)[0], N * v),
    "scatter_add, columns": lambda x, v: (
        two(x, 4).scatter_add(0, nowhere(N).reshape(-1, 4), x.reshape(-1, 4))[0],
        N / 4 * v,
    ),
    "scatter_reduce": lambda x, v: (
        two(x).scatter_reduce(0, nowhere(N), x, "mean", include_self=False)[0],
        v,
    ),
    "index_put": lambda x, v: (
        two(x).index_put((nowhere(N),), x, accumulate=True)[0],
        N * v,
    ),
    "index_add, among many places": lambda x, v: (
        ac.zeros(N // 10, dtype=x.dtype).index_add(
            0, every_other(N // 10), x[: N // 10]
        )[0],
        N / 20 * v,
    ),
    "scatter_add, one index for all columns": lambda x, v: (
        two(x, 4).scatter_add(
            0, nowhere(N // 4).reshape(-1, 1).expand(-1, 4), x.reshape(-1, 4)
        )[0],
        N / 4 * v,
    ),
    "bincount": lambda x, v: (ac.bincount(nowhere(N), x), N * v),
    "embedding's gradient": lambda x, v: (gradient_of_table(x, 4, 2), N / 4 * v),
    "of a wide table": lambda x, v: (gradient_of_table(x, 64, 200), N / 64 * v),
    "embedding_bag": lambda x, v: (
        F.embedding_bag(ac.arange(N // 4), x.reshape(-1, 4), nowhere(1), mode="sum"),
        N / 4 * v,
    ),
}
PRODUCTS = {
    "dot": lambda x, v: (ac.dot(x, x), N * v * v),
    "vdot": lambda x, v: (ac.vdot(x, x), N * v * v),
    "einsum": lambda x, v: (ac.einsum("i,i->", x, x), N * v * v),
    "row by column": lambda x, v: (x.reshape(1, -1) @ x.reshape(-1, 1), N * v * v),
    "row by 4 columns": lambda x, v: (
        x[: N // 4].reshape(1, -1) @ x.reshape(-1, 4),
        N / 4 * v * v,
    ),
    "row by 100 columns": lambda x, v: (
        x[: N // 100].reshape(1, -1) @ x.reshape(-1, 100),
        N / 100 * v * v,
    ),
    "4 rows by 4 columns": lambda x, v: (
        x.reshape(-1, 4).T @ x.reshape(-1, 4),
        N / 4 * v * v,
    ),
    "rows by rows": lambda x, v: (
        x.reshape(20, -1) @ x.reshape(20, -1).T,
        N / 20 * v * v,
    ),
    "addmv": lambda x, v: (
        ac.addmv(two(x, 2).reshape(-1), x.reshape(-1, 4).T, x[: N // 4]),
        N / 4 * v * v,
    ),
    "bilinear": lambda x, v: (
        F.bilinear(
            x[:4000].reshape(1, -1), x[:2500].reshape(1, -1), x.reshape(1, 4000, 2500)
        ),
        N * v**3,
    ),
    "linear's gradients": lambda x, v: (gradients_of_linear(x), N / 4 * v),
}

#: Of 10^6 keys of equal weight: 4096 keys, or blocks of 256, are added plainly.
FEW_QUERIES = {"one query": lambda x, v: (attended(x, 1), v)}
QUERIES = {
    "some queries": lambda x, v: (attended(x, 20), v),
    "queries with a gradient": lambda x, v: (attended(x, 2, grad=True), v),
}


def steps(n):
    return np.arange(1.0, n + 1)


def near_one(x):
    """Return factors whose products are numbers of a usual size."""
    return x * 0 + (1 + 2.0**-22)


def products(x, n):
    """Return exp(k log(x)), whose error in float64 is that of log(x) times k."""
    exact = np.exp(steps(n) * np.longdouble(np.log1p(np.longdouble(float(x[0]) - 1))))
    return exact.astype(np.float64)


def two(x, *sizes):
    return ac.zeros(2, *sizes, dtype=x.dtype)


def nowhere(n):
    return ac.zeros(n, dtype=ac.int64)


def every_other(n):
    """Return indices of which every other one is 0."""
    return ac.arange(n) * (ac.arange(n) % 2)


def attended(x, queries, *, grad=False):
    """Return the attention of zeros: the mean of the values."""
    values = x[: 4 * N // 10].reshape(1, 1, -1, 4)
    q = ac.zeros(1, 1, queries, 4, dtype=x.dtype, requires_grad=grad)
    return F.scaled_dot_product_attention(q, values, values)


def gradient_of_bias(x):
    bias = ac.zeros(1, 4, dtype=x.dtype, requires_grad=True)
    (bias + x.reshape(-1, 4).detach()).backward(x.reshape(-1, 4))
    return bias.grad


def norm_of_gradient(x):
    p = ac.zeros(N, dtype=x.dtype, requires_grad=True)
    p.grad = x.clone()
    return ac.nn.utils.clip_grad_norm_([p], 1e9)


def gradient_of_table(x, width, rows):
    table = ac.zeros(rows, width, dtype=x.dtype, requires_grad=True)
    F.embedding(nowhere(N // width), table).backward(x.reshape(-1, width))
    return table.grad[0]


def gradients_of_linear(x):
    w = ac.ones(4, 4, dtype=x.dtype, requires_grad=True)
    b = ac.zeros(4, dtype=x.dtype, requires_grad=True)
    F.linear(ac.ones(N // 4, 4, dtype=x.dtype), w, b).backward(x.reshape(-1, 4))
    return ac.cat([b.grad, w.grad.reshape(-1)])


@pytest.fixture(scope="module")
def elements():
    return {dtype: ac.full((N,), 0.1, dtype=dtype) for dtype in ("float32", "float64")}


def worst(found, exact):
    found = np.asarray(found.detach().to(ac.float64).numpy())
    return float(np.max(np.abs(found / exact - 1)))


def cases(dtypes):
    """Every member in the best set; in others those whose kernels add themselves."""
    best = SIMD[:1] or SETS[:1]
    for kind, limit in (
        (SUMS, SUM),
        (SCANS, SUM),
        (ONE_PLACE, SUM),
        (PRODUCTS, PRODUCT),
        (FACTORS, PRODUCT),
        (FEW_QUERIES, PRODUCT / 8),
        (QUERIES, PRODUCT / 32),
    ):
        for how in kind:
            for name in best if kind is SUMS else SETS:
                for dtype in dtypes:
                    yield pytest.param(
                        name, kind[how], dtype, limit, id=f"{how}, {dtype}, {name}"
                    )


def assert_close(name, run, x, limit):
    if name == "reference" and x.dtype is ac.float64:
        limit = max(limit, 1024)  # one after the other, in long double
    with ac.kernels.use(name):
        found, exact = run(x, float(x[0]))
    eps = EPS[x.dtype.name]
    # Logarithms, and terms that are functions, are off by some eps themselves.
    assert worst(found, exact) <= limit * eps


@pytest.mark.parametrize(("name", "run", "dtype", "limit"), list(cases(["float32"])))
def test_floats(name, run, dtype, limit, elements):
    assert_close(name, run, elements[dtype], limit)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "run", "dtype", "limit"), list(cases(["float64"])))
def test_doubles(name, run, dtype, limit, elements):
    assert_close(name, run, elements[dtype], limit)


HALVES = {
    "bfloat16": ("sum", "mean", "norm", "cumsum", "index_add", "scatter_add", "dot"),
    "float16": ("mean", "norm", "adaptive_avg_pool1d"),  # sums are too large for it
}


@pytest.mark.parametrize(
    ("dtype", "how"), [(dtype, how) for dtype in HALVES for how in HALVES[dtype]]
)
def test_halves_are_summed_in_float32(dtype, how):
    run = {**SUMS, **SCANS, **ONE_PLACE, **PRODUCTS}[how]
    assert_close((SIMD or SETS)[0], run, ac.full((N,), 0.1, dtype=dtype), 1)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("queries", [1, 100])
def test_attention_to_several_groups_of_keys(name, is_causal, queries):
    """Scores rise with the keys, so that maxima change from group to group."""
    keys = 10_000
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((1, 1, n, 8)) for n in (queries, keys, keys))
    k *= np.linspace(0, 3, keys)[:, None]
    # Queries see the keys from the last group on.
    seen = np.arange(keys) <= keys - queries + np.arange(queries)[:, None]
    scores = np.where(seen | (not is_causal), q @ k.swapaxes(-1, -2) / 8**0.5, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    exact = weights @ v / weights.sum(-1, keepdims=True)
    mask = ac.tensor(seen) if is_causal else None
    with ac.kernels.use(name):
        for dtype, limit in (("float32", 1e-5), ("float64", 1e-13)):
            operands = (ac.tensor(x.astype(dtype)) for x in (q, k, v))
            out = F.scaled_dot_product_attention(*operands, attn_mask=mask)
            np.testing.assert_allclose(out.numpy(), exact, atol=limit, rtol=0)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_running_sums_that_overflow_for_a_moment(name, axis, dtype):
    """The result is finite again in float32, whose sums are taken in doubles."""
    largest = np.finfo(dtype).max / 1.5
    line = np.where(np.arange(1000) % 4 < 2, -largest, largest).astype(dtype)
    x = np.ascontiguousarray(np.stack([line] * 19, axis=1 - axis))
    with np.errstate(over="ignore", invalid="ignore"):
        exact = np.cumsum(x.astype(np.float64), axis).astype(dtype)
    with ac.kernels.use(name):
        np.testing.assert_array_equal(ac.tensor(x).cumsum(axis).numpy(), exact)

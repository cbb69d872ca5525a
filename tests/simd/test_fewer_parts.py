# SPDX-License-Identifier: MIT
"""Products of one or two bfloat16 for each number: where they are allowed, only."""

import numpy as np
import pytest
from tests.dispatcher import arrays as k
from tests.kernel_table import TABLE, Sample
from tests.simd.products import FLOAT32, check, gemm_sample, normal

import autocalc as ac
from autocalc import nn
from autocalc.testing.conformance import Refused, Subject

SETS = {"bf16x2-amx": "high", "bf16-amx": "medium"}
EXACT = "split-amx"

pytestmark = pytest.mark.skipif(
    EXACT not in ac.kernels.available(), reason="this CPU has no AMX"
)


@pytest.fixture(autouse=True)
def put_back():
    yield
    ac.set_float32_matmul_precision("highest")


@pytest.fixture(params=list(SETS))
def subject(request):
    return Subject.named(request.param)


# ---- the products --------------------------------------------------------------------

# Whole and ragged strips and chunks, several blocks of 16 chunks, and small ones.
SHAPES = [
    (256, 256, 256),
    (225, 300, 288),
    (257, 311, 543),
    (230, 1100, 144),
    (1024, 64, 130),
    (272, 272, 1060),
    (70, 65, 1100),
    (301, 225, 65),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("b", ["contiguous", "offset", "transposed"])
@pytest.mark.parametrize("a", ["contiguous", "padded", "transposed"])
def test_every_layout_is_packed(subject, shape, a, b):
    sample = gemm_sample(np.random.default_rng(1), *shape)
    check(subject, "gemm", sample, layouts=(a, b))


@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "gelu_tanh"])
@pytest.mark.parametrize("bias", [False, True])
def test_what_follows_the_sums(subject, activation, bias):
    rng = np.random.default_rng(3)
    sample = gemm_sample(rng, 260, 330, 545, bias, activation, want=3)
    check(subject, "gemm", sample)
    prior = (normal(rng, 260, 330), normal(rng, 260, 330))
    check(subject, "gemm", sample, accumulate=1, prior=prior)


@pytest.mark.parametrize("rows", [(300,), (3, 100), (4, 7, 31)], ids=str)
def test_linear_layers_and_their_gradients(subject, rows):
    rng = np.random.default_rng(4)
    x, weight, bias = normal(rng, *rows, 260), normal(rng, 390, 260), normal(rng, 390)
    check(subject, "linear", Sample("", (x, weight, bias), ("gelu",), want=3))
    gradients = Sample("", (normal(rng, *rows, 390), x, weight), want=0b111)
    outs = check(subject, "linear_backward", gradients)
    prior = tuple(normal(rng, *out.shape) for out in outs)
    check(subject, "linear_backward", gradients, accumulate=0b111, prior=prior)
    relu = Sample("", (gradients.inputs[0], np.maximum(x, 0), weight), want=0b111)
    check(subject, "linear_relu_backward", relu)
    check(subject, "linear_relu_backward", relu, accumulate=0b110, prior=prior)


@pytest.mark.parametrize("features", [40, 17, 160])
def test_gradients_of_an_lstm(subject, features):
    """With 160 features the gradient of the input is worth it, too."""
    rng = np.random.default_rng(11)
    x, h0, c0 = (normal(rng, *s) for s in ((9, 50, features), (50, 96), (50, 96)))
    w_ih, w_hh = (normal(rng, 4 * 96, n) / 8 for n in (features, 96))
    out, _, acts, cells = k.lstm(x, w_ih, w_hh, None, None, h0, c0, False, want=15)
    operands = (normal(rng, 9, 50, 96), None, x, w_ih, w_hh, out, acts, cells, h0, c0)
    sample = Sample("", operands, (False,), want=0b111111)
    check(subject, "lstm_backward", sample)


def test_random_shapes(subject):
    rng = np.random.default_rng(6)
    ran = 0
    for _ in range(60):
        m, n = (int(40 * 20 ** rng.random()) for _ in range(2))
        try:
            check(subject, "gemm", gemm_sample(rng, m, n, int(64 * 10 ** rng.random())))
        except Refused:
            continue
        ran += 1
    assert ran >= 20


#: Root mean square of the errors, as a share of |A| |B|, for sums of 512.
SHARES = {"bf16x2-amx": (2.0**-23, 2.0**-20), "bf16-amx": (2.0**-14, 2.0**-11)}


def test_errors_are_between_those_of_more_and_of_fewer_parts(subject):
    sample = gemm_sample(np.random.default_rng(11), 512, 512, 512)
    a, b = (x.astype(np.float64) for x in sample.inputs[:2])
    out, _ = subject.run(TABLE["gemm"], sample, FLOAT32)
    share = np.sqrt(np.mean(((out - a @ b) / (np.abs(a) @ np.abs(b))) ** 2))
    low, high = SHARES[subject.name]
    assert low < share < high


def test_numbers_of_so_many_bits_are_exact(subject):
    """16 bits are two bfloat16, 8 bits one: products of integers have no error."""
    rng = np.random.default_rng(13)
    most = 2**16 if subject.name == "bf16x2-amx" else 2**8
    a = rng.integers(-most, most, (256, 256)).astype(FLOAT32)
    b = rng.integers(-1, 2, (256, 256)).astype(FLOAT32)
    sample = Sample("", (a, b, None), (1.0, 1.0, "none"))
    out, _ = subject.run(TABLE["gemm"], sample, FLOAT32)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b)


def test_the_largest_error_of_one_product_is_as_the_budget_says(subject):
    """Sums of one product, a million of them: the budget is near what happens."""
    rng = np.random.default_rng(5)
    a, b = np.zeros((2**14, 64), FLOAT32), np.zeros((64, 64), FLOAT32)
    a[:, 3], b[3] = (1 + rng.random(n, FLOAT32) ** 4 for n in (2**14, 64))
    sample = Sample("", (a, b, None), (1.0, 1.0, "none"))
    out, _ = check(subject, "gemm", sample)
    expected = a.astype(np.float64)[:, 3:4] * b.astype(np.float64)[3]
    worst = np.max(np.abs(out / expected - 1))
    most = {"bf16x2-amx": 1.2 * 2.0**-15, "bf16-amx": 1.35 * 2.0**-7}[subject.name]
    assert most / 2 < worst < most


@pytest.mark.parametrize("size", [1e18, 3e38, float(np.finfo(np.float32).max)])
def test_large_numbers_do_not_become_infinite(subject, size):
    """Near the largest number the nearest bfloat16 is infinite: sums are made again."""
    rng = np.random.default_rng(8)
    a = np.clip(normal(rng, 256, 256), -1, 1) * FLOAT32.type(size)
    b = np.zeros((256, 256), FLOAT32)
    b[np.arange(256), np.arange(256)[::-1]] = 1
    (out, _) = check(subject, "gemm", Sample("", (a, b, None), (1.0, 1.0, "none")))
    assert np.isfinite(out).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_comes_out_as_from_multiply_adds(subject, bad):
    rng = np.random.default_rng(9)
    sample = gemm_sample(rng, 300, 280, 270, bias=True)
    a, b, _ = sample.inputs
    a[7, 3] = a[299, 11] = b[200, 279] = bad
    b[11, 4] = 0
    plain = Subject.named("simd-avx512")
    out, other = (s.run(TABLE["gemm"], sample, FLOAT32)[0] for s in (subject, plain))
    for same in (np.isnan, np.isposinf, np.isneginf):
        np.testing.assert_array_equal(same(out), same(other))


@pytest.mark.parametrize("payload", [0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000])
def test_every_nan_stays_one(subject, payload):
    sample = gemm_sample(np.random.default_rng(10), 256, 256, 256)
    sample.inputs[0].view(np.uint32)[17, 31] = payload
    out, _ = subject.run(TABLE["gemm"], sample, FLOAT32)
    assert np.isnan(out[17]).all()
    assert np.isnan(out).sum() == 256


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**-126, 2.0**-149])
def test_small_numbers_lose_what_the_budget_allows(subject, scale):
    sample = gemm_sample(np.random.default_rng(7), 256, 256, 256)
    sample.inputs[0][...] *= FLOAT32.type(scale)
    check(subject, "gemm", sample)


def test_same_bits_for_any_number_of_threads(subject):
    """Of every kernel, for its large sample, and of products cut in several ways."""
    rng = np.random.default_rng(12)
    calls = [
        ("gemm", gemm_sample(rng, 260, 1200, 600)),
        ("gemm", gemm_sample(rng, 1500, 150, 140)),
        ("gemm", gemm_sample(rng, 2048, 40, 64)),
        *[(name, _large(name)) for name in subject.kernels],
    ]
    with subject.threads() as set_threads:
        for name, sample in calls:
            seen = set()
            for count in (1, 2, 3, 5, 8):
                set_threads(count)
                outs = subject.run(TABLE[name], sample, FLOAT32)
                seen.add(b"".join(o.tobytes() for o in outs if o is not None))
            assert len(seen) == 1, name


def _large(name):
    from tests.kernel_table import Make

    samples = TABLE[name].samples(Make(FLOAT32))
    return next(s for s in samples if s.label.startswith("large"))


# ---- where they run ------------------------------------------------------------------


def test_the_setting_chooses_them_and_nothing_else_does():
    a = ac.rand(300, 300)
    for precision, name in (
        ("highest", EXACT),
        *[(precision, name) for name, precision in SETS.items()],
        ("highest", EXACT),
    ):
        ac.set_float32_matmul_precision(precision)
        with ac.kernels.count() as calls:
            a @ a
        assert dict(calls) == {("gemm", name): 1}
        assert ac.kernels.explain("gemm", a, a).chosen == name


def test_smaller_products_are_worth_it_with_fewer_parts():
    a, b = ac.rand(128, 256), ac.rand(256, 128)
    assert ac.kernels.explain("gemm", a, b).chosen == "simd-avx512"
    ac.set_float32_matmul_precision("high")
    assert ac.kernels.explain("gemm", a, b).chosen == "bf16x2-amx"
    few = ac.rand(20, 256)
    found = ac.kernels.explain("gemm", few, b)
    assert found.chosen == "simd-avx512"
    assert "bf16x2-amx (rank 320, by rank): refused: too small: to split it" in str(
        found
    )


@pytest.mark.parametrize("switched_off", ["bf16x2", "bf16", "split"])
def test_each_can_be_left_out(switched_off, monkeypatch):
    monkeypatch.setenv("AUTOCALC_DISABLE_KERNELS", switched_off)
    ac.kernels.reload()
    try:
        a = ac.rand(300, 300)
        chosen = []
        for precision in ("highest", "high", "medium"):
            ac.set_float32_matmul_precision(precision)
            chosen.append(ac.kernels.explain("gemm", a, a).chosen)
    finally:
        monkeypatch.undo()
        ac.kernels.reload()
    assert (
        chosen
        == {
            "bf16x2": [EXACT, EXACT, "bf16-amx"],
            "bf16": [EXACT, "bf16x2-amx", "bf16x2-amx"],
            "split": ["simd-avx512", "bf16x2-amx", "bf16-amx"],
        }[switched_off]
    )


def steps(precision, compiled):
    """Two steps of training a small network: the bits of loss and gradients."""
    ac.set_float32_matmul_precision(precision)
    ac.manual_seed(3)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256))
    sgd = ac.optim.SGD(model.parameters(), lr=0.05)
    x = ac.randn(300, 256)

    def step(x):
        loss = ((model(x) - x) ** 2).mean()
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        return loss

    run = ac.compile(step) if compiled else step
    losses = [run(x).item() for _ in range(5)]
    return losses, b"".join(p.grad.numpy().tobytes() for p in model.parameters())


@pytest.mark.parametrize("compiled", [False, True])
def test_to_go_back_gives_the_bits_of_before(compiled):
    exact = steps("highest", compiled)
    rough = [steps(precision, compiled) for precision in ("high", "medium")]
    assert steps("highest", compiled) == exact
    assert len({exact[1], *(bits for _, bits in rough)}) == 3
    for (losses, _), off in zip(rough, (1e-5, 1e-2), strict=True):
        np.testing.assert_allclose(losses, exact[0], rtol=off)
    assert steps("high", compiled) == rough[0]


def test_a_compiled_function_follows_the_setting():
    a = ac.rand(256, 256)

    @ac.compile
    def square(a):
        return ac.relu(a @ a)

    eager = {}
    for precision in ("highest", "high", "medium", "highest", "high"):
        ac.set_float32_matmul_precision(precision)
        expected = ac.relu(a @ a).numpy().tobytes()
        assert eager.setdefault(precision, expected) == expected
        for _ in range(3):
            assert square(a).numpy().tobytes() == expected
    assert len(set(eager.values())) == 3
    assert len(square.programs) == 3

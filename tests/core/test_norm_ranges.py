# SPDX-License-Identifier: MIT
"""Moments, norms and normalisations of numbers far from 1, in every kernel set."""

import math
from typing import NamedTuple

import numpy as np
import pytest

import autocalc as ac
from autocalc._ops.norms.batch_norm import batch_norm_op, with_statistics
from autocalc.errors import AutocalcWarning
from autocalc.kernels import available
from autocalc.nn import functional as F

pytestmark = pytest.mark.core

SETS = available()


@pytest.fixture(params=SETS)
def kernel_set(request):
    with ac.kernels.use(request.param):
        yield request.param


# ---- sizes: f(2^k x) is 2^(k degree) f(x), and so are the gradients ------------------


class Homogeneous(NamedTuple):
    """A function f of x, (6, 8), with f(s x) = s^degree f(x)."""

    function: object
    degree: int


def batch(function):
    return lambda x: function(x.reshape(3, 4, 4))


def batch_norm_without_eps(x):
    """Return a batch norm of x with the `eps` 0, which the function itself refuses."""
    return with_statistics(batch_norm_op, (x, None, None), (0.0,))[0]


MEMBERS = {
    "std": Homogeneous(ac.std, 1),
    "std over 0": Homogeneous(lambda x: x.std(0), 1),
    "std over 1": Homogeneous(lambda x: ac.std(x, 1, correction=0), 1),
    "std_mean": Homogeneous(lambda x: sum(ac.std_mean(x, 1)), 1),
    "norm": Homogeneous(lambda x: x.norm(), 1),
    "norm over 0": Homogeneous(lambda x: x.norm(dim=0), 1),
    "vector_norm": Homogeneous(lambda x: ac.linalg.vector_norm(x, 2, 1), 1),
    "vector_norm, 3": Homogeneous(lambda x: ac.linalg.vector_norm(x, 3, 1), 1),
    "vector_norm, 4, all": Homogeneous(lambda x: ac.linalg.vector_norm(x, 4), 1),
    "vector_norm, 0.5": Homogeneous(
        lambda x: ac.linalg.vector_norm(x, 0.5, 0, True), 1
    ),
    "vector_norm, -2": Homogeneous(lambda x: ac.linalg.vector_norm(x, -2, 1), 1),
    "matrix_norm": Homogeneous(lambda x: ac.linalg.matrix_norm(batch(ac.abs)(x)), 1),
    "hypot": Homogeneous(lambda x: ac.hypot(x[:3], x[3:]), 1),
    "dist": Homogeneous(lambda x: ac.dist(x[0], x[1]), 1),
    "cdist": Homogeneous(lambda x: ac.cdist(x[:2], x[2:]), 1),
    "pdist": Homogeneous(ac.pdist, 1),
    "pairwise_distance": Homogeneous(
        lambda x: F.pairwise_distance(x[:3], x[3:], eps=0.0), 1
    ),
    "normalize": Homogeneous(lambda x: F.normalize(x, eps=0.0), 0),
    "cosine_similarity": Homogeneous(
        lambda x: F.cosine_similarity(x[:3], x[3:], eps=0.0), 0
    ),
    "layer_norm": Homogeneous(lambda x: F.layer_norm(x, (8,), eps=0.0), 0),
    "rms_norm": Homogeneous(lambda x: F.rms_norm(x, (8,), eps=0.0), 0),
    "group_norm": Homogeneous(batch(lambda x: F.group_norm(x, 2, eps=0.0)), 0),
    "instance_norm": Homogeneous(batch(lambda x: F.instance_norm(x, eps=0.0)), 0),
    "batch_norm": Homogeneous(batch(batch_norm_without_eps), 0),
    "batch_norm of rows": Homogeneous(batch_norm_without_eps, 0),
}

#: Exponents at which squares overflow or vanish, and results and gradients do not.
EXPONENTS = {
    "float16": (-7, 8),
    "bfloat16": (-90, 90),
    "float32": (-110, -80, 70, 110),
    "float64": (-900, -600, 520, 950),
}

POINTS = np.random.default_rng(3).normal(size=(6, 8)) + 0.25
WEIGHTS = np.random.default_rng(4).normal(size=(6, 8)).ravel() + 1.5


def value_and_gradient(member, x):
    """Return f(x), and the gradient of its elements' sum with some weights."""
    x = x.detach().requires_grad_()
    y = member.function(x)
    weights = ac.tensor(WEIGHTS[: y.numel()], dtype=y.dtype).reshape(y.shape)
    (y * weights).sum().backward()
    return y.detach().double().numpy(), x.grad.double().numpy()


CASES = [(dtype, k) for dtype, found in EXPONENTS.items() for k in found]


@pytest.mark.parametrize(("dtype", "k"), CASES)
@pytest.mark.parametrize("name", MEMBERS)
def test_a_power_of_two_passes_through(name, dtype, k, kernel_set):
    member, dtype = MEMBERS[name], getattr(ac, dtype)
    x = ac.tensor(POINTS, dtype=dtype)
    y, dx = value_and_gradient(member, x.double())
    scaled, dscaled = value_and_gradient(member, x * 2.0**k)
    eps = ac.finfo(dtype).eps
    # A half rounds what leads to its gradient several times.
    rough = (8 if dtype.is_half else 200) * eps
    back = 2.0 ** (-k * member.degree), 2.0 ** (k * (1 - member.degree))
    np.testing.assert_allclose(scaled * back[0], y, rough, rough * abs(y).max())
    np.testing.assert_allclose(dscaled * back[1], dx, rough, rough * abs(dx).max())


@pytest.mark.parametrize("norm_type", [1.0, 2.0, 3.0])
@pytest.mark.parametrize(("dtype", "k"), CASES)
def test_clip_grad_norm(dtype, k, norm_type, kernel_set):
    dtype = getattr(ac, dtype)
    w = ac.zeros(6, 8, dtype=dtype).requires_grad_()
    w.grad = ac.tensor(POINTS, dtype=dtype) * 2.0**k
    found = ac.nn.utils.clip_grad_norm_([w], 2.0 ** (k - 2), norm_type)
    eps, exact = ac.finfo(dtype).eps, np.linalg.norm(POINTS.ravel(), norm_type)
    if exact * 2.0**k < ac.finfo(dtype).max:
        assert found.item() * 2.0**-k == pytest.approx(exact, rel=8 * eps)
    if 2.0**k > 1e-3:  # below, 1e-6 next to the norm counts
        expected, last = POINTS / exact / 4, ac.finfo(dtype).tiny * eps * 2.0**-k
        scaled = w.grad.double().numpy() * 2.0**-k
        np.testing.assert_allclose(scaled, expected, 8 * eps, last)


def test_halves_whose_norm_overflows_are_clipped(kernel_set):
    w = ac.zeros(4, dtype=ac.float16).requires_grad_()
    w.grad = ac.full((4,), 60000.0, dtype=ac.float16)
    assert ac.nn.utils.clip_grad_norm_([w], 30000.0).item() == math.inf
    np.testing.assert_allclose(w.grad.float().numpy(), 15000.0, 2e-3)


@pytest.mark.parametrize("values", [[0.0, 1000.0], [0.0, 1e-4], [3.0, -2.0, 60000.0]])
def test_std_of_halves_rounds_once(values, kernel_set):
    x = ac.tensor(values, dtype=ac.float16)
    exact = np.std(x.double().numpy(), ddof=1)
    assert x.std().item() == np.float16(exact)
    assert ac.std_mean(x)[0].item() == np.float16(exact)


@pytest.mark.parametrize("scale", [1e18, 1e20, 1e38, 1e-23, 1e-30, 1e-40])
def test_std_of_floats_near_the_ends(scale, kernel_set):
    x = (ac.tensor([0.0, 1.0, 2.0]) * scale).requires_grad_()
    y = x.std()
    y.backward()
    exact = np.std(x.detach().double().numpy(), ddof=1)
    assert y.item() == pytest.approx(exact, rel=1e-6, abs=1.5e-45)
    if scale > 1e-38:  # a smaller mean is a multiple of 1.4e-45
        np.testing.assert_allclose(x.grad.numpy(), [-0.5, 0.0, 0.5], 1e-6, 1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e20, 1e-20])
def test_the_second_derivative_of_std(scale):
    x = ac.tensor([0.5, 1.0, -2.0, 0.25], dtype=ac.float64)
    assert ac.autograd.gradgradcheck(ac.std, (x.requires_grad_(),))
    x = (x.detach().float() * scale).requires_grad_()
    (g,) = ac.autograd.grad(x.std(), x, create_graph=True)
    (h,) = ac.autograd.grad(g[0], x)
    c = x.detach().double().numpy() / scale
    c = c - c.mean()
    s = np.sqrt((c**2).sum() / 3)
    exact = ((np.arange(4) == 0) - 0.25) / (3 * s) - c[0] * c / (9 * s**3)
    np.testing.assert_allclose(h.double().numpy() * scale, exact, 1e-5, 1e-6)


def test_std_of_equal_numbers_has_gradient_0(kernel_set):
    for value in (0.0, 3.0, 1e30, 1e-30):
        x = ac.full((3, 5), value).requires_grad_()
        y = x.std(1)
        y.sum().backward()
        assert not y.any()
        assert not x.grad.any()


def test_what_is_not_finite_stays(kernel_set):
    for value in (math.inf, math.nan):
        x = ac.tensor([[1.0, value, 2.0], [1.0, 2.0, 3.0]])
        assert math.isnan(x.std(1)[0].item())
        assert x.std(1)[1].item() == pytest.approx(1.0)
        found = ac.linalg.vector_norm(x, 2, 1)
        assert str(found[0].item()) == str(value)
        assert F.layer_norm(x, (3,))[0].isnan().all()
    with pytest.warns(AutocalcWarning, match="std: degrees of freedom is <= 0"):
        assert math.isnan(ac.tensor([1.0]).std().item())


def test_variance_overflows_only_where_it_must(kernel_set):
    x = ac.full((64,), 1.5e19)
    x[::2] *= -1
    assert x.var(correction=0).item() == pytest.approx(2.25e38, rel=1e-6)
    assert (x * 10).var().item() == math.inf


# ---- far from zero -------------------------------------------------------------------

INVARIANT = {
    "var": lambda x: x.var(-1),
    "var over 0": lambda x: x.var(0),
    "var of all": lambda x: x.var(),
    "std": lambda x: x.std(-1),
    "var_mean": lambda x: ac.var_mean(x, -1)[0],
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "group_norm": lambda x: F.group_norm(x, 2),
    "instance_norm": F.instance_norm,
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "batch_norm, channels last": lambda x: F.batch_norm(
        x.transpose(1, 2).contiguous().transpose(1, 2), None, None, training=True
    ),
}
LENGTHS = (2, 3, 7, 16, 33, 65, 257, 1023, 5003)


@pytest.mark.parametrize("value", [1e3, 1500.1, 1e5, 1e7, 3e30, -7e-20])
@pytest.mark.parametrize("name", INVARIANT)
def test_equal_numbers_do_not_deviate(name, value, kernel_set):
    for n in LENGTHS:
        found = INVARIANT[name](ac.full((2, 4, n), value))
        assert not found.any(), n


@pytest.mark.parametrize("n", [16, 65, 1023])
@pytest.mark.parametrize("name", INVARIANT)
def test_a_mean_of_a_million_does_not_matter(name, n, kernel_set):
    steps = np.random.default_rng(5).integers(-32, 33, (2, 4, n)) / 16
    near, far = (ac.tensor(steps + c, dtype=ac.float32) for c in (0.0, 1e6))
    expected = INVARIANT[name](near.double()).numpy()
    for x in (near, far):
        found = INVARIANT[name](x).double().numpy()
        np.testing.assert_allclose(found, expected, 3e-5, 3e-5)


def test_rows_of_one_number(kernel_set):
    for value in (1000.1, 1500.1, 100000.1):
        x = ac.full((2, 257), value)
        assert not F.layer_norm(x, (257,)).any()
        assert not F.group_norm(x.reshape(2, 257, 1), 1).any()

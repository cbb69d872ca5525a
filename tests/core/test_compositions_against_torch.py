# SPDX-License-Identifier: MIT
"""Functions made of other operators: values and gradients are those of PyTorch."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autocalc as ac
from autocalc.testing import gradcheck, gradgradcheck

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
pytestmark = pytest.mark.torch

RNG = np.random.default_rng(11)


def floats(*shape):
    return RNG.standard_normal(shape)


def positive(*shape):
    return RNG.uniform(0.5, 2.0, shape)


def whole(*shape, low=-40, high=40):
    return RNG.integers(low, high, shape)


def definite(n):
    a = floats(n, n)
    return a @ a.T + n * np.eye(n)


PLACES = np.array([-1.0, 0.5, 0.75, 3.0])

#: Title -> (function of the module and of tensors, arrays). The result is one or more
#: tensors; those of floats are compared together with their gradients.
CASES = {
    "diagonal_scatter": (
        lambda m, x, s: m.diagonal_scatter(x, s, 1),
        floats(3, 4),
        floats(3),
    ),
    "diagonal_scatter of a batch": (
        lambda m, x, s: x.diagonal_scatter(s, 0, 0, 2),
        floats(3, 2, 4),
        floats(2, 3),
    ),
    "select_scatter": (
        lambda m, x, s: m.select_scatter(x, s, -1, 2),
        floats(3, 4),
        floats(3),
    ),
    "slice_scatter": (
        lambda m, x, s: m.slice_scatter(x, s, 1, 1, None, 2),
        floats(3, 4),
        floats(3, 2),
    ),
    "slice_scatter by default": (
        lambda m, x, s: x.slice_scatter(s),
        floats(3),
        floats(3),
    ),
    "as_strided_scatter": (
        lambda m, x, s: m.as_strided_scatter(x, s, (2, 2), (3, 1), 1),
        floats(3, 4),
        floats(2, 2),
    ),
    "alias_copy": (lambda m, x: m.alias_copy(x), floats(3, 4)),
    "slice_copy": (lambda m, x: m.slice_copy(x, 1, 0, 4, 3), floats(3, 4)),
    "as_strided_copy": (
        lambda m, x: m.as_strided_copy(x, (2, 2), (1, 3)),
        floats(3, 4),
    ),
    "diagonal_copy": (lambda m, x: m.diagonal_copy(x, -1), floats(3, 4)),
    "expand_copy": (lambda m, x: m.expand_copy(x, (2, 3)), floats(1, 3)),
    "narrow_copy": (lambda m, x: m.narrow_copy(x, 1, 1, 2), floats(3, 4)),
    "permute_copy": (lambda m, x: m.permute_copy(x, (1, 0, 2)), floats(3, 4, 2)),
    "select_copy": (lambda m, x: m.select_copy(x, 0, 1), floats(3, 4)),
    "split_copy": (lambda m, x: m.split_copy(x, 2, 1), floats(3, 4)),
    "split_with_sizes_copy": (
        lambda m, x: m.split_with_sizes_copy(x, [1, 2]),
        floats(3),
    ),
    "squeeze_copy": (lambda m, x: m.squeeze_copy(x), floats(1, 3)),
    "t_copy": (lambda m, x: m.t_copy(x), floats(2, 3)),
    "transpose_copy": (lambda m, x: m.transpose_copy(x, 0, 1), floats(2, 3)),
    "unbind_copy": (lambda m, x: m.unbind_copy(x, 1), floats(2, 3)),
    "unfold_copy": (lambda m, x: m.unfold_copy(x, 0, 2, 1), floats(4)),
    "unsqueeze_copy": (lambda m, x: m.unsqueeze_copy(x, 1), floats(3)),
    "view_copy": (lambda m, x: m.view_copy(x, (3, 2)), floats(2, 3)),
    "gcd": (lambda m, a, b: m.gcd(a, b), whole(5, 6), whole(6)),
    "gcd of zeros": (
        lambda m, a, b: m.gcd(a, b),
        whole(4, low=-1, high=2),
        whole(4, low=-1, high=2),
    ),
    "gcd_": (lambda m, a, b: a.gcd_(b), whole(6), whole(6)),
    "lcm": (lambda m, a, b: a.lcm(b), whole(5, 6), whole(5, 6)),
    "ldexp": (lambda m, x, e: m.ldexp(x, e), floats(3, 4), whole(4, low=-5, high=6)),
    "frexp": (lambda m, x: m.frexp(x), floats(3, 4)),
    "frexp of powers of two": (lambda m, x: m.frexp(x), 2.0 ** np.arange(-60, 60)),
    "frexp of ends": (
        lambda m, x: m.frexp(x),
        np.array([5e-324, 1.7e308, 0.0, -0.0, 3e-310]),
    ),
    "cov": (lambda m, x: m.cov(x), floats(3, 5)),
    "cov of one": (lambda m, x: x.cov(correction=0), floats(5)),
    "cov, weighted": (
        lambda m, x, f, a: m.cov(x, fweights=f, aweights=a),
        floats(3, 5),
        whole(5, low=1, high=4),
        positive(5),
    ),
    "cov, repeated": (
        lambda m, x, f: m.cov(x, fweights=f),
        floats(3, 5),
        whole(5, low=1, high=4),
    ),
    "cov, counted": (lambda m, x, a: m.cov(x, aweights=a), floats(3, 5), positive(5)),
    "cov of integers": (lambda m, x: m.cov(x), whole(3, 5)),
    "corrcoef": (lambda m, x: m.corrcoef(x), floats(3, 5)),
    "corrcoef of one": (lambda m, x: x.corrcoef(), floats(5)),
    "vander": (lambda m, x: m.vander(x.detach()), floats(4)),
    "vander of more powers": (
        lambda m, x: m.vander(x.detach(), 5, increasing=True),
        floats(3),
    ),
    "vander of integers": (lambda m, x: m.vander(x, N=4), whole(3, low=-5, high=6)),
    "vander of none": (lambda m, x: m.vander(x, N=0), floats(3)),
    "cumulative_trapezoid": (
        lambda m, y: m.cumulative_trapezoid(y, dx=0.5, dim=0),
        floats(4, 3),
    ),
    "cumulative_trapezoid at places": (
        lambda m, y, x: m.cumulative_trapezoid(y, x),
        floats(3, 4),
        np.sort(floats(4)),
    ),
    "gradient": (lambda m, x: m.gradient(x), floats(4, 5)),
    "gradient with steps": (
        lambda m, x: m.gradient(x, spacing=[2.0, 0.5]),
        floats(4, 3),
    ),
    "gradient, parabolas at the ends": (
        lambda m, x: m.gradient(x, dim=1, edge_order=2, spacing=3.0),
        floats(2, 5),
    ),
    "gradient at places": (
        lambda m, x: m.gradient(x, spacing=(m.tensor(PLACES),), dim=0, edge_order=2),
        floats(4, 2),
    ),
    "gradient of two": (lambda m, x: m.gradient(x), floats(2)),
    "hardshrink": (lambda m, x: (m.hardshrink(x, 0.25), x.hardshrink()), floats(3, 4)),
    "prelu": (lambda m, x, w: x.prelu(w), floats(3, 4), floats(4)),
    "threshold": (lambda m, x: m.threshold(x, 0.1, 20.0), floats(3, 4)),
    "threshold_": (lambda m, x: m.threshold_(x * 1, 0.1, 20.0), floats(3, 4)),
    "hinge_embedding_loss": (
        lambda m, x, y: m.hinge_embedding_loss(x, y.sign().detach() + 0 * y),
        floats(5),
        floats(5),
    ),
    "margin_ranking_loss": (
        lambda m, x, y: m.margin_ranking_loss(x, y, m.tensor([1.0]), 0.5),
        floats(5),
        floats(5),
    ),
    "cumsum_": (lambda m, x: (x * 1).cumsum_(1), floats(3, 4)),
    "cumprod_": (lambda m, x: (x * 1).cumprod_(0), floats(3, 4)),
    "newaxis and e": (lambda m, x: x[:, m.newaxis] * m.e, floats(3)),
    "names that write in place": (
        lambda m, x: m.fix_(m.negative_(m.arctan_(m.arcsinh_(x.detach() * 9)))),
        floats(3),
    ),
    "adjoint": (lambda m, x: (m.adjoint(x), x.adjoint()), floats(2, 3, 4)),
    "cholesky_solve": (
        lambda m, b, x: m.cholesky_solve(b, x.tril() + 3 * m.eye(3)),
        floats(3, 2),
        floats(3, 3),
    ),
    "cholesky_solve, upper": (
        lambda m, b, u: b.cholesky_solve(u.triu() + 3 * m.eye(3), True),
        floats(3, 2),
        floats(3, 3),
    ),
    "cholesky_inverse": (
        lambda m, x: m.cholesky_inverse(x.tril() + 3 * m.eye(3)),
        floats(3, 3),
    ),
    "cholesky_inverse, upper": (
        lambda m, u: (u.triu() + 3 * m.eye(3)).cholesky_inverse(upper=True),
        floats(3, 3),
    ),
    "unravel_index": (
        lambda m, i: m.unravel_index(i, (3, 4, 5)),
        whole(2, 6, low=0, high=60),
    ),
    "unravel_index of a line": (
        lambda m, i: m.unravel_index(i, 7),
        whole(6, low=0, high=7),
    ),
    "unfold of booleans": (
        lambda m, i: m.nn.functional.unfold((i > 0).reshape(1, 1, 3, 4), 2),
        whole(12),
    ),
    "fold of booleans": (
        lambda m, i: m.nn.functional.fold((i > 0).reshape(1, 4, 6), (3, 4), 2),
        whole(24),
    ),
    "kthvalue of one boolean": (lambda m, i: m.kthvalue(i[0] > 0, 1), whole(2)),
    "vander of booleans": (lambda m, i: m.vander(i > 0, 3), whole(4)),
    "gradient at integer places": (
        lambda m, x: m.gradient(x, spacing=(m.tensor([0, 1, 2, 3]),), dim=0),
        floats(4, 2),
    ),
    "multilabel_soft_margin_loss, one target for all": (
        lambda m, x, t, w: m.nn.functional.multilabel_soft_margin_loss(x, t, w),
        floats(2, 3),
        positive(3),
        positive(2, 3),
    ),
    "multilabel_soft_margin_loss, one input for all": (
        lambda m, x, t: m.nn.functional.multilabel_soft_margin_loss(x, t),
        floats(1, 3),
        positive(2, 1),
    ),
}

#: Far beyond the exponents of float32 and float64; PyTorch rounds these once, too.
EXTREMES = {
    "float32": ([0.0, 1.4e-45, 1e-38, 3e38, 1.0], [300, 276, 140, -200, 999]),
    "float64": ([0.0, 5e-324, 1e-300, 1e308, 1.0], [3000, 2097, 1500, -1500, 9999]),
}


@pytest.mark.parametrize("dtype", EXTREMES)
def test_ldexp_of_extremes(dtype):
    x, e = EXTREMES[dtype]
    found, wanted = (
        m.ldexp(m.tensor(x, dtype=getattr(m, dtype)), m.tensor(e)).tolist()
        for m in (ac, torch)
    )
    assert found == wanted


SCORES, CLOSE, PAIRS = floats(2, 3), floats(2, 3), np.array([1.0, -1.0])
#: Call of the library, tensors, and words with the reduction.
NUMBERED = {
    "binary_cross_entropy_with_logits": lambda m, x, y, t, **r: (
        m.binary_cross_entropy_with_logits(x, y, y.detach() ** 2, x.detach() ** 2, **r)
    ),
    "cosine_embedding_loss": lambda m, x, y, t, **r: m.cosine_embedding_loss(
        x, y, t, 0.1, **r
    ),
    "ctc_loss": lambda m, x, y, t, **r: m.ctc_loss(
        m.stack([x, y, x]).log_softmax(2), m.tensor([[1], [2]]), (3, 3), (1, 1), 0, **r
    ),
    "hinge_embedding_loss": lambda m, x, y, t, **r: m.hinge_embedding_loss(
        x, t.reshape(2, 1).expand(2, 3), 0.5, **r
    ),
    "kl_div": lambda m, x, y, t, **r: m.kl_div(x, y, log_target=True, **r),
    "margin_ranking_loss": lambda m, x, y, t, **r: m.margin_ranking_loss(
        x, y, t.reshape(2, 1), 0.5, **r
    ),
    "poisson_nll_loss": lambda m, x, y, t, reduction=0: m.poisson_nll_loss(
        x, y * y, True, True, 1e-8, reduction
    ),
    "triplet_margin_loss": lambda m, x, y, t, **r: m.triplet_margin_loss(
        x, y, x * y, 0.5, 3.0, 1e-6, True, **r
    ),
}


@pytest.mark.parametrize("words", [{}, *({"reduction": n} for n in range(3))], ids=str)
@pytest.mark.parametrize("name", NUMBERED)
def test_losses_with_numbered_reductions(name, words):
    def call(m, x, y, t):
        return NUMBERED[name](m, x, y, t.detach(), **words)

    ours, theirs = (results(m, (call, SCORES, CLOSE, PAIRS)) for m in (ac, torch))
    for found, wanted in zip(ours[0] + ours[1], theirs[0] + theirs[1], strict=True):
        if wanted is not None:
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


BYTES = np.array([2, 0, 1], np.uint8)


@pytest.mark.parametrize(
    "call",
    [
        lambda m, x, u: m.where(u, x, -x),
        lambda m, x, u: x[u],
        lambda m, x, u: x.reshape(3, 1)[u, 0],
        lambda m, x, u: x[u[0]],
        lambda m, x, u: x[u[1]],
    ],
)
def test_bytes_are_masks_with_a_warning(call):
    def one(m):
        return call(m, m.tensor([1.0, 2.0, 3.0]), m.tensor(BYTES))

    with pytest.warns(ac.errors.AutocalcWarning, match="uint8 is taken for a mask"):
        found = one(ac)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(found.numpy(), one(torch).numpy())


def test_bytes_are_written_through_as_they_are_read():
    x = ac.zeros(3)
    with pytest.warns(ac.errors.AutocalcWarning, match="index: a tensor of uint8"):
        x[ac.tensor(BYTES)] = ac.tensor([4.0, 5.0])
    assert x.tolist() == [4.0, 0.0, 5.0]


#: Those whose gradient in PyTorch is not the derivative.
WRONG_THERE = {"as_strided_scatter", "ldexp"}


def results(m, case):
    """Return arrays of the results and of the gradients in all floats."""
    function, *given = case
    operands = [m.tensor(a) for a in given]
    leaves = [x.requires_grad_() for x in operands if x.is_floating_point()]
    found = function(m, *operands)
    found = [found] if isinstance(found, m.Tensor) else list(found)
    recorded = [y for y in found if y.requires_grad]
    weights = [
        m.tensor(np.cos(np.arange(y.numel()))).reshape(y.shape) for y in recorded
    ]
    if recorded:
        sum((y * w).sum() for y, w in zip(recorded, weights, strict=True)).backward()
    arrays = [y.detach().numpy() for y in found]
    return arrays, [None if x.grad is None else x.grad.numpy() for x in leaves]


@pytest.mark.parametrize("title", CASES)
def test_values_and_gradients(title):
    ours, theirs = results(ac, CASES[title]), results(torch, CASES[title])
    if title in WRONG_THERE:
        assert not np.allclose(ours[1][0], theirs[1][0])
        ours[1].clear(), theirs[1].clear()
    for found, wanted in zip(ours[0] + ours[1], theirs[0] + theirs[1], strict=True):
        if wanted is None:
            assert found is None or not found.any()
            continue
        assert found.dtype == wanted.dtype
        rtol = 1e-6 if found.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol / 100)


@pytest.mark.parametrize("title", CASES)
def test_derivatives_are_those_of_differences(title):
    function, *given = CASES[title]
    if any(a.dtype != np.float64 for a in given):
        pytest.skip("a function of integers has no gradient")
    operands = [ac.tensor(a, requires_grad=True) for a in given]
    if not all(y.requires_grad for y in flat(function(ac, *operands))):
        pytest.skip("a part of the result takes no part in gradients")
    assert gradcheck(lambda *x: flat(function(ac, *x)), operands)
    assert gradgradcheck(lambda *x: flat(function(ac, *x)), operands)


def flat(found):
    return (found,) if isinstance(found, ac.Tensor) else tuple(found)


COPIES = [
    name for name in ac._ops.arranging.view_copies.__all__ if name != "detach_copy"
]


def test_copies_are_no_views():
    for title in (name for name in CASES if name.endswith("_copy")):
        function, given = CASES[title]
        x = ac.tensor(given)
        before = [y.clone() for y in flat(function(ac, x))]
        kept = flat(function(ac, x))
        x.zero_()
        for one, other in zip(kept, before, strict=True):
            assert ac.equal(one, other)
    assert {*COPIES} <= {*CASES}
    assert not ac.detach_copy(ac.ones(2, requires_grad=True)).requires_grad


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("length", [0, 1, 2, 7, 12])
@pytest.mark.parametrize("name", ac._ops.creation.window_functions.__all__)
def test_windows(name, length, periodic):
    ours = getattr(ac, name)(length, periodic, dtype=ac.float64)
    theirs = getattr(torch, name)(length, periodic, dtype=torch.float64)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-13)
    assert getattr(ac, name)(length).dtype is ac.float32


def test_windows_of_other_parameters():
    found, wanted = (m.hamming_window(5, True, 0.3, 0.9) for m in (ac, torch))
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5)
    found, wanted = (m.kaiser_window(5, True, 3.5) for m in (ac, torch))
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5)
    assert ac.hann_window(3, requires_grad=True).requires_grad


def test_the_gradient_of_vander():
    """PyTorch has none: it writes over what its rule needs."""
    x = ac.tensor(floats(3), requires_grad=True)
    assert gradcheck(ac.vander, [x])
    assert gradgradcheck(ac.vander, [x])


@pytest.mark.parametrize("order", [2.0, 1.0, float("inf")])
def test_norms_of_several_tensors(order):
    def clipped(m):
        leaves = [m.tensor(np.arange(1.0, n), requires_grad=True) for n in (3, 5)]
        sum((x * x).sum() for x in leaves).backward()
        norm = m.nn.utils.get_total_norm([x.grad for x in leaves], order)
        m.nn.utils.clip_grads_with_norm_(leaves, 2.0, norm)
        return [norm.numpy(), *(x.grad.numpy() for x in leaves)]

    for found, wanted in zip(clipped(ac), clipped(torch), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_old_names_of_initialisers_warn_as_pytorch():
    for name in ("uniform", "normal", "constant", "eye", "xavier_normal", "orthogonal"):
        texts = []
        for m in (ac, torch):
            more = (0.5,) if name == "constant" else ()
            with pytest.warns(FutureWarning) as caught:
                getattr(m.nn.init, name)(m.empty(3, 3), *more)
            texts.append(str(caught[0].message))
        assert texts[0] == texts[1]


def test_anomaly_mode_by_a_function():
    try:
        ac.set_anomaly_enabled(True, check_nan=False)
        assert ac.is_anomaly_enabled()
        assert not ac.is_anomaly_check_nan_enabled()
    finally:
        ac.set_anomaly_enabled(False)
    assert not ac.is_anomaly_enabled()
    assert ac.default_generator.initial_seed() == ac.initial_seed()

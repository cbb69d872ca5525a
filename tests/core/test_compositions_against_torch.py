# SPDX-License-Identifier: MIT
"""Functions made of other operators: values and gradients are those of PyTorch."""

from __future__ import annotations

import re
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

#: Calls of the module `m` and of tensors a, b, c, and these.  The result is one or more
#: tensors; those of floats are compared together with their gradients.
_CASES = """
    m.diagonal_scatter(a, b, 1) | floats(3, 4) | floats(3)
    a.diagonal_scatter(b, 0, 0, 2) | floats(3, 2, 4) | floats(2, 3)
    m.select_scatter(a, b, -1, 2) | floats(3, 4) | floats(3)
    m.slice_scatter(a, b, 1, 1, None, 2) | floats(3, 4) | floats(3, 2)
    a.slice_scatter(b) | floats(3) | floats(3)
    m.as_strided_scatter(a, b, (2, 2), (3, 1), 1) | floats(3, 4) | floats(2, 2)
    m.alias_copy(a) | floats(3, 4)
    m.slice_copy(a, 1, 0, 4, 3) | floats(3, 4)
    m.as_strided_copy(a, (2, 2), (1, 3)) | floats(3, 4)
    m.diagonal_copy(a, -1) | floats(3, 4)
    m.expand_copy(a, (2, 3)) | floats(1, 3)
    m.narrow_copy(a, 1, 1, 2) | floats(3, 4)
    m.permute_copy(a, (1, 0, 2)) | floats(3, 4, 2)
    m.select_copy(a, 0, 1) | floats(3, 4)
    m.split_copy(a, 2, 1) | floats(3, 4)
    m.split_with_sizes_copy(a, [1, 2]) | floats(3)
    m.squeeze_copy(a) | floats(1, 3)
    m.t_copy(a) | floats(2, 3)
    m.transpose_copy(a, 0, 1) | floats(2, 3)
    m.unbind_copy(a, 1) | floats(2, 3)
    m.unfold_copy(a, 0, 2, 1) | floats(4)
    m.unsqueeze_copy(a, 1) | floats(3)
    m.view_copy(a, (3, 2)) | floats(2, 3)
    m.gcd(a, b) | whole(5, 6) | whole(6)
    m.gcd(a, b) | whole(4, low=-1, high=2) | whole(4, low=-1, high=2)
    a.gcd_(b) | whole(6) | whole(6)
    a.lcm(b) | whole(5, 6) | whole(5, 6)
    m.ldexp(a, b) | floats(3, 4) | whole(4, low=-5, high=6)
    m.frexp(a) | floats(3, 4)
    m.frexp(a) | 2.0 ** np.arange(-60, 60)
    m.frexp(a) | np.array([5e-324, 1.7e+308, 0.0, -0.0, 3e-310])
    m.cov(a) | floats(3, 5)
    a.cov(correction=0) | floats(5)
    m.cov(a,fweights=b,aweights=c) | floats(3,5) | whole(5,low=1,high=4) | positive(5)
    m.cov(a, fweights=b) | floats(3, 5) | whole(5, low=1, high=4)
    m.cov(a, aweights=b) | floats(3, 5) | positive(5)
    m.cov(a) | whole(3, 5)
    m.corrcoef(a) | floats(3, 5)
    a.corrcoef() | floats(5)
    m.vander(a.detach()) | floats(4)
    m.vander(a.detach(), 5, increasing=True) | floats(3)
    m.vander(a, N=4) | whole(3, low=-5, high=6)
    m.vander(a, N=0) | floats(3)
    m.cumulative_trapezoid(a, dx=0.5, dim=0) | floats(4, 3)
    m.cumulative_trapezoid(a, b) | floats(3, 4) | np.sort(floats(4))
    m.gradient(a) | floats(4, 5)
    m.gradient(a, spacing=[2.0, 0.5]) | floats(4, 3)
    m.gradient(a, dim=1, edge_order=2, spacing=3.0) | floats(2, 5)
    m.gradient(a, spacing=(m.tensor(PLACES),), dim=0, edge_order=2) | floats(4, 2)
    m.gradient(a) | floats(2)
    (m.hardshrink(a, 0.25), a.hardshrink()) | floats(3, 4)
    a.prelu(b) | floats(3, 4) | floats(4)
    m.threshold(a, 0.1, 20.0) | floats(3, 4)
    m.threshold_(a * 1, 0.1, 20.0) | floats(3, 4)
    m.hinge_embedding_loss(a, b.sign().detach() + 0 * b) | floats(5) | floats(5)
    m.margin_ranking_loss(a, b, m.tensor([1.0]), 0.5) | floats(5) | floats(5)
    (a * 1).cumsum_(1) | floats(3, 4)
    (a * 1).cumprod_(0) | floats(3, 4)
    a[:, m.newaxis] * m.e | floats(3)
    m.fix_(m.negative_(m.arctan_(m.arcsinh_(a.detach() * 9)))) | floats(3)
    (m.adjoint(a), a.adjoint()) | floats(2, 3, 4)
    m.cholesky_solve(a, b.tril() + 3 * m.eye(3)) | floats(3, 2) | floats(3, 3)
    a.cholesky_solve(b.triu() + 3 * m.eye(3), True) | floats(3, 2) | floats(3, 3)
    m.cholesky_inverse(a.tril() + 3 * m.eye(3)) | floats(3, 3)
    (a.triu() + 3 * m.eye(3)).cholesky_inverse(upper=True) | floats(3, 3)
    m.unravel_index(a, (3, 4, 5)) | whole(2, 6, low=0, high=60)
    m.unravel_index(a, 7) | whole(6, low=0, high=7)
    m.nn.functional.unfold((a > 0).reshape(1, 1, 3, 4), 2) | whole(12)
    m.nn.functional.fold((a > 0).reshape(1, 4, 6), (3, 4), 2) | whole(24)
    m.kthvalue(a[0] > 0, 1) | whole(2)
    m.vander(a > 0, 3) | whole(4)
    m.gradient(a, spacing=(m.tensor([0, 1, 2, 3]),), dim=0) | floats(4, 2)
    m.nn.MultiLabelSoftMarginLoss(c)(a, b) | floats(2, 3) | positive(3) | positive(2, 3)
    m.nn.functional.multilabel_soft_margin_loss(a, b) | floats(1, 3) | positive(2, 1)
"""


def case_of(row):
    """Return the function of the module and of tensors, and the arrays, of a row."""
    call, *given = row.split(" | ")
    names = ", ".join("abcd"[: len(given)])
    function = eval(f"lambda m, {names}: {call}", globals())
    return function, *[eval(operand, globals()) for operand in given]


#: Row -> (function of the module and of tensors, arrays).
CASES = {
    row.partition(" | ")[0]: case_of(row) for row in _CASES.strip().split("\n    ")
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
@pytest.mark.filterwarnings("ignore:kl_div. reduction='mean' divides")
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
WRONG_THERE = ("m.as_strided_scatter", "m.ldexp")


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
    if title.startswith(WRONG_THERE):
        assert not np.allclose(ours[1][0], theirs[1][0])
        ours[1].clear(), theirs[1].clear()
    for found, wanted in zip(ours[0] + ours[1], theirs[0] + theirs[1], strict=True):
        if wanted is None:
            assert found is None or not found.any()
            continue
        assert found.dtype == wanted.dtype
        rtol = 1e-6 if found.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol / 100)


def flat(found):
    return (found,) if isinstance(found, ac.Tensor) else tuple(found)


COPIES = [
    name for name in ac._ops.arranging.view_copies.__all__ if name != "detach_copy"
]


def test_copies_are_no_views():
    copies = {name: t for t in CASES for name in re.findall(r"m\.(\w+_copy)\(", t)}
    for title in copies.values():
        function, given = CASES[title]
        x = ac.tensor(given)
        before = [y.clone() for y in flat(function(ac, x))]
        kept = flat(function(ac, x))
        x.zero_()
        for one, other in zip(kept, before, strict=True):
            assert ac.equal(one, other)
    assert {*COPIES} <= {*copies}
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

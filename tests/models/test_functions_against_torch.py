# SPDX-License-Identifier: MIT
"""Functions and modules in float64: values and gradients are PyTorch's.

PyTorch's database of samples (`tests/operators`) asks more of most of them; here are
those that it has not, and arguments that it does not try.
"""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

RNG_SEED = 0


def normal(*shape, seed=RNG_SEED):
    return np.random.default_rng(seed).normal(size=shape)


def flat(results):
    return (
        [r for r in results if r is not None]
        if isinstance(results, tuple)
        else [results]
    )


def agree(call, *arrays, rtol=1e-10, atol=1e-12):
    """Call ``call(library, *leaves)`` in both; compare results and gradients."""
    found = []
    for library in (ac, torch):
        leaves = [library.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
        results = flat(call(library, *leaves))
        loss = sum(
            (r * library.tensor(normal(*r.shape, seed=9))).sum()
            for r in results
            if r.requires_grad
        )
        floats = [x for x in leaves if x.requires_grad]
        if floats:
            loss.backward()
        found.append(
            [r.detach().numpy() for r in results] + [x.grad.numpy() for x in floats]
        )
    assert len(found[0]) == len(found[1])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=atol)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("celu_", (0.5,)),  # PyTorch rounds it to float32
        ("elu_", (0.7,)),
        ("selu_", ()),
        ("leaky_relu_", (0.2,)),
        ("hardtanh_", (-0.5, 0.8)),
        ("rrelu_", (0.2, 0.4)),
        ("threshold_", (0.1, 3.0)),
        ("rrelu", (0.2, 0.4)),
    ],
)
def test_rectifiers(name, args):
    def call(library, x):
        y = x * 2  # a leaf cannot be written to
        result = getattr(library.nn.functional, name)(y, *args)
        assert (result is y) == name.endswith("_")
        return result

    agree(call, normal(5, 7))


def test_softmax_over_channels():
    agree(lambda m, x: m.nn.Softmax2d()(x), normal(2, 3, 4, 5))
    agree(lambda m, x: m.nn.Softmax2d()(x), normal(3, 4, 5))


def test_names_and_what_modules_print():
    made = {
        "RReLU": [{}, {"lower": 0.2, "upper": 0.4, "inplace": True}],
        "Softmax2d": [{}],
        "AlphaDropout": [{}, {"p": 0.2, "inplace": True}],
        "FeatureAlphaDropout": [{}],
        "Dropout1d": [{"p": 0.3}],
    }
    for name, settings in made.items():
        for words in settings:
            mine, theirs = (getattr(m.nn, name)(**words) for m in (ac, torch))
            assert repr(mine) == repr(theirs)


CTC = [
    {},
    {"reduction": "sum"},
    {"reduction": "none", "blank": 2},
    {"zero_infinity": True},
]


@pytest.mark.parametrize("words", CTC)
@pytest.mark.parametrize("one_after_the_other", [False, True])
def test_ctc_loss(words, one_after_the_other):
    texts = np.array([[1, 3, 3, 4], [4, 1, 0, 0], [5, 5, 5, 0], [1, 0, 0, 0]])
    lengths, steps = [4, 2, 3, 0], [9, 7, 5, 4]
    if one_after_the_other:
        rows = zip(texts, lengths, strict=True)
        texts = np.concatenate([row[:n] for row, n in rows])

    def call(m, x, t):
        log_probs = m.nn.functional.log_softmax(x, -1)
        return m.nn.CTCLoss(**words)(log_probs, t, steps, lengths)

    agree(call, normal(9, 4, 6), texts)


def test_ctc_loss_of_texts_that_do_not_fit_and_of_one_sequence():
    def call(m, x, t):
        log_probs = m.nn.functional.log_softmax(x, -1)
        ctc = m.nn.CTCLoss(reduction="none", zero_infinity=True)
        return ctc(log_probs, t, m.tensor([3, 3, 0, 0]), m.tensor([4, 2, 1, 0]))

    agree(
        call, normal(9, 4, 6), np.array([[1, 3, 4, 2], [5, 5, 1, 1], [2] * 4, [1] * 4])
    )

    def alone(m, x, t):
        log_probs = m.nn.functional.log_softmax(x, -1)
        return m.nn.functional.ctc_loss(log_probs, t, (7,), (3,))

    agree(alone, normal(7, 5), np.array([1, 1, 4]))
    x, t = normal(3, 1, 6), np.array([[1, 2, 3, 4]])
    losses = [m.nn.CTCLoss()(m.tensor(x), m.tensor(t), [3], [4]) for m in (ac, torch)]
    assert float(losses[0]) == float(losses[1]) == float("inf")

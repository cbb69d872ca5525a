# SPDX-License-Identifier: MIT
"""Tensors print as PyTorch's do, in every form, width and shortening."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import autocalc as ac

pytestmark = pytest.mark.core


@pytest.fixture(autouse=True)
def _afterwards():
    yield
    ac.set_printoptions(profile="default")


#: As PyTorch 2.13 prints them; the last test asks it.
TEXTS = {
    "tensor(1.)": 1.0,
    "tensor(0.1250)": 0.125,
    "tensor([0.0000, 0.5000])": [0.0, 0.5],
    "tensor([1., 2.])": [1.0, 2.0],
    "tensor([-0., 1.])": [-0.0, 1.0],
    "tensor([1., nan])": [1.0, ac.nan],
    "tensor([1.5000,    inf])": [1.5, ac.inf],
    "tensor([1.0000e-05, 1.0000e+00])": [1e-5, 1.0],
    "tensor([1.0000e+05, 1.0000e+00])": [1e5, 1.0],
    "tensor([1.0000e+10])": [1e10],
    "tensor([100000000.])": [1e8],
    "tensor([1234.5677])": [1234.5678],
    "tensor([  1, -20])": [1, -20],
    "tensor([ True, False])": [True, False],
    "tensor([True, True])": [True, True],
    "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])": [[1, 2], [3, 4.5]],
    "tensor([[[1]],\n\n        [[2]]])": [[[1]], [[2]]],
    "tensor([])": [],
}


@pytest.mark.parametrize("text", TEXTS)
def test_forms(text):
    assert repr(ac.tensor(TEXTS[text])) == text


def test_what_stands_behind_the_elements():
    assert repr(ac.zeros(0, 3)) == "tensor([], size=(0, 3))"
    assert repr(ac.zeros(0, dtype=ac.int64)) == "tensor([], dtype=autocalc.int64)"
    x = ac.zeros(2, 0, dtype=ac.float64, requires_grad=True)
    expected = "tensor([], size=(2, 0), dtype=autocalc.float64, requires_grad=True)"
    assert repr(x) == expected
    assert repr(ac.ones(1, requires_grad=True) * 2) == "tensor([2.], grad_fn=<mul>)"
    ac.set_printoptions(linewidth=30)
    x = ac.tensor([1.5, 2.5], requires_grad=True)
    assert repr(x) == "tensor([1.5000, 2.5000],\n       requires_grad=True)"


def test_long_tensors_are_shortened():
    assert repr(ac.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    text = repr(ac.zeros(30, 40))
    row = "[0., 0., 0.,  ..., 0., 0., 0.]"
    between = ",\n        "
    rows = [row] * 3 + ["..."] + [row] * 3
    assert text == f"tensor([{between.join(rows)}])"
    ac.set_printoptions(edgeitems=1, threshold=2)
    assert repr(ac.arange(4)) == "tensor([0,  ..., 3])"
    ac.set_printoptions(threshold=float("inf"))
    assert "..." not in repr(ac.arange(2000))
    ac.set_printoptions(profile="short")
    assert repr(ac.tensor([0.125])) == "tensor([0.12])"


def test_exponents_can_be_asked_for_or_refused():
    x = ac.tensor([1234.56789, 0.5])
    ac.set_printoptions(precision=1, sci_mode=True)
    assert repr(x) == "tensor([1.2e+03, 5.0e-01])"
    ac.set_printoptions(sci_mode=False)
    assert repr(x) == "tensor([1234.6,    0.5])"
    ac.set_printoptions(profile="default")
    assert repr(x) == "tensor([1.2346e+03, 5.0000e-01])"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"profile": "loud"}, "`profile`='loud'; it must be"),
        ({"precision": -1}, "`precision`=-1; it must be 0"),
        ({"precision": "x"}, "`precision`"),
        ({"threshold": ac.nan}, "`threshold`=-1; it must be 0"),
        ({"threshold": "x"}, "`threshold` is 'x'"),
        ({"sci_mode": 3}, "`sci_mode` is 3"),
    ],
)
def test_options_are_checked(words, text):
    with pytest.raises(ac.errors.AutocalcError, match=f"set_printoptions: {text}"):
        ac.set_printoptions(**words)


OPTIONS = (
    *({}, {"precision": 2}, {"edgeitems": 1, "threshold": 5}, {"linewidth": 40}),
    *({"sci_mode": True}, {"sci_mode": False}, {"profile": "short"}),
    *({"profile": "full"}, {"threshold": 0, "edgeitems": 0}, {"linewidth": 10}),
)


def some_array(choose, rng):
    """Return numbers of some shape, size and dtype."""
    shape = [
        choose.choice([0, 1, 2, 3, 5, 7, 9, 40]) for _ in range(choose.randrange(4))
    ]
    values = rng.standard_normal(shape)
    made = choose.choice(
        [
            values,
            values * 10.0 ** rng.integers(-7, 9, shape),
            np.round(values * 10.0 ** choose.randrange(9)),
            values * 10.0 ** choose.randrange(-6, 10),
            np.where(
                values < 0, ac.inf, np.where(values > 1, ac.nan, np.round(values))
            ),
            values * 0,
            values > 0,
        ]
    )
    kinds = ["f4", "f8"] if made.dtype.kind == "f" else ["?", "i8", "u1"]
    return np.asarray(made).astype(choose.choice(kinds))


@pytest.mark.torch
def test_random_tensors_print_as_pytorch_prints_them():
    torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
    choose, rng = random.Random(0), np.random.default_rng(0)
    for _ in range(1000):
        array, options = some_array(choose, rng), choose.choice(OPTIONS)
        recorded = array.dtype.kind == "f" and choose.random() < 0.3
        found, wanted = (printed(m, array, options, recorded) for m in (ac, torch))
        assert found == wanted, (array, options)


def printed(module, array, options, recorded):
    """Return a text without the library's name, which makes some lines longer."""
    module.set_printoptions(profile="default")
    module.set_printoptions(**options)
    x = module.tensor(array)
    text = repr(x.requires_grad_() if recorded else x)
    module.set_printoptions(profile="default")
    text = re.sub(r",\s+(dtype|requires_grad|size)=", r", \1=", text)
    return text.replace("torch.", "").replace("autocalc.", "")

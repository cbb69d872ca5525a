# SPDX-License-Identifier: MIT
"""Recurrent networks follow PyTorch's: values, gradients, names, text."""

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DEEP = {"num_layers": 2, "bidirectional": True, "batch_first": True}
LAYERS = [
    ("LSTM", DEEP),
    ("LSTM", {"bias": False}),
    ("LSTM", {**DEEP, "proj_size": 3}),
    ("GRU", DEEP),
    ("GRU", {"bias": False}),
    ("RNN", DEEP),
    ("RNN", {"nonlinearity": "relu", "bias": False}),
]


def ours(t):
    return ac.from_numpy(t.detach().numpy().copy())


def twins(kind, *sizes, **options):
    torch.manual_seed(0)
    theirs = getattr(torch.nn, kind)(*sizes, **options, dtype=torch.float64)
    mine = getattr(ac.nn, kind)(*sizes, **options, dtype=ac.float64)
    assert list(mine.state_dict()) == list(theirs.state_dict())
    assert repr(mine) == repr(theirs)
    mine.load_state_dict({k: ours(t) for k, t in theirs.state_dict().items()})
    return mine, theirs


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 1e-9, 1e-12)


def flat(x):
    return [x] if not isinstance(x, tuple) else [t for part in x for t in flat(part)]


@pytest.mark.parametrize(("kind", "options"), LAYERS)
def test_layers(kind, options):
    mine, theirs = twins(kind, 4, 5, **options)
    x = torch.randn(3, 6, 4, dtype=torch.float64, requires_grad=True)
    y = ours(x).requires_grad_()
    found, expected = flat(mine(y)), flat(theirs(x))
    for a, b in zip(found, expected, strict=True):
        close(a, b)
    sum((t * t * (i + 1)).sum() for i, t in enumerate(found)).backward()
    sum((t * t * (i + 1)).sum() for i, t in enumerate(expected)).backward()
    close(y.grad, x.grad)
    for a, b in zip(mine.parameters(), theirs.parameters(), strict=True):
        close(a.grad, b.grad)


@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
def test_cells(kind):
    mine, theirs = twins(kind, 4, 5)
    x = torch.randn(3, 4, dtype=torch.float64)
    a, b = mine(ours(x)), theirs(x)
    for _ in range(2):
        a, b = mine(ours(x), a), theirs(x, b)
    for one, other in zip(flat(a), flat(b), strict=True):
        close(one, other)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_packed_sequences(kind):
    mine, theirs = twins(kind, 4, 5, num_layers=2, bidirectional=True)
    x = torch.randn(6, 4, 4, dtype=torch.float64, requires_grad=True)
    y = ours(x).requires_grad_()
    packed = [
        library.nn.utils.rnn.pack_padded_sequence(
            one, library.tensor([2, 6, 3, 3]), enforce_sorted=False
        )
        for library, one in ((ac, y), (torch, x))
    ]
    for a, b in zip(*packed, strict=True):
        close(a, b)
    (a, last), (b, expected) = mine(packed[0]), theirs(packed[1])
    for one, other in zip(flat(last), flat(expected), strict=True):
        close(one, other)
    for one, other in zip(
        ac.nn.utils.rnn.pad_packed_sequence(a, True, -1.0, 7),
        torch.nn.utils.rnn.pad_packed_sequence(b, True, -1.0, 7),
        strict=True,
    ):
        close(one, other)
    (a.data * a.data).sum().backward()
    (b.data**2).sum().backward()
    close(y.grad, x.grad)
    for a, b in zip(mine.parameters(), theirs.parameters(), strict=True):
        close(a.grad, b.grad)

# SPDX-License-Identifier: MIT
"""An MLP of plain tensors on real digits, step by step with PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac

torch = pytest.importorskip("torch", reason="PyTorch is the oracle here")
pytestmark = pytest.mark.torch

SIZES = [(64, 48), (48, 32), (32, 10)]


def parameters(module, dtype):
    """Return weights and biases, the same for both, as leaves of `module`."""
    rng = np.random.default_rng(0)
    made = []
    for n, m in SIZES:
        made.append(rng.uniform(-1, 1, (n, m)) / np.sqrt(n))
        made.append(np.zeros(m))
    name = np.dtype(dtype).name
    return [
        module.tensor(p, dtype=getattr(module, name), requires_grad=True) for p in made
    ]


def digits(n):
    """Return images, normalised and flat, and labels."""
    data = ac.data.Digits()
    pairs = [data[i] for i in range(n)]
    x = np.array([np.asarray(image, np.float64).reshape(-1) for image, _ in pairs])
    return (x - x.mean()) / x.std(), np.array([int(label) for _, label in pairs])


X, Y = digits(600)


def forward(module, ps, x):
    """Return logits; the activations differ so that every rule has its turn."""
    h = module.tanh(x @ ps[0] + ps[1])
    h = module.relu(h @ ps[2] + ps[3]) + module.sigmoid(h @ ps[2])
    return h @ ps[4] + ps[5]


def loss_of(module, ps, step, dtype):
    rows = np.arange(step * 100, step * 100 + 100) % len(X)
    x = module.tensor(X[rows].astype(dtype))
    logits = forward(module, ps, x)
    return module.nn.functional.cross_entropy(logits, module.tensor(Y[rows]))


def train(module, dtype, steps):
    """Return losses, and the gradients of the first step, of SGD with momentum."""
    ps = parameters(module, dtype)
    optimizer = module.optim.SGD(ps, lr=0.1, momentum=0.9, nesterov=True)
    losses, first = [], []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(module, ps, step, dtype)
        loss.backward()
        first = first or [p.grad.detach().numpy().copy() for p in ps]
        optimizer.step()
        losses.append(loss.item())
    return losses, first


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-4), (np.float64, 1e-10)])
def test_losses_and_gradients(dtype, rtol):
    ours, our_first = train(ac, dtype, 40)
    theirs, their_first = train(torch, dtype, 40)
    np.testing.assert_allclose(ours, theirs, rtol=rtol)
    assert ours[-1] < 0.5 * ours[0]
    for a, b in zip(our_first, their_first, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max())


def penalty_gradients(module):
    """Return a gradient penalty and its own gradients: second derivatives."""
    ps = parameters(module, np.float64)
    loss = loss_of(module, ps, 0, np.float64)
    grads = module.autograd.grad(loss, ps, create_graph=True)
    penalty = sum(((g * g).sum() for g in grads[1:]), (grads[0] * grads[0]).sum())
    (penalty + loss).backward()
    return penalty.item(), [p.grad.numpy() for p in ps]


def test_second_derivatives():
    ours, our_grads = penalty_gradients(ac)
    theirs, their_grads = penalty_gradients(torch)
    assert ours == pytest.approx(theirs, rel=1e-12)
    for a, b in zip(our_grads, their_grads, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)

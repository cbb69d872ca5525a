# SPDX-License-Identifier: MIT
"""Softmax along any axis, cross-entropy's cases, optimizers over lists, indices."""

import numpy as np
import pytest

from autocalc.errors import KernelDataError


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_along_any_axis_and_layout(kernels, rng, dtype, axis):
    a = rng.normal(size=(5, 37, 19)).astype(dtype) * 4
    rtol = 2e-6 if dtype == "f4" else 1e-14
    for view in (
        a,
        np.asfortranarray(a),
        a.transpose(1, 2, 0).copy().transpose(2, 0, 1),
    ):
        out = np.empty_like(a)
        kernels["softmax"](out, view, axis)
        e = np.exp(a.astype(np.longdouble) - a.max(axis=axis, keepdims=True))
        exact = e / e.sum(axis=axis, keepdims=True)
        assert np.allclose(out, exact.astype(np.float64), rtol=rtol, atol=0)
        kernels["log_softmax"](out, view, axis)
        assert np.allclose(out, np.log(exact).astype(np.float64), rtol=rtol, atol=rtol)


def test_softmax_of_masked_rows(kernels):
    a = np.zeros((2, 40), np.float32)
    a[0, 1:] = -np.inf
    a[1, :] = -np.inf
    out = np.empty_like(a)
    kernels["softmax"](out, a, 1)
    assert out[0, 0] == 1
    assert (out[0, 1:] == 0).all()
    assert np.isnan(out[1]).all()


def _cross_entropy(kernels, logits, target, weight, reduction, ignore, smoothing):
    loss = np.empty(len(logits) if reduction == "none" else (), logits.dtype)
    grad = np.empty_like(logits)
    kernels["cross_entropy"](
        loss, grad, logits, target, weight, reduction, ignore, smoothing
    )
    return loss, grad


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [1, 10, 1000])
def test_cross_entropy(kernels, rng, reduction, smoothing, weighted, classes):
    rows = 45
    logits = rng.normal(size=(rows, classes)) * 5
    target = rng.integers(0, classes, rows)
    target[[3, 17]] = -100
    weight = rng.uniform(0.5, 2, classes) if weighted else None
    loss, grad = _cross_entropy(
        kernels, logits, target, weight, reduction, -100, smoothing
    )
    w = np.ones(classes) if weight is None else weight
    kept = target != -100
    onehot = np.arange(classes) == target[:, None]
    q = w * ((1 - smoothing) * onehot + smoothing / classes) * kept[:, None]
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    losses = -(q * log_p).sum(axis=1)
    grads = np.exp(log_p) * q.sum(axis=1, keepdims=True) - q
    n = (w * onehot * kept[:, None]).sum() if reduction == "mean" else 1
    expected = losses if reduction == "none" else losses.sum() / n
    assert np.allclose(loss, expected, rtol=1e-12)
    assert np.allclose(grad, grads / n, rtol=1e-11, atol=1e-14)
    only_loss = np.empty_like(loss)
    kernels["cross_entropy"](
        only_loss, None, logits, target, weight, reduction, -100, smoothing
    )
    assert np.array_equal(only_loss, loss)


@pytest.mark.parametrize("bad", [-1, 10, 2**40])
def test_cross_entropy_names_the_first_bad_label(kernels, rng, bad):
    logits = rng.normal(size=(3000, 10)).astype(np.float32)
    target = rng.integers(0, 10, 3000)
    target[[1234, 2500]] = bad
    with pytest.raises(KernelDataError, match=f"`target` holds {bad} at element 1234,"):
        _cross_entropy(kernels, logits, target, None, "mean", -100, 0.0)


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("gather", lambda a, i: (np.empty((4, 5), "f4"), a, i, 1)),
        (
            "scatter_add",
            lambda a, i: (np.empty_like(a), a, i, np.ones((4, 5), "f4"), 1),
        ),
        ("embedding", lambda a, i: (np.empty((4, 5, 6), "f4"), a, i)),
    ],
)
def test_bad_index_is_named(kernels, name, make):
    index = np.zeros((4, 5), np.int64)
    index[2, 3] = 6
    arguments = make(np.ones((4, 6), np.float32), index)
    with pytest.raises(KernelDataError, match="` holds 6 at element 13, which is out"):
        kernels[name](*arguments)


def test_sgd_updates_lists_of_any_layout(kernels, rng):
    shapes = [(300, 70), (5,), (), (0, 3), (33, 20)]
    params = [rng.normal(size=s).astype(np.float32) for s in shapes]
    params[-1] = np.asfortranarray(params[-1])
    buffers = [rng.normal(size=s).astype(np.float32) for s in shapes]
    grads = [rng.normal(size=s).astype(np.float32) for s in shapes]
    b = [
        0.9 * b.astype("f8") + g + 0.01 * p
        for p, b, g in zip(params, buffers, grads, strict=True)
    ]
    expected = [
        p - 0.1 * (g + 0.01 * p + 0.9 * v)
        for p, g, v in zip(params, grads, b, strict=True)
    ]
    lr, step = np.array(0.1, np.float32), np.array(7, np.int64)
    kernels["sgd"](params, buffers, grads, lr, step, 0.9, 0.0, 0.01, True, False)
    for got, want in zip(params + buffers, expected + b, strict=True):
        assert np.allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows", [9, 300, 2000])
def test_embedding_backward_adds_in_order(kernels, rng, set_team, rows, threads):
    """The bits are those of a loop over the indices, whatever the layout."""
    set_team(threads)
    g = rng.normal(size=(20, 30, 70)).astype(np.float32)
    indices = rng.integers(0, rows, (20, 30))
    indices[3, 5:9] = 4
    expected = np.zeros((rows, 70), np.float32)
    for i, row in zip(indices.ravel(), g.reshape(-1, 70), strict=True):
        if i != 4:
            expected[i] += row
    for order in ("C", "F"):
        dweight = np.full((rows, 70), 7, np.float32, order=order)
        kernels["embedding_backward"](
            dweight, np.asarray(g, order=order), np.asarray(indices, order=order), 4
        )
        assert np.array_equal(dweight, expected)


def test_embedding_backward_of_one_row_and_many_columns(kernels, rng, set_team):
    """Threads share out the columns, where rows would leave all but one idle."""
    g = rng.normal(size=(50, 5000)).astype(np.float32)
    expected = np.zeros((3, 5000), np.float32)
    for row in g:
        expected[1] += row
    for threads in (1, 3):
        set_team(threads)
        dweight = np.full((3, 5000), 7, np.float32)
        kernels["embedding_backward"](dweight, g, np.full(50, 1), -1)
        assert np.array_equal(dweight, expected)

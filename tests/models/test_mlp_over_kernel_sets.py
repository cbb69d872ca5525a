# SPDX-License-Identifier: MIT
"""The same training of the MNIST perceptron over kernel sets and numbers of threads.

784-1024-10, batch 256, SGD 0.1 with momentum 0.9, on real images: MNIST where its files
are, else the embedded digits, repeated to the same size and learnt more slowly: what is
known by heart has losses near 0, in which rounding is a large part.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import DataError

STEPS, BATCH = 100, 256
FAMILIES = {name.split("-")[0] for name in ac.kernels.available()}

needs_simd = pytest.mark.skipif(
    "simd" not in FAMILIES, reason="autocalc-kernels-simd is not installed"
)
needs_blas = pytest.mark.skipif(
    "blas" not in FAMILIES, reason="autocalc-kernels-blas is not installed"
)


@functools.lru_cache(maxsize=1)
def images():
    """Return 25,600 rows of 784 pixels, their labels, and the learning rate."""
    try:
        found = ac.data.MNIST(train=True)
        pixels, labels = found.data[: STEPS * BATCH], found.targets[: STEPS * BATCH]
        rows = np.asarray(pixels, np.float32).reshape(-1, 784) / 255
        lr = 0.1
    except DataError:
        found = ac.data.Digits(train=True)
        pixels = np.asarray(found.data, np.float32).reshape(-1, 64) / 16
        rows = np.pad(np.repeat(pixels, 12, 1), ((0, 0), (8, 8)))
        times = -(-STEPS * BATCH // len(rows))
        rows = np.tile(rows, (times, 1))[: STEPS * BATCH]
        labels = np.tile(np.asarray(found.targets), times)[: STEPS * BATCH]
        lr = 0.005
    return ac.tensor(rows), ac.tensor(np.asarray(labels, np.int64)), lr


def losses(steps=STEPS):
    ac.manual_seed(0)
    model = ac.nn.Sequential(
        ac.nn.Linear(784, 1024), ac.nn.ReLU(), ac.nn.Linear(1024, 10)
    )
    rows, labels, lr = images()
    sgd = ac.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    result = []
    for i in range(steps):
        batch = slice(i * BATCH, (i + 1) * BATCH)
        sgd.zero_grad()
        loss = ac.nn.functional.cross_entropy(model(rows[batch]), labels[batch])
        loss.backward()
        sgd.step()
        result.append(loss.item())
    return np.array(result)


@pytest.fixture(scope="module")
def expected():
    with ac.kernels.use("reference", only=True):
        return losses()


def test_the_reference_learns(expected):
    assert expected[-20:].mean() < 0.5 * expected[:5].mean()


@needs_simd
def test_simd_gives_the_losses_of_the_reference(expected):
    with ac.kernels.use("simd"), ac.kernels.count() as calls:
        np.testing.assert_allclose(losses(), expected, rtol=1e-3)
    assert {name.split("-")[0] for _, name in calls} == {"simd"}


@needs_blas
def test_blas_runs_every_matrix_product_with_the_losses_of_the_reference(expected):
    with ac.kernels.use("blas"), ac.kernels.count() as calls:
        np.testing.assert_allclose(losses(), expected, rtol=1e-3)
    products = {k: n for (k, s), n in calls.items() if s.startswith("blas")}
    assert products["gemm"] == 5 * STEPS  # two forward, three backward
    others = [k for k, s in calls if not s.startswith("blas")]
    assert not {"gemm", "linear", "linear_backward"} & set(others)


@needs_simd
def test_simd_gives_the_same_bits_for_any_number_of_threads():
    before = ac.get_num_threads()
    found = []
    try:
        for threads in (1, 2, 3):
            ac.set_num_threads(threads)
            with ac.kernels.use("simd"):
                found.append(losses(20))
    finally:
        ac.set_num_threads(before)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])

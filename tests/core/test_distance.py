# SPDX-License-Identifier: MIT
"""Distances of rows: by differences, and by a product of matrices."""

from __future__ import annotations

import numpy as np
import pytest

import autocalc as ac
from autocalc.errors import ArgumentError

BY_PRODUCT = "use_mm_for_euclid_dist"
BY_DIFFERENCES = "donot_use_mm_for_euclid_dist"


def rows(count: int, seed: int, features: int = 7) -> ac.Tensor:
    values = np.random.default_rng(seed).normal(3.0, 1.0, (count, features))
    return ac.tensor(values.astype("f4"))


def expected(a: ac.Tensor, b: ac.Tensor):
    x, y = (t.numpy().astype("f8") for t in (a, b))
    return np.sqrt(((x[:, None] - y) ** 2).sum(-1))


@pytest.mark.parametrize("mode", [None, BY_PRODUCT, BY_DIFFERENCES])
def test_all_modes_give_the_distances(mode):
    a, b = rows(40, 0), rows(30, 1)
    found = ac.cdist(a, b, compute_mode=mode).numpy()
    np.testing.assert_allclose(found, expected(a, b), rtol=2e-6, atol=2e-5)


def test_many_rows_are_multiplied_and_few_are_not():
    def kernels(count, **words) -> set[str]:
        with ac.kernels.count() as calls:
            ac.cdist(rows(count, 0), rows(count, 1), **words)
        return {kernel for kernel, _ in calls}

    assert "gemm" in kernels(26)
    assert "gemm" not in kernels(25)
    assert "gemm" in kernels(25, compute_mode=BY_PRODUCT)
    assert "gemm" not in kernels(26, compute_mode=BY_DIFFERENCES)
    assert "gemm" not in kernels(26, p=1.0)


def test_batches_broadcast_and_nothing_has_no_distances():
    a, b = rows(60, 0).reshape(2, 30, 7), rows(30, 1)
    found = ac.cdist(a, b)
    np.testing.assert_allclose(found[1].numpy(), ac.cdist(a[1], b).numpy(), rtol=1e-5)
    assert ac.cdist(rows(0, 0), b).shape == (0, 30)
    assert ac.cdist(b, rows(0, 0)).shape == (30, 0)
    assert ac.cdist(ac.ones(30, 0), ac.ones(30, 0)).tolist() == [[0.0] * 30] * 30


def test_a_row_and_itself_have_the_gradient_0():
    a = rows(30, 0).requires_grad_()
    ac.cdist(a, a).sum().backward()
    b = rows(30, 0).requires_grad_()
    pairs = ac.cdist(b, b.detach(), compute_mode=BY_DIFFERENCES).sum() * 2
    pairs.backward()
    np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-4, atol=1e-4)


def test_another_mode_is_an_error():
    with pytest.raises(ArgumentError, match="cdist: `compute_mode`='mm'; use 'use_mm"):
        ac.cdist(rows(2, 0), rows(2, 1), compute_mode="mm")

# SPDX-License-Identifier: MIT
"""Which calls ask for a transposed weight, and that they give the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.dispatcher import registry
from tests.simd.sets import plugin

import autocalc as ac
from autocalc.nn import functional as F
from autocalc.plugin import DispatchKey

F4, F8 = np.dtype("f4"), np.dtype("f8")


def key(
    rows: tuple[int, ...], columns: int, steps: int, dtype: Any = F4
) -> DispatchKey:
    """Return the key of a linear layer."""
    shapes = (*rows, columns), None, (*rows, steps), (columns, steps), (columns,)
    return DispatchKey("linear", (dtype, None, dtype, dtype, dtype), (), 0, shapes, ())


@pytest.mark.parametrize(
    ("rows", "columns", "steps", "dtype", "wanted"),
    [
        ((4,), 64, 64, F4, True),
        ((2, 32), 128, 128, F4, True),
        ((65,), 128, 128, F4, False),
        ((3,), 64, 64, F4, False),
        ((), 64, 64, F4, False),
        ((8,), 24, 128, F4, False),
        ((8,), 40, 40, F4, False),
        ((6,), 256, 256, F4, True),
        ((7,), 256, 256, F4, False),
        ((4,), 256, 512, F4, False),
        ((8,), 128, 128, F8, False),
        ((4,), 128, 128, F8, True),
        ((8,), 16, 64, F8, True),
    ],
)
def test_calls_that_ask(
    rows: tuple[int, ...], columns: int, steps: int, dtype: Any, wanted: bool
) -> None:
    assert plugin._transposed_weight(key(rows, columns, steps, dtype)) is wanted


def test_a_key_without_shapes_asks_for_nothing() -> None:
    assert not plugin._transposed_weight(DispatchKey("linear", (F4,) * 5))


@pytest.mark.parametrize("name", ["simd-avx512", "simd-avx2", "simd-sse2", "simd-neon"])
def test_sets_that_ask(name: str) -> None:
    kernels = registry().kernels(name) if name in registry().sets else None
    if kernels is None:
        pytest.skip("this CPU or build has no such set")
    asks = {k for k, impl in kernels.items() if impl.transposed_weight is not None}
    assert asks == (
        {"linear", "gemm"} if name in {"simd-avx512", "simd-avx2"} else set()
    )


@pytest.mark.parametrize("rows", [4, 6, 64])
def test_a_transposed_weight_gives_nearly_the_same(rows: int) -> None:
    ac.manual_seed(0)
    x, weight, bias = ac.randn(rows, 128), ac.randn(128, 128), ac.randn(128)
    across = weight.t().contiguous().t()
    a, b = F.linear(x, weight, bias), F.linear(x, across, bias)
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-4)

# SPDX-License-Identifier: MIT
"""Matrix products by cuBLAS: shapes, strides, batches, and TF32 when asked for."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

LAYOUTS = ("rows", "columns", "every other", "padded")


@pytest.fixture
def kernels():
    from autocalc_kernels_cuda._table import kernels

    return {name: getattr(k, "function", k) for name, k in kernels().items()}


def laid_out(values, layout):
    """Return the values on the device, their last two dimensions laid out so."""
    import cupy

    *lead, rows, columns = values.shape
    if layout == "columns":
        out = cupy.empty((*lead, columns, rows), values.dtype).swapaxes(-1, -2)
    elif layout == "every other":
        out = cupy.empty((*lead, rows, 2 * columns), values.dtype)[..., ::2]
    elif layout == "padded":
        out = cupy.empty((*lead, rows + 2, columns + 3), values.dtype)
        out = out[..., 1:-1, 2:-1]
    else:
        out = cupy.empty(values.shape, values.dtype)
    out[...] = cupy.asarray(values)
    return out


BATCHES = (
    ((5, 7), (7, 3)),
    ((3, 5, 7), (7, 4)),
    ((2, 3, 5, 7), (2, 3, 7, 4)),
    ((2, 1, 5, 7), (1, 3, 7, 4)),
    ((1, 7), (5, 7, 4)),
    ((6, 1, 7), (6, 7, 1)),
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("left", "right"), BATCHES)
def test_any_layout_of_each_operand(kernels, dtype, left, right):
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in (left, right))
    start = rng.standard_normal(np.matmul(a, b).shape).astype(dtype)
    expected = 1.5 * np.matmul(a.astype(float), b.astype(float)) + 0.5 * start
    for of_a, of_b, of_out in itertools.product(LAYOUTS, LAYOUTS, LAYOUTS[:3]):
        out = laid_out(start, of_out)
        operands = laid_out(a, of_a), laid_out(b, of_b)
        kernels["gemm"](out, None, *operands, None, 1.5, 0.5, "none", 1)
        np.testing.assert_allclose(
            out.get(), expected, rtol=1e-5, atol=1e-5, err_msg=f"{of_a} {of_b} {of_out}"
        )


def test_a_product_over_no_terms_is_zero_or_what_was_there(kernels):
    import cupy

    a, b = cupy.empty((2, 0)), cupy.empty((0, 3))
    out = cupy.ones((2, 3))
    kernels["gemm"](out, None, a, b, None, 1.0, 1.0, "none", 1)
    assert (out.get() == 1).all()
    kernels["gemm"](out, None, a, b, None, 1.0, 1.0, "none", 0)
    assert (out.get() == 0).all()


def test_what_stays_is_not_read_unless_it_is_added_to(kernels):
    import cupy

    a, b = cupy.ones((4, 4)), cupy.ones((4, 4))
    out = cupy.full((4, 4), np.nan)
    kernels["gemm"](out, None, a, b, None, 1.0, 1.0, "none", 0)
    assert (out.get() == 4).all()


def _error_of_a_product(kernels, tf32):
    import cupy

    import autocalc_kernels_cuda as cuda

    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((512, 512)).astype(np.float32) for _ in range(2))
    out = cupy.empty((512, 512), np.float32)
    with cuda.tf32(tf32):
        operands = cupy.asarray(a), cupy.asarray(b)
        kernels["gemm"](out, None, *operands, None, 1.0, 1.0, "none", 0)
    exact = a.astype(float) @ b.astype(float)
    sizes = np.abs(a).astype(float) @ np.abs(b).astype(float)
    return (np.abs(out.get() - exact) / sizes).max()


def test_float32_is_float32_unless_tf32_is_asked_for(kernels):
    import cupy

    assert _error_of_a_product(kernels, tf32=False) < 2.0**-20
    if cupy.cuda.Device().compute_capability < "80":
        pytest.skip("this GPU has no TF32")
    assert 2.0**-20 < _error_of_a_product(kernels, tf32=True) < 2.0**-10
    assert _error_of_a_product(kernels, tf32=False) < 2.0**-20

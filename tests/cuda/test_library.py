# SPDX-License-Identifier: MIT
"""Arrays on the device: copies, views, memory, and errors that wait for the host."""

from __future__ import annotations

import numpy as np
import pytest

from autocalc.errors import KernelIndexError

DTYPES = ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "?")


@pytest.fixture
def library():
    from autocalc_kernels_cuda._library import CudaLibrary

    return CudaLibrary()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 0, 2), (2, 3, 4)])
def test_values_survive_the_way_there_and_back(library, dtype, shape):
    values = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    raw = library.from_host(values)
    assert raw.shape == shape
    assert raw.dtype == values.dtype
    np.testing.assert_array_equal(library.to_host(raw), values, strict=True)


def test_what_is_transposed_arrives_in_row_order(library):
    values = np.arange(12.0).reshape(3, 4).T
    raw = library.from_host(values)
    assert raw.flags.c_contiguous
    np.testing.assert_array_equal(library.to_host(raw), values)


def test_a_copy_does_not_follow_the_host(library):
    values = np.zeros(4)
    raw = library.from_host(values)
    values[:] = 1
    np.testing.assert_array_equal(library.to_host(raw), np.zeros(4))


def test_a_view_has_strides_in_bytes(library):
    raw = library.from_host(np.arange(12, dtype=np.float32))
    view = library.strided(raw, (2, 3), (8, 4), 4)
    np.testing.assert_array_equal(library.to_host(view), [[1, 2, 3], [3, 4, 5]])
    assert library.may_share_memory(raw, view)
    assert not library.may_share_memory(raw, library.empty((3,), np.float32))


def test_a_view_may_repeat_elements(library):
    raw = library.from_host(np.float32(3).reshape(1))
    view = library.strided(raw, (2, 2), (0, 0), 0)
    np.testing.assert_array_equal(library.to_host(view), np.full((2, 2), 3))


def test_pinned_memory_holds_the_values(library):
    values = np.arange(6.0).reshape(2, 3)
    pinned = library.pin(values)
    assert isinstance(pinned, np.ndarray)
    np.testing.assert_array_equal(pinned, values)
    np.testing.assert_array_equal(library.to_host(library.from_host(pinned)), values)


def test_memory_in_use_is_counted_and_given_back(library):
    library.trim()
    before = library.stats()["in_use"]
    raw = library.empty((1 << 20,), np.float32)
    assert library.stats()["in_use"] - before >= 4 << 20
    del raw
    library.trim()
    assert library.stats()["in_use"] == before


@pytest.mark.parametrize("wait", ["to_host", "synchronize"])
def test_an_error_found_on_the_device_is_raised_once_the_host_waits(library, wait):
    import cupy

    from autocalc_kernels_cuda import _errors
    from autocalc_kernels_cuda._nvrtc import source

    code = source("common.cuh") + (
        'extern "C" __global__ void check(ErrorRecord *record, u64 kernel) {'
        "  report_error(record, kernel, 1, 7, 1234); }"
    )
    module = cupy.RawModule(code=code, options=("-std=c++17",))
    number = _errors.number("cross_entropy", ("logits", "target"))
    some = library.from_host(np.zeros(3))
    module.get_function("check")((1,), (1,), (_errors.record(), number))
    waiting = {
        "to_host": lambda: library.to_host(some),
        "synchronize": library.synchronize,
    }[wait]
    with pytest.raises(
        KernelIndexError, match="cross_entropy: `target` holds 1234 at element 7"
    ):
        waiting()
    waiting()  # it is raised once


def test_random_words_are_the_streams(library):
    from tests.kernel_table import philox_words

    for seed, start, count in ((0, 0, 9), (7, 3, 100), (2**40 + 7, 2**33 + 1, 37)):
        words = library.to_host(library.xp.random_words(seed, start, count))
        np.testing.assert_array_equal(words, philox_words(seed, start, count))


def test_sums_into_places_follow_the_order_of_their_sources(library):
    from tests.kernel_table import xp as numpy_xp

    rng = np.random.default_rng(1)
    a = rng.standard_normal((5, 3)).astype(np.float32)
    index = rng.integers(0, 5, 2000)
    src = rng.standard_normal((2000, 3)) * 10.0 ** rng.integers(-5, 5, (2000, 1))
    src = src.astype(np.float32)
    for name in ("index_add", "index_max", "index_min"):
        expected = getattr(numpy_xp, name)(a, (index,), src)
        device = [library.from_host(x) for x in (a, index, src)]
        result = getattr(library.xp, name)(device[0], (device[1],), device[2])
        np.testing.assert_array_equal(library.to_host(result), expected, err_msg=name)

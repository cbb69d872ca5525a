# SPDX-License-Identifier: MIT
"""Result arrays: alignment, reuse, counters, and what NumPy may do with them."""

import gc
import threading
import time

import numpy as np
import pytest
from tests.engine import native

import autocalc as ac

F4 = np.dtype("float32")


@pytest.fixture(autouse=True)
def empty_cache():
    gc.collect()
    native.trim()


@pytest.mark.parametrize("shape", [(), (0,), (3,), (3, 0, 2), (1 << 20,), (300, 500)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bool", "int64"])
def test_empty_is_a_plain_array(shape, dtype):
    array = native.empty(shape, np.dtype(dtype))
    assert type(array) is np.ndarray
    assert array.shape == shape
    assert array.dtype == dtype
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.flags.owndata
    array[...] = 1


def test_large_arrays_are_aligned_and_come_back():
    before = native.stats()
    first = native.empty((100_000,), F4)
    address = first.ctypes.data
    assert address % 64 == 0
    assert native.stats()["in_use"] >= before["in_use"] + 400_000
    assert native.stats()["blocks"] == before["blocks"] + 1
    del first
    assert native.stats()["in_use"] == before["in_use"]
    assert native.stats()["cached"] >= 400_000
    second = native.empty((100, 1000), F4)
    assert second.ctypes.data == address
    assert native.stats()["reused"] == before["reused"] + 1


def test_trim_gives_everything_back():
    del_me = [native.empty((1 << 19,), F4) for _ in range(4)]
    del del_me
    held = native.stats()["cached"]
    assert held >= 4 * (2 << 20)
    assert native.trim() == held
    assert native.stats()["cached"] == 0


def test_views_keep_a_block_alive():
    before = native.stats()["blocks"]
    view = native.empty((50_000,), F4)[10:20]
    assert native.stats()["blocks"] == before + 1
    view[:] = 3
    assert view.sum() == 30
    del view
    assert native.stats()["blocks"] == before


def test_the_cache_is_bounded():
    native.set_cache_limit(1 << 20)
    try:
        arrays = [native.empty((1 << 17,), F4) for _ in range(6)]
        del arrays
        assert 0 < native.stats()["cached"] <= 1 << 20
    finally:
        native.set_cache_limit(1 << 32)


def test_the_peak_counts_from_its_reset():
    native.reset_peak()
    before = native.stats()["peak"]
    array = native.empty((1 << 20,), F4)
    del array
    assert native.stats()["peak"] >= before + (4 << 20)
    assert native.stats()["in_use"] == before


def test_numpy_may_resize_an_array():
    array = native.empty((10_000,), F4)
    array[:] = 5
    array.resize((40_000,), refcheck=False)
    assert array[:10_000].sum() == 50_000
    assert not array[10_000:].any()
    array.resize((3,), refcheck=False)
    assert list(array) == [5, 5, 5]


def test_threads_may_free_what_others_made():
    before = native.stats()["blocks"]
    boxes = [[] for _ in range(4)]

    def fill(box):
        for i in range(300):
            box.append(native.empty((1000 + i,), F4))

    threads = [threading.Thread(target=fill, args=(box,)) for box in boxes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    addresses = {a.ctypes.data for box in boxes for a in box}
    assert len(addresses) == 1200
    assert native.stats()["blocks"] == before + 1200
    boxes.clear()
    assert native.stats()["blocks"] == before


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (((3,),), TypeError),
        (([3], F4), TypeError),
        (((3,), "float32"), TypeError),
        ((("3",), F4), TypeError),
        (((-1,), F4), ValueError),
        (((1 << 40, 1 << 40), F4), ValueError),
    ],
)
def test_bad_arguments(arguments, error):
    with pytest.raises(error):
        native.empty(*arguments)


def test_too_much_memory_is_refused():
    with pytest.raises(MemoryError):
        native.empty((1 << 50,), F4)


def test_what_kernels_work_in_is_counted():
    """A SIMD product packs its operands into memory that its thread keeps."""
    pytest.importorskip("tests.simd.sets")
    sizes = []

    def multiply():
        a = ac.ones(3, 5)
        for n in (300, 700):
            a = ac.ones(n, n)
            (a @ a).sum().item()
            sizes.append(native.stats()["workspace"])

    before = native.stats()["workspace"]
    thread = threading.Thread(target=multiply)
    thread.start()
    thread.join()
    after = native.stats()
    assert before < sizes[0] <= sizes[1] <= after["peak"]
    for _ in range(1000):  # a thread that ends gives its own back, soon
        if native.stats()["workspace"] < sizes[1]:
            break
        time.sleep(0.01)
    else:
        pytest.fail("the workspace of a thread that ended is kept")

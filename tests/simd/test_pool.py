# SPDX-License-Identifier: MIT
"""The thread pool as Python sees it. Its own tests are native: test_native.py."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from tests.engine import native

pytest.importorskip("tests.simd.sets")


def matmul(kernels, a, b):
    out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    kernels["gemm"](out, None, a, b, None, 1.0, 0.0, "none", 0)
    return out


@pytest.fixture
def operands(rng):
    a = rng.standard_normal((200, 300))
    b = rng.standard_normal((300, 250))
    return a, b, a @ b


def test_the_number_of_threads_is_at_least_one(set_threads):
    set_threads(4)
    assert native.num_threads() == 4
    set_threads(0)
    assert native.num_threads() == 1


def test_python_threads_multiply_at_the_same_time(kernels, set_threads, operands):
    set_threads(2)
    a, b, expected = operands
    failures = []

    def work():
        failures.extend(
            i for i in range(10) if not np.allclose(matmul(kernels, a, b), expected)
        )

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(50):
        native.set_num_threads(i % 4 + 1)
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_parent_and_child_go_on_after_a_fork(kernels, set_threads, operands):
    set_threads(3)
    a, b, expected = operands
    matmul(kernels, a, b)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        right = all(np.allclose(matmul(kernels, a, b), expected) for _ in range(5))
        os._exit(0 if right else 1)
    assert np.allclose(matmul(kernels, a, b), expected)
    assert os.waitpid(child, 0)[1] == 0


def test_a_process_ends_while_workers_sleep():
    program = """
import numpy as np
from autocalc import _native
from autocalc_kernels_simd import _loader
kernels = _loader.load("sse2")
_native.set_num_threads(4)
a = np.ones((300, 300))
kernels["gemm"](a.copy(), None, a, a, None, 1.0, 0.0, "none", 0)
print("done")
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "done\n"


def test_waiting_is_measured_on_demand(kernels, set_threads):
    """Two threads that share a kernel work for less than both are there."""
    a = np.ones((1 << 20,), np.float32)
    out = np.empty_like(a)
    add = kernels["add"]

    def added(times):
        """Return nanoseconds of calls, and what threads waited in them."""
        begin = native.read_clock()
        for _ in range(times):
            add(out, a, a)
        start, stop, waited, *_ = native.clock_between(begin, native.read_clock())
        return stop - start, waited

    set_threads(2)
    try:
        assert added(1)[1] == 0
        native.measure_waiting(True)
        passed, waited = added(20)
        native.measure_waiting(False)
        assert 0 < waited < 2 * passed
        assert added(1)[1] == 0
    finally:
        native.measure_waiting(False)

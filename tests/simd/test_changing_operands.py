# SPDX-License-Identifier: MIT
"""Operands that other threads change while a kernel runs without the interpreter lock.

What the kernel computes then is anybody's guess.  It must neither read nor write beyond
its operands, and it must say so where it met an index out of range.
"""

import contextlib
import threading
import weakref

import numpy as np
import pytest

from autocalc.errors import KernelDataError

F4 = np.dtype("float32")
ROWS, SIZE = 1024, 512
CALLS = 20


def floats(*shape):
    return np.ones(shape, F4)


def indices(*shape):
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape) % SIZE


class Guarded:
    """An array in the middle of a block whose other elements must stay as they are."""

    def __init__(self, *shape):
        count = int(np.prod(shape))
        self.block = np.full(3 * count, 7, F4)
        self.array = self.block[count : 2 * count].reshape(shape)
        self.array[...] = 0

    def is_whole(self):
        count = self.array.size
        return (self.block[:count] == 7).all() and (self.block[2 * count :] == 7).all()


#: Kernel -> output, index operand, and the operands and attributes around it.
CASES = {
    "gather": lambda out, i: (out, floats(ROWS, SIZE), i, 1),
    "index_select": lambda out, i: (out, floats(ROWS, SIZE), i[0], 1),
    "embedding": lambda out, i: (out.reshape(-1, 1), floats(SIZE, 1), i.ravel()),
    "scatter": lambda out, i: (out, floats(ROWS, SIZE), i, floats(ROWS, SIZE), 1),
    "scatter_add": lambda out, i: (out, floats(ROWS, SIZE), i, floats(ROWS, SIZE), 1),
    "index_copy": lambda out, i: (
        out.T, floats(SIZE, ROWS), i[0], floats(SIZE, ROWS), 0),
    "index_add": lambda out, i: (
        out.T, floats(SIZE, ROWS), i[0], floats(SIZE, ROWS), 0),
    "embedding_backward": lambda out, i: (
        out[:SIZE], floats(ROWS, SIZE), i[:, 0].copy(), -1),
    "cross_entropy": lambda out, i: (
        np.zeros(ROWS, F4), out, floats(ROWS, SIZE), i[:, 0].copy(), None, "none", -100,
        0.0),
    "max_pool_backward": lambda out, i: (
        out.reshape(ROWS, 1, 16, SIZE // 16), floats(ROWS, 1, 16, SIZE // 16),
        i.reshape(ROWS, 1, 16, SIZE // 16), (16, SIZE // 16)),
}  # fmt: skip


@contextlib.contextmanager
def another_thread(work):
    """Run `work` again and again while the block runs."""
    stop = threading.Event()

    def loop():
        while not stop.is_set():
            work()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def index_of(args):
    return next(a for a in args if isinstance(a, np.ndarray) and a.dtype == np.int64)


def refusal(kernel, args):
    """Return what a call says of its indices, None if it takes them."""
    try:
        kernel(*args)
    except KernelDataError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("wild", [-(2**40), 2**20])
def test_indices_that_change_during_calls(kernels, name, wild):
    out = Guarded(ROWS, SIZE)
    args = CASES[name](out.array, indices(ROWS, SIZE))
    index = index_of(args)
    good, places = index.copy(), np.arange(3, index.size, 7)

    def scribble():
        index.reshape(-1)[places] = wild
        index[...] = good

    with another_thread(scribble):
        for _ in range(CALLS):
            text = refusal(kernels[name], args)
            assert text is None or f"holds {wild} at element" in text
    assert out.is_whole()
    index[...] = good
    kernels[name](*args)


@pytest.mark.parametrize("name", CASES)
def test_the_first_wrong_index_is_named(kernels, name):
    args = CASES[name](floats(ROWS, SIZE), indices(ROWS, SIZE))
    index = index_of(args)
    index.reshape(-1)[[5, 9, -1]] = SIZE
    with pytest.raises(KernelDataError, match=f"holds {SIZE} at element 5"):
        kernels[name](*args)


@pytest.mark.parametrize("name", ["index_select", "embedding", "embedding_backward"])
def test_wrong_indices_of_nothing_are_named_too(kernels, name):
    index = np.array([0, 4])
    args = {
        "index_select": (floats(0, 2), floats(0, 3), index, 1),
        "embedding": (floats(2, 0), floats(3, 0), index),
        "embedding_backward": (floats(3, 0), floats(2, 0), index, -1),
    }[name]
    with pytest.raises(KernelDataError, match="holds 4 at element 1"):
        kernels[name](*args)


def test_positions_of_indices_that_change_during_calls(kernels):
    """They are numbers only, which the kernels above check when they use them."""
    index = indices(ROWS, SIZE)
    good, out = index.copy(), np.zeros((ROWS, SIZE), np.int64)

    def scribble():
        index[::7] = 2**62
        index[...] = good

    with another_thread(scribble):
        for _ in range(CALLS):
            with contextlib.suppress(KernelDataError):
                kernels["positions"](out, [index, index], (SIZE, SIZE))


class Clearing:
    """A number that clears a list when it is asked for its value."""

    def __init__(self, cleared):
        self._cleared = cleared

    def __float__(self):
        self._cleared.clear()
        return 0.0


def test_a_list_that_an_attribute_clears(kernels):
    """The attributes are read before the lists are: nothing is left to update."""
    params, grads = [floats(3)], [floats(3)]
    kept = params[0]
    step = np.array(0.5, F4), np.array(1)
    momentum = Clearing(params)
    kernels["sgd"](params, [], grads, *step, momentum, 0.0, 0.0, False, False)
    assert params == []
    assert (kept == 1).all()


def test_lists_that_change_during_calls_keep_their_arrays(kernels):
    """A gradient that is dropped meanwhile must not be given back to the system."""
    count, size = 16, 1 << 18
    norm = np.zeros((), F4)
    for _ in range(20):
        grads = [floats(size) for _ in range(count)]
        last = weakref.ref(grads[-1])
        running = threading.Event()

        def drop(grads=grads, running=running):
            running.wait()
            grads.clear()

        thread = threading.Thread(target=drop)
        thread.start()
        running.set()
        kernels["grad_norm"](norm, grads)
        thread.join()
        # All of them, or none where they were dropped before.
        assert float(norm) in {(count * size) ** 0.5, 0.0}
        assert last() is None

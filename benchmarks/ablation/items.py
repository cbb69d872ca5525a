# SPDX-License-Identifier: MIT
"""What each item of the plan changes, as two functions: before and after."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import numpy as np

import autocalc as ac
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.select import KERNEL_INDEX
from autocalc._dispatch.selection.state import current
from benchmarks.ablation.convolution import convolutions
from benchmarks.ablation.item import Item, floats, pointer
from benchmarks.worker import Run

#: The items of the plan that `gemm.cpp` can leave out, as bits.
GEMM_ITEMS = (1, 5, 11, 12, 13, 15)


def all_items(library: ctypes.CDLL) -> Iterator[Item]:
    """Yield the items in the plan's order."""
    items = [
        *products(library),
        *convolutions(library),
        *elementwise(library),
        *losses(),
        *memory(),
        blas(),
        accumulation(),
    ]
    yield from sorted(items, key=lambda item: item.number)


# ---- O-1, O-5, O-11, O-12, O-13, O-15: one product, an item left out -----------------


def products(library: ctypes.CDLL) -> Iterator[Item]:
    """Leave out one item of a blocked product at a time."""
    every = sum(1 << item for item in GEMM_ITEMS)
    changes = {
        1: "vectors in registers instead of loops over an array",
        5: "A packed once for a panel, not for each tile",
        11: "buffers kept from call to call",
        12: "B packed once, not for each panel of A",
        13: "prefetch in the inner loop",
        15: "block sizes remembered from the first call",
    }
    for number, change in changes.items():
        n = 64 if number in {11, 15} else 1024
        yield Item(
            number,
            change,
            f"gemm {n}x{n}x{n}",
            _gemm(library, every & ~(1 << number), n),
            _gemm(library, every, n),
        )


def _gemm(library: ctypes.CDLL, done: int, n: int) -> Run:
    a, b, c = floats(n, n), floats(n, n), floats(n, n)
    size = ctypes.c_long(n)
    arguments = (done, size, size, size, pointer(a), pointer(b), pointer(c))

    def run() -> object:
        library.ablation_gemm(*arguments)
        return a, b, c

    return run


# ---- O-2, O-10, O-14: elementwise ----------------------------------------------------


def elementwise(library: ctypes.CDLL) -> Iterator[Item]:
    """Indices, values and addresses."""
    shape = (32, 64, 14, 14)
    a, b, out = floats(*shape), floats(*shape), floats(*shape)
    longs = ctypes.c_long * len(shape)
    strides = longs(*(stride // 4 for stride in a.strides))
    before = (len(shape), longs(*shape), strides, strides, ctypes.c_long(a.size))
    operands = (pointer(a), pointer(b), pointer(out))
    yield Item(
        2,
        "no index for each element where shapes are equal",
        "add 32x64x14x14",
        lambda: library.ablation_add(*before, *operands),
        lambda: arrays.add(a, b, into=out),
    )
    x, y = floats(1 << 18), floats(1 << 18)
    count = ctypes.c_long(x.size)
    yield Item(
        10,
        "vector mathematics instead of the library's expf",
        "sigmoid of 256 Ki",
        lambda: library.ablation_sigmoid(count, pointer(x), pointer(y)),
        lambda: _into("sigmoid", y, x),
    )
    n = 1 << 14  # three of 64 KiB: the second cache
    aligned = [floats(n) for _ in range(3)]
    moved = [floats(n + 1)[1:] for _ in range(3)]
    yield Item(
        14,
        "operands on 64-byte boundaries",
        "add of 16 Ki",
        lambda: arrays.add(moved[0], moved[1], into=moved[2]),
        lambda: arrays.add(aligned[0], aligned[1], into=aligned[2]),
    )


def _into(name: str, out: np.ndarray, *operands: np.ndarray) -> None:
    """Call the chosen kernel on memory that is there."""
    table = current().selection.tables[KERNEL_INDEX[name]]
    kernel = table.get(operands[0].dtype)
    if kernel is None:
        getattr(arrays, name)(*operands)
        kernel = table[operands[0].dtype]
    kernel(out, *operands)


# ---- O-8, O-17, O-19, O-20 -----------------------------------------------------------


def losses() -> Iterator[Item]:
    """Loss and gradient of 512 rows of 10,000 classes."""
    logits = floats(512, 10_000)
    target = np.random.default_rng(1).integers(10_000, size=512)
    rows = np.arange(512)
    share = arrays.constant(1 / 512, logits)

    def recompute() -> object:
        loss = arrays.cross_entropy(logits, target, None)[0]
        gradient = arrays.softmax(logits, 1)
        gradient[rows, target] -= 1
        return loss, arrays.mul(gradient, share)

    def keep() -> object:
        return arrays.cross_entropy(logits, target, None, want=0b11)

    change = "the gradient from the forward pass's exponentials"
    yield Item(8, change, "cross_entropy 512x10000", recompute, keep)


def memory() -> Iterator[Item]:
    """Results in memory that was there before, or fresh from the system."""
    a, b = floats(1 << 22), floats(1 << 22)

    def fresh() -> object:
        return arrays.add(a, b, into=np.empty(a.shape, a.dtype))

    change = "memory of results kept in a pool"
    yield Item(17, change, "add of 4 Mi", fresh, lambda: arrays.add(a, b), 2)


def blas() -> Item:
    """A BLAS library in the same table."""
    name = next(
        (name for name in ac.kernels.available() if name.startswith("blas-")), None
    )
    n = 1024
    a, b = floats(n, n), floats(n, n)
    product: Callable[[], object] = lambda: arrays.gemm(a, b, None)  # noqa: E731

    def with_blas() -> object:
        with ac.kernels.use(name):
            return product()

    before = product if name is None else with_blas
    title = "no BLAS installed" if name is None else f"own product instead of {name}"
    return Item(19, title, f"gemm {n}x{n}x{n}", before, product, 2)


def accumulation() -> Item:
    """dW of two batches: added by the product itself, or through a temporary."""
    g, x, weight = floats(256, 1024), floats(256, 784), floats(1024, 784)
    total = floats(1024, 784)
    want = 0b010

    def through_a_temporary() -> object:
        part = arrays.linear_backward(g, x, weight, want=want)[1]
        return arrays.add(total, part, into=total)

    def in_place() -> object:
        into = (None, total, None)
        return arrays.linear_backward(
            g, x, weight, want=want, accumulate=want, into=into
        )

    change = "gradients added into by the product itself"
    operands = "linear_backward 256x784 to 1024"
    return Item(20, change, operands, through_a_temporary, in_place, 2)

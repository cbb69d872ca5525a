# SPDX-License-Identifier: MIT
"""How fast each kernel set multiplies matrices here, and whether the best one runs."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter

import numpy as np

from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.plugins.threads import serial
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.state import current, enter, leave
from autocalc._doctor._finding import Finding
from autocalc._doctor._machine import Machine
from autocalc._kernels.spec import Array
from autocalc._kernels.table import TABLE
from autocalc._tensor.dtypes import bfloat16

#: The product that is timed: [N, N] @ [N, N] in float32.
N = 512

#: Seconds for each kernel set, and turns at least.
SECONDS, TURNS = 0.05, 5

#: The chosen set may be slower than the best by this share before it is reported.
CLEAR = 0.1

#: A call so many times as fast on one thread as on all is reported.
HINDERED = 1.5


def gemm(_machine: Machine) -> Iterator[Finding]:
    """Time one product on each set that takes it."""
    a, b = (_matrix(seed) for seed in (1, 2))
    spec = TABLE["gemm"]
    key = KernelCall(spec).key(a, b, None)
    selection = current().selection
    able = [c.name for c in selection.candidates(spec, key) if c.refusal is None]
    chosen = selection.choose(spec, key)[0]
    speeds = {name: speed(name, a, b) for name in able}
    told = ", ".join(
        f"{name} {value:.0f}"
        for name, value in sorted(speeds.items(), key=lambda item: -item[1])
    )
    budget = get_num_threads()
    on = "1 thread" if budget == 1 else f"{budget} threads"
    text = f"GFLOP/s of a {N}x{N}x{N} product on {on}: {told}; {chosen} is chosen"
    best = max(speeds, key=speeds.__getitem__)
    if speeds[chosen] < (1 - CLEAR) * speeds[best]:
        yield Finding(
            "note",
            "products",
            f"{text}, and {best} is {speeds[best] / speeds[chosen]:.1f} times as fast",
            "Run `autocalc tune` on an idle machine: it lets measured times choose.",
        )
    else:
        yield Finding("ok", "products", text)
    yield _in_bfloat16(a, b, speeds[chosen])
    if budget > 1:
        yield from _in_each_others_way(speeds, a, b)


def _in_bfloat16(a: Array, b: Array, in_float32: float) -> Finding:
    """Time the product of bfloat16 on the set that is chosen for it."""
    a, b = (arrays.cast(x, bfloat16.numpy) for x in (a, b))
    spec = TABLE["gemm"]
    chosen = current().selection.choose(spec, KernelCall(spec).key(a, b, None))[0]
    rate = speed(chosen, a, b)
    return Finding(
        "ok",
        "products",
        f"of bfloat16: {rate:.0f} GFLOP/s by {chosen}, {rate / in_float32:.2f} times "
        f"the rate of float32",
    )


def _in_each_others_way(
    speeds: dict[str, float], a: Array, b: Array
) -> Iterator[Finding]:
    """Name the sets that are slower on all threads than on one."""
    with serial():
        alone = {name: speed(name, a, b) for name in speeds}
    slow = [name for name in speeds if alone[name] > HINDERED * speeds[name]]
    if slow:
        told = ", ".join(f"{n} {alone[n] / speeds[n]:.1f} times" for n in slow)
        yield Finding(
            "note",
            "products",
            f"slower on {get_num_threads()} threads than on one: {told}. Threads of "
            f"such a library wait for each other while another program has a core",
            "Close other programs; if nothing else runs, choose a set whose threads "
            "help, or AUTOCALC_NUM_THREADS=1.",
        )


def _matrix(seed: int) -> Array:
    values = np.random.default_rng(seed).standard_normal((N, N))
    return arrays.copy(values.astype(np.float32))


def speed(name: str, a: Array, b: Array) -> float:
    """Return the GFLOP/s of a kernel set: the median of its turns."""
    token = enter(selection=current().selection.derive(choices=(name,)))
    try:
        arrays.gemm(a, b, None)  # the decision, threads, pages
        times: list[float] = []
        end = perf_counter() + SECONDS
        while len(times) < TURNS or perf_counter() < end:
            started = perf_counter()
            arrays.gemm(a, b, None)
            times.append(perf_counter() - started)
    finally:
        leave(token)
    return 2 * N**3 / median(times) / 1e9

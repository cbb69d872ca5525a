# SPDX-License-Identifier: MIT
"""Checks of a kernel's effects on the process: forks and memory leaks."""

from __future__ import annotations

import gc
import math
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autocalc._dispatch.engine import native as engine
from autocalc._kernels.spec import Array, DType, KernelSpec, Sample
from autocalc.testing.conformance import _floating_point as floating_point
from autocalc.testing.conformance._checks import is_large, samples
from autocalc.testing.conformance._determinism import bits
from autocalc.testing.conformance._native_memory import LEAST, native_memory
from autocalc.testing.conformance._subject import (
    Inapplicable,
    Prepared,
    Refused,
    Subject,
)
from autocalc.testing.conformance._watch import running

#: The seconds after which a child counts as hanging; large samples take milliseconds.
PATIENCE = 30.0
#: The number of calls in a round, during which no memory may grow.
REPETITIONS = 40
#: The blocks of Python's memory by which the count varies without a leak.
SOME = 20
#: The counters of an allocator, and the growth that counts as a leak: one byte or one
#: block.
COUNTERS = {"in_use": 1, "blocks": 1}
#: The same for the memory of the process.
NATIVE = {measure: REPETITIONS * least for measure, least in LEAST.items()}
#: The most rounds of calls, because other threads may make objects in some of them.
OTHERS_TURNS = 6
#: The number of rounds without growth after which a kernel passes.
CLEAN_ROUNDS = 2
#: The number of first rounds in which a thread may allocate permanent scratch memory.
SLOW_STARTS = 3


# ---- fork ----------------------------------------------------------------------------


def check_fork(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """A child that is forked after a call has the same results and does not hang."""
    if not hasattr(os, "fork"):
        raise Inapplicable("this system cannot fork")
    sample = _largest(subject, spec, dtype, samples(spec, dtype))
    with subject.threads() as set_num_threads:
        if set_num_threads is not None:
            set_num_threads(2)
        wanted = bits(subject.run(spec, sample, dtype))
        status = _in_child(lambda: bits(subject.run(spec, sample, dtype)) == wanted)
    reason = {
        0: "",
        1: "computed something else",
        2: "raised an error",
        None: f"did not end within {PATIENCE:.0f} s",
    }.get(status, f"died of signal {-(status or 0)}")
    if reason:
        raise AssertionError(
            f"{spec.name} on {sample.label!r}: a child process that was forked after a "
            f"call {reason}; threads do not survive a fork and must be started again"
        )


def _in_child(task: Any) -> int | None:
    """Run `task` in a child: 0 if true, 1 if not, 2 if it raises, None if it hangs.

    A negative result is the number of the signal that ended the child.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about threads
        child = os.fork()
    if child == 0:
        status = 2
        try:
            status = 0 if task() else 1
        finally:
            os._exit(status)
    return exit_code_of(child, PATIENCE)


def exit_code_of(child: int, seconds: float) -> int | None:
    """Wait for a child and return its exit code; kill it and return None on a hang."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


# ---- leaks ---------------------------------------------------------------------------


def check_leaks(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Repeated calls do not leak operands, Python objects or memory of an allocator."""
    small = [s for s in samples(spec, dtype) if not is_large(s)]
    prepared = subject.prepare(spec, _largest(subject, spec, dtype, small), dtype)
    allocator = subject.kernel_set.allocator
    made = engine.allocator if allocator is None else allocator()
    stats = dict if made is None else made.stats
    _repeat(subject, prepared)  # caches are no leak
    names, arrays = zip(*_operands(prepared), strict=True)
    before = [sys.getrefcount(a) for a in arrays]
    grown = _growth(subject, prepared, stats, COUNTERS)
    after = [sys.getrefcount(a) for a in arrays]
    left = _blocks_left(subject, prepared)
    where = f"{spec.name}: {REPETITIONS} calls"
    for name, old, new in zip(names, before, after, strict=True):
        if old != new:
            raise AssertionError(
                f"{where} left {new - old} references to the operand `{name}`, which "
                "they must release"
            )
    if left > SOME:
        raise AssertionError(
            f"{where} left {left} blocks of Python's memory, which they must free"
        )
    for counter, more in grown.items():
        message = f"{where} moved the allocator's counter `{counter}` by {more:+d}"
        raise AssertionError(message)
    for measure, more in _growth(subject, prepared, native_memory, NATIVE).items():
        raise AssertionError(
            f"{where} left {more} bytes of native memory ({measure}), in each of "
            f"{1 + SLOW_STARTS} rounds; free the memory that a call allocates, or keep "
            "it for the next call"
        )


def _growth(
    subject: Subject,
    prepared: Prepared,
    measure: Callable[[], dict[str, int]],
    least: dict[str, int],
) -> dict[str, int]:
    """Return the counters that grow in each round of calls, and their growth.

    A thread that gets processor time late may allocate its scratch memory in a later
    round than the other threads.  A leak appears in every round.
    """
    smallest: dict[str, int] = {}
    for _ in range(1 + SLOW_STARTS):
        before = measure()
        _repeat(subject, prepared)
        after = measure()
        more = {c: after[c] - before[c] for c in least if c in after}
        smallest = {c: min(smallest.get(c, m), m) for c, m in more.items()}
        smallest = {c: m for c, m in smallest.items() if m >= least[c]}
        least = {c: n for c, n in least.items() if c in smallest}
        if not least:
            break
    return smallest


def _blocks_left(subject: Subject, prepared: Prepared) -> int:
    """Return how many blocks of Python's memory each round of calls leaks.

    Another thread may make or free objects at the same time.  Objects that wait for the
    garbage collector are not a leak; a collection is slow and runs only if blocks
    remain.  A leak appears in every round, so a kernel passes after two rounds without
    growth.  An automatic collection is prevented, because it could free objects of
    earlier calls and hide a leak.
    """
    left: list[int] = []
    finish: Callable[[], object] = lambda: None  # noqa: E731  # a step to leave out
    with _no_collection():
        for _ in range(1 + OTHERS_TURNS):
            left.append(_blocks_more(subject, prepared, finish))
            if sum(more <= SOME for more in left) == CLEAN_ROUNDS:
                break
            if left[-1] > SOME:
                gc.collect()
                finish = gc.collect
    return sorted(left)[CLEAN_ROUNDS - 1]


@contextmanager
def _no_collection() -> Iterator[None]:
    """Switch the cyclic garbage collector off for the block."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _blocks_more(
    subject: Subject, prepared: Prepared, finish: Callable[[], object]
) -> int:
    """Return the growth of the number of blocks in a round of calls."""
    before = sys.getallocatedblocks()
    _repeat(subject, prepared)
    finish()
    return sys.getallocatedblocks() - before


def _repeat(subject: Subject, prepared: Prepared) -> None:
    """Repeat the call with the same operands; overflows are allowed."""
    function = subject.kernels[prepared.spec.name].function
    arguments = (*prepared.outs, *prepared.inputs, *prepared.attributes)
    label = f"{prepared.label}, again and again,"
    with np.errstate(all="ignore"), running(label):
        for _ in range(REPETITIONS):
            function(*arguments)
    floating_point.restore()


def _operands(prepared: Prepared) -> Iterator[tuple[str, Array]]:
    """Yield the name and the array of each operand that is not absent."""
    spec = prepared.spec
    operands = zip(
        (*spec.outputs, *spec.inputs), (*prepared.outs, *prepared.inputs), strict=True
    )
    for operand, given in operands:
        for a in given if isinstance(given, (list, tuple)) else [given]:
            if a is not None:
                yield operand.name, a


# ---- samples -------------------------------------------------------------------------


def _largest(
    subject: Subject, spec: KernelSpec, dtype: DType, given: list[Sample]
) -> Sample:
    """Return the largest sample that the set accepts."""
    for sample in sorted(given, key=_size, reverse=True):
        try:
            subject.prepare(spec, sample, dtype)
        except Refused:
            continue
        return sample
    raise Inapplicable("every call is refused")


def _size(sample: Sample) -> int:
    """Return the number of elements of a sample's largest operand."""
    arrays: list[Any] = []
    for operand in sample.inputs:
        arrays += operand if isinstance(operand, (list, tuple)) else [operand]
    sizes = [int(a.size) for a in arrays if a is not None]
    return max([math.prod(sample.shape or ()), *sizes])

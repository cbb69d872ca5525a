# SPDX-License-Identifier: MIT
"""Checks of successive calls, and of calls at the same time."""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from autocalc._kernels.spec import DType, KernelSpec, Sample
from autocalc.testing.conformance._checks import Case, Judged, case_of, cases, is_large
from autocalc.testing.conformance._determinism import THREADS, bits
from autocalc.testing.conformance._halves import samples_of
from autocalc.testing.conformance._subject import Prepared, Refused, Subject

#: The number of calls that are repeated with other values.
AGAIN = 5
#: The seconds for which two threads call at the same time.
SECONDS = 0.05
#: The most seconds until each thread has worked for half of `SECONDS`.  On a busy
#: machine, a thread may get less processor time within `SECONDS` than one call takes.
MOST_SECONDS = 1.0
#: The seconds between switches of Python's threads; short, so that kernels in Python
#: overlap.
SWITCH = 1e-5


# ---- successive calls ----------------------------------------------------------------


def check_state(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Results follow new values in the same arrays: the kernel keeps no state."""
    judged = Judged(subject, spec, dtype)
    for case, other in _pairs(spec, dtype):
        try:
            prepared = subject.prepare(spec, case.sample, dtype)
        except Refused as refused:
            judged.refusal = refused
            continue
        for turn in (case, other, case):
            refill(prepared, turn.sample)
            with judged.named(turn.sample, ", in the arrays of an earlier call"):
                subject.call(prepared)
                judged.judge(turn, prepared.outs)
        judged.calls += 1
    judged.finish("no sample with other values")


def _pairs(spec: KernelSpec, dtype: DType) -> Iterator[tuple[Case, Case]]:
    """Yield pairs of calls with different values in arrays of the same shapes."""
    able = [case for case in cases(spec, dtype) if not is_large(case.sample)]
    step = max(1, len(able) // AGAIN)
    for case in able[::-step][:AGAIN]:
        other = _other(spec, dtype, case.sample)
        if other is case.sample:
            continue
        found = case_of(spec, other, dtype)
        if _sizes(found) == _sizes(case):  # some results' sizes depend on values
            yield case, found


@functools.lru_cache(maxsize=1)
def _others(spec: KernelSpec, dtype: DType) -> dict[str, Sample]:
    """Return the spec's samples with other values, by label."""
    return {sample.label: sample for sample in samples_of(spec, dtype, seed=2)}


def _alike(a: Sample, b: Sample) -> bool:
    """Return whether two calls differ only in the values of their arrays."""
    shapes = [[x.shape for x in _arrays(s)] for s in (a, b)]
    same = shapes[0] == shapes[1] and repr(a.attributes) == repr(b.attributes)
    return same and a.want == b.want and any(x.size for x in _arrays(a))


def _sizes(case: Case) -> list[Any]:
    """Return the expected shapes of the results of a call."""
    return [np.shape(a) for x in case.expected for a in _listed(x) if a is not None]


def _arrays(sample: Sample) -> Iterator[Any]:
    for x in sample.inputs:
        yield from (a for a in _listed(x) if a is not None)


def _listed(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def refill(prepared: Prepared, sample: Sample) -> None:
    """Write the values of a sample to the arrays of a call, and NaN to its outputs."""
    writes = len(prepared.spec.writes)
    for out in prepared.outs[writes:]:
        for a in _listed(out):
            if a is not None:
                a[...] = np.frombuffer(b"\xff" * a.itemsize, a.dtype)[0]
    places = (*prepared.outs[:writes], *prepared.inputs)
    for place, values in zip(places, sample.inputs, strict=True):
        for a, b in zip(_listed(place), _listed(values), strict=True):
            if a is not None:
                a[...] = b
    prepared.memory.protect_again()


# ---- at the same time ----------------------------------------------------------------


def check_threads(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Calls of two Python threads do not interfere; any number of own threads works."""
    judged = Judged(subject, spec, dtype)
    large = [case for case in cases(spec, dtype) if is_large(case.sample)]
    for case in large[:1] or cases(spec, dtype)[-1:]:
        try:
            _at_once(judged, case)
        except Refused as refused:
            judged.refusal = refused
            continue
        judged.calls += 1
    if subject.has_threads and subject.kernel_set.determinism != "threads":
        _by_any_number(judged, large)
    judged.finish("no sample")


def _by_any_number(judged: Judged, large: list[Case]) -> None:
    """Judge a large call with several numbers of threads."""
    with judged.subject.threads() as set_num_threads:
        for count in THREADS if large else ():
            set_num_threads(count)
            try:
                judged(large[0])
            except AssertionError as error:
                raise AssertionError(f"with {count} threads, {error}") from None


class _Caller(NamedTuple):
    """The call that one of the threads makes, and the bits that it should get."""

    prepared: Prepared
    sample: Sample
    wanted: bytes


def _at_once(judged: Judged, case: Case) -> None:
    """Make two threads call at the same time, each with its own values."""
    samples = [case.sample, _other(judged.spec, judged.dtype, case.sample)]
    callers = [_caller(judged, sample) for sample in samples]
    errors: list[BaseException] = []
    start, goes_on = threading.Barrier(len(callers)), _for_a_while(len(callers))

    def repeat(number: int, caller: _Caller) -> None:
        start.wait()
        try:
            while not errors and goes_on(number):
                _call_once_more(judged, caller)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=one) for one in enumerate(callers)]
    with _switching():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]


def _for_a_while(count: int) -> Callable[[int], bool]:
    """Return a function that says whether the thread with a number should continue."""
    began, worked = time.monotonic(), [0.0] * count

    def goes_on(number: int) -> bool:
        worked[number] = time.thread_time()
        passed = time.monotonic() - began
        least = min(worked)  # both threads must have worked
        return passed < SECONDS or (least < SECONDS / 2 and passed < MOST_SECONDS)

    return goes_on


def _caller(judged: Judged, sample: Sample) -> _Caller:
    prepared = judged.subject.prepare(judged.spec, sample, judged.dtype)
    with judged.named(sample):
        judged.subject.call(prepared)
    return _Caller(prepared, sample, bits(prepared.outs))


def _call_once_more(judged: Judged, caller: _Caller) -> None:
    """Repeat the call; if the bits differ, check the result against the budget."""
    refill(caller.prepared, caller.sample)
    details = ", called by two threads at the same time"
    with judged.named(caller.sample, details):
        judged.subject.call(caller.prepared)
        if bits(caller.prepared.outs) != caller.wanted:
            case = case_of(judged.spec, caller.sample, judged.dtype)
            judged.judge(case, caller.prepared.outs)


def _other(spec: KernelSpec, dtype: DType, sample: Sample) -> Sample:
    """Return a sample with other values and the same shapes, or the sample itself."""
    other = _others(spec, dtype).get(sample.label)
    return sample if other is None or not _alike(sample, other) else other


@contextmanager
def _switching() -> Iterator[None]:
    """Make Python switch often between threads."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(before)

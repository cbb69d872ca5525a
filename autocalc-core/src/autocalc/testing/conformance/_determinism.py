# SPDX-License-Identifier: MIT
"""The check of the level of determinism that a set promises."""

from __future__ import annotations

from typing import Any

from autocalc._kernels.spec import DType, KernelSpec
from autocalc.testing.conformance._checks import is_large, samples
from autocalc.testing.conformance._subject import Inapplicable, Refused, Subject

#: The numbers of threads for which the bits must agree.  Each number runs twice,
#: because threads may steal tasks.
THREADS = (1, 2, 3, 5, 8, 16, 64)


def check_determinism(subject: Subject, spec: KernelSpec, dtype: DType) -> None:
    """Each run gives the same bits, also for all `THREADS` if the set promises it."""
    level = subject.kernel_set.determinism
    counts = THREADS if level == "threads" and subject.has_threads else (None,)
    calls = 0
    with subject.threads() as set_num_threads:
        for sample in filter(is_large, samples(spec, dtype)):
            seen = []
            try:
                for threads in counts:
                    if threads is not None:
                        set_num_threads(threads)
                    runs = [bits(subject.run(spec, sample, dtype)) for _ in range(2)]
                    seen.append((threads, runs))
            except Refused:
                continue
            calls += 1
            differs = _first_difference(seen)
            if differs:
                raise AssertionError(
                    f"{spec.name} on {sample.label!r}: the set promises determinism of "
                    f"the level {level!r}, but bits differ {differs}"
                )
    if not calls:
        raise Inapplicable("no large sample")


def _first_difference(seen: list[tuple[int | None, list[bytes]]]) -> str:
    """Return the first two runs whose bits differ, as text; "" if all agree.

    Runs with the same number of threads are compared first.  If they differ, the number
    of threads is not the cause.
    """
    for threads, (first, second) in seen:
        if first != second:
            with_threads = "" if threads is None else f", each with {threads} threads"
            return f"between two runs that are the same{with_threads}"
    first_threads, (first, _) = seen[0]
    for threads, (other, _) in seen:
        if other != first:
            return f"between {first_threads} and {threads} threads"
    return ""


def bits(outs: tuple[Any, ...]) -> bytes:
    flat = [
        one
        for out in outs
        for one in (out if isinstance(out, list) else [out])
        if one is not None
    ]
    return b"".join(one.tobytes() for one in flat)

# SPDX-License-Identifier: MIT
"""Measure and store the peak performance of this machine.

The peak of arithmetic is measured with large matrix products.  The peak bandwidth
depends on the amount of data, because caches are faster than memory.  For that reason
it is measured for several sizes.  A kernel is compared with the best bandwidth at the
next smaller size or at a larger one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from autocalc._config import cache_folder, logger
from autocalc._dispatch.machine.cpu import cpu_name
from autocalc._dispatch.machine.kept_files import (
    WRONG_CONTENT,
    UnusableFileError,
    read_json,
    write_json,
)
from autocalc._dispatch.machine.thread_budget import get_num_threads
from autocalc._dispatch.selection.arrays import arrays
from autocalc._dispatch.selection.tuning import packages
from autocalc._graph._grad_mode import no_grad
from autocalc._ops.creation.constants import full
from autocalc._ops.matrices.matmul import matmul
from autocalc._tensor import dtypes
from autocalc._tensor.checks import check_flag

#: The version of the file format.
FORMAT = 2

#: The number of rows and columns of the products, and the numbers of bytes that a call
#: moves.
PRODUCTS = (512, 1024, 2048)
SIZES = (2**14, 2**16, 2**18, 2**20, 2**22, 2**24, 2**26, 2**27)

#: The seconds of each measurement, and of one repetition in it.
SECONDS, TURN = 0.06, 0.002


class Peaks(NamedTuple):
    """The peak performance of this CPU for a number of threads.

    Attributes
    ----------
    cpu, threads
        The name of the CPU and the number of threads.
    flops
        The floating-point operations per second, by dtype.  bfloat16 is included if the
        CPU multiplies it faster than float32.
    bandwidth
        Pairs of the number of bytes that a call moves, and the bytes per second.
    packages
        The kernel packages that were measured.

    Examples
    --------
    >>> import autocalc as ac
    >>> peaks = ac.profiler.Peaks("a CPU", 4, {"float32": 2e11}, ((1e4, 4e10),), {})
    >>> peaks.flops_of("float32"), peaks.bandwidth_of(1e6)
    (200000000000.0, 40000000000.0)
    """

    cpu: str
    threads: int
    flops: dict[str, float]
    bandwidth: tuple[tuple[float, float], ...]
    packages: dict[str, str]

    def flops_of(self, dtype: str) -> float:
        """Return the peak FLOPs per second of a dtype, by default those of float32."""
        return self.flops.get(dtype, self.flops["float32"])

    def bandwidth_of(self, nbytes: float) -> float:
        """Return the peak bandwidth, in bytes per second, of calls that move `nbytes`.

        It is the largest bandwidth that was measured at the next smaller size or at any
        larger size.
        """
        larger = [rate for size, rate in self.bandwidth if size > nbytes]
        at = max(0, len(self.bandwidth) - len(larger) - 1)
        return max(rate for _, rate in self.bandwidth[at:])

    def seconds(self, flops: float, nbytes: float, dtype: str) -> float:
        """Return the shortest possible time for an amount of work (roofline model)."""
        arithmetic = flops / self.flops_of(dtype)
        return max(arithmetic, nbytes / self.bandwidth_of(nbytes) if nbytes else 0.0)

    def is_memory_bound(self, flops: float, nbytes: float, dtype: str) -> bool:
        """Return whether moving the bytes takes longer than the arithmetic."""
        moving = nbytes / self.bandwidth_of(nbytes) if nbytes else 0.0
        return moving > flops / self.flops_of(dtype)

    def __str__(self) -> str:
        low, high = self.bandwidth[-1][1], self.bandwidth_of(0)
        of_dtypes = ", ".join(f"{v / 1e9:,.0f} GFLOP/s {k}" for k, v in
                              self.flops.items())  # fmt: skip
        return (
            f"{self.cpu}, {_threads(self.threads)}: {of_dtypes}; {low / 1e9:,.1f} GB/s "
            f"from memory, {high / 1e9:,.1f} from caches"
        )


#: The peaks of this process, by threads; they are known even without a file.
_known: dict[int, Peaks] = {}


def measure_peaks(*, quiet: bool = False) -> Peaks:
    """Measure the peak performance of this machine and store the result.

    The measurement uses the current number of threads.  It takes about five seconds and
    prints a message on standard error.  Close other programs first.  The result is
    stored in the user's cache folder, for this CPU, this number of threads and the
    installed kernel packages, where profiles find it.

    Parameters
    ----------
    quiet
        True to print nothing.

    Returns
    -------
    Peaks
        The operations and the bytes per second.

    Raises
    ------
    ArgumentError
        If `quiet` is neither True nor False.

    Examples
    --------
    >>> import autocalc as ac
    >>> peaks = ac.profiler.measure_peaks(quiet=True)    # doctest: +SKIP
    """
    check_flag("measure_peaks", "quiet", quiet)
    threads = get_num_threads()
    if not quiet:
        _say(f"Measuring the peaks of this machine on {_threads(threads)}: some 5 s.")
    flops = {name: _best_product(name) for name in ("float32", "float64", "bfloat16")}
    if flops["bfloat16"] <= flops["float32"]:  # it is computed in float32
        del flops["bfloat16"]
    moved = tuple((float(size), _best_bandwidth(size)) for size in SIZES)
    found = Peaks(cpu_name(), threads, flops, moved, packages())
    _known[threads] = found
    kept = _write(found)
    if not quiet:
        _say(f"{found}. {kept}")
    return found


def peaks() -> Peaks | None:
    """Return the measured peaks for the current number of threads, or None.

    Examples
    --------
    >>> import autocalc as ac
    >>> known = ac.profiler.peaks()
    >>> known is None or known.threads == ac.get_num_threads()
    True
    """
    threads = get_num_threads()
    found = _known.get(threads) or _read(threads)
    if found is None or found.packages != packages():
        return None
    _known[threads] = found
    return found


def forget() -> None:
    """Forget the peaks; the file is read again when it is next needed."""
    _known.clear()


def _threads(count: int) -> str:
    return f"{count} thread{'s' * (count > 1)}"


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")


# ---- measuring -----------------------------------------------------------------------


def _best_product(name: str) -> float:
    """Return the operations per second of the fastest matrix product."""
    dtype = dtypes.as_dtype(name)
    best = 0.0
    with no_grad():
        for n in PRODUCTS:
            a, b = full((n, n), 0.5, dtype=dtype), full((n, n), 0.25, dtype=dtype)
            best = max(best, 2.0 * n**3 / _seconds(partial(matmul, a, b)))
    return best


def _best_bandwidth(nbytes: int) -> float:
    """Return the largest bytes per second of reading, copying and adding."""
    a, b, out = [full((nbytes // 12,), 0.5)._array for _ in range(3)]
    whole = full((nbytes // 4,), 0.5)._array
    two = whole[: nbytes // 8], whole[nbytes // 8 : 2 * (nbytes // 8)]
    calls: list[tuple[float, Callable[[], Any]]] = [
        (3.0 * a.nbytes, lambda: arrays.add(a, b, into=out)),
        (2.0 * two[0].nbytes, lambda: arrays.copy(two[0], into=two[1])),
        (1.0 * whole.nbytes, lambda: arrays.sum(whole, (0,), False)),
    ]
    return max(moved / _seconds(call) for moved, call in calls)


def _seconds(call: Callable[[], Any]) -> float:
    """Return the shortest time of a call; short calls are timed in groups."""
    call()
    started = perf_counter()
    call()
    times = max(1, int(TURN / max(perf_counter() - started, 1e-7)))
    best, end = inf, perf_counter() + SECONDS
    while True:
        started = perf_counter()
        for _ in range(times):
            call()
        stopped = perf_counter()
        best = min(best, (stopped - started) / times)
        if stopped >= end:
            return best


# ---- files ---------------------------------------------------------------------------


def path_of_peaks(threads: int) -> Path:
    """Return the path of the file for this CPU and a number of threads."""
    return cache_folder() / "peaks" / f"{cpu_name()}-{threads}-threads.json"


def _write(found: Peaks) -> str:
    """Store the peaks; return a sentence with the file, or why it was not written."""
    path = path_of_peaks(found.threads)
    try:
        write_json(path, {"format": FORMAT, **found._asdict()})
    except OSError as error:
        return f"They hold for this process alone: {path} cannot be written ({error})."
    return f"Kept in {path}"


def _read(threads: int) -> Peaks | None:
    path = path_of_peaks(threads)
    try:
        content = read_json(path)
    except FileNotFoundError:
        return None
    except UnusableFileError as error:
        return _without(path, str(error))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        return _without(path, f"it is not of format {FORMAT}")
    try:
        return _peaks_of(content)
    except WRONG_CONTENT as error:
        return _without(path, f"an entry is wrong ({error!r})")


def _peaks_of(content: dict[str, Any]) -> Peaks:
    flops = {str(k): _rate(v) for k, v in content["flops"].items()}
    moved = tuple((_rate(size), _rate(rate)) for size, rate in content["bandwidth"])
    if "float32" not in flops or not moved:
        raise ValueError("the rates of float32 or of the memory are missing")
    packages = dict(content["packages"])
    return Peaks(str(content["cpu"]), int(content["threads"]), flops, moved, packages)


def _rate(given: Any) -> float:
    value = float(given)
    if not 0 < value < inf:
        raise ValueError(f"{given} is not a rate")
    return value


def _without(path: Path, reason: str) -> Peaks | None:
    """Warn why a file is not used, and return None."""
    logger("profiler").warning(
        "the peaks in %s are not used: %s. ac.profiler.measure_peaks() renews them.",
        path,
        reason,
    )
    return None

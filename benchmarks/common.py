# SPDX-License-Identifier: MIT
"""What the benchmarks of asv share: kernel sets and threads as parameters.

A class is parametrised by the sets that have its kernel, as the registry says; `setup`
runs the call once and skips what a set refuses, so that no row bears the name of a set
that does not run.  The classes here are abstract, which asv leaves out.
"""

from __future__ import annotations

import atexit
import math
import shutil
import statistics
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import ExitStack
from functools import cache

import autocalc as ac
from autocalc._dispatch.plugins.discovery import registry
from autocalc._kernels.table import TABLE
from autocalc.testing import Compared
from benchmarks.kernels.cases import ROWS, arguments
from benchmarks.kernels.run import prepare
from benchmarks.peers import started
from benchmarks.worker import Run, seconds_per_call

#: The threads that AutoCalc takes by itself.
ALL = ac.get_num_threads()
THREADS = ["1", "all"] if ALL > 1 else ["1"]
#: Rounds of a `track_` figure, and seconds of each.
ROUNDS, ROUND_SECONDS = 7, 0.03
#: Samples of a kernel whose errors are measured.
SAMPLES = 5


def owners(*kernels: str) -> list[str]:
    """Return the sets that have one of these kernels, best first.

    A composite that a set runs by its lead, as BLAS does `linear` by `gemm`, is the
    set's.
    """
    needed = {*kernels, *(TABLE[kernel].lead for kernel in kernels)} - {None}
    own = registry().kernels
    return [n for n in _whole_sets() if needed & (own(n) or {}).keys()]


def _whole_sets() -> list[str]:
    """Return the sets that take operands of any size.

    AMX's take large products alone, and AVX512-BF16's those of bfloat16: most of their
    rows would be another set's.
    """
    return [n for n in ac.kernels.available() if not n.endswith(("-amx", "_bf16"))]


def peak_program(kernels: str) -> list[str] | None:
    """Return what measures the peaks of a set's instructions, if it can be made."""
    from benchmarks.kernels.__main__ import FLAGS

    return _peak_program(kernels if kernels in FLAGS else None)


@cache
def _peak_program(kernels: str | None) -> list[str] | None:
    from benchmarks.kernels.__main__ import compiled_peak

    folder = tempfile.mkdtemp(prefix="autocalc-peak-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return compiled_peak(folder, kernels)


class OnEachSet(ABC):
    """A benchmark whose first parameter is the kernel set that it runs on."""

    @property
    @abstractmethod
    def params(self) -> list[list[str]]:
        """The sets, and what else there is to choose."""

    def choose(self, kernels: str, threads: str = "all") -> None:
        """Leave just this set, and the reference for what it lacks."""
        ac.manual_seed(0)
        ac.kernels.use(kernels, only=True)
        ac.set_num_threads(1 if threads == "1" else ALL)

    @staticmethod
    def check_that_it_runs(
        kernels: str, run: Callable[[], object], needed: Collection[str]
    ) -> None:
        """Run once; skip the benchmark unless the set runs one of the kernels needed.

        asv shows what `setup` skips as n/a.  Without this, the reference would be timed
        under the set's name.
        """
        with ac.kernels.count() as calls:
            run()
        if not any((kernel, kernels) in calls for kernel in needed):
            ran = ", ".join(sorted({name for _, name in calls}))
            raise NotImplementedError(
                f"{kernels} runs no {' or '.join(sorted(needed))} here: {ran} does"
            )

    def ran(self) -> set[str] | None:
        """Return the sets that ran, where the dispatcher is not asked at each call."""
        return None

    def teardown(self, *_: str) -> None:
        """Choose by rank again, on all threads."""
        ac.kernels.use()
        ac.set_num_threads(ALL)


class KernelRows(OnEachSet):
    """The calls of one kernel, as `benchmarks.kernels` has them, results made again."""

    param_names = ["kernels", "operands", "threads"]

    @property
    @abstractmethod
    def kernel(self) -> str:
        """Its name in the kernel table."""

    def __init_subclass__(cls) -> None:
        name = cls.__dict__.get("kernel")
        if isinstance(name, str):
            operands = [row.operands for row in ROWS.values() if row.kernel == name]
            cls.params = [owners(name), operands, THREADS]

    def setup(self, kernels: str, operands: str, threads: str) -> None:
        self.choose(kernels, threads)
        ac.memory.trim()
        self.row = ROWS[f"{self.kernel} {operands}"]
        run = prepare("autocalc", self.row.name)
        assert run is not None
        self.call = run
        needed = {self.kernel, TABLE[self.kernel].lead} - {None}
        self.check_that_it_runs(kernels, self.call, needed)

    def time_call(self, kernels: str, operands: str, threads: str) -> None:
        self.call()

    def rate(self) -> float:
        """Return the operations or bytes of a nanosecond, the median of some rounds."""
        calls = max(1, int(ROUND_SECONDS / max(seconds_per_call(self.call, 1), 1e-7)))
        rounds = [seconds_per_call(self.call, calls) for _ in range(ROUNDS)]
        return self.row.work(arguments(self.row)) / statistics.median(rounds) / 1e9

    def track_share_of_peak(self, kernels: str, operands: str, threads: str) -> float:
        """Return the share of what this machine can do, measured in turn with it.

        Not a number, which asv shows as n/a, where there is no C++ compiler.
        """
        from benchmarks.kernels.__main__ import environment, measure

        count = ac.get_num_threads()
        peers = {"autocalc": Here(self.call)}
        with ExitStack() as stack:
            command = peak_program(kernels)
            if command is not None:
                process = started([*command, str(count)], environment(count, None))
                peers["peak"] = stack.enter_context(process)
            return 100 * measure(self.row, peers, ROUNDS).share

    track_share_of_peak.unit = "% of peak"


class Products(KernelRows):
    """Calls whose work is that of a matrix product."""

    def track_gflops(self, kernels: str, operands: str, threads: str) -> float:
        return self.rate()

    track_gflops.unit = "GFLOP/s"


class Moves(KernelRows):
    """Calls whose work is the bytes that they read and write."""

    def track_gbytes(self, kernels: str, operands: str, threads: str) -> float:
        return self.rate()

    track_gbytes.unit = "GB/s"


class Here:
    """A peer in this process: what `benchmarks.kernels` asks of one."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def seconds(self, case: str, calls: int) -> float:
        """Return the seconds of a call."""
        return seconds_per_call(self._run, calls)


class Errors(ABC):
    """The largest errors of some kernels in float32, set by set."""

    param_names = ["kernel and set"]

    @property
    @abstractmethod
    def kernels(self) -> tuple[str, ...]:
        """Their names in the kernel table."""

    def __init_subclass__(cls) -> None:
        own = registry().kernels
        cls.params = [
            [
                f"{kernel} by {name}"
                for kernel in cls.kernels
                for name in _whole_sets()
                if kernel in (own(name) or {})
            ]
        ]

    def compare(self, pair: str) -> tuple[Compared, ...]:
        """Return the calls that were compared."""
        kernel, _, name = pair.partition(" by ")
        for samples in (SAMPLES, None):  # few, or all where a set takes none of them
            found = ac.testing.compare_kernels(
                kernel, sets=[name], dtypes=["float32"], samples=samples
            )
            if found.rows:
                break
        self.compared = found.rows
        return self.compared

    def track_ulp(self, pair: str) -> float:
        """Return the largest error in ULP, which is large where terms cancel."""
        return max((row.ulp for row in self.compare(pair)), default=math.nan)

    def ran(self) -> set[str]:
        """Return the sets whose kernels were called."""
        return {row.set for row in self.compared}

    track_ulp.unit = "ULP"

    def track_share_of_budget(self, pair: str) -> float:
        """Return the largest error as a share of what the kernel may have."""
        shares = (100 * row.share for row in self.compare(pair))
        return max(shares, default=math.nan)

    track_share_of_budget.unit = "% of the error budget"

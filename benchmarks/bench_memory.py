# SPDX-License-Identifier: MIT
"""The memory of training steps: bytes of tensors, and of the whole process."""

import math

import autocalc as ac
from benchmarks.bench_steps import SETS, STEPS
from benchmarks.common import OnEachSet
from benchmarks.side_by_side.cases import COMPILED, prepare


class Eager(OnEachSet):
    """A process that makes a model and runs two steps."""

    params = [SETS, STEPS]
    param_names = ["kernels", "step"]

    def setup(self, kernels, step):
        self.choose(kernels)

    def track_peak_bytes(self, kernels, step):
        """Return the most bytes that tensors took at one time.

        Not a number, which asv shows as n/a, where NumPy allocates.
        """
        run = prepare("autocalc", step)
        run(), run()
        return float(ac.memory.stats().get("peak", math.nan))

    track_peak_bytes.unit = "bytes"

    def peakmem_step(self, kernels, step):
        """Let asv read the most memory that was resident."""
        run = prepare("autocalc", step)
        run(), run()


class Compiled(OnEachSet):
    """The arena of the program of a step."""

    params = [SETS, STEPS]
    param_names = ["kernels", "step"]

    def setup(self, kernels, step):
        self.choose(kernels)
        self.run = prepare("autocalc" + COMPILED, step)

    def track_peak_bytes(self, kernels, step):
        """Return the bytes of temporaries and gradients."""
        return self.run.programs[0].memory.peak

    track_peak_bytes.unit = "bytes"

    def ran(self):
        return set(ac.kernels.explain(self.run).sets)

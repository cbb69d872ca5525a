# SPDX-License-Identifier: MIT
"""The rows of `benchmarks.kernels`, kernel set by kernel set.

A composite that a set runs by its lead, as BLAS does `linear` by `gemm`, is the set's.
"""

import autocalc as ac
from autocalc._kernels.table import TABLE
from benchmarks.common import KERNELS, OnEachSet
from benchmarks.kernels.cases import ROWS
from benchmarks.kernels.run import prepare


class Kernels(OnEachSet):
    """One call, results allocated anew."""

    params = [KERNELS, list(ROWS)]
    param_names = ["kernels", "row"]

    def setup(self, kernels, row):
        super().setup(kernels)
        ac.memory.trim()
        self.call = prepare("autocalc", row)
        kernel = ROWS[row].kernel
        needed = {kernel, TABLE[kernel].lead} - {None}
        self.check_that_it_runs(kernels, self.call, needed)
        self.call()

    def time_kernel(self, kernels, row):
        self.call()

# SPDX-License-Identifier: MIT
"""The rows of `benchmarks.kernels`, kernel set by kernel set."""

import autocalc as ac
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
        self.call()

    def time_kernel(self, kernels, row):
        self.call()

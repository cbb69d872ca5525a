# SPDX-License-Identifier: MIT
"""What a small operator costs, when there is next to nothing to compute."""

import autocalc as ac
from benchmarks.common import OnEachSet


class Overhead(OnEachSet):
    """Operators on 16 elements."""

    def setup(self, kernels):
        super().setup(kernels)
        self.a = ac.rand(16)
        self.x = ac.rand(16, requires_grad=True)
        self.y = ac.rand(16, requires_grad=True)
        self.check_that_it_runs(kernels, lambda: self.time_mul(kernels), {"mul"})

    def time_mul(self, kernels):
        self.a * self.a

    def time_mul_recorded(self, kernels):
        self.x * self.y

    def time_sum_recorded(self, kernels):
        self.x.sum()

    def time_chain_forward_backward(self, kernels):
        """Ten operators and their backward walk."""
        z = self.x
        for _ in range(3):
            z = (z * self.y + self.x).tanh()
        z.sum().backward()

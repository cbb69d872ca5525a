# SPDX-License-Identifier: MIT
"""What eager calls cost when there is next to nothing to compute."""

import autocalc as ac
from benchmarks.common import OnEachSet, owners
from benchmarks.small import calls, creation, views
from benchmarks.small.operands import Operands


class OfRows:
    """Rows of functions of `Operands`."""

    param_names = ["operator"]
    rows = {}

    def setup(self, operator):
        self.operands = Operands()
        self.run = self.rows[operator]


class Calls(OfRows):
    """A call, and nothing else."""

    rows = calls.ROWS
    params = [list(rows)]

    def time_call(self, operator):
        self.run(self.operands)


class Views(OfRows):
    """A view, or what is read or written by index."""

    rows = views.ROWS
    params = [list(rows)]

    def time_view(self, operator):
        self.run(self.operands)


class Creation(OfRows):
    """A tensor that is made, compared, chosen from or converted."""

    rows = creation.ROWS
    params = [list(rows)]

    def time_creation(self, operator):
        self.run(self.operands)


class Walks(OfRows):
    """A call and its backward pass."""

    rows = calls.WALKS
    params = [list(rows)]

    def setup(self, operator):
        super().setup(operator)
        self.cotangent = ac.ones_like(self.run(self.operands))

    def time_walk(self, operator):
        self.run(self.operands).backward(self.cotangent)
        self.operands.x.grad = None


class Sets(OnEachSet):
    """The same few calls on each kernel set."""

    params = [owners("mul")]
    param_names = ["kernels"]

    def setup(self, kernels):
        self.choose(kernels)
        self.x = ac.rand(16, requires_grad=True)
        self.y = ac.rand(16, requires_grad=True)
        self.check_that_it_runs(kernels, lambda: self.time_mul(kernels), {"mul"})

    def time_mul(self, kernels):
        self.x * self.y

    def time_sum(self, kernels):
        self.x.sum()

    def time_chain_forward_backward(self, kernels):
        """Ten operators and their backward pass."""
        z = self.x
        for _ in range(3):
            z = (z * self.y + self.x).tanh()
        z.sum().backward()

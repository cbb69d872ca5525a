# SPDX-License-Identifier: MIT
"""What the rows of calls, views and creation are given."""

import autocalc as ac


class Operands:
    """Small tensors, the same for all rows."""

    def __init__(self):
        ac.manual_seed(0)
        self.a, self.b, self.w = ac.rand(4, 4), ac.rand(4, 4), ac.rand(4, 4)
        self.x = ac.rand(4, 4, requires_grad=True)
        self.v, self.row, self.turned = ac.rand(16), ac.rand(1, 4), self.a.t()
        self.mask, self.labels = self.a > 0.5, ac.tensor([0, 1, 2, 3])
        self.indices = ac.tensor([0, 2, 1])
        self.q, self.k = ac.rand(1, 4, 1, 32), ac.rand(1, 4, 200, 32)
        self.image, self.window = ac.rand(1, 1, 4, 4), ac.rand(1, 1, 3, 3)

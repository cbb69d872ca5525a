# SPDX-License-Identifier: MIT
"""What a view, an index or a part of a small tensor costs: one row per operator."""

import autocalc as ac

#: What is done with a matrix `a` [4, 4], a row [1, 4] and a vector `v` [16].
ROWS = {
    "view": lambda s: s.a.view(16),
    "view, recorded": lambda s: s.leaf.view(16),
    "reshape": lambda s: s.a.reshape(2, 8),
    "reshape of a transpose": lambda s: s.turned.reshape(16),
    "flatten": lambda s: s.a.flatten(),
    "transpose": lambda s: s.a.transpose(0, 1),
    "t": lambda s: s.a.t(),
    "permute": lambda s: s.a.permute(1, 0),
    "movedim": lambda s: s.a.movedim(0, 1),
    "unsqueeze": lambda s: s.v.unsqueeze(0),
    "squeeze": lambda s: s.row.squeeze(0),
    "expand": lambda s: s.row.expand(4, 4),
    "select": lambda s: s.a.select(0, 1),
    "narrow": lambda s: s.a.narrow(0, 1, 2),
    "x[0]": lambda s: s.a[0],
    "x[:, -1]": lambda s: s.a[:, -1],
    "x[1:3]": lambda s: s.a[1:3],
    "x[None]": lambda s: s.a[None],
    "x[0].item()": lambda s: s.v[0].item(),
    "x[indices]": lambda s: s.a[s.indices],
    "x[mask]": lambda s: s.a[s.mask],
    "x[0] = 1.0": lambda s: s.a.__setitem__(0, 1.0),
    "chunk": lambda s: s.v.chunk(3),
    "split": lambda s: s.v.split(6),
    "unbind": lambda s: s.a.unbind(0),
    "diagonal": lambda s: s.a.diagonal(),
    "unfold": lambda s: s.v.unfold(0, 4, 2),
}


class Views:
    """Views of 16 elements, and what is read or written by index."""

    params = [list(ROWS)]
    param_names = ["operator"]

    def setup(self, operator):
        ac.manual_seed(0)
        self.a, self.v, self.row = ac.rand(4, 4), ac.rand(16), ac.rand(1, 4)
        self.leaf = ac.rand(4, 4, requires_grad=True)
        self.turned = self.a.t()
        self.indices, self.mask = ac.tensor([0, 2, 1]), self.a > 0.5
        self.run = ROWS[operator]

    def time_view(self, operator):
        self.run(self)

# SPDX-License-Identifier: MIT
"""Views, indices and parts of a small tensor: one row per operator."""

#: What is done with a matrix `a` [4, 4], a row [1, 4] and a vector `v` [16].
ROWS = {
    "view": lambda s: s.a.view(16),
    "view, recorded": lambda s: s.x.view(16),
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

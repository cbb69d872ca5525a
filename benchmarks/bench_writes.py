# SPDX-License-Identifier: MIT
"""Writes at one index: their cost is that of one index, whatever the tensor's size."""

import autocalc as ac

AT = ac.tensor([3])
ONE = ac.tensor([1.0])

WRITES = {
    "index_fill_": lambda x: x.index_fill_(0, AT, 1.0),
    "index_put_": lambda x: x.index_put_((AT,), ONE),
    "index_put_, added": lambda x: x.index_put_((AT,), ONE, accumulate=True),
    "put_": lambda x: x.put_(AT, ONE),
    "scatter_, a number": lambda x: x.scatter_(0, AT, 1.0),
    "scatter_reduce_": lambda x: x.scatter_reduce_(0, AT, ONE, "mean"),
    "index_reduce_": lambda x: x.index_reduce_(0, AT, ONE, "amax"),
    "index_copy_": lambda x: x.index_copy_(0, AT, ONE),
    "index_add_": lambda x: x.index_add_(0, AT, ONE),
    "x[i] = v": lambda x: x.__setitem__(3, 1.0),
    "x[tensor] = v": lambda x: x.__setitem__(AT, ONE),
    "embedding(max_norm=)": lambda x: ac.nn.functional.embedding(
        AT, x.reshape(-1, 10), max_norm=1.0
    ),
}


class Writes:
    """A write at one index of tensors of two sizes."""

    params = [list(WRITES), [1000, 10_000_000]]
    param_names = ["write", "elements"]

    def setup(self, write, elements):
        self.x = ac.zeros(elements)
        self.run = WRITES[write]
        self.run(self.x)

    def time_write(self, write, elements):
        self.run(self.x)

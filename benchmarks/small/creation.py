# SPDX-License-Identifier: MIT
"""Small tensors that are made, compared, chosen from or converted: one row each."""

import autocalc as ac

#: What is done with matrices `a` and `b` [4, 4], a `mask` of that shape, and `indices`.
ROWS = {
    "zeros": lambda s: ac.zeros(4, 4),
    "ones": lambda s: ac.ones(4, 4),
    "full": lambda s: ac.full((4, 4), 1.0),
    "empty": lambda s: ac.empty(4, 4),
    "zeros_like": lambda s: ac.zeros_like(s.a),
    "full_like": lambda s: ac.full_like(s.a, 2.0),
    "empty_like": lambda s: ac.empty_like(s.a),
    "new_zeros": lambda s: s.a.new_zeros(4, 4),
    "arange": lambda s: ac.arange(5),
    "linspace": lambda s: ac.linspace(0, 1, 5),
    "eye": lambda s: ac.eye(4),
    "tensor of a number": lambda s: ac.tensor(1.0),
    "tensor of a list": lambda s: ac.tensor([1, 2, 3]),
    "tensor of nested lists": lambda s: ac.tensor([[1]]),
    "rand": lambda s: ac.rand(4, 4),
    "randn": lambda s: ac.randn(4, 4),
    "a > b": lambda s: s.a > s.b,
    "a > 0": lambda s: s.a > 0,
    "a == b": lambda s: s.a == s.b,
    "isnan": lambda s: s.a.isnan(),
    "mask & mask": lambda s: s.mask & s.mask,
    "~mask": lambda s: ~s.mask,
    "logical_and": lambda s: ac.logical_and(s.mask, s.mask),
    "logical_not": lambda s: ac.logical_not(s.mask),
    "where": lambda s: ac.where(s.mask, s.a, s.b),
    "where of a > 0": lambda s: ac.where(s.a > 0, s.a, s.b),
    "where with a number": lambda s: ac.where(s.mask, s.a, 0.0),
    "masked_fill": lambda s: s.a.masked_fill(s.mask, 0.0),
    "clamp": lambda s: s.a.clamp(0, 1),
    "float": lambda s: s.indices.float(),
    "to": lambda s: s.a.to(ac.float64),
    "contiguous": lambda s: s.a.contiguous(),
    "clone": lambda s: s.a.clone(),
    "detach": lambda s: s.a.detach(),
}

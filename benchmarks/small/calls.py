# SPDX-License-Identifier: MIT
"""Calls on 16 elements: one row for each kind of operator, and more.

The kinds are those of `autocalc._dispatch.engine.eager.accelerated`, so that an
operator that leaves the short way is seen.
"""

import autocalc as ac

F = ac.nn.functional

#: What is done with matrices `a` and `b` [4, 4], a leaf `x` of their shape, `w` that is
#: written into, a vector `v` [16] and labels.
ROWS = {
    "unary": lambda s: s.a.exp(),
    "binary": lambda s: s.a * s.b,
    "binary, recorded": lambda s: s.x * s.b,
    "number after": lambda s: s.a + 2.0,
    "number before": lambda s: 1 - s.a,
    "comparison": lambda s: s.a > s.b,
    "ternary": lambda s: ac.where(s.mask, s.a, s.b),
    "where(a > 0, a, b)": lambda s: ac.where(s.a > 0, s.a, s.b),
    "nary": lambda s: F.gelu(s.a),
    "nary of several outputs": lambda s: F.layer_norm(s.a, (4,)),
    "reduction": lambda s: s.a.sum(),
    "reduction along": lambda s: s.a.mean(1, keepdim=True),
    "of all": lambda s: s.a.max(),
    "along": lambda s: ac.softmax(s.a, 1),
    "argmax": lambda s: s.a.argmax(1),
    "product": lambda s: s.a @ s.b,
    "cat": lambda s: ac.cat([s.a, s.b]),
    "stack": lambda s: ac.stack([s.a, s.b]),
    "zeros": lambda s: ac.zeros(4, 4),
    "binary in place": lambda s: s.w.mul_(s.b),
    "unary in place": lambda s: s.w.abs_(),
    "fill in place": lambda s: s.w.fill_(1.0),
    "copy in place": lambda s: s.w.copy_(s.a),
    "embedding": lambda s: F.embedding(s.labels, s.a),
    "cross entropy": lambda s: F.cross_entropy(s.a, s.labels),
    "attention": lambda s: F.scaled_dot_product_attention(s.q, s.k, s.k),
    "convolution": lambda s: F.conv2d(s.image, s.window, padding=1),
}


def chain(s):
    y = s.x
    for _ in range(10):
        y = y * s.b
    return y


#: Forward and backward: what each makes of the leaf.
WALKS = {
    "exp": lambda s: s.x.exp(),
    "x * b": lambda s: s.x * s.b,
    "sum": lambda s: s.x.sum(),
    "x[0]": lambda s: s.x[0],
    "view": lambda s: s.x.view(16),
    "softmax": lambda s: ac.softmax(s.x, 1),
    "product": lambda s: s.x @ s.b,
    "cat": lambda s: ac.cat([s.x, s.b]),
    "ten operators": chain,
}

# SPDX-License-Identifier: MIT
"""Attention over all heads; its rule runs one kernel too."""

from __future__ import annotations

from typing import Any

from autocalc._ops._op import nary

# Inputs q, k, v, mask, seed, offset.  A mask of numbers has no gradient here.
attention = nary("attention", saves="out:q,k,v lse:q,k,v q k v mask seed offset")


@attention.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The kernel kept lse, which has no history: a recorded walk takes primitives."""
    out, lse, q, keys, v, *rest = n.saved
    if k.records:
        inputs = (q, keys, v, *rest)
        return k.through_decomposition("attention", inputs, n.attributes, g)
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    operands = (g, q, keys, v, out, lse, *rest)
    grads = k.attention_backward(*operands, *n.attributes, want=want)
    return *grads, None, None, None

# SPDX-License-Identifier: MIT
"""Attention over all heads; its rule runs one kernel too."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._dispatch._call import KernelCall
from autocalc._dispatch._state import current
from autocalc._graph._node import Node
from autocalc._kernels.spec import Array
from autocalc._kernels.table import TABLE
from autocalc._ops._op import nary
from autocalc._ops._rule import Op
from autocalc._tensor import Tensor, make

# Inputs q, k, v, mask, seed, offset.  A mask of numbers has no gradient here.
SAVES = "out:q,k,v lse:q,k,v q k v mask seed offset"
attention = nary("attention", saves=SAVES)


@attention.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    """The kernel kept lse, which has no history: a recorded walk takes primitives."""
    into = None if k.records else _beside(k, n, *n.saved[2:5])
    return *_gradients(k, n, g, n.saved, into), None, None, None


def _gradients(k: Any, n: Any, g: Any, saved: Any, into: Any) -> Any:
    out, lse, q, keys, v, *rest = saved
    if k.records:
        inputs = (q, keys, v, *rest)
        return k.through_decomposition("attention", inputs, n.attributes, g)[:3]
    want = n.needs(0) | n.needs(1) << 1 | n.needs(2) << 2
    operands = (g, q, keys, v, out, lse, *rest)
    return k.attention_backward(*operands, *n.attributes, want=want, into=into)


def _beside(
    k: Any, n: Any, q: Array, keys: Array, v: Array
) -> tuple[Array, ...] | None:
    """Return arrays for the gradients, in one memory where the operands fill one.

    Slices of one projection get slices of that projection's gradient: nothing is left
    to add or to copy.
    """
    base = q.base
    if base.__class__ is not np.ndarray or not keys.base is v.base is base:
        return None
    if q.size + keys.size + v.size != base.size or q.shape[3] != v.shape[3]:
        return None
    if q.shape[1] != keys.shape[1] or not (n.needs(0) and n.needs(1) and n.needs(2)):
        return None
    batch, length, heads, features = q.shape
    end = heads + keys.shape[2]
    every = end + v.shape[2]
    whole = k.empty((batch, length, every, features), q.dtype)
    return whole[:, :, :heads], whole[:, :, heads:end], whole[:, :, end:]


# ---- operands [B, H, S, D] -----------------------------------------------------------

_TURN = (0, 2, 1, 3)  # its own inverse
_kernel = KernelCall(TABLE["attention"])
_by_heads = Op("attention", SAVES)


def attention_by_heads(*args: Any) -> Tensor:
    """Return attention of ``q, k, v [B, H, S, D]``, as `attention` otherwise.

    One node in the place of five: turning operands and result is no operation.
    """
    tensors, attributes = args[:6], args[6:]
    turned = [x._array.transpose(_TURN) for x in tensors[:3]]
    operands = (*turned, *[None if x is None else x._array for x in tensors[3:]])
    edges = tuple([None if x is None else x._edge for x in tensors])
    state = current()
    record = state.grad and any(edges)
    saves = _by_heads.saves
    want = saves.outputs if record and saves is not None else 0
    selection = state.selection
    key = want, attributes, selection.key_of(*operands)
    out, lse = _kernel.run(selection, key, (*operands, *attributes), want)
    result = make(out.transpose(_TURN), None)
    if record and saves is not None:
        kept = make(lse, None)
        saved, versions = saves(edges, (result, kept, *tensors))
        shapes = tuple([() if x is None else x._array.shape for x in tensors])
        result._edge = Node(
            _by_heads, edges, saved, versions, shapes, out.dtype, attributes
        )
    return result


def _by_heads_rule(k: Any, n: Any, g: Any) -> Any:
    out, lse, q, keys, v, *rest = n.saved
    given = (q, keys, v)
    g, out, q, keys, v = (k.permute(x, _TURN) for x in (g, out, q, keys, v))
    into: Any = None
    whole: Any = (None, None, None)
    if not k.records:
        into, whole = _results(k, n, given, (q, keys, v))
    found = _gradients(k, n, g, (out, lse, q, keys, v, *rest), into)
    turned = [None if x is None else k.permute(x, _TURN) for x in found]
    grads = [b if a is None else a for a, b in zip(whole, turned, strict=True)]
    return *grads, None, None, None


def _results(k: Any, n: Any, operands: Any, turned: Any) -> tuple[Any, Any]:
    """Return where the kernel puts gradients, and those that are then as wanted.

    A leaf keeps an array made for it; of a view it would make a copy.
    """
    into = _beside(k, n, *turned)
    if into is not None:
        return into, (None, None, None)
    whole = [
        k.empty(x.shape, x.dtype) if n.needs(i) and x.flags.c_contiguous else None
        for i, x in enumerate(operands)
    ]
    return tuple([None if x is None else x.transpose(_TURN) for x in whole]), whole


_by_heads.rule = _by_heads_rule

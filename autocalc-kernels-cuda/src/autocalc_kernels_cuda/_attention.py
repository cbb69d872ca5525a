# SPDX-License-Identifier: MIT
"""Attention: products by cuBLAS, mask and softmax in one kernel between them.

Scores are [B, H, S, T]; as many batches at once as keep them below a bound, so that
memory does not grow with the batch.  Backward computes the weights again from the
logarithms of their sums, as FlashAttention does (Dao et al., 2022, section 3.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np

from autocalc.plugin import DispatchKey, KernelImpl
from autocalc_kernels_cuda._products import product
from autocalc_kernels_cuda._rows import floats, run_rows

#: Bytes of scores at once, unless those of one batch are more.
_SCORES = 1 << 28

_delta = cupy.ReductionKernel(
    "T g, T out", "float64 delta", "double(g) * double(out)", "a + b", "delta = a", "0",
    "autocalc_attention_delta",
)  # fmt: skip


def _takes(key: DispatchKey) -> str | None:
    if key.attributes[2]:
        return "takes no dropout"
    shapes = key.shapes
    assert shapes is not None  # the spec's key has them
    q, k = (shapes[i] for i in ((2, 3) if key.kernel == "attention" else (4, 5)))
    assert q is not None and k is not None  # they are not optional  # noqa: PT018
    return None if q[2] == k[2] else "takes as many heads of keys as of queries"


def _supports(key: DispatchKey) -> str | None:
    return floats(key) or _takes(key)


class _Mask:
    """A mask [B, H, S, T] with its strides, which are 0 where it repeats."""

    def __init__(self, mask: Any, shape: tuple[int, ...], causal: str) -> None:
        queries, keys = shape[2:]
        self.shift = keys - queries if causal == "lower_right" else 0
        self.causal = causal != "none"
        self._spread = None if mask is None else cupy.broadcast_to(mask, shape)
        self._shape = shape

    def arguments(self, first: int) -> tuple[Any, ...]:
        """Return the arguments of kernels; `first` is the number of the first batch."""
        heads, queries, keys = self._shape[1:]
        mask, place, kind = self._spread, (0, 0, 0, 0, 0), 0
        if mask is not None:
            kind = 1 if mask.dtype == np.bool_ else 2
            steps = [stride // mask.itemsize for stride in mask.strides]
            place = (int(mask.data.ptr), *steps)
        start = first * heads * queries
        return (*place, np.int32(kind), start, heads, queries, keys, self.shift,
                self.causal)  # fmt: skip


def _by_head(a: Any) -> Any:
    """Return [B, S, H, D] as [B, H, S, D], a view."""
    return a.transpose(0, 2, 1, 3)


def _parts(shape: tuple[int, ...], itemsize: int) -> Iterator[slice]:
    """Yield slices of the batches whose scores fit below the bound."""
    batch, heads, queries, keys = shape
    each = max(heads * queries * keys * itemsize, 1)
    step = max(_SCORES // each, 1)
    for start in range(0, batch, step):
        yield slice(start, min(start + step, batch))


def _attention(
    out: Any,
    lse: Any,
    q: Any,
    k: Any,
    v: Any,
    mask: Any,
    seed: Any,
    offset: Any,
    scale: float,
    causal: str,
    p: float,
) -> None:
    q, k, v, to = map(_by_head, (q, k, v, out))
    shape = (*q.shape[:3], k.shape[2])
    if 0 in shape:
        out.fill(0)
        if lse is not None:
            lse.fill(-np.inf)
        return
    masks = _Mask(mask, shape, causal)
    sums = lse
    if lse is not None and not lse.flags.c_contiguous:
        sums = cupy.empty(lse.shape, lse.dtype)
    for part in _parts(shape, q.itemsize):
        s = cupy.empty((part.stop - part.start, *shape[1:]), q.dtype)
        product(s, q[part], k[part].swapaxes(2, 3), scale)
        where = 0 if sums is None else int(sums.data.ptr)
        rows = s.size // shape[3]
        arguments = masks.arguments(part.start)
        run_rows("attention", "attention_weights", s, rows, s, where, *arguments)
        product(to[part], s, v[part])
    if sums is not lse:
        lse[...] = sums


def _attention_backward(
    dq: Any,
    dk: Any,
    dv: Any,
    g: Any,
    q: Any,
    k: Any,
    v: Any,
    out: Any,
    lse: Any,
    mask: Any,
    seed: Any,
    offset: Any,
    scale: float,
    causal: str,
    p: float,
) -> None:
    wanted = [a for a in (dq, dk, dv) if a is not None]
    g, q, k, v, out = map(_by_head, (g, q, k, v, out))
    dq, dk, dv = (None if a is None else _by_head(a) for a in (dq, dk, dv))
    shape = (*q.shape[:3], k.shape[2])
    if 0 in shape:
        for a in wanted:
            a.fill(0)
        return
    masks, lse = _Mask(mask, shape, causal), cupy.ascontiguousarray(lse)
    for part in _parts(shape, 2 * q.itemsize):
        s = cupy.empty((part.stop - part.start, *shape[1:]), q.dtype)
        rows = s.size // shape[3]
        product(s, q[part], k[part].swapaxes(2, 3), scale)
        arguments = masks.arguments(part.start)
        run_rows("attention", "attention_again", s, rows, s, lse, *arguments)
        if dv is not None:
            product(dv[part], s.swapaxes(2, 3), g[part])
        if dq is None and dk is None:
            continue
        slopes = cupy.empty_like(s)
        product(slopes, g[part], v[part].swapaxes(2, 3))
        delta = cupy.empty(s.shape[:3], np.float64)
        _delta(g[part], out[part], delta, axis=3)
        run_rows("attention", "attention_slopes", s, rows, slopes, s, delta, shape[3])
        if dq is not None:
            product(dq[part], slopes, k[part], scale)
        if dk is not None:
            product(dk[part], slopes.swapaxes(2, 3), q[part], scale)


def attentions() -> dict[str, KernelImpl]:
    """Return attention and its gradient."""
    return {
        "attention": KernelImpl(_attention, supports=_supports),
        "attention_backward": KernelImpl(_attention_backward, supports=_supports),
    }

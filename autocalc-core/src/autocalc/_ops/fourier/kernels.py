# SPDX-License-Identifier: MIT
"""The operators of the kernels for Fourier transforms, with their backward rules.

A transform is linear, so its gradient is its adjoint: the transform with the opposite
sign and the same scale.
"""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.factories import nary

fft_op = nary("fft")


@fft_op.vjp
def _fft_rule(k: Any, n: Any, g: Any) -> Any:
    axes, forward, scale = n.attributes
    return k.fft(g, axes, not forward, scale)


fft_op.op.complex_rule = _fft_rule

rfft_op = nary("rfft")


@rfft_op.vjp
def _rfft_rule(k: Any, n: Any, g: Any) -> Any:
    """Return the real part of the inverse transform of g, padded to n with zeros."""
    axis, scale = n.attributes
    shape = k.shape(g)
    more = n.shapes[0][axis] - shape[axis]
    if more:
        zeros = k.zeros((*shape[:axis], more, *shape[axis + 1 :]), k.dtype(g))
        g = k.cat([g, zeros], axis)
    return k.copy(k.real_part(k.fft(g, (axis,), False, scale)))


rfft_op.op.complex_rule = _rfft_rule

irfft_op = nary("irfft")


@irfft_op.vjp
def _irfft_rule(k: Any, n: Any, g: Any) -> Any:
    """Return rfft(g), doubled where an element is also that of its conjugate."""
    axis, size, scale = n.attributes
    found = k.rfft(g, axis, scale)
    half, dtype = n.shapes[0][axis], k.dtype(found)
    single = 2 if size % 2 == 0 and half > 1 else 1
    weights = [k.full((1,), 1, dtype), k.full((half - single,), 2, dtype)]
    if single == 2:
        weights.append(k.full((1,), 1, dtype))
    line = [1] * len(n.shapes[0])
    line[axis] = half
    return k.mul(found, k.reshape(k.cat(weights, 0), tuple(line)))


irfft_op.op.complex_rule = _irfft_rule

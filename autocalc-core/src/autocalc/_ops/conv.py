# SPDX-License-Identifier: MIT
"""Convolution and its two gradients: each is the others' derivative.

Attributes end with stride, padding, dilation and groups.
"""

from __future__ import annotations

from typing import Any

from autocalc._ops._op import nary

conv = nary("conv", saves="x:weight weight:x")


@conv.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    x, weight = n.saved
    sizes, kernel = n.shapes[0][2:], n.shapes[1][2:]
    dx = dweight = dbias = None
    if n.needs(0):
        dx = k.conv_dx(g, weight, None, sizes, *n.attributes)
    if n.needs(1):
        together = n.needs(2) and not k.records
        dweight, dbias = k.conv_dweight(g, x, kernel, *n.attributes, want=together << 1)
    if n.needs(2) and dbias is None:
        dbias = over_channels(k, g)
    return dx, dweight, dbias


# Inputs g, weight, bias; attributes sizes, and those of `conv`.
conv_dx = nary("conv_dx", saves="g:weight weight:g")


@conv_dx.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    given, weight = n.saved
    lie, kernel = n.attributes[1:], n.shapes[1][2:]
    return (
        k.conv(g, weight, None, *lie) if n.needs(0) else None,
        k.conv_dweight(given, g, kernel, *lie)[0] if n.needs(1) else None,
        over_channels(k, g) if n.needs(2) else None,
    )


# Inputs g, x; attributes kernel, and those of `conv`.
conv_dweight = nary("conv_dweight", saves="g:x x:g")


@conv_dweight.vjp
def _(k: Any, n: Any, g: Any) -> Any:
    given, x = n.saved
    lie, sizes = n.attributes[1:], n.shapes[1][2:]
    return (
        k.conv(x, g, None, *lie) if n.needs(0) else None,
        k.conv_dx(given, g, None, sizes, *lie) if n.needs(1) else None,
    )


def over_channels(k: Any, g: Any) -> Any:
    """Return the sum over all dimensions but the channels'."""
    return k.sum(g, (0, *range(2, len(k.shape(g)))), False)

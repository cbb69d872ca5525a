# SPDX-License-Identifier: MIT
"""Addresses of arrays in memory."""

from __future__ import annotations

from math import prod

from autocalc._dispatch.device.device import DeviceArray
from autocalc._kernels.spec import Array, Shape


def address(array: Array) -> int:
    """Return the address of the first element of `array`."""
    if array.__class__ is DeviceArray:
        return int(array.address)
    return int(array.__array_interface__["data"][0])


def span(array: Array) -> int:
    """Return the bytes from the start of the first to the end of the last element."""
    if not array.size:
        return 0
    reach = array.itemsize
    for n, step in zip(array.shape, array.strides, strict=True):
        reach += (n - 1) * (step if step > 0 else -step)
    return int(reach)


def steps_of(a: Array) -> tuple[int, ...]:
    """Return the strides in elements.

    New memory without elements has strides of 0 in NumPy; sizes of 0 count as 1 then.
    """
    if a.size or any(a.strides):
        return tuple([s // a.itemsize for s in a.strides])
    sizes = [max(n, 1) for n in a.shape]
    return tuple([prod(sizes[i + 1 :]) for i in range(len(sizes))])


def repeating_strides(
    shape: Shape, strides: tuple[int, ...], to: Shape
) -> tuple[int, ...]:
    """Return the strides that repeat an array's elements to the shape `to`."""
    missing = len(to) - len(shape)
    given = zip(shape, strides, to[missing:], strict=True)
    own = [0 if n == 1 and size != 1 else int(step) for n, step, size in given]
    return (*(0,) * missing, *own)


def repeats(a: Array) -> bool:
    """Return whether several elements share or may share one place in memory."""
    reach = 0
    for stride, n in sorted(zip(a.strides, a.shape, strict=True)):
        if n > 1 and stride <= reach:
            return bool(a.size)
        reach += (n - 1) * stride
    return False

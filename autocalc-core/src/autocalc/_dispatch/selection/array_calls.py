# SPDX-License-Identifier: MIT
"""The fastest form of call that each kernel allows, for functions of `arrays`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autocalc._dispatch.device.device import DeviceArray, transfer
from autocalc._dispatch.engine.eager import accelerated, elementwise
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.complex_calls import copy_real_part
from autocalc._dispatch.selection.layout import empty_as
from autocalc._dispatch.selection.state import current
from autocalc._kernels.rules import broadcast_shapes
from autocalc._kernels.spec import Array


def call_of(general: KernelCall) -> Callable[..., Any]:
    """Choose the fastest form of call that a spec allows."""
    spec = general.spec
    if spec.name == "copy":
        return copier(general)
    plain = spec.elementwise and len(spec.outputs) == 1 and not spec.attributes
    if plain:
        if [o.optional for o in spec.inputs] == [False]:
            return unary(general)
        if [o.optional for o in spec.inputs] == [False, False]:
            return binary(general)
    if spec.writes or spec.free:
        return general
    n_inputs, n_outputs = len(spec.inputs), len(spec.outputs)
    return accelerated("array_kernel", general, general.index, n_inputs, n_outputs)


def unary(general: KernelCall) -> Callable[..., Array]:
    """Make the call of an elementwise kernel with one input and the same dtype."""
    index = general.index

    def call(a: Array, into: Array | None = None) -> Array:
        selection = current().selection
        dtype = a.dtype
        kernel = selection.tables[index].get(dtype)
        if kernel is None:
            if dtype.kind == "c":
                return general(a, into=into)
            kernel = general.first(selection, dtype, (a,))
        if into is not None:
            if into.dtype is not dtype:
                return general(a, into=into)
            kernel(into, a)
            return into
        shape = a.shape
        if len(shape) == 4:
            out = empty_as(selection.empty, shape, dtype, a)
        else:
            out = selection.empty(shape, dtype)
        kernel(out, a)
        return out

    return elementwise("arrays", 1, index)(call)


def binary(general: KernelCall) -> Callable[..., Array]:
    """Make the call of an elementwise kernel with two inputs and one dtype."""
    index = general.index
    name = general.spec.name

    def call(a: Array, b: Array, into: Array | None = None) -> Array:
        dtype = a.dtype
        if b.dtype is not dtype:
            return general(a, b, into=into)
        selection = current().selection
        kernel = selection.tables[index].get(dtype)
        if kernel is None:
            if dtype.kind == "c":
                return general(a, b, into=into)
            kernel = general.first(selection, dtype, (a, b))
        if into is None:
            shape = a.shape
            if shape != b.shape:
                shape = broadcast_shapes(name, shape, b.shape)
            if len(shape) == 4:
                into = empty_as(selection.empty, shape, dtype, a, b)
            else:
                into = selection.empty(shape, dtype)
        kernel(into, a, b)
        return into

    return elementwise("arrays", 2, index)(call)


def copier(general: KernelCall) -> Callable[..., Array]:
    """Make the call of `copy`, whose kernel depends only on the two dtypes."""
    index = general.index

    def call(a: Array, into: Array | None = None) -> Array:
        selection = current().selection
        dtype = a.dtype
        if into is None:
            into = selection.empty(a.shape, dtype)
        key = into.dtype, dtype
        kernel = selection.tables[index].get(key)
        if kernel is None:
            here, there = into.__class__ is DeviceArray, a.__class__ is DeviceArray
            kernel = transfer
            if here is there:
                kernel, _ = general.decided(a, into=into)
            if dtype.kind == "c" and into.dtype.kind not in "cb":
                kernel = copy_real_part
            selection.remember(index, key, kernel)
        kernel(into, a)
        return into

    return call

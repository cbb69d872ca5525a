# SPDX-License-Identifier: MIT
"""`arrays`: one function for each kernel, directly on the dispatcher.

Backward rules and decompositions are written for this namespace.  To record a graph,
they use its twin over tensors.  A function takes inputs and then attributes by
position.  It returns one array, or a tuple if the kernel has several outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import copysign, inf, prod
from operator import index
from typing import Any

import numpy as np

from autocalc._dispatch.device import device_views as on_device
from autocalc._dispatch.device.batches import Batched
from autocalc._dispatch.device.device import (
    ARRAYS,
    DeviceArray,
    DeviceDType,
    dtype_near,
    integers_below,
    is_batched,
    joined_dtype,
    sum_of_kinds,
)
from autocalc._dispatch.device.duals import Dual, DualLibrary
from autocalc._dispatch.device.levels import hidden, shown, unshared, without_level
from autocalc._dispatch.device.slice_ranges import common_storage, slice_ranges
from autocalc._dispatch.engine.eager import accelerated, elementwise
from autocalc._dispatch.selection.array_calls import call_of
from autocalc._dispatch.selection.call import KernelCall
from autocalc._dispatch.selection.complex_parts import ComplexParts
from autocalc._dispatch.selection.layout import (
    empty_as,
    empty_channels_last,
    empty_stack,
    is_channels_last,
)
from autocalc._dispatch.selection.provided import provide
from autocalc._dispatch.selection.reshaping import expanded_strides, reshaped_view
from autocalc._dispatch.selection.select import KERNEL_INDEX
from autocalc._dispatch.selection.state import current, recorder
from autocalc._kernels.rules import INT64, check_ndim
from autocalc._kernels.spec import Array, DType, Shape
from autocalc._kernels.table import TABLE
from autocalc.errors import ArgumentError, DTypeError

#: The most scalars in the cache; beyond that, the cache is emptied.
MAX_CONSTANTS = 1024

_COPY = KERNEL_INDEX["copy"]

_constants: dict[tuple[Any, DType], Array] = {}


def adder(general: KernelCall) -> Callable[[Array, Array], Array]:
    """Make ``add_into(total, value)``, which adds to memory that the caller owns.

    It returns the sum: `total`, or a new array if `total` has no room for it.
    """
    index = general.index

    def add_into(total: Array, value: Array) -> Array:
        dtype = total.dtype
        kernel = current().selection.tables[index].get(dtype)
        if value.dtype is not dtype and (is_batched(value.dtype) or is_batched(dtype)):
            return arrays.add(*arrays.alike(total, value))
        if kernel is None or value.dtype is not dtype:
            if not (isinstance(total, ARRAYS) and isinstance(value, ARRAYS)):
                return sum_of_kinds(total, value)
            return general(total, value, into=total)
        kernel(total, total, value)
        return total

    return elementwise("into", 2, index)(add_into)


def summer(general: KernelCall, add: Callable[..., Array]) -> Callable[..., Array]:
    """Make ``plus(a, b)``, which returns the sum of two terms of a cotangent."""

    def plus(a: Array, b: Array) -> Array:
        if not (isinstance(a, ARRAYS) and isinstance(b, ARRAYS)):
            return sum_of_kinds(a, b)
        return add(a, b) if a.dtype is b.dtype else add(*arrays.alike(a, b))

    return elementwise("arrays", 2, general.index)(plus)


def filler(general: KernelCall) -> Callable[..., Array]:
    """Make ``full(shape, value, dtype)``, which returns a new array of one number."""
    index = general.index

    def full(shape: Shape, value: Any, dtype: DType) -> Array:
        selection = current().selection
        out = selection.empty(shape, dtype)
        number = constant(value, dtype)
        kernel = selection.tables[index].get(dtype)
        if kernel is None:
            kernel = general.decided(number, into=out)[0]
            selection.remember(index, dtype, kernel)
        kernel(out, number)
        return out

    return full


def refiller(general: KernelCall) -> Callable[[Array, Any], None]:
    """Make ``refill(a, value)``, which writes a number into a contiguous array."""
    index = general.index

    def refill(a: Array, value: Any) -> None:
        selection = current().selection
        dtype = a.dtype
        number = constant(value, dtype)
        kernel = selection.tables[index].get(dtype)
        if kernel is None:
            kernel = general.decided(number, into=a)[0]
            selection.remember(index, dtype, kernel)
        kernel(a, number)

    return refill


class Arrays(ComplexParts):
    """The namespace; each kernel is an attribute with the kernel's name."""

    #: Whether the computations of rules in this namespace are themselves recorded.
    records = False

    def __init__(self) -> None:
        for name, spec in TABLE.items():
            setattr(self, name, call_of(KernelCall(spec)))
        self.add_into = adder(KernelCall(TABLE["add"]))
        self.plus = summer(KernelCall(TABLE["add"]), self.add)
        self.full = filler(KernelCall(TABLE["fill"]))
        self.refill = refiller(KernelCall(TABLE["fill"]))
        self.sum_to = accelerated("sum_to", self._sum_to)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(f"there is no kernel {name!r} in the kernel table")

    # ---- properties ---------------------------------------------------------

    @staticmethod
    def shape(a: Array) -> Shape:
        """Return the shape of `a`."""
        return tuple(a.shape)

    @staticmethod
    def dtype(a: Array) -> DType:
        """Return the NumPy dtype of `a`."""
        dtype: DType = a.dtype
        return dtype

    @staticmethod
    def is_view(a: Array) -> bool:
        """Return whether `a` is a view of another array: others may see its memory."""
        if a.__class__ is DeviceArray and a.base is None:
            return a.raw.__class__ in (Batched, Dual) and a.raw.is_view
        return isinstance(getattr(a, "base", None), ARRAYS)  # sparse ones have none

    @staticmethod
    def may_overlap(a: Array, b: Array) -> bool:
        """Return whether writing one of two arrays may change the other."""
        if a.__class__ is DeviceArray or b.__class__ is DeviceArray:
            return on_device.may_share_memory(a, b)
        return np.may_share_memory(a, b)

    # ---- making arrays -----------------------------------------------------------

    @staticmethod
    def empty(shape: Shape, dtype: DType) -> Array:
        """Return a new array with undefined values."""
        return current().selection.empty(shape, dtype)

    @staticmethod
    def filled(values: Array, dtype: DType) -> Array:
        """Return a new array with the values of a NumPy array."""
        array: Array = current().selection.empty(values.shape, dtype)
        array[...] = values
        recording = recorder()
        if recording is not None:
            recording.memory.slot_of(array).filled = True
        return array

    def zeros(self, shape: Shape, dtype: DType) -> Array:
        """Return a new array of zeros."""
        return self.full(shape, 0, dtype)

    @staticmethod
    def constant(value: Any, like: Array) -> Array:
        """Return the number `value` as a cached 0-d array of `like`'s dtype."""
        return constant(value, like.dtype)

    @staticmethod
    def frozen(a: Array) -> Array:
        """Mark `a` and its owner as read-only, so that `a` can be stored."""
        owner = a
        while isinstance(owner, np.ndarray):
            owner.flags.writeable = False
            owner = owner.base
        return a

    @staticmethod
    def arange(n: int, like: Array) -> Array:
        """Return the read-only integers 0 to n - 1, on the device of `like`."""
        dtype = dtype_near(like, INT64)
        if is_batched(dtype):
            return dtype.copied(integers_below(n, INT64))
        return integers_below(n, dtype)

    def cast(self, a: Array, dtype: DType) -> Array:
        """Return a copy of `a` with another dtype, in the same layout and place."""
        dtype = dtype_near(a, dtype)
        empty = current().selection.empty
        if a.ndim != 4:
            return self.copy(a, into=empty(a.shape, dtype))
        return self.copy(a, into=empty_as(empty, a.shape, dtype, a))

    def move(self, a: Array, dtype: DType) -> Array:
        """Return a copy of `a` on the device of `dtype`."""
        return self.copy(a, into=current().selection.empty(a.shape, dtype))

    @staticmethod
    def near(like: Array, a: Array) -> Array:
        """Return a CPU array on the device of `like`: the array itself or a copy."""
        there = dtype_near(like, a.dtype)
        return a if there is a.dtype else there.copied(a)

    hidden = staticmethod(hidden)
    shown = staticmethod(shown)

    def alike(self, *terms: Array) -> list[Array]:
        """Return terms of a cotangent, after sums over the examples that share it.

        All terms belong to one value of the forward pass.  If one of them does not have
        a level of `vmap`, the value does not: then the examples share it.  Inside of
        that call of `vmap`, each example keeps its own.
        """
        found = list(terms)
        for i in range(len(found)):
            for other in terms:
                for level in unshared(found[i], other):
                    found[i] = self.without_level(found[i], level)
        return found

    without_level = without_level

    def contiguous(self, a: Array) -> Array:
        """Return `a` itself if it is C-contiguous, otherwise a contiguous copy."""
        return a if a.flags.c_contiguous else self.copy(a)

    def add_into_slice(self, total: Array, index: Any, part: Array) -> Array:
        """Add `part` into ``total[index]``; return `total`, or a new sum."""
        if part.dtype is not total.dtype:
            total, part = self.alike(total, part)
            there = joined_dtype(total, part)
            if there is not total.dtype:  # the total has no room for each example
                total = self.copy(total, into=self.empty(total.shape, there))
        place = self.slice(total, index)
        self.add(place, part, into=place)
        return total

    def joined(
        self, shape: Shape, parts: Sequence[tuple[Any, Array]]
    ) -> tuple[Array, bool]:
        """Return the sum of `parts` at their indices, and whether it is a new array.

        Parts that fill the whole array without a gap are copied, not added to zeros.
        If they are already in place in one piece of memory, the result is a view of
        that memory.
        """
        values = [value for _, value in parts]
        if any(value.dtype is not values[0].dtype for value in values):
            return self._joined_alike(shape, [index for index, _ in parts], values)
        places = slice_ranges(shape, [index for index, _ in parts])
        if places is None:
            total = self.zeros(shape, values[0].dtype)
            for index, value in parts:
                self.add_into_slice(total, index, value)
            return total, True
        whole = common_storage(shape, places, values)
        if whole is not None:
            return whole, False
        out = self.empty_like(values[0], shape)
        for index, value in parts:
            self.copy(value, into=self.slice(out, index))
        return out, True

    def _joined_alike(
        self, shape: Shape, indices: Sequence[Any], values: Sequence[Array]
    ) -> tuple[Array, bool]:
        """Do what `joined` does if not all parts have the same levels of `vmap`."""
        values = self.alike(*values)
        total = self.zeros(shape, joined_dtype(*values))
        for place, value in zip(indices, values, strict=True):
            self.add_into_slice(total, place, value)
        return total, True

    @staticmethod
    def empty_like(a: Array, shape: Shape, dtype: DType | None = None) -> Array:
        """Return a new array whose dimensions are in the memory order of `a`."""
        dtype = a.dtype if dtype is None else dtype
        if a.flags.c_contiguous or a.ndim != len(shape):
            return current().selection.empty(shape, dtype)
        order = sorted(range(a.ndim), key=a.strides.__getitem__, reverse=True)
        sizes = tuple([shape[d] for d in order])
        out = current().selection.empty(sizes, dtype)
        return out.transpose(sorted(range(a.ndim), key=order.__getitem__))

    # ---- views -------------------------------------------------------------------

    def reshape(self, a: Array, shape: Shape) -> Array:
        """Return a view of `a` with another shape, or a copy if no view exists."""
        if a.flags.c_contiguous:
            try:
                return a.reshape(shape)
            except ValueError:
                check_ndim(len(shape))
                raise
        view = reshaped_view(a, shape)
        return self.copy(a).reshape(shape) if view is None else view

    @staticmethod
    def permute(a: Array, axes: Sequence[int]) -> Array:
        """Return a view of `a` with its dimensions in another order."""
        return a.transpose(axes)

    @staticmethod
    def expand(a: Array, shape: Shape) -> Array:
        """Return a view of `a` repeated to `shape` with strides of 0.

        The view is writable if nothing repeats, that is, if only sizes of 1 were added.
        """
        strides = None
        if a.__class__ is DeviceArray:
            return on_device.expand(a, shape)
        if a.flags.c_contiguous:
            strides = expanded_strides(a.shape, a.strides, shape)
        try:
            if strides is None:
                if math.prod(shape) == a.size:
                    return a[(None,) * (len(shape) - a.ndim)]
                return np.broadcast_to(a, shape)  # takes six times as long
            view: Array = np.ndarray(shape, a.dtype, a, 0, strides)
        except ValueError:
            check_ndim(len(shape))
            raise
        if view.size != a.size:
            view.setflags(False)
        return view

    @staticmethod
    def slice(a: Array, index: Any) -> Array:
        """Return the view ``a[index]`` for integers, slices, None and Ellipsis."""
        try:
            return a[index if isinstance(index, tuple) else (index, ...)]
        except IndexError:
            parts = index if isinstance(index, tuple) else (index,)
            more = sum([part is None for part in parts])
            check_ndim(a.ndim + more - sum([isinstance(part, int) for part in parts]))
            raise

    @staticmethod
    def strided(
        a: Array, shape: Shape, strides: Sequence[int], offset: int = 0
    ) -> Array:
        """Return a view `offset` elements after the first of `a`; strides are bytes.

        The view must stay within the memory of `a`.
        """
        check_ndim(len(shape))
        if a.__class__ is DeviceArray:
            return a.strided(shape, tuple(strides), offset * a.itemsize)
        if a.flags.c_contiguous and prod(shape):
            seen: Array = np.ndarray(shape, a.dtype, a, offset * a.itemsize, strides)
            return seen
        if offset:
            line = np.lib.stride_tricks.as_strided(a, (offset + 1,), (a.itemsize,))
            a = line[offset:]
        strided = np.lib.stride_tricks.as_strided(a, shape, strides)
        return strided.view()  # its base is an array, which `is_view` needs

    # ---- composed -------------------------------------------------------------------

    def _sum_to(self, a: Array, shape: Shape) -> Array:
        """Sum `a` over the dimensions along which `shape` was broadcast to it."""
        given = a.shape
        if given == shape:
            return a
        lead = len(given) - len(shape)
        axes = tuple(range(lead)) + tuple(
            lead + i
            for i, size in enumerate(shape)
            if size == 1 and given[lead + i] != 1
        )
        kept = self.sum(a, axes, True) if axes else a
        return kept.reshape(shape) if lead else kept

    def cat(self, parts: Sequence[Array], axis: int) -> Array:
        """Join `parts` of one dtype along `axis`, with one copy for each part."""
        first = parts[0]
        shape, dtype = first.shape, first.dtype
        size = 0
        for part in parts:
            size += part.shape[axis]
        shape = (*shape[:axis], size, *shape[axis + 1 :])
        selection = current().selection
        if len(shape) == 4 and all(map(is_channels_last, parts)):
            out = empty_channels_last(selection.empty, shape, dtype)
        else:
            out = selection.empty(shape, dtype)
        known: Any = selection.tables[_COPY].get((dtype, dtype))
        kernel = known or (lambda out, a: self.copy(a, into=out))
        lead, start = (slice(None),) * axis, 0
        for part in parts:
            stop = start + part.shape[axis]
            place = (*lead, slice(start, stop)) if axis else slice(start, stop)
            kernel(out[place], part)
            start = stop
        return out

    def stack(self, parts: Sequence[Array], axis: int) -> Array:
        """Join `parts` along a new axis."""
        place = (*(slice(None),) * axis, None)
        if parts[0].ndim == 4 > axis and all(map(is_channels_last, parts)):
            out = empty_stack(current().selection.empty, parts, axis)
            for i, part in enumerate(parts):
                self.copy(part, into=self.slice(out, (*place[:-1], i)))
            return out
        return self.cat([self.slice(part, place) for part in parts], axis)


#: The classes of Python's numbers.
_CLASSES = frozenset({int, float, bool})


def constant(value: Any, dtype: Any) -> Array:
    """Return the number `value` as a cached, read-only 0-d array."""
    if type(value) not in _CLASSES:
        cell = getattr(value, "cell", None)
        if cell is not None:  # the number varies while `compile` records
            made: Array = cell(dtype, _number)
            return made
        if isinstance(value, (complex, np.complexfloating)):
            return _number(complex(value), dtype)  # 1 - 0j and 1 would be equal keys
        value = _exact(value)  # because it is used as a key
    if value == 0 and isinstance(value, float) and copysign(1.0, value) < 0:
        return _number(value, dtype)  # -0.0 and 0 would be the same key in a dict
    key = (value, dtype)
    array = _constants.get(key)
    if array is None:
        if len(_constants) >= MAX_CONSTANTS:
            _constants.clear()
        array = _number(value, dtype)
        if dtype.__class__ is not DeviceDType:
            array.flags.writeable = False
        # 2.0**70 must not stand for 2**70, and levels of `vmap` must end.
        if not 2**63 <= abs(value) < inf and not is_batched(dtype):
            _constants[key] = array
    return array


def _exact(value: Any) -> Any:
    """Convert a number of a subclass, or NumPy's truth value, to one of Python's."""
    if isinstance(value, int):
        return index(value)
    if isinstance(value, float):
        return float.__add__(value, -0.0)
    return bool(value) if isinstance(value, np.bool_) else value


def _number(value: Any, dtype: Any) -> Array:
    """Return a number as a 0-d array; floats may overflow to infinity."""
    if dtype.__class__ is DeviceDType:
        if dtype.library.__class__ is DualLibrary:
            return DeviceArray(dtype.library.number(value, dtype.numpy), dtype)
        there: Array = dtype.copied(_number(value, dtype.numpy))
        return there
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ArgumentError(
            f"the number {value} does not fit into 64 bits; write it as a float, such "
            f"as {float(value):.3g}."
            if abs(value) < 2**1000
            else f"a number of {value.bit_length()} bits does not fit into 64."
        )
    try:
        with np.errstate(over="ignore"):
            return np.asarray(value, dtype)
    except TypeError:
        raise DTypeError(
            f"the number {value} is complex and cannot be stored as {dtype}; use "
            "complex64 or complex128, or the real part of the number."
        ) from None
    except (OverflowError, ValueError):
        if isinstance(value, float):
            raise ArgumentError(
                f"the number {value} cannot be stored as {dtype}, which holds only "
                "integers. Use a floating-point dtype, or replace the numbers that "
                "are not finite."
            ) from None
        limits = np.iinfo(dtype)
        raise ArgumentError(
            f"the number {value} does not fit into {dtype}, which holds {limits.min} "
            f"to {limits.max}. Convert the tensor first, for example with .long()."
        ) from None


arrays: Any = Arrays()
provide(arrays=arrays)

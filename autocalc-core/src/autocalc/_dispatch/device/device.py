# SPDX-License-Identifier: MIT
"""Arrays on a device: what a tensor holds if it is not on the CPU.

A `DeviceArray` is an array of the device's library.  Its dtype is a `DeviceDType`,
which also says where the array is.  Decisions, results and constants are stored by
dtype, so they are separate for each device without further code.  The code for CPU
tensors never asks for a device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autocalc._dispatch.device.batches import (
    Batched,
    Level,
    is_batched_place,
    is_dual_place,
    level_of,
    levels_at,
    library_of_place,
    place_of_levels,
    shared_by_examples,
)
from autocalc._dispatch.device.duals import (
    Dual,
    DualLevel,
    DualLibrary,
    functions,
    no_room,
)
from autocalc._dispatch.device.no_memory import LIBRARY, META, nothing
from autocalc._dispatch.plugins.discovery import registry
from autocalc._kernels.adapter import adapt_on
from autocalc._kernels.rules import check_ndim
from autocalc._kernels.spec import KernelSpec, Meta
from autocalc.errors import ArgumentError, DeviceError

if TYPE_CHECKING:
    from autocalc._kernels.device_library import DeviceLibrary
    from autocalc._kernels.spec import Array, DType, Shape


class DeviceDType:
    """The dtype of elements on a device; there is one object for each dtype."""

    __slots__ = ("itemsize", "kind", "library", "name", "numpy", "place")

    def __init__(self, place: str, library: DeviceLibrary, numpy: DType) -> None:
        self.place = place
        self.library = library
        self.numpy = numpy
        self.kind: str = numpy.kind
        self.itemsize: int = numpy.itemsize
        self.name: str = numpy.name

    def __repr__(self) -> str:
        return f"{self.name} on {self.place}"

    def empty(self, shape: Shape) -> DeviceArray:
        """Return a new array with undefined values."""
        return DeviceArray(self.library.empty(shape, self.numpy), self)

    def copied(self, array: Array) -> DeviceArray:
        """Return a copy of a NumPy array with elements of this dtype."""
        host = np.ascontiguousarray(array, self.numpy).reshape(array.shape)
        return DeviceArray(self.library.from_host(host), self)

    def of(self, dtype: DType) -> Any:
        """Return the dtype for other elements on the same device."""
        return dtype_on(self.place, host_dtype(dtype))


@lru_cache(None)
def dtype_on(place: str, dtype: DType) -> Any:
    """Return the `DeviceDType` of elements on a device."""
    return DeviceDType(place, library_of(place), dtype)


class DeviceArray:
    """An array on a device, with the methods of NumPy arrays that the engine uses."""

    __slots__ = ("__weakref__", "base", "dtype", "raw", "shape", "strides")

    def __init__(
        self, raw: Any, dtype: DeviceDType, base: DeviceArray | None = None
    ) -> None:
        self.raw = raw
        self.dtype = dtype
        #: The array that owns the memory, if this is a view.
        self.base = base
        #: Stored, because libraries make a new tuple at each access.
        self.shape: Shape = tuple(raw.shape)
        self.strides: Shape = tuple(raw.strides)

    def _view(self, raw: Any, dtype: DeviceDType | None = None) -> DeviceArray:
        owner = self if self.base is None else self.base
        return DeviceArray(raw, dtype or self.dtype, owner)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def flags(self) -> Flags:
        return Flags(bool(self.raw.flags.c_contiguous))

    @property
    def address(self) -> int:
        return self.dtype.library.address(self.raw)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> DeviceArray:
        return self._view(self.raw[index])

    def reshape(self, *shape: Any) -> DeviceArray:
        """Return a view with another shape; the strides must allow it."""
        return self._view(self.raw.reshape(*shape))

    def transpose(self, *axes: Any) -> DeviceArray:
        """Return a view with the dimensions in another order."""
        return self._view(self.raw.transpose(*axes))

    def view(self, dtype: Any = None) -> DeviceArray:
        """Return a view, which may interpret the bytes as other elements."""
        if dtype is None:
            return self._view(self.raw.view())
        there = dtype if isinstance(dtype, DeviceDType) else self.dtype.of(dtype)
        return self._view(self.raw.view(there.numpy), there)

    def strided(self, shape: Shape, strides: Shape, offset: int = 0) -> DeviceArray:
        """Return a view `offset` bytes after the first element; strides are bytes."""
        library = self.dtype.library
        return self._view(library.strided(self.raw, shape, strides, offset))

    def host(self) -> Any:
        """Return a copy as a NumPy array; wait for the device."""
        return self.dtype.library.to_host(self.raw)

    def item(self) -> Any:
        """Return the only element as a Python number; wait for the device."""
        return self.host().item()

    def tolist(self) -> Any:
        """Return the elements as nested lists; wait for the device."""
        return self.host().tolist()

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    @property
    def T(self) -> DeviceArray:
        """A view with the dimensions in reverse order."""
        return self.transpose()

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> DeviceArray:
        """Return a view with the diagonal of two dimensions as its last dimension."""
        rows, columns = self.shape[axis1], self.shape[axis2]
        down, right = self.strides[axis1], self.strides[axis2]
        length = min(rows + min(offset, 0), columns - max(offset, 0))
        start = right * offset if offset > 0 else -down * offset
        others = [d for d in range(self.ndim) if d not in {axis1, axis2}]
        shape = (*[self.shape[d] for d in others], max(length, 0))
        strides = (*[self.strides[d] for d in others], down + right)
        return self.strided(shape, strides, start if length > 0 else 0)

    def copy(self) -> DeviceArray:
        """Return a copy in row-major order."""
        out = self.dtype.empty(self.shape)
        out.raw[...] = self.raw
        return out


class Flags(NamedTuple):
    """The layout of an array.  Arrays on devices are not marked as read-only."""

    c_contiguous: bool
    writeable: bool = True
    f_contiguous: bool = False


#: The classes of arrays that tensors hold.
ARRAYS = (np.ndarray, DeviceArray)


def sum_of_kinds(a: Any, b: Any) -> Any:
    """Return the sum of cotangents of which one or both are sparse tensors."""
    return b.plus_array(a) if isinstance(a, ARRAYS) else a.plus_array(b)


def library_of(place: str, asked: str = "") -> DeviceLibrary:
    """Return the array library of a device; errors call the device `asked`.

    Raises
    ------
    ArgumentError
        If no kernel set that can run here serves the device; the message gives reasons.
    """
    if place == META:
        return LIBRARY
    if is_dual_place(place):
        return _dual_library(place)
    if is_batched_place(place):
        return library_of_place(place)
    found = registry()
    refused = []
    for kernel_set in found.sets.values():
        if kernel_set.device != place or kernel_set.device_library is None:
            continue
        if found.kernels(kernel_set.name) is not None:
            library: DeviceLibrary = _library(kernel_set.device_library)
            return library
        reason = found.reason(kernel_set.name).rstrip(".")
        refused.append(f"{kernel_set.name}: {reason}")
    why = "Other devices come with a kernel package that serves them."
    if place.partition(":")[0].lower() in {"gpu", "nvidia"}:
        why = "NVIDIA's GPUs are called 'cuda' and come with autocalc-kernels-cuda."
    if refused:
        why = f"Refused: {'; '.join(refused)}."
    raise DeviceError(
        f"device: {(asked or place)!r} is not available; available are: "
        f"{', '.join(map(repr, places()))}. {why}"
    )


@lru_cache(256)
def _dual_library(place: str) -> DualLibrary:
    """Return the library of a place with dual levels."""
    levels = levels_at(place)
    top = next(x for x in reversed(levels) if x.__class__ is DualLevel).number
    rest = place_of_levels([x for x in levels if x.number != top])
    inner = len(levels) > 1

    def part(dtype: DType) -> Any:
        return dtype_on(rest, dtype) if inner else dtype

    def level() -> Any:
        return level_of(top)

    return DualLibrary(level, part, lambda: levels_at(place))


@lru_cache(None)
def _library(make: Callable[[], DeviceLibrary]) -> DeviceLibrary:
    return make()


def places() -> list[str]:
    """Return the devices on which tensors can be; the CPU comes first."""
    found = registry()
    others = {
        kernel_set.device
        for kernel_set in found.sets.values()
        if kernel_set.device != "cpu" and kernel_set.device_library is not None
        if found.kernels(kernel_set.name) is not None
    }
    return ["cpu", *sorted(others)]


def accelerator() -> DeviceLibrary | None:
    """Return the library of the first device other than the CPU, or None."""
    others = places()[1:]
    return library_of(others[0]) if others else None


def numpy_empty() -> Callable[[Shape, Any], Array]:
    """Return the allocator of results for the case that no kernel set has one.

    If the dtype has a method `empty`, the allocator calls it.
    """
    if all(kernel_set.device == "cpu" for kernel_set in registry().sets.values()):
        return _empty
    return _empty_anywhere


def _empty(shape: Shape, dtype: Any) -> Array:
    try:
        return np.empty(shape, dtype)
    except ValueError:
        check_ndim(len(shape))
        raise
    except TypeError:  # a device's dtype; rare if no kernel set serves a device
        return dtype.empty(shape)


def _empty_anywhere(shape: Shape, dtype: Any) -> Array:
    if dtype.__class__ is DeviceDType:
        return dtype.empty(shape)
    return _empty(shape, dtype)


@lru_cache(maxsize=64)
def integers_below(n: int, dtype: Any) -> Array:
    """Return the read-only integers 0 to n - 1."""
    numbers: Array = np.arange(n)
    if dtype.__class__ is DeviceDType:
        return dtype.copied(numbers)
    numbers.flags.writeable = False
    return numbers


def host_dtype(dtype: Any) -> Any:
    """Return NumPy's dtype of elements on any device."""
    return dtype.numpy if dtype.__class__ is DeviceDType else dtype


def dtype_near(a: Any, dtype: DType) -> Any:
    """Return the dtype for elements on the device of `a`."""
    here = a.dtype
    return here.of(dtype) if here.__class__ is DeviceDType else dtype


def place_of(where: str, *operands: Any) -> DeviceDType | None:
    """Return a dtype of the device that holds a call's operands; None for the CPU.

    Operands are arrays, metas, lists of these, or None.  Numbers without dimensions may
    be on the CPU while other operands are not.  If one operand is on the device "meta"
    and has no elements, the others are treated in the same way.

    Raises
    ------
    ArgumentError
        If operands are on several devices.
    """
    flat = [x for operand in operands for x in _each(operand)]
    there = [x.dtype for x in flat if x.dtype.__class__ is DeviceDType]
    if not there:
        return None
    names = {dtype.place for dtype in there}
    if META in names:  # only shapes matter
        return next(dtype for dtype in there if dtype.place == META)
    if all(map(is_batched_place, names)):
        return there[0] if len(names) == 1 else united(there)
    if any(x.dtype.__class__ is not DeviceDType and x.shape != () for x in flat):
        names.add("cpu")
    if len(names) > 1:
        raise ArgumentError(
            f"{where}: the operands are on {' and '.join(sorted(names))}; they must be "
            "on the same device. Move them with .to(...)."
        )
    first: DeviceDType = there[0]
    return first


def united(dtypes: Sequence[DeviceDType]) -> DeviceDType:
    """Return a dtype at the place that has the levels of all these dtypes."""
    levels: dict[int, Level] = {}
    for dtype in dtypes:
        levels |= {level.number: level for level in dtype.library.levels}  # type: ignore[attr-defined]  # of batched arrays
    place = place_of_levels([levels[number] for number in sorted(levels)])
    joined: DeviceDType = dtype_on(place, dtypes[0].numpy)
    return joined


def is_batched(dtype: Any) -> bool:
    """Return whether elements of a dtype are those of all examples of `vmap`."""
    return dtype.__class__ is DeviceDType and is_batched_place(dtype.place)


def by_example(*arrays: Any) -> Iterator[tuple[Any, ...]]:
    """Yield NumPy arrays for each example of `vmap`; once if none is batched."""
    arrays = tuple(map(without_tangent, arrays))
    batched = [a for a in arrays if getattr(a, "raw", None).__class__ is Batched]
    if not batched:
        yield tuple([whole(a) for a in arrays])
        return
    place = united([a.dtype for a in batched])
    full = [repeated(a, place.of(a.dtype)).raw.data for a in arrays]
    sizes = tuple([level.size for level in place.library.levels])  # type: ignore[attr-defined]  # of batched arrays
    for index in np.ndindex(sizes):
        example = (*index, ...)
        yield tuple([a[example] for a in full])


def whole(array: Any) -> Any:
    """Return the elements of all examples, for checks that all of them must pass.

    Return an array that is not batched as a NumPy array of its own shape.
    """
    array = without_tangent(array)
    if array.__class__ is not DeviceArray:
        return array
    return array.raw.data if array.raw.__class__ is Batched else array.host()


def agreed(array: Any) -> Any:
    """Return the only element as a Python number, in which all examples must agree.

    Raises
    ------
    VmapError
        If the examples have different values.
    """
    array = without_tangent(array)
    if array.__class__ is DeviceArray and array.raw.__class__ is Batched:
        values = array.raw.data
        if values.size and (values == values.flat[0]).all():
            return values.flat[0].item()
    return array.item()


def without_tangent(array: Any) -> Any:
    """Return the values of a dual array; other arrays as they are."""
    while array.__class__ is DeviceArray and array.raw.__class__ is Dual:
        array = array.raw.primal
    return array


def same_place(a: Any, b: Any) -> bool:
    """Return whether elements of two dtypes are on the same device."""
    places = [x.place if x.__class__ is DeviceDType else None for x in (a, b)]
    return bool(places[0] == places[1])


def joined_dtype(like: Any, *arrays: Any) -> Any:
    """Return the dtype of `like` at the place where all these arrays are."""
    place = place_of("kernel", like, *arrays)
    return like.dtype if place is None else place.of(like.dtype)


def repeated(array: Array, dtype: DeviceDType) -> DeviceArray:
    """Return an array as a batched one, whose examples are all the same memory."""
    library: Any = dtype.library
    return DeviceArray(library.repeated(raw(array)), dtype)


def _each(operand: Any) -> Sequence[Any]:
    if operand is None:
        return ()
    if operand.__class__ is list or operand.__class__ is tuple:  # but not a Meta
        return [x for x in operand if x is not None]
    return (operand,)


def host_meta(meta: Any) -> Any:
    """Return metas with NumPy's dtypes, as the rules of specs need them."""
    if isinstance(meta, Meta):
        return Meta(meta.shape, host_dtype(meta.dtype))
    return None if meta is None else tuple(map(host_meta, meta))


def meta_on(place: DeviceDType, meta: Any) -> Any:
    """Return metas with the dtypes of a device."""
    if isinstance(meta, Meta):
        return Meta(meta.shape, place.of(meta.dtype))
    return None if meta is None else tuple(meta_on(place, one) for one in meta)


# ---- kernels -------------------------------------------------------------------------


def on_raw(function: Callable[..., None]) -> Callable[..., None]:
    """Wrap a device's kernel so that it takes `DeviceArray`s."""

    def kernel(*operands: Any) -> None:
        function(*map(raw, operands))

    return kernel


def raw(x: Any) -> Any:
    """Return the array of the device's library; return other values as they are."""
    if x.__class__ is DeviceArray:
        return x.raw
    if x.__class__ is list or (x.__class__ is tuple and x and _holds_arrays(x)):
        return [raw(one) for one in x]
    return x


def _holds_arrays(x: Any) -> bool:
    return any(isinstance(one, ARRAYS) for one in x)


@lru_cache(None)
def reference_on(place: str, spec: KernelSpec) -> Callable[..., None]:
    """Return a spec's reference as a device's kernel, in the library's namespace."""
    if place == META:
        return nothing
    return on_raw(adapt_on(spec, library_of(place).xp))


def has_no_room(a: Any) -> bool:
    """Return whether plain memory cannot hold the elements of a batched array.

    Of a dual array only the primal counts.
    """
    a = without_tangent(a)
    return a.__class__ is DeviceArray and not a.raw.is_same


def transfer(out: Any, a: Any) -> None:
    """Copy between a device and the CPU, with conversion and broadcasting."""
    if out.__class__ is DeviceArray and out.raw.__class__ is Dual:
        functions.k.copy(a, into=out.raw.primal)
        out.raw.put_tangent(None)
    elif out.__class__ is DeviceArray:
        here = a.host() if a.__class__ is DeviceArray else a
        there = here.astype(out.dtype.numpy) if here.dtype != out.dtype.numpy else here
        out.raw[...] = out.dtype.library.from_host(
            np.ascontiguousarray(there).reshape(there.shape)
        )
    elif a.raw.__class__ is Dual and a.raw.tangent is not None and a.raw.level.active:
        raise no_room(out.shape)
    elif is_batched(a.dtype) and has_no_room(a):
        raise shared_by_examples("copy", out.shape)
    else:
        np.copyto(out, a.host(), casting="unsafe")

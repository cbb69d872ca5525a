# SPDX-License-Identifier: MIT
"""Devices, on which the arrays of tensors are."""

from __future__ import annotations

from typing import Any

from autocalc._dispatch.device.device import (
    DeviceArray,
    DeviceDType,
    dtype_on,
    host_dtype,
    is_batched,
    library_of,
)
from autocalc._dispatch.device.no_memory import META
from autocalc._dispatch.engine.eager import pause
from autocalc.errors import ArgumentError

#: Kinds of devices that PyTorch has; programs name them even if there is none.
ABSENT_KINDS = frozenset(
    {*("cuda", "hpu", "ipu", "maia", "meta", "mps", "mtia"), *("npu", "xla", "xpu")}
)


class Device:
    """The device of a tensor: ``ac.device("cpu")``, or one of a kernel package.

    Parameters
    ----------
    device
        The kind of the device, such as ``"cpu"``, optionally with a number:
        ``"cuda:0"``.
    index
        The number of the device, if `device` does not contain one.
    type
        Another name of `device`; printed devices use it.

    Raises
    ------
    ArgumentError
        If the kind is unknown. A kind that PyTorch knows is always accepted here;
        making a tensor on it raises an error if the device is not available.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.device("cpu")
    device(type='cpu')
    """

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(
        self,
        device: str | Device = "cpu",
        index: int | None = None,
        *,
        type: str | None = None,
    ) -> None:
        kind, number = _parts(device if type is None else type, index)
        self.type = kind
        self.index = number
        if kind not in ABSENT_KINDS:
            self.check()

    def check(self) -> Device:
        """Return this device; raise an error if tensors cannot be on it here."""
        kind, number = self.type, self.index
        if kind != "cpu":
            count = library_of(kind, str(self)).count()
            if number and number >= count:
                raise ArgumentError(
                    f"device: {kind}:{number} does not exist; this machine has {count} "
                    "of them, numbered from 0."
                )
            if number:
                raise ArgumentError(
                    f"device: {kind}:{number}: tensors can only be on {kind}:0. The "
                    "documentation of its kernel package describes how to choose "
                    "which device is number 0 for a process."
                )
        return self

    def __enter__(self) -> Device:
        """Make tensors here: on the CPU, or on "meta".

        Tensors on "meta" have a shape, strides and a dtype, and neither elements nor
        memory.
        """
        before = _host
        make_on(self)
        _earlier.append(before)
        return self

    def __exit__(self, *error: object) -> None:
        make_on(_earlier.pop())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return other.split(":")[0] == self.type
        return isinstance(other, Device) and other.type == self.type

    def __hash__(self) -> int:
        return hash(self.type)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"


def _parts(device: str | Device, index: int | None) -> tuple[str, int | None]:
    """Return the kind and the number of a device."""
    if isinstance(device, Device):
        return device.type, device.index
    kind, _, number = str(device).partition(":")
    if not number:
        return kind, index
    if not number.isdigit() or index is not None:
        raise ArgumentError(
            f"device: {device!r} is not a device; write a kind such as 'cpu', or a "
            "kind and a number such as 'cpu:0'."
        )
    return kind, int(number)


cpu = Device("cpu")
#: The device on which tensors are made: "meta" in its ``with`` blocks.
_host = cpu
_earlier: list[Device] = []


def make_on(device: str | Device) -> None:
    """Choose where tensors are made; remembered calls make theirs on the CPU.

    Raises
    ------
    ArgumentError
        If it is neither the CPU nor "meta".
    """
    global _host
    there = present(device)
    if there.type not in {"cpu", META}:
        raise ArgumentError(
            f"device: {str(there)!r} is given, but this function makes tensors only on "
            f"the CPU; do not give it, and move the result with .to({str(there)!r})."
        )
    _host = cpu if there.type == "cpu" else there
    pause(_earlier, _host is not cpu)


def host() -> Device:
    """Return the device on which tensors are made: the CPU, or "meta" in its blocks."""
    return _host


def present(device: str | Device) -> Device:
    """Return a device on which a tensor can be created on this machine.

    Raises
    ------
    ArgumentError
        If it has none.
    """
    found = device if isinstance(device, Device) else Device(device)
    return found.check()


def device_of(array: Any) -> Device:
    """Return the device of an array; batched arrays are on the CPU."""
    dtype = array.dtype
    if dtype.__class__ is not DeviceDType or is_batched(dtype):
        return cpu
    return Device(dtype.place)


def dtype_at(device: str | Device | None, dtype: Any) -> Any:
    """Return the dtype for elements on a device; None is where tensors are made."""
    if device is None:
        if _host is cpu:
            return dtype
        device = _host
    device = present(device)
    if device.type == "cpu" and is_batched(dtype):
        return dtype
    host = host_dtype(dtype)
    return host if device.type == "cpu" else dtype_on(device.type, host)


def host_array(array: Any) -> Any:
    """Return a NumPy array: the array itself, or a copy if it is on a device."""
    return array.host() if array.__class__ is DeviceArray else array


def host_copy(array: Any, force: bool) -> Any:
    """Return a copy of a device's array if `force` is true; otherwise raise.

    The elements of batched and dual arrays are in the memory of the CPU.
    """
    if force or is_batched(array.dtype):
        return array.host()
    raise ArgumentError(
        f"numpy: the tensor is on {device_of(array)}; use cpu().numpy()."
    )


def numbered(kind: str, device: int | str | Device | None) -> Device:
    """Return a device of this kind, which may be given by its number alone."""
    if device is None:
        return Device(kind)
    return Device(kind, device) if isinstance(device, int) else present(device)


def place_of_tensor(x: Any) -> Device | None:
    """Return the device of a tensor, on which to make others; None for the CPU.

    Calls that are remembered use None for the CPU.
    """
    array = x._array
    return Device(array.dtype.place) if array.__class__ is DeviceArray else None


def near(x: Any, device: str | Device | None) -> str | Device | None:
    """Return the requested device, or that of a tensor; None for the CPU."""
    if device is not None:
        return device
    place = place_of_tensor(x)
    return cpu if place is None and _host is not cpu else place

# SPDX-License-Identifier: MIT
"""`UntypedStorage`: the bytes that a tensor and its views share."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._dispatch.device.device import DeviceArray
from autocalc._dispatch.device.no_memory import LIBRARY, META, NoElements
from autocalc._graph._node import Version
from autocalc._tensor.device import Device, cpu, present
from autocalc.errors import AbsentError, DimensionError, DTypeError

__all__ = ["UntypedStorage", "is_exported", "storage_of"]


class UntypedStorage:
    """The memory of a tensor and of all its views, as bytes.

    It gives the address and the size of the memory; programs that save tensors need
    them. Its size cannot be changed.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(4, 4)
    >>> memory = x[1].untyped_storage()
    >>> memory.data_ptr() == x.data_ptr(), memory.nbytes()
    (True, 64)
    """

    __slots__ = ("_bytes", "_version")

    def __init__(self, size: Any = 0, *, device: str | Device = cpu) -> None:
        values = np.zeros(size, np.uint8) if isinstance(size, int) else size
        self._bytes = np.array(values, np.uint8)
        self._version = Version()
        if present(device).type == META:
            self._bytes = LIBRARY.from_host(self._bytes)

    @classmethod
    def from_file(
        cls, filename: Any, shared: bool = False, nbytes: int = 0
    ) -> UntypedStorage:
        """Return the bytes of a file; with `shared`, writes change the file."""
        mode: Any = "r+" if shared else "c"
        shape = (nbytes,) if nbytes else None
        made = _of(np.memmap(filename, np.uint8, mode, shape=shape))
        made._version.exported = shared  # other processes may write to the file
        return made

    def data_ptr(self) -> int:
        """Return the address of the first byte, or 0 if there are no elements."""
        if isinstance(self._bytes, NoElements):
            return 0
        return int(self._bytes.__array_interface__["data"][0])

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return int(self._bytes.size)

    size = __len__ = nbytes

    def clone(self) -> UntypedStorage:
        """Return a copy of the storage."""
        return _of(self._bytes.copy())

    def element_size(self) -> int:
        """Return 1, the number of bytes of an element."""
        return 1

    @property
    def device(self) -> Device:
        """The device of the memory: the CPU, or "meta"."""
        return Device(META) if isinstance(self._bytes, NoElements) else cpu

    def _check_elements(self) -> None:
        """Raise if there are no elements, because the device is "meta".

        Raises
        ------
        AbsentError
            If there are no elements.
        """
        if isinstance(self._bytes, NoElements):
            raise AbsentError("storage: Not available for 'meta' device type.")

    def tolist(self) -> list[int]:
        """Return the bytes as a list of integers."""
        self._check_elements()
        return self._bytes.tolist()  # type: ignore[no-any-return]  # of the array

    def untyped(self) -> UntypedStorage:
        """Return the storage itself."""
        return self

    def __getitem__(self, index: int | slice) -> Any:
        """Return a byte, or a part that shares the memory."""
        self._check_elements()
        if isinstance(index, slice):
            return _of(self._bytes[index], self._version)
        try:
            return int(self._bytes[index])
        except IndexError as error:
            raise DimensionError(f"UntypedStorage: {error}.") from None

    @property
    def __array_interface__(self) -> Any:
        self._version.exported = True
        return self._bytes.__array_interface__

    def __repr__(self) -> str:
        return f"UntypedStorage(nbytes={self.nbytes()})"


def _of(array: Any, version: Version | None = None) -> UntypedStorage:
    made = UntypedStorage()
    made._bytes = array
    made._version = version or made._version
    return made


def is_exported(tensor: Any) -> bool:
    """Return whether other libraries may write a tensor's memory unnoticed."""
    exported: bool = getattr(tensor._cell(), "exported", False)
    return exported


def storage_of(array: Any, version: Version | None = None) -> UntypedStorage:
    """Return the memory to which an array belongs; `version` counts its writes."""
    if array.__class__ is DeviceArray and array.dtype.place == META:
        return _of(LIBRARY.whole(array.raw), version)
    if not isinstance(array, np.ndarray):
        message = (
            "untyped_storage: the memory of other devices than the CPU is not "
            "accessible."
        )
        raise DTypeError(message)
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    if not base.flags.forc:
        raise DTypeError(
            f"untyped_storage: the memory of this tensor of shape {array.shape} "
            "belongs to another library and is not contiguous. Use the memory of its "
            ".clone()."
        )
    owner = base if base.flags.c_contiguous else base.T  # in the order of its bytes
    return _of(owner.reshape(-1).view(np.uint8), version)

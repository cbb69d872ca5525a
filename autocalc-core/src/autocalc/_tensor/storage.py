# SPDX-License-Identifier: MIT
"""`UntypedStorage`: the bytes that a tensor and its views share."""

from __future__ import annotations

from typing import Any

import numpy as np

from autocalc._tensor.device import Device, cpu
from autocalc.errors import DimensionError, DTypeError

__all__ = ["UntypedStorage", "storage_of"]


class UntypedStorage:
    """The bytes of a tensor's memory, all of it: views share one.

    It says where memory is and how much, as programs ask that save tensors. To change
    its size is not possible.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.zeros(4, 4)
    >>> memory = x[1].untyped_storage()
    >>> memory.data_ptr() == x.data_ptr(), memory.nbytes()
    (True, 64)
    """

    __slots__ = ("_bytes",)

    def __init__(self, size: int = 0) -> None:
        self._bytes = np.zeros(size, np.uint8)

    @classmethod
    def from_file(
        cls, filename: Any, shared: bool = False, nbytes: int = 0
    ) -> UntypedStorage:
        """Return the bytes of a file; writes reach it if they are `shared`."""
        mode: Any = "r+" if shared else "c"
        shape = (nbytes,) if nbytes else None
        return _of(np.memmap(filename, np.uint8, mode, shape=shape))

    def data_ptr(self) -> int:
        """Return the address of the first byte."""
        return int(self._bytes.__array_interface__["data"][0])

    def nbytes(self) -> int:
        """Return how many bytes there are."""
        return int(self._bytes.size)

    size = __len__ = nbytes

    def element_size(self) -> int:
        """Return 1."""
        return 1

    @property
    def device(self) -> Device:
        """The CPU."""
        return cpu

    def tolist(self) -> list[int]:
        """Return the bytes as integers."""
        return self._bytes.tolist()  # type: ignore[no-any-return]  # of the array

    def untyped(self) -> UntypedStorage:
        """Return itself."""
        return self

    def __getitem__(self, index: int | slice) -> Any:
        """Return a byte, or a part that shares the memory."""
        if isinstance(index, slice):
            return _of(self._bytes[index])
        try:
            return int(self._bytes[index])
        except IndexError as error:
            raise DimensionError(f"UntypedStorage: {error}.") from None

    @property
    def __array_interface__(self) -> Any:
        return self._bytes.__array_interface__

    def __repr__(self) -> str:
        return f"UntypedStorage(nbytes={self.nbytes()})"


def _of(array: Any) -> UntypedStorage:
    made = UntypedStorage()
    made._bytes = array
    return made


def storage_of(array: Any) -> UntypedStorage:
    """Return the memory that an array is part of."""
    if not isinstance(array, np.ndarray):
        message = "untyped_storage: the memory of other devices is not handed out."
        raise DTypeError(message)
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    if not base.flags.forc:
        raise DTypeError(
            f"untyped_storage: the memory of this tensor of shape {array.shape} came "
            f"from elsewhere and is not in one piece. Take that of its .clone()."
        )
    owner = base if base.flags.c_contiguous else base.T  # in the order of its bytes
    return _of(owner.reshape(-1).view(np.uint8))

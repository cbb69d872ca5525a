# SPDX-License-Identifier: MIT
"""`TypedStorage`: the elements that a tensor and its views share, in one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autocalc._tensor import make
from autocalc._tensor.storage import UntypedStorage, storage_of

if TYPE_CHECKING:
    from autocalc._tensor import Tensor
    from autocalc._tensor.device import Device
    from autocalc._tensor.dtypes import DType

__all__ = ["TypedStorage"]


class TypedStorage:
    """The elements of a tensor's memory, all of it: views share one.

    As `UntypedStorage`, counted in elements.  Writes reach the tensors.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[1, 2], [3, 4]])
    >>> memory = x[1].storage()
    >>> len(memory), memory[0], memory.nbytes()
    (4, 1, 32)
    """

    __slots__ = ("_bytes", "_row")

    def __init__(self, x: Tensor) -> None:
        self._bytes = storage_of(x._array)
        whole = self._bytes.nbytes() // x.itemsize * x.itemsize
        self._row = make(self._bytes._bytes[:whole].view(x._array.dtype), None)

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._row.dtype

    @property
    def device(self) -> Device:
        """The CPU."""
        return self._bytes.device

    def untyped(self) -> UntypedStorage:
        """Return the same memory as bytes."""
        return self._bytes

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self._bytes.data_ptr()

    def nbytes(self) -> int:
        """Return how many bytes there are."""
        return self._bytes.nbytes()

    def element_size(self) -> int:
        """Return the bytes of an element."""
        return self._row.itemsize

    def size(self) -> int:
        """Return how many elements there are."""
        return self._row.numel()

    __len__ = size

    def tolist(self) -> list[Any]:
        """Return the elements as numbers."""
        values: list[Any] = self._row.tolist()
        return values

    def __getitem__(self, index: int) -> Any:
        """Return an element as a number."""
        return self._row[index].item()

    def __setitem__(self, index: int | slice, value: Any) -> None:
        """Write an element, or several."""
        self._row[index] = value

    def __repr__(self) -> str:
        return f"TypedStorage({self.tolist()}, dtype={self.dtype!r})"

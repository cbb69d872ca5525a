# SPDX-License-Identifier: MIT
"""`TypedStorage`: the elements that a tensor and its views share, as one row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autocalc._dispatch.device.no_memory import META
from autocalc._ops.creation.constants import empty
from autocalc._ops.creation.from_data import tensor
from autocalc._tensor import Tensor, dtypes, make
from autocalc._tensor.dtypes import DType, as_dtype
from autocalc._tensor.storage import UntypedStorage, storage_of
from autocalc.errors import ArgumentError

if TYPE_CHECKING:
    from autocalc._tensor.device import Device

__all__ = ["TypedStorage"]


class TypedStorage:
    """The memory of a tensor and of all its views, as elements of one dtype.

    It is like `UntypedStorage`, but its length is the number of elements.  Writes
    change the tensors.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor([[1, 2], [3, 4]])
    >>> memory = x[1].storage()
    >>> len(memory), memory[0], memory.nbytes()
    (4, 1, 32)
    """

    __slots__ = ("_bytes", "_row")

    def __init__(
        self,
        data: Any = (),
        *,
        dtype: DType | None = None,
        device: str | Device | None = None,
        wrap_storage: UntypedStorage | None = None,
    ) -> None:
        if isinstance(data, int):
            data = empty(data, dtype=dtype, device=device)
        elif not isinstance(data, Tensor):
            data = tensor(
                data, dtype=dtype or dtypes.get_default_dtype(), device=device
            )
        kind: Any = data.dtype.numpy if dtype is None else as_dtype(dtype).numpy
        if wrap_storage is None:
            wrap_storage = storage_of(data._array, data._cell())
        self._bytes = wrap_storage
        count = self._bytes.nbytes() // kind.itemsize
        if self._bytes.device == META:
            self._row = empty(count, dtype=dtypes.of(kind), device=META)
            return
        row = self._bytes._bytes[: count * kind.itemsize]
        self._row = make(row.view(kind), None)
        self._row._version = self._bytes._version

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._row.dtype

    @property
    def device(self) -> Device:
        """The device of the memory: the CPU, or "meta"."""
        return self._bytes.device

    def untyped(self) -> UntypedStorage:
        """Return the same memory as bytes."""
        return self._bytes

    #: PyTorch's name for it.
    _untyped_storage = property(untyped)

    def data_ptr(self) -> int:
        """Return the address of the first element."""
        return self._bytes.data_ptr()

    def nbytes(self) -> int:
        """Return the number of bytes."""
        return self._bytes.nbytes()

    def element_size(self) -> int:
        """Return the number of bytes of one element."""
        return self._row.itemsize

    def size(self) -> int:
        """Return the number of elements."""
        return self._row.numel()

    __len__ = size

    def cpu(self) -> TypedStorage:
        """Return the same elements on the CPU."""
        row = self._row.cpu()
        return self if row is self._row else TypedStorage(row)

    def clone(self) -> TypedStorage:
        """Return a copy of the storage."""
        return TypedStorage(self._row.clone())

    def copy_(self, source: TypedStorage) -> TypedStorage:
        """Copy the elements of another storage into this one; return the storage."""
        self._row.copy_(source._row)
        return self

    def resize_(self, size: int) -> TypedStorage:
        """Change the number of elements of a storage on "meta"; return the storage.

        Raises
        ------
        ArgumentError
            If the elements are on the CPU, because their memory may be shared.
        """
        if self.device != META:
            raise ArgumentError(
                "resize_: a storage on the CPU cannot change its size. Call resize_ of "
                "the tensor instead."
            )
        self._row = empty(size, dtype=self.dtype, device=META)
        self._bytes = storage_of(self._row._array, self._row._cell())
        return self

    def fill_(self, value: float) -> TypedStorage:
        """Set each element to a number; return the storage."""
        self._row.fill_(value)
        return self

    def tolist(self) -> list[Any]:
        """Return the elements as a list of numbers."""
        self._bytes._check_elements()
        values: list[Any] = self._row.tolist()
        return values

    def __getitem__(self, index: int) -> Any:
        """Return an element as a number."""
        self._bytes._check_elements()
        return self._row[index].item()

    def __setitem__(self, index: int | slice, value: Any) -> None:
        """Write one element, or several elements."""
        self._row[index] = value

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the data for `pickle`: the elements as a tensor."""
        return TypedStorage, (self._row,)

    def __repr__(self) -> str:
        return f"TypedStorage({self.tolist()}, dtype={self.dtype!r})"

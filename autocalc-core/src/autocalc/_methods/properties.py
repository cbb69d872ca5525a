# SPDX-License-Identifier: MIT
"""Properties of a tensor: its kind, its device, and its transposes."""

from __future__ import annotations

from contextlib import suppress

from autocalc._dispatch.device.device import DeviceArray, accelerator
from autocalc._methods.typed_storage import TypedStorage
from autocalc._ops._operator import view_tracker
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.traced import traced
from autocalc._ops.complex_numbers import parts
from autocalc._ops.elementwise import arithmetic
from autocalc._ops.views import view
from autocalc._ops.views._writing import check_writable
from autocalc._tensor import Tensor, make
from autocalc._tensor.layouts import strided
from autocalc._tensor.storage import UntypedStorage, storage_of
from autocalc.errors import DTypeError, ShapeError


def _first_address(x: Tensor) -> int:
    """Return the address of a tensor's storage, or of its base if it has none here."""
    if x._array.__class__ is not DeviceArray:
        with suppress(DTypeError):  # the memory of another library
            return storage_of(x._array).data_ptr()
    first: int = view_tracker.base_of(x).data_ptr()
    return first


class Properties:
    """Kind, place and transposes, which PyTorch programs query before they act."""

    __slots__ = ()

    #: Kinds of devices that do not exist here.
    is_mps = False
    is_xpu = False
    #: Kinds of storage: these tensors are dense.
    is_sparse = False
    is_quantized = False
    is_nested = False
    is_sparse_csr = False
    is_mkldnn = False
    layout = strided

    @property
    def is_cpu(self: Tensor) -> bool:
        """Whether the tensor is on the CPU."""
        return self.device.type == "cpu"

    @property
    def is_cuda(self: Tensor) -> bool:
        """Whether the tensor is on the device "cuda"."""
        return self.device.type == "cuda"

    @property
    def is_meta(self: Tensor) -> bool:
        """Whether the tensor is on the device "meta", which stores no elements."""
        return self.device.type == "meta"

    def to_dense(self: Tensor) -> Tensor:
        """Return the tensor itself, because it is dense.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2).to_dense()
        tensor([1., 1.])
        """
        return check_tensor("to_dense", self)

    def untyped_storage(self: Tensor) -> UntypedStorage:
        """Return the memory that this tensor shares with its views, as bytes.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.zeros(2, 3).untyped_storage().nbytes()
        24
        """
        return storage_of(self._array, self._cell())

    def storage(self: Tensor) -> TypedStorage:
        """Return the memory that this tensor shares with its views, as elements.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.zeros(2, 3)[1].storage().size()
        6
        """
        return TypedStorage(check_tensor("storage", self))

    def ndimension(self: Tensor) -> int:
        """Return the number of dimensions.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.zeros(2, 3).ndimension()
        2
        """
        return self.ndim

    def nelement(self: Tensor) -> int:
        """Return the number of elements.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.zeros(2, 3).nelement()
        6
        """
        return self.numel()

    def is_signed(self: Tensor) -> bool:
        """Return whether the dtype can hold negative values.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2).is_signed(), ac.ones(2, dtype=ac.uint8).is_signed()
        (True, False)
        """
        return self.dtype.is_signed

    def is_complex(self: Tensor) -> bool:
        """Return whether the elements are complex numbers."""
        return check_tensor("is_complex", self).dtype.is_complex

    def is_nonzero(self: Tensor) -> bool:
        """Return whether the only element is not 0.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([0.0]).is_nonzero(), ac.tensor([3.0]).is_nonzero()
        (False, True)
        """
        check_tensor("is_nonzero", self)
        return bool(self)

    def is_pinned(self: Tensor) -> bool:
        """Return whether the memory is pinned, which makes copies to a GPU faster."""
        a, library = check_tensor("is_pinned", self)._array, accelerator()
        if library is None or a.__class__ is DeviceArray:
            return False
        return library.is_pinned(a)

    def is_shared(self: Tensor) -> bool:
        """Return False: only data loaders share memory between processes."""
        check_tensor("is_shared", self)
        return False

    def get_device(self: Tensor) -> int:
        """Return the number of the device; it is -1 for the CPU."""
        return -1 if check_tensor("get_device", self).is_cpu else 0

    def storage_offset(self: Tensor) -> int:
        """Return the index of the first element in the tensor's storage.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.zeros(4, 3)[2].storage_offset()
        6
        """
        return (self.data_ptr() - _first_address(self)) // self.itemsize

    def pin_memory(self: Tensor) -> Tensor:
        """Return a copy in pinned memory, or the tensor if there is only the CPU.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2).pin_memory()
        tensor([1., 1.])
        """
        a, library = check_tensor("pin_memory", self)._array, accelerator()
        if library is None or a.__class__ is DeviceArray or library.is_pinned(a):
            return self
        return make(library.pin(a), None)

    def share_memory_(self: Tensor) -> Tensor:
        """Return the tensor itself; this method has no effect."""
        check_tensor("share_memory_", self)
        return self

    @property
    @traced(light=True)
    def T(self: Tensor) -> Tensor:
        """A view with the dimensions in reverse order."""
        return view.permute_op(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self: Tensor) -> Tensor:
        """A view with the last two dimensions exchanged: the matrix transposes."""
        if self.ndim < 2:
            raise ShapeError(
                f"mT, mH: only supported on matrices or batches of them, not on shape "
                f"{self.shape}."
            )
        return view.transpose(self, -2, -1)

    @property
    def H(self: Tensor) -> Tensor:
        """The conjugate of the transpose of a matrix; a view if it is real."""
        if self.ndim not in (0, 2):
            raise ShapeError(
                f"H: only supported on matrices, not on shape {self.shape}; the "
                "transpose of a vector is the vector itself."
            )
        return parts.conj(view.t(self))

    @property
    def mH(self: Tensor) -> Tensor:
        """The conjugates of the transposed matrices; a view if they are real."""
        return parts.conj(self.mT)

    @property
    def real(self: Tensor) -> Tensor:
        """A view of the real parts; the tensor itself if it is real."""
        return parts.real(self)

    @real.setter
    def real(self: Tensor, value: Tensor) -> None:
        parts.real(self).copy_(value)

    @property
    def imag(self: Tensor) -> Tensor:
        """A view of the imaginary parts of a complex tensor."""
        return parts.imag(self)

    @imag.setter
    def imag(self: Tensor, value: Tensor) -> None:
        parts.imag(self).copy_(value)

    def conj_physical_(self: Tensor) -> Tensor:
        """Replace each complex number by its conjugate; return the tensor."""
        check_writable("conj_physical_", check_tensor("conj_physical_", self))
        if self.is_complex():
            imag = parts.imag(self)
            imag.copy_(-imag)
        return self

    def __pos__(self: Tensor) -> Tensor:
        return arithmetic.positive(self)

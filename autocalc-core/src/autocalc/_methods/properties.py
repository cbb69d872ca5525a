# SPDX-License-Identifier: MIT
"""Properties of a tensor: its kind, its device, and its transposes."""

from __future__ import annotations

from typing import NoReturn

from autocalc._dispatch.device.device import DeviceArray, accelerator
from autocalc._methods.typed_storage import TypedStorage
from autocalc._ops._operator import view_tracker
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.traced import traced
from autocalc._ops.elementwise import arithmetic, complex_names
from autocalc._ops.views import view
from autocalc._ops.views._writing import check_writable
from autocalc._tensor import Tensor, make
from autocalc._tensor.layouts import strided
from autocalc._tensor.storage import UntypedStorage, storage_of
from autocalc.errors import ShapeError


class Properties:
    """Kind, place and transposes; PyTorch's programs ask before they act."""

    __slots__ = ()

    #: Devices that there are none of.
    is_mps = False
    is_xpu = False
    #: How it is stored.
    is_sparse = False
    is_quantized = False
    is_nested = False
    is_sparse_csr = False
    is_mkldnn = False
    layout = strided

    @property
    def is_cpu(self: Tensor) -> bool:
        """Whether the array is on the CPU."""
        return self.device.type == "cpu"

    @property
    def is_cuda(self: Tensor) -> bool:
        """Whether the array is on the device "cuda"."""
        return self.device.type == "cuda"

    @property
    def is_meta(self: Tensor) -> bool:
        """Whether the tensor has no elements: it is on the device "meta"."""
        return self.device.type == "meta"

    def to_dense(self: Tensor) -> Tensor:
        """Return the tensor itself: every tensor is dense.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2).to_dense()
        tensor([1., 1.])
        """
        return check_tensor("to_dense", self)

    def untyped_storage(self: Tensor) -> UntypedStorage:
        """Return the memory that this tensor and its views share.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.zeros(2, 3).untyped_storage().nbytes()
        24
        """
        return storage_of(self._array, self._cell())

    def storage(self: Tensor) -> TypedStorage:
        """Return the elements that this tensor and its views share.

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
        """Return whether the dtype has negative values.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2).is_signed(), ac.ones(2, dtype=ac.uint8).is_signed()
        (True, False)
        """
        return self.dtype.is_signed

    def is_complex(self: Tensor) -> bool:
        """Return False: there are no complex dtypes."""
        check_tensor("is_complex", self)
        return False

    def is_nonzero(self: Tensor) -> bool:
        """Return whether the one element is not 0.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([0.0]).is_nonzero(), ac.tensor([3.0]).is_nonzero()
        (False, True)
        """
        check_tensor("is_nonzero", self)
        return bool(self)

    def is_pinned(self: Tensor) -> bool:
        """Return whether x is in memory that a device copies fastest: `pin_memory`."""
        a, library = check_tensor("is_pinned", self)._array, accelerator()
        if library is None or a.__class__ is DeviceArray:
            return False
        return library.is_pinned(a)

    def is_shared(self: Tensor) -> bool:
        """Return False: processes share memory through data loaders alone."""
        check_tensor("is_shared", self)
        return False

    def is_inference(self: Tensor) -> bool:
        """Return False: tensors made under `inference_mode` are like all others."""
        check_tensor("is_inference", self)
        return False

    def get_device(self: Tensor) -> int:
        """Return the number of the device; -1 is the CPU."""
        return -1 if check_tensor("get_device", self).is_cpu else 0

    def storage_offset(self: Tensor) -> int:
        """Return the number of elements of the base before the first one.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.zeros(4, 3)[2].storage_offset()
        6
        """
        first: int = view_tracker.base_of(self).data_ptr()
        return (self.data_ptr() - first) // self.itemsize

    def pin_memory(self: Tensor) -> Tensor:
        """Return a copy of x from which a device copies fastest; without one, x itself.

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
        """Return x itself."""
        check_tensor("share_memory_", self)
        return self

    @property
    @traced(light=True)
    def T(self: Tensor) -> Tensor:
        """The dimensions in reverse order: a view."""
        return view.permute_op(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self: Tensor) -> Tensor:
        """The last two dimensions exchanged: a view."""
        if self.ndim < 2:
            raise ShapeError(
                f"mT, mH: only supported on matrices or batches of them, not on shape "
                f"{self.shape}."
            )
        return view.transpose(self, -2, -1)

    @property
    def H(self: Tensor) -> Tensor:
        """The transpose of a matrix, its numbers being real: a view."""
        if self.ndim == 1:
            raise ShapeError(
                f"H: is only supported on matrices, not on shape {self.shape}; a "
                f"vector is its own."
            )
        return view.t(self)

    @property
    def mH(self: Tensor) -> Tensor:
        """The last two dimensions exchanged, the numbers being real: a view."""
        return self.mT

    @property
    def real(self: Tensor) -> Tensor:
        """The tensor itself: its numbers are real."""
        return self

    @property
    def imag(self: Tensor) -> NoReturn:
        """Raise: a real number has no imaginary part to write into."""
        complex_names.imag(self)

    def conj_physical_(self: Tensor) -> Tensor:
        """Return the tensor itself: its numbers are real."""
        check_writable("conj_physical_", check_tensor("conj_physical_", self))
        return self

    def __pos__(self: Tensor) -> Tensor:
        return arithmetic.positive(self)

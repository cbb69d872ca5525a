# SPDX-License-Identifier: MIT
"""What a tensor is, where it lives (always on the CPU), and its transposes."""

from __future__ import annotations

from autocalc._ops import _view_tracker as view_tracker
from autocalc._ops import arithmetic, view
from autocalc._ops._arguments import check_tensor
from autocalc._ops._remembered import remembered
from autocalc._tensor import Tensor


class Properties:
    """Kind, place and transposes; PyTorch's programs ask before they act."""

    __slots__ = ()

    #: Where the array lives.
    is_cpu = True
    is_cuda = False
    is_mps = False
    is_xpu = False
    is_meta = False
    #: How it is stored.
    is_sparse = False
    is_quantized = False
    is_nested = False

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
        """Return False: memory is pinned for copies to devices."""
        check_tensor("is_pinned", self)
        return False

    def is_shared(self: Tensor) -> bool:
        """Return False: processes share memory through data loaders alone."""
        check_tensor("is_shared", self)
        return False

    def is_inference(self: Tensor) -> bool:
        """Return False: tensors made under `inference_mode` are like all others."""
        check_tensor("is_inference", self)
        return False

    def get_device(self: Tensor) -> int:
        """Return -1, the number of the CPU."""
        check_tensor("get_device", self)
        return -1

    def storage_offset(self: Tensor) -> int:
        """Return how many elements of the base lie before the first one.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.zeros(4, 3)[2].storage_offset()
        6
        """
        first: int = view_tracker.base_of(self).data_ptr()
        return (self.data_ptr() - first) // self.itemsize

    def pin_memory(self: Tensor) -> Tensor:
        """Return x itself: no device copies from it."""
        check_tensor("pin_memory", self)
        return self

    def share_memory_(self: Tensor) -> Tensor:
        """Return x itself."""
        check_tensor("share_memory_", self)
        return self

    @property
    @remembered
    def T(self: Tensor) -> Tensor:
        """The dimensions in reverse order: a view."""
        return view.permute_op(self, tuple(range(self.ndim))[::-1])

    @property
    @remembered
    def mT(self: Tensor) -> Tensor:
        """The last two dimensions exchanged: a view."""
        return view.transpose(self, -2, -1)

    @property
    @remembered
    def H(self: Tensor) -> Tensor:
        """The transpose of a matrix, its numbers being real: a view."""
        return view.t(self)

    @property
    @remembered
    def mH(self: Tensor) -> Tensor:
        """The last two dimensions exchanged, the numbers being real: a view."""
        return view.transpose(self, -2, -1)

    def __pos__(self: Tensor) -> Tensor:
        return arithmetic.positive(self)

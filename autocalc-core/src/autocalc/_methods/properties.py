# SPDX-License-Identifier: MIT
"""Methods that say what a tensor is, and where it lives: always on the CPU."""

from __future__ import annotations

from typing import Any

from autocalc._ops import _view_tracker as view_tracker
from autocalc._ops import inspection, view
from autocalc._ops import typed_tensors as typed
from autocalc._tensor import Tensor
from autocalc._tensor.device import Device
from autocalc.errors import ArgumentError


class Answers:
    """Kind and place; PyTorch's programs ask before they act."""

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
        """Return the number of dimensions."""
        return self.ndim

    def nelement(self: Tensor) -> int:
        """Return the number of elements."""
        return self.numel()

    def is_signed(self: Tensor) -> bool:
        """Return whether the dtype has negative values."""
        return self.dtype.is_signed

    def is_complex(self: Tensor) -> bool:
        """Return False: there are no complex dtypes."""
        return False

    def is_nonzero(self: Tensor) -> bool:
        """Return whether the one element is not 0."""
        return bool(self)

    def is_pinned(self: Tensor) -> bool:
        """Return False: memory is pinned for copies to devices."""
        return False

    def is_shared(self: Tensor) -> bool:
        """Return False: processes share memory through data loaders alone."""
        return False

    def is_inference(self: Tensor) -> bool:
        """Return False: tensors made under `inference_mode` are like all others."""
        return False

    def is_same_size(self: Tensor, other: Tensor) -> bool:
        """Return whether the shapes are equal."""
        return inspection.is_same_size(self, other)

    def get_device(self: Tensor) -> int:
        """Return -1, the number of the CPU."""
        return -1

    def storage_offset(self: Tensor) -> int:
        """Return how many elements of the base lie before the first one."""
        first: int = view_tracker.base_of(self).data_ptr()
        return (self.data_ptr() - first) // self.itemsize

    def pin_memory(self: Tensor) -> Tensor:
        """Return x itself: no device copies from it."""
        return self

    def share_memory_(self: Tensor) -> Tensor:
        """Return x itself."""
        return self

    def cuda(
        self: Tensor,
        device: int | str | Device | None = None,
        non_blocking: bool = False,
    ) -> Tensor:
        """Raise: there is no CUDA device.

        Raises
        ------
        ArgumentError
            Always.
        """
        message = (
            "cuda: there is no CUDA device; AutoCalc runs on 'cpu'. Ask "
            "ac.cuda.is_available() first, or leave .cuda() out."
        )
        raise ArgumentError(message)

    def type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Return x in another dtype, or, without one, the name of its own.

        Takes a dtype, ``ac.FloatTensor`` and its like, or their names.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(1).type()
        'autocalc.FloatTensor'
        >>> ac.ones(1).type(ac.LongTensor)
        tensor([1])
        """
        if dtype is None:
            return typed.name_of(self.dtype)
        return self.to(typed.dtype_named(dtype))

    def byte(self: Tensor) -> Tensor:
        """Return x as uint8."""
        return self.to(typed.ByteTensor.dtype)

    def char(self: Tensor) -> Tensor:
        """Return x as int8."""
        return self.to(typed.CharTensor.dtype)

    def short(self: Tensor) -> Tensor:
        """Return x as int16."""
        return self.to(typed.ShortTensor.dtype)

    @property
    def H(self: Tensor) -> Tensor:
        """The transpose of a matrix, its numbers being real: a view."""
        return view.t(self)

    @property
    def mH(self: Tensor) -> Tensor:
        """The last two dimensions exchanged, the numbers being real: a view."""
        return view.transpose(self, -2, -1)

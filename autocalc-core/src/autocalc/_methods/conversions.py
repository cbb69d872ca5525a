# SPDX-License-Identifier: MIT
"""Methods that convert a tensor to another dtype."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.creation import typed_tensors as typed
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import FLAG, check_flag
from autocalc._tensor.device import Device, numbered


class Conversions:
    """Other dtypes and devices."""

    __slots__ = ()

    def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
        """Return x on the CPU: itself, or a copy of an array on a device.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.ones(2).cpu().device
        device(type='cpu')
        """
        return check_tensor("cpu", self).to("cpu")

    def cuda(
        self: Tensor,
        device: int | str | Device | None = None,
        non_blocking: bool = False,
    ) -> Tensor:
        """Return x on the device "cuda": itself, or a copy.

        Raises
        ------
        ArgumentError
            If there is none: ask ``ac.cuda.is_available()``.
        """
        return check_tensor("cuda", self).to(numbered("cuda", device))

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
        if non_blocking.__class__ is not FLAG:
            non_blocking = check_flag("type", "non_blocking", non_blocking)
        if dtype is None:
            return typed.name_of(self.dtype)
        return self.to(typed.dtype_named(dtype))

    def half(self: Tensor) -> Tensor:
        """Return x as float16."""
        return self.to(dtypes.float16)

    def bfloat16(self: Tensor) -> Tensor:
        """Return x as bfloat16."""
        return self.to(dtypes.bfloat16)

    def float(self: Tensor) -> Tensor:
        """Return x as float32."""
        return self.to(dtypes.float32)

    def double(self: Tensor) -> Tensor:
        """Return x as float64.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([1.5, -2.0]).double()
        tensor([ 1.5000, -2.0000], dtype=autocalc.float64)
        """
        return self.to(dtypes.float64)

    def int(self: Tensor) -> Tensor:
        """Return x as int32."""
        return self.to(dtypes.int32)

    def long(self: Tensor) -> Tensor:
        """Return x as int64."""
        return self.to(dtypes.int64)

    def short(self: Tensor) -> Tensor:
        """Return x as int16."""
        return self.to(typed.ShortTensor.dtype)

    def char(self: Tensor) -> Tensor:
        """Return x as int8.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([1.5, -2.0]).char()
        tensor([ 1, -2], dtype=autocalc.int8)
        """
        return self.to(typed.CharTensor.dtype)

    def byte(self: Tensor) -> Tensor:
        """Return x as uint8."""
        return self.to(typed.ByteTensor.dtype)

    def bool(self: Tensor) -> Tensor:
        """Return x as booleans.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([0.0, 2.0]).bool()
        tensor([False,  True])
        """
        return self.to(dtypes.bool_)

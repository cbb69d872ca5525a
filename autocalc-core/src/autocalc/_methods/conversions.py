# SPDX-License-Identifier: MIT
"""Methods that convert a tensor to another dtype."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.creation import typed_tensors as typed
from autocalc._ops.views import view
from autocalc._tensor import Tensor, dtypes
from autocalc._tensor.checks import FLAG, check_flag
from autocalc._tensor.device import Device, numbered
from autocalc.errors import DTypeError


class Conversions:
    """Other dtypes and devices."""

    __slots__ = ()

    def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
        """Return the tensor on the CPU: itself, or a copy if it is on another device.

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
        """Return the tensor on the device "cuda": itself, or a copy.

        Raises
        ------
        ArgumentError
            If this device does not exist; ``ac.cuda.is_available()`` tests this.
        """
        return check_tensor("cuda", self).to(numbered("cuda", device))

    def type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Convert the tensor to another dtype, or return the name of its type.

        The argument is a dtype, a typed tensor class such as ``ac.FloatTensor``, or the
        name of one of these.  Without an argument, the name of the tensor's class is
        returned.

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

    def as_subclass(self: Tensor, cls: Any) -> Any:
        """Return a tensor of a subclass with the same memory and gradient history.

        Operators on the result return plain tensors.

        Parameters
        ----------
        cls
            A subclass of `Tensor`; its ``__init__`` is not called.

        Raises
        ------
        DTypeError
            If `cls` is not a subclass of `Tensor`.

        Examples
        --------
        >>> import autocalc as ac
        >>> class Image(ac.Tensor):
        ...     def height(self):
        ...         return self.shape[-2]
        >>> ac.ones(3, 2).as_subclass(Image).height()
        3
        """
        if Tensor not in getattr(cls, "__mro__", ()):
            raise DTypeError(
                f"as_subclass: `cls` is {cls!r:.60}; it must be a subclass of Tensor."
            )
        seen = view.reshape_view(check_tensor("as_subclass", self), self.shape)
        made = object.__new__(cls)
        made._array, made._edge = seen._array, seen._edge
        made._version, made._view = seen._version, seen._view
        return made

    @staticmethod
    def _make_subclass(kind: Any, data: Tensor, require_grad: bool = False) -> Any:
        """Return a leaf of a given class on the memory of `data`."""
        made = check_tensor("_make_subclass", data).detach().as_subclass(kind)
        return made.requires_grad_(require_grad)

    def half(self: Tensor) -> Tensor:
        """Return the tensor converted to float16."""
        return self.to(dtypes.float16)

    def bfloat16(self: Tensor) -> Tensor:
        """Return the tensor converted to bfloat16."""
        return self.to(dtypes.bfloat16)

    def float(self: Tensor) -> Tensor:
        """Return the tensor converted to float32."""
        return self.to(dtypes.float32)

    def double(self: Tensor) -> Tensor:
        """Return the tensor converted to float64.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([1.5, -2.0]).double()
        tensor([ 1.5000, -2.0000], dtype=autocalc.float64)
        """
        return self.to(dtypes.float64)

    def cfloat(self: Tensor) -> Tensor:
        """Return the tensor converted to complex64."""
        return self.to(dtypes.complex64)

    def cdouble(self: Tensor) -> Tensor:
        """Return the tensor converted to complex128.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([1.5]).cdouble()
        tensor([1.5000+0.j], dtype=autocalc.complex128)
        """
        return self.to(dtypes.complex128)

    def int(self: Tensor) -> Tensor:
        """Return the tensor converted to int32."""
        return self.to(dtypes.int32)

    def long(self: Tensor) -> Tensor:
        """Return the tensor converted to int64."""
        return self.to(dtypes.int64)

    def short(self: Tensor) -> Tensor:
        """Return the tensor converted to int16."""
        return self.to(typed.ShortTensor.dtype)

    def char(self: Tensor) -> Tensor:
        """Return the tensor converted to int8.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([1.5, -2.0]).char()
        tensor([ 1, -2], dtype=autocalc.int8)
        """
        return self.to(typed.CharTensor.dtype)

    def byte(self: Tensor) -> Tensor:
        """Return the tensor converted to uint8."""
        return self.to(typed.ByteTensor.dtype)

    def bool(self: Tensor) -> Tensor:
        """Return the tensor converted to booleans.

        Examples
        --------
        >>> import autocalc as ac
        >>> ac.tensor([0.0, 2.0]).bool()
        tensor([False,  True])
        """
        return self.to(dtypes.bool_)

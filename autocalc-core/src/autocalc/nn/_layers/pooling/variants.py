# SPDX-License-Identifier: MIT
"""Layers for power means over windows, and for unpooling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from autocalc._ops.convolutions._spatial import sizes_of
from autocalc._ops.pooling.pooling_variants import check_norm_type
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags
from autocalc.nn import functional
from autocalc.nn._module.module import Module

Sizes = int | tuple[int, ...]


class _LPPool(Module):
    _dims: ClassVar[int]
    _function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        norm_type: float,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        ceil_mode: bool = False,
    ) -> None:
        where = type(self).__name__
        check_flags(where, ceil_mode=ceil_mode)
        check_norm_type(where, norm_type)
        sizes_of(where, "kernel_size", kernel_size, self._dims)
        if stride is not None:
            sizes_of(where, "stride", stride, self._dims)
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """Return sum(x^p)^(1 / p) for each window, where p is `norm_type`."""
        return self._function(
            input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """Power pooling of signals: sum(x^p)^(1 / p) over each window; p is `norm_type`.

    Parameters
    ----------
    norm_type, kernel_size, stride, ceil_mode
        The same as for `functional.lp_pool1d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LPPool1d(2, 3, stride=2)(ac.zeros(2, 4, 9)).shape
    autocalc.Size([2, 4, 4])
    """

    _dims = 1
    _function = staticmethod(functional.lp_pool1d)


class LPPool2d(_LPPool):
    """Power pooling of images: sum(x^p)^(1 / p) over each window; p is `norm_type`.

    Parameters
    ----------
    norm_type, kernel_size, stride, ceil_mode
        The same as for `functional.lp_pool2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LPPool2d(2, 2)(ac.zeros(1, 3, 8, 6)).shape
    autocalc.Size([1, 3, 4, 3])
    """

    _dims = 2
    _function = staticmethod(functional.lp_pool2d)


class LPPool3d(_LPPool):
    """Power pooling of volumes: sum(x^p)^(1 / p) over each window; p is `norm_type`.

    Parameters
    ----------
    norm_type, kernel_size, stride, ceil_mode
        The same as for `functional.lp_pool3d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LPPool3d(2, 2)(ac.zeros(1, 3, 4, 8, 6)).shape
    autocalc.Size([1, 3, 2, 4, 3])
    """

    _dims = 3
    _function = staticmethod(functional.lp_pool3d)


class _MaxUnpool(Module):
    _dims: ClassVar[int]
    _function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0
    ) -> None:
        where = type(self).__name__
        super().__init__()
        self.kernel_size = sizes_of(where, "kernel_size", kernel_size, self._dims)
        steps = kernel_size if stride is None else stride
        self.stride = sizes_of(where, "stride", steps, self._dims)
        self.padding = sizes_of(where, "padding", padding, self._dims, 0)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Any = None
    ) -> Tensor:
        """Return a tensor with the maxima at `indices` and 0 elsewhere."""
        return self._function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class MaxUnpool1d(_MaxUnpool):
    """Inverse of `MaxPool1d`: puts maxima back at their positions, with 0 elsewhere.

    Parameters
    ----------
    kernel_size, stride, padding
        The same as for `MaxUnpool2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> pool = ac.nn.MaxPool1d(2, return_indices=True)
    >>> ac.nn.MaxUnpool1d(2)(*pool(ac.tensor([[1.0, 4.0, 2.0, 3.0]])))
    tensor([[0., 4., 0., 3.]])
    """

    _dims = 1
    _function = staticmethod(functional.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """Inverse of `MaxPool2d`: puts maxima back at their positions, with 0 elsewhere.

    The arguments of the call are those of `functional.max_unpool2d`.

    Parameters
    ----------
    kernel_size, stride, padding
        The same values as for the `MaxPool2d` layer that is inverted.

    Examples
    --------
    >>> import autocalc as ac
    >>> pool = ac.nn.MaxPool2d(2, return_indices=True)
    >>> ac.nn.MaxUnpool2d(2)(*pool(ac.zeros(1, 3, 8, 6))).shape
    autocalc.Size([1, 3, 8, 6])
    """

    _dims = 2
    _function = staticmethod(functional.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """Inverse of `MaxPool3d`: puts maxima back at their positions, with 0 elsewhere.

    Parameters
    ----------
    kernel_size, stride, padding
        The same as for `MaxUnpool2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> pool = ac.nn.MaxPool3d(2, return_indices=True)
    >>> ac.nn.MaxUnpool3d(2)(*pool(ac.zeros(1, 3, 4, 8, 6))).shape
    autocalc.Size([1, 3, 4, 8, 6])
    """

    _dims = 3
    _function = staticmethod(functional.max_unpool3d)

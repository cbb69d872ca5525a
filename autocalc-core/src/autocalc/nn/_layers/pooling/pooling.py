# SPDX-License-Identifier: MIT
"""Pooling layers for signals, images and volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from autocalc._ops.convolutions._spatial import sizes_of
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flag, check_flags
from autocalc.nn import functional
from autocalc.nn._module.module import Module

Sizes = int | tuple[int, ...]


class _Pool(Module):
    """The common part: sizes and steps of windows, stored as they were given."""

    _dims: ClassVar[int]
    _function: ClassVar[Callable[..., Any]]

    def _windows(
        self, kernel_size: Sizes, stride: Sizes | None, padding: Sizes, ceil_mode: bool
    ) -> None:
        where = type(self).__name__
        sizes_of(where, "kernel_size", kernel_size, self._dims)
        sizes_of(where, "padding", padding, self._dims, 0)
        if stride is not None:
            sizes_of(where, "stride", stride, self._dims)
        check_flag(where, "ceil_mode", ceil_mode)
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode


class _MaxPool(_Pool):
    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        check_flags(
            type(self).__name__, return_indices=return_indices, ceil_mode=ceil_mode
        )
        super().__init__()
        self._windows(kernel_size, stride, padding, ceil_mode)
        sizes_of(type(self).__name__, "dilation", dilation, self._dims)
        self.dilation = dilation
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """Return the maxima; with `return_indices`, (maxima, indices)."""
        return self._function(
            input, self.kernel_size, self.stride, self.padding, self.dilation,
            self.ceil_mode, self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """Max pooling of signals of shape (N, C, L) or (C, L).

    Parameters
    ----------
    kernel_size, stride, padding, dilation, return_indices, ceil_mode
        The same as for `functional.max_pool1d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.MaxPool1d(3, stride=2)(ac.zeros(2, 4, 9)).shape
    autocalc.Size([2, 4, 4])
    """

    _dims = 1
    _function = staticmethod(functional.max_pool1d)


class MaxPool2d(_MaxPool):
    """Max pooling of images of shape (N, C, H, W) or (C, H, W).

    The output is the largest element of each window.

    Parameters
    ----------
    kernel_size, stride, padding, dilation, ceil_mode, return_indices
        The same as for `functional.max_pool2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.MaxPool2d(2)
    MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
    >>> ac.nn.MaxPool2d(2)(ac.zeros(1, 3, 8, 6)).shape
    autocalc.Size([1, 3, 4, 3])
    """

    _dims = 2
    _function = staticmethod(functional.max_pool2d)


class MaxPool3d(_MaxPool):
    """Max pooling of volumes of shape (N, C, D, H, W) or (C, D, H, W).

    The output is the largest element of each window.

    Parameters
    ----------
    kernel_size, stride, padding, dilation, ceil_mode, return_indices
        The same as for `functional.max_pool3d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.MaxPool3d(2)(ac.zeros(1, 3, 4, 8, 6)).shape
    autocalc.Size([1, 3, 2, 4, 3])
    """

    _dims = 3
    _function = staticmethod(functional.max_pool3d)


class AvgPool1d(_Pool):
    """Average pooling of signals of shape (N, C, L) or (C, L).

    Parameters
    ----------
    kernel_size, stride, padding, ceil_mode, count_include_pad
        The same as for `functional.avg_pool1d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.AvgPool1d(3, padding=1)(ac.zeros(2, 4, 9)).shape
    autocalc.Size([2, 4, 3])
    """

    _dims = 1

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        check_flags("AvgPool1d", ceil_mode=ceil_mode)
        super().__init__()
        self._windows(kernel_size, stride, padding, ceil_mode)
        self.kernel_size = sizes_of("AvgPool1d", "kernel_size", kernel_size, 1)
        self.stride = sizes_of("AvgPool1d", "stride", self.stride, 1)
        self.padding = sizes_of("AvgPool1d", "padding", padding, 1, 0)
        check_flag("AvgPool1d", "count_include_pad", count_include_pad)
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """Return the mean of each window."""
        return functional.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class _AvgPool(_Pool):
    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        where = type(self).__name__
        check_flags(where, ceil_mode=ceil_mode, count_include_pad=count_include_pad)
        super().__init__()
        self._windows(kernel_size, stride, padding, ceil_mode)
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        result: Tensor = self._function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip
        return result

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class AvgPool2d(_AvgPool):
    """Average pooling of images of shape (N, C, H, W) or (C, H, W).

    The output is the mean of each window.

    Parameters
    ----------
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        The same as for `functional.avg_pool2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.AvgPool2d(2, stride=1)(ac.zeros(1, 3, 8, 6)).shape
    autocalc.Size([1, 3, 7, 5])
    """

    _dims = 2
    _function = staticmethod(functional.avg_pool2d)


class AvgPool3d(_AvgPool):
    """Average pooling of volumes of shape (N, C, D, H, W) or (C, D, H, W).

    The output is the mean of each window.

    Parameters
    ----------
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        The same as for `functional.avg_pool3d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.AvgPool3d(2)(ac.zeros(1, 3, 4, 8, 6)).shape
    autocalc.Size([1, 3, 2, 4, 3])
    """

    _dims = 3
    _function = staticmethod(functional.avg_pool3d)


class _AdaptivePool(Module):
    _function: ClassVar[Callable[..., Any]]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        """Return the size as text for `repr`."""
        return f"output_size={self.output_size}"


class _AdaptiveAvgPool(_AdaptivePool):
    def forward(self, input: Tensor) -> Tensor:
        """Return the means."""
        result: Tensor = self._function(input, self.output_size)
        return result


class _AdaptiveMaxPool(_AdaptivePool):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        check_flags(type(self).__name__, return_indices=return_indices)
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """Return the maxima; with `return_indices`, (maxima, indices)."""
        return self._function(input, self.output_size, self.return_indices)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Average pooling of signals to a given length.

    Parameters
    ----------
    output_size
        The same as for `functional.adaptive_avg_pool1d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.AdaptiveAvgPool1d(3)(ac.zeros(2, 4, 10)).shape
    autocalc.Size([2, 4, 3])
    """

    _function = staticmethod(functional.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Average pooling of images to a given size.

    The image is divided into as many boxes as the output has pixels.  The output is the
    mean of each box.  The size 1 gives the mean of the whole image.

    Parameters
    ----------
    output_size
        The size of the output: one integer, or one for the height and one for the
        width. None keeps the size of the input.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.AdaptiveAvgPool2d((None, 2))(ac.zeros(2, 4, 10, 5)).shape
    autocalc.Size([2, 4, 10, 2])
    """

    _function = staticmethod(functional.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Average pooling of volumes to a given size.

    The output is the mean of each box, as in `AdaptiveAvgPool2d`.

    Parameters
    ----------
    output_size
        The size of the output: one integer, or one each for the depth, the height and
        the width.  None keeps the size of the input.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.AdaptiveAvgPool3d(1)(ac.zeros(2, 4, 3, 10, 5)).shape
    autocalc.Size([2, 4, 1, 1, 1])
    """

    _function = staticmethod(functional.adaptive_avg_pool3d)


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """Max pooling of signals to a given length.

    Parameters
    ----------
    output_size, return_indices
        The same as for `functional.adaptive_max_pool1d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.AdaptiveMaxPool1d(3)(ac.zeros(2, 4, 10)).shape
    autocalc.Size([2, 4, 3])
    """

    _function = staticmethod(functional.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """Max pooling of images to a given size.

    The image is divided into as many boxes as the output has pixels.  The output is the
    largest element of each box.

    Parameters
    ----------
    output_size
        The size of the output: one integer, or one for the height and one for the
        width. None keeps the size of the input.
    return_indices
        True to return (maxima, indices).  An index is the position of the maximum in
        the flattened image.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.AdaptiveMaxPool2d(2)(ac.zeros(2, 4, 10, 5)).shape
    autocalc.Size([2, 4, 2, 2])
    """

    _function = staticmethod(functional.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """Max pooling of volumes to a given size.

    The output is the largest element of each box, as in `AdaptiveMaxPool2d`.

    Parameters
    ----------
    output_size
        The size of the output: one integer, or one each for the depth, the height and
        the width.  None keeps the size of the input.
    return_indices
        True to return (maxima, indices).  An index is the position of the maximum in
        the flattened volume.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.AdaptiveMaxPool3d(2)(ac.zeros(2, 4, 3, 10, 5)).shape
    autocalc.Size([2, 4, 2, 2, 2])
    """

    _function = staticmethod(functional.adaptive_max_pool3d)

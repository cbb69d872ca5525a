# SPDX-License-Identifier: MIT
"""Convolutions that take the number of channels from the first input."""

from __future__ import annotations

from autocalc._tensor import Tensor
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn._layers.convolutions.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvBase,
    Sizes,
    _Conv,
)
from autocalc.nn._layers.convolutions.conv_transpose import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
    _ConvTranspose,
)
from autocalc.nn._layers.lazy.linear import _Lazy


class _LazyConvBase(_Lazy, ConvBase):
    """A convolution that reads `in_channels` from the first input."""

    def _begin_lazily(
        self, bias: bool, device: str | Device | None, dtype: DType | None
    ) -> None:
        """Remove the placeholder for the number of channels."""
        self.in_channels = 0
        self._empty(bias, device, dtype)
        self._wait()

    def _size_of(self, input: Tensor) -> int:
        where, dims = type(self).__name__, self._dims
        if input.ndim not in (dims + 1, dims + 2):
            raise ShapeError(
                f"{where}: `input` has shape {input.shape}; it must have {dims + 1} "
                f"or {dims + 2} dimensions, (N, C, ...) or (C, ...)."
            )
        channels = input.shape[-dims - 1]
        if channels < 1 or channels % self.groups:
            raise ArgumentError(
                f"{where}: `input` has shape {input.shape}; its {channels} channels "
                f"must be a multiple of `groups`={self.groups}, and not 0."
            )
        return channels

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        self.in_channels = size
        sides = (size, self.out_channels)
        first, second = sides if self._transposed else sides[::-1]
        filters = (first, second // self.groups, *self.kernel_size)
        return {"weight": filters, "bias": (self.out_channels,)}


class _LazyConv(_LazyConvBase, _Conv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        # Use as many channels as groups, so that the checks of the other arguments
        # pass.
        _Conv.__init__(
            self, groups, out_channels, kernel_size, stride, padding, dilation, groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip
        self._begin_lazily(bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A `Conv1d` that sets `in_channels` at the first call, from the input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        The same as for `LazyConv2d`.
    device, dtype
        The same as for `LazyConv2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LazyConv1d(8, 3)(ac.zeros(1, 4, 9)).shape
    autocalc.Size([1, 8, 7])
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A `Conv2d` that sets `in_channels` at the first call, from the input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        The same as for `Conv2d`.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight, bias
        An `UninitializedParameter` until the first call, then a `Parameter`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.LazyConv2d(16, 3)
    >>> layer(ac.zeros(2, 3, 8, 8)).shape
    autocalc.Size([2, 16, 6, 6])
    >>> layer
    Conv2d(3, 16, kernel_size=(3, 3), stride=(1, 1))
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A `Conv3d` that sets `in_channels` at the first call, from the input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode
        The same as for `LazyConv2d`.
    device, dtype
        The same as for `LazyConv2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LazyConv3d(8, 3)(ac.zeros(1, 4, 5, 6, 7)).shape
    autocalc.Size([1, 8, 3, 4, 5])
    """

    cls_to_become = Conv3d


class _LazyConvTranspose(_LazyConvBase, _ConvTranspose):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        _ConvTranspose.__init__(
            self, groups, out_channels, kernel_size, stride, padding, output_padding,
            groups, bias, dilation, padding_mode, device, dtype,
        )  # fmt: skip
        self._begin_lazily(bias, device, dtype)


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A `ConvTranspose1d` that sets `in_channels` at the first call, from the input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, output_padding, groups, bias
        The same as for `LazyConvTranspose2d`.
    dilation, padding_mode, device, dtype
        The same as for `LazyConvTranspose2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LazyConvTranspose1d(2, 3, stride=2)(ac.zeros(1, 4, 5)).shape
    autocalc.Size([1, 2, 11])
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A `ConvTranspose2d` that sets `in_channels` at the first call, from the input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation
        The same as for `ConvTranspose2d`.
    padding_mode
        ``"zeros"``; there is no other mode.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight, bias
        An `UninitializedParameter` until the first call, then a `Parameter`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.LazyConvTranspose2d(3, 3, stride=2)
    >>> layer(ac.zeros(1, 16, 4, 4)).shape
    autocalc.Size([1, 3, 9, 9])
    >>> layer
    ConvTranspose2d(16, 3, kernel_size=(3, 3), stride=(2, 2))
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A `ConvTranspose3d` that sets `in_channels` at the first call, from the input.

    Parameters
    ----------
    out_channels, kernel_size, stride, padding, output_padding, groups, bias
        The same as for `LazyConvTranspose2d`.
    dilation, padding_mode, device, dtype
        The same as for `LazyConvTranspose2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LazyConvTranspose3d(2, 2, stride=2)(ac.zeros(1, 4, 3, 5, 5)).shape
    autocalc.Size([1, 2, 6, 10, 10])
    """

    cls_to_become = ConvTranspose3d

# SPDX-License-Identifier: MIT
"""Layers of transposed convolutions, which enlarge signals and images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from autocalc._ops.convolutions._spatial import sizes_of
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError
from autocalc.nn import functional
from autocalc.nn._layers.convolutions.conv import ConvBase, Sizes


class _ConvTranspose(ConvBase):
    """The common part: output padding, and requested output sizes."""

    _transposed = True
    _function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        in_channels: int,
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
        check_switches(type(self).__name__, bias=bias)
        where = type(self).__name__
        given: Any = padding
        if padding_mode != "zeros" or isinstance(given, str):
            raise ArgumentError(
                f"{where}: `padding`={padding!r}, `padding_mode`={padding_mode!r}; "
                'Only "zeros" padding mode and numbers are supported for a transposed '
                "convolution."
            )
        self._init(in_channels, out_channels, kernel_size, stride, padding, dilation,
                   groups, bias, padding_mode, device, dtype)  # fmt: skip
        self.output_padding = sizes_of(
            where, "output_padding", output_padding, self._dims, 0
        )

    def _output_padding(self, input: Tensor, output_size: Any) -> tuple[int, ...]:
        """Return the output padding that gives `output_size`."""
        if output_size is None:
            return self.output_padding
        where, dims = type(self).__name__, self._dims
        asked = tuple(output_size)[-dims:]
        sizes: Any = self.padding
        each = zip(input.shape[-dims:], self.kernel_size, self.stride, sizes,
                   self.dilation, strict=True)  # fmt: skip
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in each]
        extra = tuple(a - b for a, b in zip(asked, least, strict=False))
        fits = len(extra) == dims and all(
            0 <= e < s for e, s in zip(extra, self.stride, strict=True)
        )
        if not fits:
            most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
            raise ArgumentError(
                f"{where}: `output_size` is {asked}; for an input of size "
                f"{input.shape} it must be between {tuple(least)} and {tuple(most)}."
            )
        return extra

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """Return the transposed convolution, of size `output_size` if it is given."""
        padding: Any = self.padding
        return self._function(
            input, self.weight, self.bias, self.stride, padding,
            self._output_padding(input, output_size), self.groups, self.dilation,
        )  # fmt: skip


class ConvTranspose1d(_ConvTranspose):
    """Transposed convolution of signals of shape (N, in_channels, L).

    All sizes are single integers.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, output_padding, groups
        The same as for `ConvTranspose2d`.
    bias, dilation, padding_mode, device, dtype
        The same as for `ConvTranspose2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ConvTranspose1d(4, 2, 3, stride=2)(ac.zeros(1, 4, 5)).shape
    autocalc.Size([1, 2, 11])
    """

    _dims = 1
    _function = staticmethod(functional.conv_transpose1d)


class ConvTranspose2d(_ConvTranspose):
    """Transposed convolution of images of shape (N, in_channels, H, W).

    With a stride above 1, the output is larger than the input.  The formula is the one
    of `functional.conv_transpose2d`.

    Parameters
    ----------
    in_channels, out_channels
        The numbers of channels of the input and of the output.
    kernel_size, stride, padding, output_padding, dilation
        One integer, or one for the height and one for the width.
    groups
        The number of groups into which the channels are divided.
    bias
        True to add a learned bias to each output channel.
    padding_mode
        ``"zeros"``; there is no other mode.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight
        The filters, of shape (in_channels, out_channels / groups, kH, kW).  The initial
        values are uniform on [-k, k], where k = 1 / sqrt(out_channels / groups * kH *
        kW).
    bias
        The bias, of shape (out_channels,), with initial values from the same
        distribution. None if `bias` is False.

    Raises
    ------
    ArgumentError
        If an argument is out of range, or if no input gives the requested output size.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.ConvTranspose2d(16, 3, 3, stride=2, padding=1)
    >>> x = ac.zeros(1, 16, 4, 4)
    >>> layer(x).shape, layer(x, output_size=(8, 8)).shape
    (autocalc.Size([1, 3, 7, 7]), autocalc.Size([1, 3, 8, 8]))
    """

    _dims = 2
    _function = staticmethod(functional.conv_transpose2d)


class ConvTranspose3d(_ConvTranspose):
    """Transposed convolution of volumes of shape (N, in_channels, D, H, W).

    It is `ConvTranspose2d` with three spatial dimensions.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, output_padding, groups
        The same as for `ConvTranspose2d`.
    bias, dilation, padding_mode, device, dtype
        The same as for `ConvTranspose2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ConvTranspose3d(4, 2, 2, stride=2)(ac.zeros(1, 4, 3, 5, 5)).shape
    autocalc.Size([1, 2, 6, 10, 10])
    """

    _dims = 3
    _function = staticmethod(functional.conv_transpose3d)

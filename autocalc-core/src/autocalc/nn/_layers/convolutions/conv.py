# SPDX-License-Identifier: MIT
"""Convolution layers for signals, images and volumes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from autocalc._ops.convolutions._spatial import sizes_of
from autocalc._ops.convolutions.padding import bordered
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches, plain
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError
from autocalc.nn import _init, functional
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter

Sizes = int | tuple[int, ...]

_MODES = ("zeros", "reflect", "replicate", "circular")


class ConvBase(Module):
    """The base of the convolutions: it holds their sizes, the weight and the bias."""

    _dims: ClassVar[int]
    _transposed: ClassVar[bool] = False

    weight: Parameter
    bias: Parameter | None
    output_padding: tuple[int, ...] = ()

    def _init(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Sizes | str,
        dilation: Sizes,
        groups: int,
        bias: bool,
        padding_mode: str,
        device: str | Device | None,
        dtype: DType | None,
    ) -> None:
        Module.__init__(self)
        where, dims = type(self).__name__, self._dims
        in_channels, out_channels, groups = _check_channels(
            where, in_channels, out_channels, groups
        )
        if padding_mode not in _MODES:
            message = (
                f"{where}: padding_mode must be one of {_MODES}, not {padding_mode!r}."
            )
            raise ArgumentError(message)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = sizes_of(where, "kernel_size", kernel_size, dims)
        _check_word(where, padding, stride)
        self.stride = sizes_of(where, "stride", stride, dims)
        self.dilation = sizes_of(where, "dilation", dilation, dims)
        self.padding: tuple[int, ...] | str = (
            padding
            if isinstance(padding, str)
            else sizes_of(where, "padding", padding, dims, 0)
        )
        self.groups = groups
        self.padding_mode = padding_mode
        sides = in_channels, out_channels
        first, second = sides if self._transposed else sides[::-1]
        self.weight = Parameter(
            empty(
                first, second // groups, *self.kernel_size, dtype=dtype, device=device
            )
        )
        shift = (
            Parameter(empty(out_channels, dtype=dtype, device=device)) if bias else None
        )
        self.register_parameter("bias", shift)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for all parameters."""
        # The bound of kaiming_uniform_ with a = sqrt(5) is 1 / sqrt(fan_in).
        _init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = _init.fans("reset_parameters", self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in else 0
            _init.uniform_(self.bias, -bound, bound)

    def _bordered(self, x: Tensor) -> Tensor:
        """Return the input with the border that `padding_mode` names."""
        where = type(self).__name__
        if isinstance(self.padding, str):
            spans = [
                d * (k - 1) * (self.padding == "same")
                for k, d in zip(self.kernel_size, self.dilation, strict=True)
            ]
            both = tuple((n // 2, n - n // 2) for n in spans)
        else:
            both = tuple((n, n) for n in self.padding)
        return bordered(where, x, both, self.padding_mode)

    def extra_repr(self) -> str:
        """Return the sizes and non-default settings as text for `repr`."""
        none = (0,) * self._dims
        ones = (1,) * self._dims
        said = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}, stride={self.stride}",
        ]
        more: tuple[tuple[str, Any, Any], ...] = (
            ("padding", self.padding, none),
            ("dilation", self.dilation, ones),
            ("output_padding", self.output_padding or none, none),
            ("groups", self.groups, 1),
            ("bias", self.bias is not None, True),
            ("padding_mode", self.padding_mode, "zeros"),
        )
        said += [f"{name}={value!s}" for name, value, usual in more if value != usual]
        return ", ".join(said)


def _check_channels(where: str, ins: Any, outs: Any, groups: Any) -> list[int]:
    """Return the three arguments as integers; raise unless they fit together."""
    ins, outs, groups = plain(ins), plain(outs), plain(groups)
    for name, value in (
        ("in_channels", ins),
        ("out_channels", outs),
        ("groups", groups),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ArgumentError(
                f"{where}: {name} must be a positive integer, not {value!r}."
            )
    if ins % groups or outs % groups:
        raise ArgumentError(
            f"{where}: `in_channels`={ins} and `out_channels`={outs} must both be "
            f"multiples of `groups`={groups}."
        )
    return [ins, outs, groups]


def _check_word(where: str, padding: Any, stride: Any) -> None:
    """Raise unless `padding` is integers, or a word that fits the stride."""
    if not isinstance(padding, str):
        return
    if padding not in ("same", "valid"):
        message = (
            f"{where}: Invalid padding string {padding!r}; use integers, 'valid' or "
            f"'same'."
        )
        raise ArgumentError(message)
    steps = stride if isinstance(stride, (tuple, list)) else (stride,)
    if padding == "same" and any(step != 1 for step in steps):
        message = (
            f"{where}: padding='same' was given with `stride`={stride}, but it needs "
            "stride 1."
        )
        raise ArgumentError(message)


class _Conv(ConvBase):
    """The common part: the arguments, and a function that convolves."""

    _function: ClassVar[Callable[..., Tensor]]

    def __init__(
        self,
        in_channels: int,
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
        check_switches(type(self).__name__, bias=bias)
        self._init(in_channels, out_channels, kernel_size, stride, padding, dilation,
                   groups, bias, padding_mode, device, dtype)  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        """Return the convolution of `input`."""
        return self.convolved(input, self.weight, self.bias)

    def convolved(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """Return the convolution of `input` with the given weight and bias."""
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = self._bordered(input), 0
        return self._function(
            input, weight, bias, self.stride, padding, self.dilation, self.groups
        )


class Conv1d(_Conv):
    """Convolution of signals of shape (N, in_channels, L) or (in_channels, L).

    The weight has the shape (out_channels, in_channels / groups, kL).

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias
        The same as for `Conv2d`.
    padding_mode, device, dtype
        The same as for `Conv2d`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Conv1d(4, 8, 3, stride=2)(ac.zeros(1, 4, 9)).shape
    autocalc.Size([1, 8, 4])
    """

    _dims = 1
    _function = staticmethod(functional.conv1d)


class Conv2d(_Conv):
    """Convolution of images of shape (N, in_channels, H, W) or (in_channels, H, W).

    The formula is the one of `functional.conv2d`.  The output has the shape (N,
    out_channels, H', W').

    Parameters
    ----------
    in_channels, out_channels
        The numbers of channels of the input and of the output.
    kernel_size, stride, padding, dilation
        One integer, or one for the height and one for the width.  `padding` can also be
        ``"valid"`` for no padding, or ``"same"`` for an output of the size of the
        input.
    groups
        The number of groups into which the channels are divided.  Each group of output
        channels sees one group of input channels.  ``groups=in_channels`` is a
        depthwise convolution.
    bias
        True to add a learned bias to each output channel.
    padding_mode
        The values of the padding: ``"zeros"``; ``"reflect"`` for the mirror image;
        ``"replicate"`` for the nearest pixel of the border; ``"circular"`` for the
        pixels of the opposite side.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight
        The filters, of shape (out_channels, in_channels / groups, kH, kW).  The initial
        values are uniform on [-k, k], where k = 1 / sqrt(in_channels / groups * kH *
        kW).
    bias
        The bias, of shape (out_channels,), with initial values from the same
        distribution. None if `bias` is False.

    Raises
    ------
    ArgumentError
        If an argument is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Conv2d(3, 16, 3, padding=1)
    >>> layer
    Conv2d(3, 16, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    >>> layer(ac.zeros(2, 3, 8, 8)).shape
    autocalc.Size([2, 16, 8, 8])
    """

    _dims = 2
    _function = staticmethod(functional.conv2d)


class Conv3d(_Conv):
    """Convolution of volumes (N, in_channels, D, H, W) or (in_channels, D, H, W).

    It is `Conv2d` with three spatial dimensions, for videos and scans.

    Parameters
    ----------
    in_channels, out_channels
        The numbers of channels of the input and of the output.
    kernel_size, stride, padding, dilation
        One integer, or one each for the depth, the height and the width.
    groups, bias, padding_mode, device, dtype
        The same as for `Conv2d`.

    Attributes
    ----------
    weight
        The filters, of shape (out_channels, in_channels / groups, kD, kH, kW).  The
        initial values have the same distribution as those of `Conv2d`.
    bias
        The bias, of shape (out_channels,).  None if `bias` is False.

    Raises
    ------
    ArgumentError
        If an argument is out of range.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Conv3d(3, 16, 3, padding=1)(ac.zeros(2, 3, 4, 8, 8)).shape
    autocalc.Size([2, 16, 4, 8, 8])
    """

    _dims = 3
    _function = staticmethod(functional.conv3d)

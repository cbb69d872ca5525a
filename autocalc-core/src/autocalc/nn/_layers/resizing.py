# SPDX-License-Identifier: MIT
"""Layers that rearrange images and change their size."""

from __future__ import annotations

from typing import Any

from autocalc._ops._operator.checks import check_number
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_flags
from autocalc.nn import functional
from autocalc.nn._module.module import Module

Sizes = int | tuple[int, ...]


class Upsample(Module):
    """Images of another size; see `functional.interpolate`.

    Parameters
    ----------
    size, scale_factor, mode, align_corners, recompute_scale_factor
        The same as for `functional.interpolate`.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Upsample(scale_factor=2, mode="bilinear")
    >>> layer
    Upsample(scale_factor=2.0, mode='bilinear')
    >>> layer(ac.zeros(1, 3, 4, 5)).shape
    autocalc.Size([1, 3, 8, 10])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        check_flags(
            "Upsample",
            align_corners=align_corners,
            recompute_scale_factor=recompute_scale_factor,
        )
        super().__init__()
        self.size = size
        self.scale_factor: Any = None
        if scale_factor is not None:
            factors = (
                scale_factor if isinstance(scale_factor, tuple) else [scale_factor]
            )
            for factor in factors:
                check_number("Upsample", "scale_factor", factor)
            floats = tuple(map(float, factors))
            self.scale_factor = floats if isinstance(scale_factor, tuple) else floats[0]
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` in its new size."""
        return functional.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners,
            self.recompute_scale_factor,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Name the size and the mode."""
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images of another size, by the nearest pixel.

    Parameters
    ----------
    size
        One number, or height and width.
    scale_factor
        The factor of the size, in place of `size`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.UpsamplingNearest2d(scale_factor=2)(ac.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images of another size, by lines between pixels; the corners stay.

    Parameters
    ----------
    size
        One number, or height and width.
    scale_factor
        The factor of the size, in place of `size`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.UpsamplingBilinear2d(size=(1, 3))(ac.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class ChannelShuffle(Module):
    """Interleaves the channels of groups; see `functional.channel_shuffle`.

    Parameters
    ----------
    groups
        The number of groups, which must divide the channels.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ChannelShuffle(2)(ac.arange(4).reshape(1, 4, 1)).flatten().tolist()
    [0, 2, 1, 3]
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` rearranged."""
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Name the number of groups."""
        return f"groups={self.groups}"


class PixelShuffle(Module):
    """Channels made into pixels; see `functional.pixel_shuffle`.

    Parameters
    ----------
    upscale_factor
        r: images (C r^2, H, W) become (C, H r, W r).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.PixelShuffle(3)(ac.zeros(1, 18, 4, 5)).shape
    autocalc.Size([1, 2, 12, 15])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` rearranged."""
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Name the factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Pixels made into channels; see `functional.pixel_unshuffle`.

    Parameters
    ----------
    downscale_factor
        r: images (C, H r, W r) become (C r^2, H, W).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.PixelUnshuffle(3)(ac.zeros(1, 2, 12, 15)).shape
    autocalc.Size([1, 18, 4, 5])
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` rearranged."""
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Name the factor."""
        return f"downscale_factor={self.downscale_factor}"


class Unfold(Module):
    """Windows of images as columns; see `functional.unfold`.

    Parameters
    ----------
    kernel_size, dilation, padding, stride
        The same as for `functional.unfold`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Unfold(3, padding=1)(ac.zeros(2, 4, 5, 5)).shape
    autocalc.Size([2, 36, 25])
    """

    def __init__(
        self,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """Return the columns."""
        return functional.unfold(
            input, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        """Name the windows."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Fold(Unfold):
    """Columns added to images; see `functional.fold`.

    Parameters
    ----------
    output_size, kernel_size, dilation, padding, stride
        The same as for `functional.fold`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Fold((5, 5), 3, padding=1)(ac.zeros(2, 36, 25)).shape
    autocalc.Size([2, 4, 5, 5])
    """

    def __init__(
        self,
        output_size: Sizes,
        kernel_size: Sizes,
        dilation: Sizes = 1,
        padding: Sizes = 0,
        stride: Sizes = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Return the images."""
        return functional.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding,
            self.stride,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Name the images and the windows."""
        return f"output_size={self.output_size}, {super().extra_repr()}"

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
    """Changes the size of signals, images or volumes.

    `functional.interpolate` has the formulas.

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
        """Return `input` in the new size."""
        return functional.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners,
            self.recompute_scale_factor,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the size and the mode as text for `repr`."""
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Changes the size of images: each new pixel is a copy of the nearest pixel.

    Parameters
    ----------
    size
        The new size: one integer, or one for the height and one for the width.
    scale_factor
        The factor by which the size is multiplied.  Give either `size` or
        `scale_factor`.

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
    """Changes the size of images by bilinear interpolation, with aligned corners.

    The four corner pixels of the input and of the output have the same values.

    Parameters
    ----------
    size
        The new size: one integer, or one for the height and one for the width.
    scale_factor
        The factor by which the size is multiplied.  Give either `size` or
        `scale_factor`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.UpsamplingBilinear2d(size=(1, 3))(ac.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class ChannelShuffle(Module):
    """Interleaves groups of channels; `functional.channel_shuffle` has the formula.

    Parameters
    ----------
    groups
        The number of groups; a divisor of the number of channels.

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
        """Return `input` with its channels rearranged."""
        return functional.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Return the number of groups as text for `repr`."""
        return f"groups={self.groups}"


class PixelShuffle(Module):
    """Rearranges channels into pixels; `functional.pixel_shuffle` has the formula.

    Parameters
    ----------
    upscale_factor
        The factor r.  Images of shape (N, C r^2, H, W) become (N, C, H r, W r).

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
        """Return `input`, rearranged."""
        return functional.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Return the factor as text for `repr`."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Rearranges pixels into channels; `functional.pixel_unshuffle` has the formula.

    Parameters
    ----------
    downscale_factor
        The factor r.  Images of shape (N, C, H r, W r) become (N, C r^2, H, W).

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
        """Return `input`, rearranged."""
        return functional.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Return the factor as text for `repr`."""
        return f"downscale_factor={self.downscale_factor}"


class Unfold(Module):
    """Returns each window of an image as a column; `functional.unfold` has the details.

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
        """Return the columns, of shape (N, C * elements per window, windows)."""
        return functional.unfold(
            input, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Fold(Unfold):
    """Adds each column to a window of an image; `functional.fold` has the details.

    It is the transpose of `Unfold`.

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
        """Return the images, of shape (N, C, H, W)."""
        return functional.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding,
            self.stride,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        return f"output_size={self.output_size}, {super().extra_repr()}"

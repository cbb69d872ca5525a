# SPDX-License-Identifier: MIT
"""Classifiers of small images.  Shapes: B images of C channels, H x W pixels."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn.utils import conv_norm_relu


def _check_size(name: str, size: Sequence[int], multiple: int) -> tuple[int, int]:
    """Return height and width, if `multiple` divides both."""
    if len(size) != 2 or any(n < multiple or n % multiple for n in size):
        raise ArgumentError(
            f"{name}: `size` is {tuple(size)}; it must be (height, width), both "
            f"multiples of {multiple}."
        )
    height, width = size
    return height, width


class LeNet(nn.Module):
    """LeNet: two convolutions with pooling, followed by three linear layers.

    LeCun, Bottou, Bengio, Haffner: Gradient-based learning applied to document
    recognition (1998).  This version uses ReLU. The convolutions pad their inputs, so
    that each pooling exactly halves the height and the width::

        x (B, 1, H, W) -> 5x5 convolution, pooling -> (B, 6, H/2, W/2)
                       -> 5x5 convolution, pooling -> (B, 16, H/4, W/4)
                       -> 120 features -> 84 features -> classes

    Parameters
    ----------
    classes
        The number of classes.
    size
        The height and the width of the images; multiples of 4.
    channels
        The number of channels of the images.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.models.LeNet()(ac.zeros(2, 1, 28, 28)).shape
    autocalc.Size([2, 10])
    """

    def __init__(
        self, classes: int = 10, size: Sequence[int] = (28, 28), channels: int = 1
    ) -> None:
        super().__init__()
        height, width = _check_size("LeNet", size, 4)
        self.features = nn.Sequential(
            nn.Conv2d(channels, 6, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(
            nn.Flatten(),
            nn.Linear(height * width, 120),  # 16 channels of a sixteenth
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (B, classes) for images (B, C, H, W)."""
        logits: Tensor = self.classifier(self.features(x))
        return logits


class ResidualBlock(nn.Module):
    """A residual block: y = ReLU(x + BN(Conv(ReLU(BN(Conv(x)))))), with 3 x 3 kernels.

    If the size or the number of channels changes, x goes through a 1 x 1 convolution
    first (section 3.3, option B).

    He, Zhang, Ren, Sun: Deep residual learning for image recognition (2015), figure 2.

    Parameters
    ----------
    ins, outs
        The numbers of channels of the input and of the output.
    stride
        The stride of the first convolution.  2 halves the height and the width.
    """

    def __init__(self, ins: int, outs: int, stride: int = 1) -> None:
        super().__init__()
        self.conv_1 = nn.Conv2d(ins, outs, 3, stride, padding=1, bias=False)
        self.norm_1 = nn.BatchNorm2d(outs)
        self.conv_2 = nn.Conv2d(outs, outs, 3, padding=1, bias=False)
        self.norm_2 = nn.BatchNorm2d(outs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or ins != outs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(ins, outs, 1, stride, bias=False), nn.BatchNorm2d(outs)
            )

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, outs, H / stride, W / stride) for the input (B, ins, H, W)."""
        y = conv_norm_relu(self.conv_1, self.norm_1, x)
        return conv_norm_relu(self.conv_2, self.norm_2, y, self.shortcut(x))


class ResNet(nn.Module):
    """A small residual network for small images.

    It has one block for each of `widths`::

        x (B, C, H, W) -> 3x3 convolution, ReLU -> blocks -> mean -> classes

    The first block keeps the height and the width.  Each other block halves them.

    Parameters
    ----------
    classes
        The number of classes.
    channels
        The number of channels of the images.
    widths
        The number of channels of each block.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.ResNet(widths=(8, 16))
    >>> model(ac.zeros(2, 1, 28, 28)).shape
    autocalc.Size([2, 10])
    """

    def __init__(
        self,
        classes: int = 10,
        channels: int = 1,
        widths: Sequence[int] = (32, 64, 128),
    ) -> None:
        super().__init__()
        if not widths:
            raise ArgumentError(
                "ResNet: `widths` is empty; give the channels of at least one block."
            )
        before = (widths[0], *widths)
        self.stem = nn.Sequential(
            nn.Conv2d(channels, widths[0], 3, padding=1, bias=False),
            nn.BatchNorm2d(widths[0]),
            nn.ReLU(),
        )
        self.blocks = nn.Sequential(
            *(
                ResidualBlock(ins, outs, 1 if i == 0 else 2)
                for i, (ins, outs) in enumerate(zip(before, widths, strict=False))
            )
        )
        self.head = nn.Linear(widths[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (B, classes) for images (B, C, H, W)."""
        features = self.blocks(self.stem(x)).mean((2, 3))
        logits: Tensor = self.head(features)
        return logits


class RowLSTM(nn.Module):
    """Classifies an image with an LSTM that reads it row by row.

    The class is predicted from the last state h_H::

        h_t, c_t = LSTM(row_t, h_{t-1}, c_{t-1})    t = 1, ..., H
        logits = h_H W^T + b

    Le, Jaitly, Hinton: A simple way to initialize recurrent networks of rectified
    linear units (2015), section 4.2; here the steps are rows instead of pixels.

    Parameters
    ----------
    classes
        The number of classes.
    size
        The height and the width of the images.  Each row is a step of the LSTM, so the
        width is the number of features of a step.
    hidden
        The number of features of the state.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.models.RowLSTM()(ac.zeros(2, 1, 28, 28)).shape
    autocalc.Size([2, 10])
    """

    def __init__(
        self, classes: int = 10, size: Sequence[int] = (28, 28), hidden: int = 128
    ) -> None:
        super().__init__()
        _, width = _check_size("RowLSTM", size, 1)
        self.lstm = nn.LSTM(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (B, classes) for images (B, 1, H, W)."""
        if x.ndim != 4 or x.shape[1] != 1:
            raise ShapeError(
                f"RowLSTM: the images have shape {x.shape}; they must be [B, 1, H, W]."
            )
        states, _ = self.lstm(x[:, 0])  # [B, H, hidden]
        logits: Tensor = self.head(states[:, -1])
        return logits

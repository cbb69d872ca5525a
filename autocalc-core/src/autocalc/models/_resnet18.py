# SPDX-License-Identifier: MIT
"""ResNet-18, with the parameter names that files of its weights have."""

from __future__ import annotations

from autocalc import nn
from autocalc._tensor import Tensor
from autocalc.nn import functional, init
from autocalc.nn.utils import conv_norm_relu


class BasicBlock(nn.Module):
    """A residual block: y = ReLU(x + BN(Conv(ReLU(BN(Conv(x)))))), with 3 x 3 kernels.

    Parameters
    ----------
    inplanes, planes
        The numbers of channels of the input and of the output.
    stride
        The stride of the first convolution.  2 halves the height and the width.
    """

    def __init__(self, inplanes: int, planes: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample: nn.Module | None = None
        if stride != 1 or inplanes != planes:
            self.downsample = nn.Sequential(
                nn.Conv2d(inplanes, planes, 1, stride, bias=False),
                nn.BatchNorm2d(planes),
            )

    def forward(self, x: Tensor) -> Tensor:
        """Return (B, planes, H / stride, W / stride) for x of (B, inplanes, H, W)."""
        y = conv_norm_relu(self.conv1, self.bn1, x)
        shortcut = x if self.downsample is None else self.downsample(x)
        return conv_norm_relu(self.conv2, self.bn2, y, shortcut)


class ResNet18(nn.Module):
    """ResNet-18: a residual network of 18 layers with 11.7 million parameters.

    He, Zhang, Ren, Sun: Deep residual learning for image recognition (2015), table 1::

        x (B, 3, H, W) -> 7x7 convolution with stride 2, 64 channels
          -> 3x3 max pool with stride 2
          -> 2 blocks of 64 channels
          -> 2 blocks of 128 channels, half the size
          -> 2 blocks of 256 channels, half the size
          -> 2 blocks of 512 channels, half the size
          -> mean -> classes

    The names and shapes in its `state_dict` are those of the published PyTorch weights.
    To load the published weights, first save them as a safetensors file.

    Parameters
    ----------
    num_classes
        The number of classes.

    Examples
    --------
    >>> import autocalc as ac
    >>> model = ac.models.ResNet18(num_classes=10)
    >>> model(ac.zeros(2, 3, 64, 64)).shape
    autocalc.Size([2, 10])
    >>> model.layer2[0].downsample[0].weight.shape
    autocalc.Size([128, 64, 1, 1])
    """

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1 = _two_blocks(64, 64)
        self.layer2 = _two_blocks(64, 128, 2)
        self.layer3 = _two_blocks(128, 256, 2)
        self.layer4 = _two_blocks(256, 512, 2)
        self.fc = nn.Linear(512, num_classes)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for the weights of the convolutions.

        They are those of `nn.init.kaiming_normal_` with ``mode="fan_out"`` (He et al.
        2015).
        """
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (B, classes) for images (B, 3, H, W)."""
        x = conv_norm_relu(self.conv1, self.bn1, x)
        x = functional.max_pool2d(x, 3, 2, padding=1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        logits: Tensor = self.fc(x.mean((2, 3)))
        return logits


def _two_blocks(inplanes: int, planes: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        BasicBlock(inplanes, planes, stride), BasicBlock(planes, planes)
    )

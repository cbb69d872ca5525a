# SPDX-License-Identifier: MIT
"""A layer that normalises groups of channels of each example."""

from __future__ import annotations

from autocalc._ops._operator.checks import check_sizes
from autocalc._ops.norms.group_norm import check_groups
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.nn import functional
from autocalc.nn._layers.norms.affine import Scaled


class GroupNorm(Scaled):
    """Group normalization: (x - mean) / sqrt(var + eps) * weight + bias.

    The mean and the variance are computed for each example and each group of channels.

    Wu, He: Group normalization (ECCV 2018).

    Parameters
    ----------
    num_groups
        The number of groups.  Each group holds neighbouring channels.
    num_channels
        The number of channels C of an input of shape (N, C, ...).
    eps
        A small constant that is added to the variance, to avoid a division by 0.
    affine
        True for a learned weight and a learned bias.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.
    bias
        True for a bias in addition to the weight.  It has no effect if `affine` is
        False.

    Attributes
    ----------
    weight, bias
        The weight, initially 1, and the bias, initially 0, each of shape (C,). None if
        they are disabled.

    Raises
    ------
    ShapeError
        If `num_channels` is not a multiple of `num_groups`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.GroupNorm(3, 6)(ac.randn(2, 6, 4, 4)).shape
    autocalc.Size([2, 6, 4, 4])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
        *,
        bias: bool = True,
    ) -> None:
        check_switches("GroupNorm", affine=affine, bias=bias)
        super().__init__()
        (num_channels,) = check_sizes("GroupNorm", num_channels=num_channels)
        num_groups = check_groups("GroupNorm", num_groups, num_channels)
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = bool(affine)
        self._add_parameters(
            (num_channels,), device, dtype, weight=affine, bias=affine and bias
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, normalised; the shape is unchanged."""
        return functional.group_norm(
            input, self.num_groups, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """Return the sizes and the settings as text for `repr`."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, "
            f"affine={self.affine}, bias={self.bias is not None}"
        )

# SPDX-License-Identifier: MIT
"""The linear layer and the identity layer."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops._operator.checks import check_sizes
from autocalc._ops.creation.constants import empty
from autocalc._ops.matrices import matmul
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.nn import _init
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter


class Identity(Module):
    """Returns its input unchanged.

    Use it to replace a layer that is not wanted.  It accepts and ignores any arguments.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Identity()(ac.tensor([-1.0, 2.0]))
    tensor([-1.,  2.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`."""
        return input


class Linear(Module):
    """Linear layer: y = x W^T + b.

    Parameters
    ----------
    in_features, out_features
        The numbers of features of x and of y (the sizes of their last dimensions).
    bias
        True to add the bias b.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight
        The matrix W, of shape (out_features, in_features).  The initial values are
        uniform on [-k, k], where k = 1 / sqrt(in_features).
    bias
        The vector b, of shape (out_features,), with initial values from the same
        distribution. None if `bias` is False.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(20, 30)
    >>> layer(ac.randn(128, 20)).shape
    autocalc.Size([128, 30])
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_switches("Linear", bias=bias)
        super().__init__()
        in_features, out_features = check_sizes(
            "Linear", in_features=in_features, out_features=out_features
        )
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(
            empty(out_features, in_features, dtype=dtype, device=device)
        )
        shift = (
            Parameter(empty(out_features, dtype=dtype, device=device)) if bias else None
        )
        self.register_parameter("bias", shift)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for all parameters."""
        # The bound of kaiming_uniform_ with a = sqrt(5) is 1 / sqrt(in_features).
        _init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
            _init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Return x W^T + b, of shape (..., out_features), for x (..., in_features)."""
        return matmul.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes as text for `repr`."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )

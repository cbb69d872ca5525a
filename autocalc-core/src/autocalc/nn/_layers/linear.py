# SPDX-License-Identifier: MIT
"""The affine layer, and the layer that does nothing."""

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
    """Returns its input; takes the place of a layer that is left out.

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
    """y = x W^T + b.

    Parameters
    ----------
    in_features, out_features
        The sizes of the last dimension of x and of y.
    bias
        True to add b.
    dtype
        The dtype of the parameters; None is the default dtype.

    Attributes
    ----------
    weight
        W, (out_features, in_features), drawn evenly from -k to k, k = 1 /
        sqrt(in_features).
    bias
        b, (out_features,), drawn likewise; None without.

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
        """Draw the parameters again, from the default generator."""
        # The bound of kaiming_uniform_ with a = sqrt(5) is 1 / sqrt(in_features).
        _init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
            _init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """Return x W^T + b for x (..., in_features)."""
        return matmul.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Name the sizes."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )

# SPDX-License-Identifier: MIT
"""The bilinear layer of two inputs."""

from __future__ import annotations

from autocalc._ops._operator.checks import check_sizes
from autocalc._ops.creation.constants import empty
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.nn import _init, functional
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter


class Bilinear(Module):
    """Bilinear layer: y_k = x1^T W_k x2 + b_k.

    Parameters
    ----------
    in1_features, in2_features, out_features
        The numbers of features of x1, x2 and y.
    bias
        True to add the bias b.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight
        The matrices W, of shape (out_features, in1_features, in2_features).  The
        initial values are uniform on [-k, k], where k = 1 / sqrt(in1_features).
    bias
        The vector b, of shape (out_features,), with initial values from the same
        distribution. None if `bias` is False.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Bilinear(20, 30, 40)
    >>> layer(ac.randn(128, 20), ac.randn(128, 30)).shape
    autocalc.Size([128, 40])
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_switches("Bilinear", bias=bias)
        super().__init__()
        in1_features, in2_features, out_features = check_sizes(
            "Bilinear",
            in1_features=in1_features,
            in2_features=in2_features,
            out_features=out_features,
        )
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(empty(*shape, dtype=dtype, device=device))
        shift = (
            Parameter(empty(out_features, dtype=dtype, device=device)) if bias else None
        )
        self.register_parameter("bias", shift)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new initial values for all parameters."""
        bound = self.in1_features**-0.5 if self.in1_features else 0.0
        for param in self.parameters(recurse=False):
            _init.uniform_(param, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return y, of shape (..., out_features).

        The inputs have the shapes (..., in1_features) and (..., in2_features).
        """
        return functional.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the sizes as text for `repr`."""
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )

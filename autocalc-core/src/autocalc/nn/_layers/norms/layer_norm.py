# SPDX-License-Identifier: MIT
"""Layers that normalise each example over its last dimensions, or by neighbours."""

from __future__ import annotations

from collections.abc import Sequence

from autocalc._ops._operator.checks import check_sizes
from autocalc._ops.norms.local_response_norm import check_size
from autocalc._tensor import Tensor
from autocalc._tensor.checks import check_switches, integers, number
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError
from autocalc.nn import functional
from autocalc.nn._layers.norms.affine import Scaled
from autocalc.nn._module.module import Module


class _Norm(Scaled):
    """The common part: the sizes, and a weight of ones."""

    normalized_shape: tuple[int, ...]

    def __init__(
        self, normalized_shape: int | Sequence[int], elementwise_affine: bool
    ) -> None:
        check_switches(type(self).__name__, elementwise_affine=elementwise_affine)
        super().__init__()
        name = type(self).__name__
        sizes = integers(name, "normalized_shape", normalized_shape)
        check_sizes(name, **{f"normalized_shape[{i}]": n for i, n in enumerate(sizes)})
        if not sizes:
            message = f"{name}: `normalized_shape` is empty; give at least one size."
            raise ArgumentError(message)
        self.normalized_shape = sizes
        self.elementwise_affine = bool(elementwise_affine)


class LayerNorm(_Norm):
    r"""Layer normalization: (x - mean) / sqrt(var + eps) * weight + bias.

    The mean and the variance are computed for each example over its last dimensions.

    Ba, Kiros, Hinton: Layer normalization (2016).

    Parameters
    ----------
    normalized_shape
        The sizes of the last dimensions.  An integer means only the last dimension.
    eps
        A small constant that is added to the variance, to avoid a division by 0.
    elementwise_affine
        True for a learned weight and a learned bias.
    bias
        True for a bias in addition to the weight.  It has no effect if
        `elementwise_affine` is False.
    device, dtype
        The device and the floating-point dtype of the parameters.  None means the
        default device and the default dtype.

    Attributes
    ----------
    weight, bias
        The weight, initially 1, and the bias, initially 0, each of shape
        `normalized_shape`. None if they are disabled.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.LayerNorm(4)
    >>> layer
    LayerNorm((4,), eps=1e-05, elementwise_affine=True, bias=True)
    >>> layer(ac.randn(2, 3, 4)).shape
    autocalc.Size([2, 3, 4])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        check_switches("LayerNorm", bias=bias)
        super().__init__(normalized_shape, elementwise_affine)
        self.eps = eps
        self._add_parameters(
            self.normalized_shape,
            device,
            dtype,
            weight=elementwise_affine,
            bias=elementwise_affine and bias,
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, normalised; the shape is unchanged."""
        return functional.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        """Return the sizes and the settings as text for `repr`."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Norm):
    """Root mean square normalization: x / sqrt(mean(x^2) + eps) * weight.

    The mean is computed for each example over its last dimensions.

    Zhang, Sennrich: Root mean square layer normalization (NeurIPS 2019).

    Parameters
    ----------
    normalized_shape
        The sizes of the last dimensions.  An integer means only the last dimension.
    eps
        A small constant that is added to the mean square.  None means the machine
        epsilon of the dtype of the input.
    elementwise_affine
        True for a learned weight.
    device, dtype
        The floating-point dtype of the weight.  None means the default dtype.

    Attributes
    ----------
    weight
        The weight, initially 1, of shape `normalized_shape`.  None if it is disabled.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.RMSNorm(2)(ac.tensor([1.0, 7.0])).tolist()
    [0.20000000298023224, 1.399999976158142]
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__(normalized_shape, elementwise_affine)
        self.eps = eps
        self._add_parameters(
            self.normalized_shape, device, dtype, weight=elementwise_affine
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return `input`, normalised; the shape is unchanged."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the sizes and the settings as text for `repr`."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}"
        )


class LocalResponseNorm(Module):
    """Local response normalization: x / (k + alpha * mean(x^2))^beta.

    The mean of x^2 is computed over `size` neighbouring channels.
    `functional.local_response_norm` has the details.

    Parameters
    ----------
    size
        The number of neighbouring channels in the mean.
    alpha, beta, k
        The constants of the formula.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LocalResponseNorm(5)
    LocalResponseNorm(5, alpha=0.0001, beta=0.75, k=1.0)
    >>> ac.nn.LocalResponseNorm(5)(ac.zeros(2, 8, 4, 4)).shape
    autocalc.Size([2, 8, 4, 4])
    """

    def __init__(
        self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
    ) -> None:
        super().__init__()
        self.size = check_size("LocalResponseNorm", size)
        for name, value in {"alpha": alpha, "beta": beta, "k": k}.items():
            number("LocalResponseNorm", name, value)
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` (N, C, ...), normalised over neighbouring channels."""
        return functional.local_response_norm(
            input, self.size, self.alpha, self.beta, self.k
        )

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"

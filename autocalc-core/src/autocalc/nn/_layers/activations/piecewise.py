# SPDX-License-Identifier: MIT
"""Piecewise activations, and activations that are exponentials below 0."""

from __future__ import annotations

from autocalc._ops._operator.checks import check_sizes
from autocalc._ops.creation.constants import full
from autocalc._ops.random.random_activations import check_slopes
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc._tensor.device import Device
from autocalc._tensor.dtypes import DType
from autocalc.errors import ArgumentError
from autocalc.nn import functional
from autocalc.nn._layers.activations.in_place import InPlace
from autocalc.nn._module.module import Module
from autocalc.nn._module.parameter import Parameter


class ReLU6(InPlace):
    """Applies min(max(x, 0), 6) to each element.

    Parameters
    ----------
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ReLU6()(ac.tensor([-1.0, 2.0, 8.0]))
    tensor([0., 2., 6.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return min(max(x, 0), 6)."""
        return functional.relu6(input, inplace=self.inplace)


class SELU(InPlace):
    """Applies 1.0507 * elu(x, alpha=1.6733) to each element.

    With these constants, activations of a deep network tend to mean 0 and variance 1.

    Klambauer et al.: Self-normalizing neural networks (2017).

    Parameters
    ----------
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.SELU()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-1.1113,  0.0000,  2.1014])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return selu(x)."""
        return functional.selu(input, inplace=self.inplace)


class Mish(InPlace):
    """Applies x * tanh(log(1 + exp(x))) to each element.

    Parameters
    ----------
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Mish()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.3034,  0.0000,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return mish(x)."""
        return functional.mish(input, inplace=self.inplace)


class Hardswish(InPlace):
    """Applies x * min(max(x + 3, 0), 6) / 6 to each element.

    Parameters
    ----------
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Hardswish()(ac.tensor([-1.5, 0.0, 1.5, 4.0]))
    tensor([-0.3750,  0.0000,  1.1250,  4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return hardswish(x)."""
        return functional.hardswish(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        """Return an empty text for `repr`, as PyTorch does."""
        return ""


class Hardsigmoid(InPlace):
    """Applies min(max(x + 3, 0), 6) / 6 to each element.

    Parameters
    ----------
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Hardsigmoid()(ac.tensor([-4.0, -1.5, 0.0, 4.0]))
    tensor([0.0000, 0.2500, 0.5000, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return hardsigmoid(x)."""
        return functional.hardsigmoid(input, inplace=self.inplace)

    def extra_repr(self) -> str:
        """Return an empty text for `repr`, as PyTorch does."""
        return ""


class ELU(InPlace):
    """Exponential linear unit: x if x > 0, otherwise alpha * (exp(x) - 1).

    Parameters
    ----------
    alpha
        The factor alpha of the formula.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ELU()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    >>> ac.nn.ELU(alpha=2.0)(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-1.2642,  0.0000,  2.0000])
    """

    _settings = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Return elu(x)."""
        return functional.elu(input, self.alpha, self.inplace)


class CELU(InPlace):
    """Continuous ELU: x if x > 0, otherwise alpha * (exp(x / alpha) - 1).

    Parameters
    ----------
    alpha
        The constant alpha of the formula; not 0.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.CELU()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    >>> ac.nn.CELU(alpha=2.0)(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.7869,  0.0000,  2.0000])
    """

    _settings = ("alpha",)

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.alpha = alpha

    def forward(self, input: Tensor) -> Tensor:
        """Return celu(x)."""
        return functional.celu(input, self.alpha, self.inplace)


class LeakyReLU(InPlace):
    """Leaky ReLU: x if x > 0, otherwise negative_slope * x.

    Parameters
    ----------
    negative_slope
        The factor of negative elements.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LeakyReLU(0.25)(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2500,  0.0000,  2.0000])
    """

    _settings = ("negative_slope",)

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.negative_slope = negative_slope

    def forward(self, input: Tensor) -> Tensor:
        """Return leaky_relu(x)."""
        return functional.leaky_relu(input, self.negative_slope, self.inplace)


class RReLU(InPlace):
    """Randomized leaky ReLU: x if x > 0, otherwise slope * x.

    In training, a slope is drawn for each element from the uniform distribution on
    [lower, upper].  After `eval` the slope is (lower + upper) / 2.

    Parameters
    ----------
    lower, upper
        The limits of the slope.
    inplace
        True to also write the result into the input tensor.

    Raises
    ------
    ArgumentError
        If `lower` is larger than `upper`.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.RReLU(0.25, 0.75).eval()(ac.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    _settings = ("lower", "upper")

    def __init__(
        self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False
    ) -> None:
        check_slopes("RReLU", lower, upper)
        super().__init__(inplace)
        self.lower = lower
        self.upper = upper

    def forward(self, input: Tensor) -> Tensor:
        """Return rrelu(x)."""
        return functional.rrelu(
            input, self.lower, self.upper, self.training, self.inplace
        )


class Hardtanh(InPlace):
    """Clamps each element to [min_val, max_val].

    Parameters
    ----------
    min_val, max_val
        The limits of the result.
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Hardtanh()(ac.tensor([-3.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    >>> ac.nn.Hardtanh(0.0, 1.5)(ac.tensor([-3.0, 0.5, 2.0]))
    tensor([0.0000, 0.5000, 1.5000])
    """

    _settings = ("min_val", "max_val")

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
    ) -> None:
        low, high = (number("Hardtanh", "limits", v) for v in (min_val, max_val))
        if not low < high:
            raise ArgumentError(
                f"Hardtanh: `min_val`={low} must be below `max_val`={high}; exchange "
                "them."
            )
        super().__init__(inplace)
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, input: Tensor) -> Tensor:
        """Return `input` with its elements clamped."""
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class PReLU(Module):
    """Parametric ReLU: x if x > 0, otherwise weight * x, where weight is learned.

    Parameters
    ----------
    num_parameters
        The number of slopes: 1, or one for each channel (the size of dimension 1).
    init
        The initial value of the slopes.
    device, dtype
        The floating-point dtype of the slopes.  None means the default dtype.

    Attributes
    ----------
    weight
        The slopes, of shape (num_parameters,).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.PReLU()(ac.tensor([-4.0, 4.0])).tolist()
    [-1.0, 4.0]
    """

    weight: Parameter

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        device: str | Device | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        (num_parameters,) = check_sizes("PReLU", num_parameters=num_parameters)
        self.num_parameters = num_parameters
        self.init = init
        slope = number("PReLU", "init", init)
        self.weight = Parameter(
            full((num_parameters,), slope, dtype=dtype, device=device)
        )

    def forward(self, input: Tensor) -> Tensor:
        """Return prelu(x)."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the number of slopes as text for `repr`."""
        return f"num_parameters={self.num_parameters}"

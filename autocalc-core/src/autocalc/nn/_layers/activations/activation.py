# SPDX-License-Identifier: MIT
"""Activations: elementwise functions, and softmax along a dimension."""

from __future__ import annotations

from autocalc._ops._operator.checks import check_approximate, check_shape
from autocalc._ops.activations import smooth
from autocalc._ops.elementwise import trigonometric
from autocalc._tensor import Tensor
from autocalc.nn import functional
from autocalc.nn._layers.activations.in_place import InPlace
from autocalc.nn._module.module import Module


class ReLU(InPlace):
    """Applies max(x, 0) to each element.

    Parameters
    ----------
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.ReLU()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return max(x, 0)."""
        return functional.relu(input, self.inplace)


class Tanh(Module):
    """Applies tanh(x) to each element.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Tanh()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.7616,  0.0000,  0.9640])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return tanh(x)."""
        return trigonometric.tanh(input)


class Sigmoid(Module):
    """Applies the logistic function 1 / (1 + exp(-x)) to each element.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Sigmoid()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([0.2689, 0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return 1 / (1 + exp(-x))."""
        return smooth.sigmoid(input)


class SiLU(InPlace):
    """Applies x * sigmoid(x) to each element; also known as swish.

    Parameters
    ----------
    inplace
        True to also write the result into the input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.SiLU()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2689,  0.0000,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return x * sigmoid(x)."""
        return functional.silu(input, self.inplace)


class GELU(Module):
    """Applies the Gaussian error linear unit x * Phi(x) to each element.

    Phi is the cumulative distribution function of the standard normal distribution.

    Hendrycks, Gimpel: Gaussian error linear units (2016).

    Parameters
    ----------
    approximate
        ``"none"`` for the exact function.  ``"tanh"`` for the approximation x / 2 * (1
        + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).

    Raises
    ------
    ArgumentError
        If `approximate` is neither ``"none"`` nor ``"tanh"``.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.GELU()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.1587,  0.0000,  1.9545])
    >>> ac.nn.GELU(approximate="tanh")(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.1588,  0.0000,  1.9546])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        check_approximate("GELU", approximate)
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        """Return x * Phi(x)."""
        return functional.gelu(input, self.approximate)

    def extra_repr(self) -> str:
        """Return `approximate` as text for `repr`."""
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """Applies log(1 + exp(beta * x)) / beta, a smooth max(x, 0), to each element.

    Parameters
    ----------
    beta
        The sharpness.  The larger it is, the closer the function is to max(x, 0).
    threshold
        The limit of beta * x above which the result is x itself.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Softplus()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([0.3133, 0.6931, 2.1269])
    >>> ac.nn.Softplus(beta=4.0)(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([0.0045, 0.1733, 2.0001])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        """Return log(1 + exp(beta * x)) / beta."""
        return functional.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Return the settings as text for `repr`."""
        return f"beta={self.beta}, threshold={self.threshold}"


class LogSigmoid(Module):
    """Applies log(1 / (1 + exp(-x))) to each element.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LogSigmoid()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-1.3133, -0.6931, -0.1269])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return logsigmoid(x)."""
        return functional.logsigmoid(input)


class Softsign(Module):
    """Applies x / (1 + abs(x)) to each element.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Softsign()(ac.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5000,  0.0000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return softsign(x)."""
        return functional.softsign(input)


class Tanhshrink(Module):
    """Applies x - tanh(x) to each element.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Tanhshrink()(ac.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.2384,  0.0000,  1.0360])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return tanhshrink(x)."""
        return functional.tanhshrink(input)


class _AlongDim(Module):
    """A function along one dimension, which must be given."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        """Return the dimension as text for `repr`."""
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """Computes exp(x_i) / sum_j exp(x_j) along one dimension.

    Parameters
    ----------
    dim
        The dimension along which the results sum to 1.  A negative one counts from the
        end.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Softmax(dim=1)(ac.tensor([[0.0, 0.0], [1.0, 3.0]]))
    tensor([[0.5000, 0.5000],
            [0.1192, 0.8808]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the softmax of `input` along `dim`; the shape is unchanged."""
        return functional.softmax(input, self.dim)


class Softmax2d(Module):
    """Computes the softmax over the channels of each pixel of images.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Softmax2d()(ac.zeros(1, 4, 2, 2))[0, :, 0, 0]
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the softmax over C of images of shape (N, C, H, W) or (C, H, W)."""
        check_shape("Softmax2d", "input", input, "(N, C, H, W) or (C, H, W)")
        return functional.softmax(input, -3)


class LogSoftmax(_AlongDim):
    """Computes x_i - log(sum_j exp(x_j)), the log-softmax, along one dimension.

    Parameters
    ----------
    dim
        The dimension of the softmax.  A negative one counts from the end.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.LogSoftmax(dim=1)(ac.tensor([[0.0, 0.0], [1.0, 3.0]]))
    tensor([[-0.6931, -0.6931],
            [-2.1269, -0.1269]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the logarithm of the softmax along `dim`; the shape is unchanged."""
        return functional.log_softmax(input, self.dim)


class Softmin(_AlongDim):
    """Computes exp(-x_i) / sum_j exp(-x_j) along one dimension.

    Parameters
    ----------
    dim
        The dimension along which the results sum to 1.  A negative one counts from the
        end.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.Softmin(dim=1)(ac.tensor([[0.0, 0.0], [1.0, 3.0]]))
    tensor([[0.5000, 0.5000],
            [0.8808, 0.1192]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return the softmin of `input` along `dim`; the shape is unchanged."""
        return functional.softmin(input, self.dim)


class GLU(Module):
    """Gated linear unit: a * sigmoid(b), where a and b are the halves of the input.

    Dauphin et al.: Language modeling with gated convolutional networks (2016).

    Parameters
    ----------
    dim
        The dimension to halve.  Its size must be even.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.GLU()(ac.tensor([[1.0, 2.0, 0.0, 3.0]]))  # 1 / 2, 2 * sigmoid(3)
    tensor([[0.5000, 1.9051]])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        """Return glu(x)."""
        return functional.glu(input, self.dim)

    def extra_repr(self) -> str:
        """Return the dimension as text for `repr`."""
        return f"dim={self.dim}"

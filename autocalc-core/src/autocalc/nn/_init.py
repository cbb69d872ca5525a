# SPDX-License-Identifier: MIT
"""Initial values of tensors: constants, and random numbers of a chosen spread."""

from __future__ import annotations

import math
from contextvars import ContextVar
from typing import Any

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.creation.constants import eye
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number, plain
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.generator import Generator
from autocalc.errors import ArgumentError, ShapeError

#: Whether initialisation is skipped; see `nn.utils.skip_init`.
SKIPPED: ContextVar[bool] = ContextVar("SKIPPED", default=False)

#: The gain of each nonlinearity that has no parameter.
_GAINS = {
    "linear": 1.0,
    "identity": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "conv_transpose1d": 1.0,
    "conv_transpose2d": 1.0,
    "conv_transpose3d": 1.0,
    "sigmoid": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the recommended scale of initial weights for a nonlinearity.

    If weights are multiplied by this factor, the variance of the signal stays about the
    same in all layers.

    Parameters
    ----------
    nonlinearity
        ``"linear"``, ``"relu"``, ``"leaky_relu"``, ``"tanh"``, ``"sigmoid"``,
        ``"selu"``, or the name of a convolution such as ``"conv2d"``.
    param
        The slope of ``"leaky_relu"`` for negative inputs.  The default is 0.01.  Other
        nonlinearities ignore it.

    Examples
    --------
    >>> import autocalc as ac
    >>> round(ac.nn.init.calculate_gain("relu"), 3)
    1.414
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else plain(param)
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            message = f"calculate_gain: `param`={param!r} is not a slope; use a number."
            raise ArgumentError(message)
        return math.sqrt(2.0 / (1.0 + slope**2))
    if nonlinearity not in [*_GAINS]:  # a list, because keys may be unhashable
        raise ArgumentError(
            f"calculate_gain: `nonlinearity` {nonlinearity!r} is unknown; it must be "
            f"one of {', '.join([*_GAINS, 'leaky_relu'])}."
        )
    return _GAINS[nonlinearity]


def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill a tensor with uniform random numbers from [a, b), in place; return it.

    Parameters
    ----------
    tensor
        The floating-point tensor to fill.
    a, b
        The limits of the interval.
    generator
        The random number generator.  The default is the generator of the process.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.uniform_(ac.empty(1000), -0.5, 0.5)
    >>> -0.5 <= w.min().item() < -0.4, 0.4 < w.max().item() <= 0.5
    (True, True)
    """
    if SKIPPED.get():
        return tensor
    with no_grad():
        return check_tensor("uniform_", tensor).uniform_(a, b, generator=generator)


def normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill a tensor with normal random numbers, in place; return it.

    The mean is `mean`, the standard deviation is `std`.

    Parameters
    ----------
    tensor
        The floating-point tensor to fill.
    mean, std
        The mean and the standard deviation.
    generator
        The random number generator.  The default is the generator of the process.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.normal_(ac.empty(10000), mean=2.0, std=0.1)
    >>> round(w.mean().item(), 1), round(w.std().item(), 1)
    (2.0, 0.1)
    """
    if SKIPPED.get():
        return tensor
    with no_grad():
        return check_tensor("normal_", tensor).normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill a tensor with normal random numbers between a and b, in place; return it.

    A number outside [a, b] is drawn again.

    Parameters
    ----------
    tensor
        The floating-point tensor to fill.
    mean, std
        The mean and the standard deviation before the truncation.
    a, b
        The limits of the interval.
    generator
        The random number generator.  The default is the generator of the process.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.trunc_normal_(ac.empty(10000), std=0.5, a=-1.0, b=1.0)
    >>> -1 <= w.min().item() < -0.9, 0.9 < w.max().item() <= 1
    (True, True)
    """
    check_tensor("trunc_normal_", tensor)
    a, b = (number("trunc_normal_", name, n) for name, n in (("a", a), ("b", b)))
    if not a < b:
        raise ArgumentError(f"trunc_normal_: a={a} and b={b}; `a` must be below `b`.")
    if SKIPPED.get():
        return tensor
    normal_(tensor, mean, std, generator)
    with no_grad():
        for _ in range(100):  # within 2 deviations, 5 % are drawn again
            outside = tensor.clamp(a, b) != tensor
            if not outside.any():
                break
            again = normal_(tensor.detach().clone(), mean, std, generator)
            tensor.copy_(again.where(outside, tensor))
        return tensor.clamp_(a, b)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Set every element of a tensor to `val`, in place; return the tensor.

    Parameters
    ----------
    tensor
        The tensor to fill.
    val
        The value of all elements.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.init.constant_(ac.empty(3), 0.5)
    tensor([0.5000, 0.5000, 0.5000])
    """
    if SKIPPED.get():
        return tensor
    with no_grad():
        return check_tensor("constant_", tensor).fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Set every element of a tensor to 1, in place; return the tensor.

    Parameters
    ----------
    tensor
        The tensor to fill.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.init.ones_(ac.empty(3))
    tensor([1., 1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Set every element of a tensor to 0, in place; return the tensor.

    Parameters
    ----------
    tensor
        The tensor to fill.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.init.zeros_(ac.empty(3))
    tensor([0., 0., 0.])
    """
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the identity matrix, in place; return it.

    Parameters
    ----------
    tensor
        The tensor to fill, of shape (rows, columns).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.nn.init.eye_(ac.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if check_tensor("eye_", tensor).ndim != 2:
        raise ShapeError(f"eye_: needs a matrix, not shape {tensor.shape}.")
    if SKIPPED.get():
        return tensor
    with no_grad():
        return tensor.copy_(
            eye(*tensor.shape, dtype=tensor.dtype, device=place_of_tensor(tensor))
        )


def fans(where: str, tensor: Tensor) -> tuple[int, int]:
    """Return (fan_in, fan_out) of a weight.

    They are the number of inputs of each output and the number of outputs of each
    input. A weight has the shape (out, in, ...).  The dimensions after the second are
    those of a filter.
    """
    if check_tensor(where, tensor).ndim < 2:
        raise ShapeError(
            f"{where}: a tensor of shape {tensor.shape} has no inputs and outputs; it "
            "needs at least two dimensions, (out, in, ...)."
        )
    filter_size = math.prod(tensor.shape[2:])
    return tensor.shape[1] * filter_size, tensor.shape[0] * filter_size


def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill a tensor by Glorot's uniform initialization, in place; return it.

    The numbers are uniform on [-k, k], where k = gain * sqrt(6 / (fan_in + fan_out)).
    For a weight of shape (out, in, ...), fan_in is the number of inputs of each output,
    and fan_out is the number of outputs of each input.

    Glorot, Bengio: Understanding the difficulty of training deep feedforward neural
    networks (AISTATS 2010).

    Parameters
    ----------
    tensor
        A weight of shape (out, in, ...), with a floating-point dtype.
    gain
        A factor, usually `calculate_gain` of the nonlinearity after the layer.
    generator
        The random number generator.  The default is the generator of the process.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.xavier_uniform_(ac.empty(100, 500))
    >>> 0.09 < w.max().item() <= 0.1  # sqrt(6 / (500 + 100)) = 0.1
    True
    """
    bound = math.sqrt(3.0) * _xavier_std("xavier_uniform_", tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill a tensor by Glorot's normal initialization, in place; return it.

    The mean is 0, the standard deviation is gain * sqrt(2 / (fan_in + fan_out)). See
    `xavier_uniform_`.

    Parameters
    ----------
    tensor
        A weight of shape (out, in, ...), with a floating-point dtype.
    gain
        A factor, usually `calculate_gain` of the nonlinearity after the layer.
    generator
        The random number generator.  The default is the generator of the process.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.xavier_normal_(ac.empty(100, 100))
    >>> round(w.std().item(), 2)  # sqrt(2 / (100 + 100)) = 0.1
    0.1
    """
    std = _xavier_std("xavier_normal_", tensor, gain)
    return normal_(tensor, 0.0, std, generator)


def _xavier_std(where: str, tensor: Tensor, gain: float) -> float:
    both = sum(fans(where, tensor))
    return number(where, "gain", gain) * math.sqrt(2.0 / both) if both else 0.0


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill a tensor by He's uniform initialization, in place; return it.

    The numbers are uniform on [-k, k], where k = gain * sqrt(3 / fan) and gain is
    `calculate_gain` of the nonlinearity.  `mode` chooses fan.

    He, Zhang, Ren, Sun: Delving deep into rectifiers (ICCV 2015).

    Parameters
    ----------
    tensor
        The weight, of shape (out, in, ...), with a floating-point dtype.
    a
        The slope of ``"leaky_relu"`` for negative inputs.  It applies to the
        nonlinearity after the layer.
    mode
        ``"fan_in"`` keeps the variance constant in the forward pass; fan is the number
        of inputs of each output.  ``"fan_out"`` keeps the variance constant in the
        backward pass; fan is the number of outputs of each input.
    nonlinearity
        ``"leaky_relu"`` or ``"relu"``; see `calculate_gain`.
    generator
        The random number generator.  The default is the generator of the process.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.kaiming_uniform_(ac.empty(100, 600), nonlinearity="relu")
    >>> 0.09 < w.max().item() <= 0.1  # sqrt(2) * sqrt(3 / 600) = 0.1
    True
    """
    std = _kaiming_std("kaiming_uniform_", tensor, a, mode, nonlinearity)
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill a tensor by He's normal initialization, in place; return it.

    The mean is 0, the standard deviation is gain / sqrt(fan).  The arguments are those
    of `kaiming_uniform_`.

    Parameters
    ----------
    tensor
        A weight of shape (out, in, ...), with a floating-point dtype.
    a, mode, nonlinearity, generator
        The same as for `kaiming_uniform_`.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.kaiming_normal_(ac.empty(100, 200), nonlinearity="relu")
    >>> round(w.std().item(), 2)  # sqrt(2) / sqrt(200) = 0.1
    0.1
    """
    std = _kaiming_std("kaiming_normal_", tensor, a, mode, nonlinearity)
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(where: str, tensor: Tensor, a: float, mode: Any, name: str) -> float:
    modes = ("fan_in", "fan_out")
    if mode not in modes:
        raise ArgumentError(f"{where}: `mode`={mode!r}; use 'fan_in' or 'fan_out'.")
    fan = fans(where, tensor)[modes.index(mode)]
    return calculate_gain(name, a) / math.sqrt(fan) if fan else 0.0

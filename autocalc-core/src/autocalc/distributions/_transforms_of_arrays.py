# SPDX-License-Identifier: MIT
"""Transforms that take several elements together, or change shapes."""

from __future__ import annotations

import math
from typing import Any

from autocalc._ops.activations.smooth import logsigmoid, softplus
from autocalc._ops.arranging.diagonal import diag_embed
from autocalc._ops.arranging.joining import cat
from autocalc._ops.creation.constants import eye
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.creation.like import ones_like
from autocalc._ops.creation.ranges import arange
from autocalc._ops.matrices.factorizations import cholesky
from autocalc._tensor import Tensor
from autocalc._tensor.checks import integers
from autocalc._tensor.limits import finfo
from autocalc.distributions import constraints
from autocalc.distributions._transform import Plain, Transform
from autocalc.distributions._transforms_of_numbers import sigmoid_inside
from autocalc.errors import ArgumentError, ShapeError

_MATRICES = constraints.independent(constraints.real, 2)


class ReshapeTransform(Transform):
    """Changes the shape of each value.

    Parameters
    ----------
    in_shape
        The shape of an input value.
    out_shape
        The shape of an output value.  It has the same number of elements as `in_shape`.
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If the two shapes have different numbers of elements, if a size is negative, or
        if `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.ReshapeTransform((4,), (2, 2))(ac.ones(3, 4)).shape
    autocalc.Size([3, 2, 2])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        where = "ReshapeTransform"
        self.in_shape = integers(where, "in_shape", in_shape)
        self.out_shape = integers(where, "out_shape", out_shape)
        if any(n < 0 for n in (*self.in_shape, *self.out_shape)):
            message = f"{where}: {in_shape} and {out_shape} must not be negative."
            raise ArgumentError(message)
        if math.prod(self.in_shape) != math.prod(self.out_shape):
            raise ArgumentError(
                f"{where}: `in_shape`={in_shape} and `out_shape`={out_shape} must have "
                f"the same number of elements."
            )

    @property
    def domain(self) -> Any:
        """The constraint of the inputs."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @property
    def codomain(self) -> Any:
        """The constraint of the outputs."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(self.forward_shape(x.shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape(self.inverse_shape(y.shape))

    def _log_slope(self, x: Any, y: Any) -> Any:
        batch = x.ndim - len(self.in_shape)
        return x.new_zeros(x.shape[:batch])

    def _forward_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return _exchanged(where, shape, self.in_shape, self.out_shape)

    def _inverse_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return _exchanged(where, shape, self.out_shape, self.in_shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReshapeTransform):
            return False
        shapes = self.in_shape, self.out_shape
        return shapes == (other.in_shape, other.out_shape)

    def __hash__(self) -> int:
        return hash((self.in_shape, self.out_shape))

    def __repr__(self) -> str:
        return f"ReshapeTransform({self.in_shape}, {self.out_shape})"


def _exchanged(
    where: str, shape: tuple[int, ...], old: tuple[int, ...], new: tuple[int, ...]
) -> tuple[int, ...]:
    cut = len(shape) - len(old)
    if shape[cut:] != old:
        raise ShapeError(f"{where}: the shape {shape} must end with {old}.")
    return (*shape[:cut], *new)


# ---- vectors of probabilities --------------------------------------------------------


class SoftmaxTransform(Plain):
    """Softmax: y = exp(x) / sum(exp(x)); the inverse computes x = log(y).

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.SoftmaxTransform()(ac.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        return x.softmax(-1)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(Plain):
    """Maps K real numbers to K + 1 probabilities.

    The k-th probability is sigmoid(x_k - log(K + 1 - k)) * r, where r is 1 minus the
    sum of the previous probabilities.  With x = 0, all probabilities are equal.

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.StickBreakingTransform()(ac.tensor([0.0]))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Any) -> Any:
        share = sigmoid_inside(x - _log_rest(x))
        left, one = (1 - share).cumprod(-1), ones_like(x[..., :1])
        if not x.shape[-1]:
            return x.new_ones((*x.shape[:-1], 1))
        return cat([share, one], -1) * cat([one, left], -1)

    def _inverse(self, y: Any) -> Any:
        first = y[..., :-1]
        left = (1 - first.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return first.log() - left.log() + _log_rest(first)

    def _log_slope(self, x: Any, y: Any) -> Any:
        x = x - _log_rest(x)
        return (y[..., :-1].log() + logsigmoid(x) - x).sum(-1)

    def _forward_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:-1], shape[-1] + 1)

    def _inverse_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        if shape[-1] < 1:
            raise ShapeError(f"{where}: the shape {shape} must end with 1 or more.")
        return (*shape[:-1], shape[-1] - 1)


def _log_rest(x: Any) -> Any:
    """Return log K ... log 1: how many others are left after each of the K."""
    return arange(x.shape[-1], 0, -1).to(x.dtype).log()


# ---- triangular matrices -------------------------------------------------------------


class LowerCholeskyTransform(Plain):
    """Maps matrices to Cholesky factors: lower triangular, with a positive diagonal.

    It sets the elements above the diagonal to 0 and replaces the diagonal by its
    exponential.

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.LowerCholeskyTransform()(ac.ones(2, 2))
    tensor([[2.7183, 0.0000],
            [1.0000, 2.7183]])
    """

    domain = _MATRICES
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Plain):
    """Maps matrices to positive definite matrices L L^T.

    `LowerCholeskyTransform` computes L.

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.PositiveDefiniteTransform()(ac.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = _MATRICES
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        root: Any = LowerCholeskyTransform()(x)
        return root @ root.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(cholesky(y))


class CorrCholeskyTransform(Plain):
    """Maps vectors of D (D - 1) / 2 numbers to Cholesky factors of correlations.

    The results are D x D matrices.

    The numbers fill the part below the diagonal, row by row.  The square of each
    element is tanh(x)^2 * r, where r is 1 minus the sum of the squares of the earlier
    elements of its row.  The square of the diagonal element is the last r.

    Parameters
    ----------
    cache_size
        1 to keep the last input and output, so that the inverse is not computed again.
        0 to keep nothing.

    Raises
    ------
    ArgumentError
        If `cache_size` is not 0 or 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.CorrCholeskyTransform()(ac.tensor([1.0]))
    tensor([[1.0000, 0.0000],
            [0.7616, 0.6481]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        size = self.forward_shape(x.shape)[-1]
        eps = finfo(x.dtype).eps
        root = _as_triangle(x.tanh().clamp(-1 + eps, 1 - eps), size)
        left = (1 - root * root).sqrt().cumprod(-1)
        return (root + eye(size).to(x.dtype)) * _after_one(left)

    def _inverse(self, y: Any) -> Any:
        self.inverse_shape(y.shape)
        left = _after_one(1 - (y * y).cumsum(-1))
        return (_below(y, -1) / _below(left, -1).sqrt()).atanh()

    def _log_slope(self, x: Any, y: Any) -> Any:
        left = _below(1 - (y * y).cumsum(-1), -2)
        of_tanh = (x + softplus(-2 * x) - math.log(2)).sum(-1)
        return 0.5 * left.log().sum(-1) - 2 * of_tanh

    def _forward_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        count = shape[-1]
        size = (1 + math.isqrt(1 + 8 * count)) // 2
        if size * (size - 1) // 2 != count:
            raise ShapeError(
                f"{where}: the shape {shape} must end with 0, 1, 3, 6 or another "
                f"number D (D - 1) / 2."
            )
        return (*shape[:-1], size, size)

    def _inverse_shape(self, where: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        if shape[-1] != shape[-2]:
            message = f"{where}: the shape {shape} must be that of square matrices."
            raise ShapeError(message)
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


def _after_one(x: Any) -> Any:
    """Return rows moved by one, with a 1 first."""
    return cat([ones_like(x[..., :1]), x[..., :-1]], -1)


def _places(size: int, diagonal: int) -> list[int]:
    """Return the places in a flat matrix that are below a diagonal or on it."""
    rows = range(size)
    return [i * size + j for i in rows for j in rows if j - i <= diagonal]


def _below(matrix: Any, diagonal: int) -> Any:
    """Return the elements below and on a diagonal, row by row, as vectors."""
    size = matrix.shape[-1]
    flat = matrix.reshape((*matrix.shape[:-2], size * size))
    return flat.index_select(-1, _indices(_places(size, diagonal)))


def _as_triangle(x: Any, size: int) -> Tensor:
    """Return vectors as matrices that they fill below the diagonal, row by row."""
    source = [x.shape[-1]] * (size * size)
    for i, place in enumerate(_places(size, -1)):
        source[place] = i
    padded = cat([x, x.new_zeros((*x.shape[:-1], 1))], -1)
    flat: Any = padded.index_select(-1, _indices(source))
    result: Tensor = flat.reshape((*x.shape[:-1], size, size))
    return result


def _indices(places: list[int]) -> Any:
    return tensor(places, dtype=arange(0).dtype)

# SPDX-License-Identifier: MIT
"""Tools for writing distributions, under PyTorch's names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Number
from typing import Any

from autocalc._ops.activations.smooth import sigmoid
from autocalc._ops.arranging.diagonal import tril_indices
from autocalc._ops.creation.constants import zeros
from autocalc._ops.creation.from_data import tensor
from autocalc._ops.elementwise.clamping import clamp
from autocalc._ops.elementwise.exponential import log, log1p
from autocalc._ops.random.random_draws import randn
from autocalc._ops.reductions.softmax import softmax
from autocalc._ops.views.broadcasting import broadcast_tensors
from autocalc._tensor import Tensor
from autocalc._tensor.limits import finfo
from autocalc.errors import DTypeError

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs"]
__all__ += ["probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix"]

euler_constant = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Convert numbers and tensors to tensors of one common shape.

    Parameters
    ----------
    *values
        Numbers and tensors whose shapes can be broadcast.

    Raises
    ------
    DTypeError
        If a value is neither a number nor a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.utils.broadcast_all(1.0, ac.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    first = next((value for value in values if isinstance(value, Tensor)), None)
    for value in values:
        if not isinstance(value, (Number, Tensor)):
            message = f"broadcast_all: {value!r:.60} is neither a number nor a tensor."
            raise DTypeError(message)
    dtype = None if first is None else first.dtype
    found = [v if isinstance(v, Tensor) else tensor(v, dtype=dtype) for v in values]
    return tuple(broadcast_tensors(*found))


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    return randn(tuple(shape), dtype=dtype, device=device)


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    return (
        value.reshape((*value.shape[: value.ndim - dim], -1)).sum(-1) if dim else value
    )


def clamp_probs(probs: Tensor) -> Tensor:
    """Clamp probabilities to [eps, 1 - eps]; eps is the machine epsilon.

    Parameters
    ----------
    probs
        A floating-point tensor of probabilities.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.utils.clamp_probs(ac.tensor([0.0, 0.5, 1.0])) > 0
    tensor([True, True, True])
    """
    eps = finfo(probs.dtype).eps
    return clamp(probs, min=eps, max=1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Return the probabilities that belong to logits.

    Parameters
    ----------
    logits
        A floating-point tensor.
    is_binary
        True to apply the sigmoid to each element, False to apply the softmax to the
        last dimension.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.utils.logits_to_probs(ac.zeros(2))
    tensor([0.5000, 0.5000])
    """
    return sigmoid(logits) if is_binary else softmax(logits, dim=-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Return the logits that belong to probabilities, which are clamped first.

    Parameters
    ----------
    probs
        A floating-point tensor of probabilities.
    is_binary
        True to return log(p / (1 - p)), False to return log(p).

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.utils.probs_to_logits(ac.tensor(0.5), is_binary=True)
    tensor(0.)
    """
    clamped = clamp_probs(probs)
    return log(clamped) - log1p(-clamped) if is_binary else log(clamped)


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Return lower triangular matrices whose elements are given as vectors, row by row.

    Parameters
    ----------
    vec
        A tensor of shape (..., n), where n is the number of elements of a triangle.
    diag
        The last diagonal that is filled: 0 for the main diagonal, -1 for the one below
        it.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.utils.vec_to_tril_matrix(ac.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    count = vec.shape[-1]
    root = (1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)
    n = round((-(1 + 2 * diag) + root**0.5) / 2)
    rows, columns = tril_indices(n, n, offset=diag)
    made = zeros((*vec.shape[:-1], n, n), dtype=vec.dtype)
    made[..., rows, columns] = vec
    return made


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Return the elements of lower triangular matrices as vectors, row by row.

    Parameters
    ----------
    mat
        A tensor of shape (..., K, K).
    diag
        The last diagonal that is read: 0 for the main diagonal, -1 for the one below
        it.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.distributions.utils.tril_matrix_to_vec(ac.tensor([[1.0, 0.0], [2.0, 3.0]]))
    tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    rows, columns = tril_indices(n, n, offset=diag)
    found: Tensor = mat[..., rows, columns]
    return found


class lazy_property:
    """Decorator for a method whose result is computed once and then stored.

    Examples
    --------
    >>> import autocalc as ac
    >>> class Circle:
    ...     @ac.distributions.utils.lazy_property
    ...     def area(self):
    ...         print("computed")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area + circle.area
    computed
    6.28
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        functools.update_wrapper(self, wrapped)  # type: ignore[arg-type]  # any object

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value

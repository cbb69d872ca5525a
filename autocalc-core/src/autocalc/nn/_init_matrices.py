# SPDX-License-Identifier: MIT
"""Structured initial weights: orthogonal, sparse and identity-like."""

from __future__ import annotations

import math

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.arguments import as_int, check_tensor
from autocalc._ops.creation.constants import empty, zeros
from autocalc._ops.random.random_draws import randperm
from autocalc._ops.reductions import reduction
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import number
from autocalc._tensor.device import place_of_tensor
from autocalc._tensor.generator import Generator
from autocalc.errors import ArgumentError, ShapeError
from autocalc.nn._init import SKIPPED, normal_


def orthogonal_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill a tensor with a random orthogonal matrix times `gain`, in place; return it.

    The rows are orthonormal.  If there are fewer columns than rows, the columns are
    orthonormal instead of the rows.  A tensor of more than two dimensions is taken as a
    matrix with ``tensor.shape[0]`` rows.

    Saxe, McClelland, Ganguli: Exact solutions to the nonlinear dynamics of learning in
    deep linear neural networks (ICLR 2014).

    Parameters
    ----------
    tensor
        The floating-point tensor to fill, of two or more dimensions.
    gain
        The factor of the orthogonal matrix.
    generator
        The random number generator.  The default is the generator of the process.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.orthogonal_(ac.empty(3, 5, dtype=ac.float64))
    >>> ac.allclose(w @ w.T, ac.eye(3, dtype=ac.float64))
    True
    """
    if check_tensor("orthogonal_", tensor).ndim < 2:
        raise ShapeError(
            f"orthogonal_: a tensor of shape {tensor.shape} has no rows and columns; "
            "it needs at least two dimensions."
        )
    gain = number("orthogonal_", "gain", gain)
    if tensor.numel() == 0 or SKIPPED.get():
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    count, size = min(rows, columns), max(rows, columns)
    with no_grad():
        drawn = normal_(
            empty(count, size, dtype=tensor.dtype, device=place_of_tensor(tensor)),
            generator=generator,
        )
        basis = _orthonormal(drawn)
        matrix = basis if rows <= columns else view.t(basis)
        return tensor.copy_(view.reshape(matrix, tensor.shape) * gain)


def _orthonormal(rows: Tensor) -> Tensor:
    """Return orthonormal rows by the Gram-Schmidt process.

    Each row is made orthogonal to the earlier rows twice.  For nearly dependent rows of
    float32, one pass leaves errors of 1e-3; two passes leave only rounding errors.
    """
    for i in range(rows.shape[0]):
        row, before = rows[i : i + 1], rows[:i]
        for _ in range(2 if i else 0):
            row = row - (row @ view.t(before)) @ before
        length = reduction.sum(row * row) ** 0.5
        rows[i : i + 1] = row / length
    return rows


def sparse_(
    tensor: Tensor,
    sparsity: float,
    std: float = 0.01,
    generator: Generator | None = None,
) -> Tensor:
    """Fill a matrix with a sparse random matrix, in place; return it.

    In each column, the share `sparsity` of the elements is 0.  The others are normal
    random numbers with mean 0 and standard deviation `std`.

    Martens: Deep learning via Hessian-free optimization (ICML 2010).

    Parameters
    ----------
    tensor
        The floating-point tensor to fill, of shape (rows, columns).
    sparsity
        The share of zeros in each column, from 0 to 1.
    std
        The standard deviation of the other elements.
    generator
        The random number generator.  The default is the generator of the process.

    Raises
    ------
    ShapeError
        If `tensor` does not have two dimensions.
    ArgumentError
        If `sparsity` is not between 0 and 1.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.sparse_(ac.empty(4, 3), sparsity=0.5)
    >>> (w == 0).sum(0)
    tensor([2, 2, 2])
    """
    if check_tensor("sparse_", tensor).ndim != 2:
        raise ShapeError(f"sparse_: needs a matrix, not shape {tensor.shape}.")
    sparsity = number("sparse_", "sparsity", sparsity)
    if not 0 <= sparsity <= 1:
        message = f"sparse_: `sparsity` is {sparsity}; it must be between 0 and 1."
        raise ArgumentError(message)
    if SKIPPED.get():
        return tensor
    rows, columns = tensor.shape
    empty_rows = math.ceil(sparsity * rows)
    with no_grad():
        normal_(tensor, 0.0, std, generator)
        for column in range(columns):
            order = randperm(rows, generator=generator)
            kept = (order >= empty_rows).to(tensor.dtype)
            tensor[:, column] = tensor[:, column] * kept
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make the weight of a convolution the identity, in place; return it.

    Output channel i is a copy of input channel i.

    Parameters
    ----------
    tensor
        The weight, of shape (out, in / groups, ...), with one to three filter
        dimensions.
    groups
        The number of groups of the convolution.  Each group copies its own channels.

    Raises
    ------
    ShapeError
        If `tensor` does not have three to five dimensions, or if its first dimension is
        not a multiple of `groups`.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.nn.init.dirac_(ac.empty(2, 2, 3))
    >>> ac.nn.functional.conv1d(ac.tensor([[5.0, 6.0], [8.0, 9.0]]), w, padding=1)
    tensor([[5., 6.],
            [8., 9.]])
    """
    if check_tensor("dirac_", tensor).ndim not in (3, 4, 5):
        raise ShapeError(
            "dirac_: needs the weight of a convolution, with 3 to 5 dimensions, not "
            f"shape {tensor.shape}."
        )
    groups = as_int("dirac_", "groups", groups)
    if groups < 1 or tensor.shape[0] % groups:
        raise ShapeError(
            f"dirac_: `groups`={groups} does not divide the {tensor.shape[0]} outputs "
            f"of shape {tensor.shape}."
        )
    each = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    if SKIPPED.get():
        return tensor
    with no_grad():
        tensor.copy_(
            zeros(*tensor.shape, dtype=tensor.dtype, device=place_of_tensor(tensor))
        )
        for group in range(groups):
            for i in range(min(each, tensor.shape[1])):
                place = (group * each + i, i, *middle)
                tensor[place] = 1.0
    return tensor

# SPDX-License-Identifier: MIT
"""Conversion of all parameters to one vector and back."""

from __future__ import annotations

from collections.abc import Iterable

from autocalc._graph._grad_mode import no_grad
from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops.arranging import joining
from autocalc._ops.views import view
from autocalc._tensor import Tensor
from autocalc._tensor.checks import all_of, sequence
from autocalc.errors import ArgumentError, ShapeError


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate the elements of all parameters into one vector.

    Parameters
    ----------
    parameters
        An iterable of tensors with the same dtype.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(3, 2)
    >>> ac.nn.utils.parameters_to_vector(layer.parameters()).shape
    autocalc.Size([8])
    """
    where = "parameters_to_vector"
    params = sequence(where, "parameters", parameters)
    if not params:
        raise ArgumentError(
            f"{where}: `parameters` has no tensor; give one or more. A generator, such "
            "as model.parameters(), yields its tensors only once."
        )
    return joining.cat([view.reshape(p, (-1,)) for p in params])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Copy the elements of a vector into parameters, one parameter after the other.

    Parameters
    ----------
    vec
        A tensor of shape (n,), where n is the number of elements of all parameters.
    parameters
        An iterable of tensors, which are changed in place.

    Raises
    ------
    ShapeError
        If the vector has another number of elements than the parameters.  Then nothing
        is changed.

    Examples
    --------
    >>> import autocalc as ac
    >>> layer = ac.nn.Linear(2, 1)
    >>> ac.nn.utils.vector_to_parameters(ac.tensor([1.0, 2.0, 3.0]), layer.parameters())
    >>> layer.weight.tolist(), layer.bias.tolist()
    ([[1.0, 2.0]], [3.0])
    """
    where = "vector_to_parameters"
    params = all_of(where, "parameters", parameters)
    for p in params:
        check_tensor(where, p)
    needed = sum(p.numel() for p in params)
    if check_tensor("vector_to_parameters", vec).shape != (needed,):
        raise ShapeError(
            f"vector_to_parameters: `vec` has shape {vec.shape}, but the parameters "
            f"have {needed} elements; it must have shape ({needed},)."
        )
    start = 0
    with no_grad():
        for p in params:
            stop = start + p.numel()
            p.copy_(view.reshape(vec.detach()[start:stop], p.shape))
            start = stop

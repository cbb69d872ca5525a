# SPDX-License-Identifier: MIT
"""Inspection of a tensor: the kind of its dtype, and its size."""

from __future__ import annotations

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.method import method
from autocalc._tensor import Tensor


def is_tensor(obj: object) -> bool:
    """Return whether `obj` is a tensor.

    Parameters
    ----------
    obj
        The object to test.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_tensor(ac.ones(1)), ac.is_tensor(1)
    (True, False)
    """
    return isinstance(obj, Tensor)


def _assert(condition: object, message: str) -> None:
    """Raise `message` unless `condition` holds: ``assert`` as a function.

    Parameters
    ----------
    condition
        A boolean, or a tensor of one element.
    message
        The text of the error.

    Raises
    ------
    AssertionError
        If the condition does not hold.
    """
    if not condition:
        raise AssertionError(message)


def is_floating_point(input: Tensor) -> bool:
    """Return whether `input` has a floating-point dtype.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_floating_point(ac.tensor([1]))
    False
    """
    return check_tensor("is_floating_point", input).is_floating_point()


def numel(input: Tensor) -> int:
    """Return the number of elements of `input`.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.numel(ac.ones(2, 3))
    6
    """
    return check_tensor("numel", input).numel()


def is_complex(input: Tensor) -> bool:
    """Return whether the elements are complex numbers.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_complex(ac.ones(1))
    False
    """
    return check_tensor("is_complex", input).is_complex()


def is_signed(input: Tensor) -> bool:
    """Return whether the dtype of `input` can hold negative values.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_signed(ac.tensor([1]))
    True
    """
    return check_tensor("is_signed", input).dtype.is_signed


def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element of `input` is not 0.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_nonzero(ac.tensor([2.0]))
    True
    """
    return bool(check_tensor("is_nonzero", input))


@method("is_same_size")
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape.

    Parameters
    ----------
    input
        The input tensor.
    other
        The tensor to compare with.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_same_size(ac.ones(2), ac.zeros(2))
    True
    """
    a, b = check_tensor("is_same_size", input), check_tensor("is_same_size", other)
    return a.shape == b.shape


@method("is_inference")
def is_inference(input: Tensor) -> bool:
    """Return False: tensors made under `inference_mode` are ordinary tensors.

    Parameters
    ----------
    input
        The input tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.inference_mode():
    ...     ac.is_inference(ac.ones(2))
    False
    """
    check_tensor("is_inference", input)
    return False

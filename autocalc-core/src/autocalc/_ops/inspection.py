# SPDX-License-Identifier: MIT
"""What a tensor is: its kind of dtype, its size."""

from __future__ import annotations

from autocalc._ops._arguments import check_tensor
from autocalc._ops._method import method
from autocalc._tensor import Tensor


def is_tensor(obj: object) -> bool:
    """Return whether `obj` is a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.is_tensor(ac.ones(1)), ac.is_tensor(1)
    (True, False)
    """
    return isinstance(obj, Tensor)


def is_floating_point(input: Tensor) -> bool:
    """Return whether the dtype of `input` is float32 or float64."""
    return check_tensor("is_floating_point", input).is_floating_point()


def numel(input: Tensor) -> int:
    """Return the number of elements of `input`."""
    return check_tensor("numel", input).numel()


def is_complex(input: Tensor) -> bool:
    """Return False: there are no complex dtypes."""
    check_tensor("is_complex", input)
    return False


def is_signed(input: Tensor) -> bool:
    """Return whether the dtype of `input` has negative values."""
    return check_tensor("is_signed", input).dtype.is_signed


def is_nonzero(input: Tensor) -> bool:
    """Return whether the one element of `input` is not 0."""
    return bool(check_tensor("is_nonzero", input))


@method("is_same_size")
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have one shape."""
    a, b = check_tensor("is_same_size", input), check_tensor("is_same_size", other)
    return a.shape == b.shape

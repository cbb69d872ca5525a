# SPDX-License-Identifier: MIT
"""Functions that copy views: `narrow_copy` and similar ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from autocalc._ops._operator.arguments import check_tensor
from autocalc._ops._operator.declared import declared
from autocalc._ops._operator.method import method
from autocalc._ops.arranging import diagonal
from autocalc._ops.views import (
    broadcasting,
    conversion,
    splitting,
    striding,
    view,
    windows,
)
from autocalc._tensor import Tensor

__all__ = [
    "alias_copy",
    "as_strided_copy",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "narrow_copy",
    "permute_copy",
    "select_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_copy",
]


def _copied(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function named "..._copy" that copies the views of `function`."""
    name = function.__name__

    @wraps(function)
    def copy(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if isinstance(result, Tensor):
            return view.clone(result)
        return tuple(map(view.clone, result))

    copy.__name__ = copy.__qualname__ = f"{name}_copy"
    copy.__module__ = __name__
    copy.__doc__ = _described(name, function.__doc__ or "")
    return copy


def _described(name: str, text: str) -> str:
    """Return the docstring of the copying form of a function."""
    _, _, rest = text.partition("\n")
    rest = re.sub(rf"\bac\.{name}\(", f"ac.{name}_copy(", rest)
    return f"Return a copy of the result of `{name}`.\n{rest}"


as_strided_copy = _copied(striding.as_strided)
detach_copy = _copied(conversion.detach)
diagonal_copy = _copied(diagonal.diagonal)
expand_copy = _copied(broadcasting.expand)
narrow_copy = method("narrow_copy")(_copied(splitting.narrow))
permute_copy = _copied(view.permute)
select_copy = _copied(splitting.select)
split_copy = _copied(splitting.split)
split_with_sizes_copy = _copied(splitting.split_with_sizes)
squeeze_copy = _copied(view.squeeze)
t_copy = _copied(view.t)
transpose_copy = _copied(view.transpose)
unbind_copy = _copied(splitting.unbind)
unfold_copy = _copied(windows.unfold)
unsqueeze_copy = _copied(view.unsqueeze)


def view_copy(input: Tensor, size: Sequence[int]) -> Tensor:
    """Return a copy of the elements in another shape.

    Parameters
    ----------
    input
        The input tensor.
    size
        The shape of the result; one size may be -1 and is computed from the others.

    Raises
    ------
    ShapeError
        If `size` does not stand for as many elements as `input` has.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.view_copy(ac.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return view.clone(view.view(check_tensor("view_copy", input), size))


@declared
def alias_copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return a copy of `input`, as `clone` does.

    Parameters
    ----------
    input
        The input tensor.
    out
        A tensor to write the result into; the result is converted to its dtype.

    Raises
    ------
    DTypeError
        If `input` is not a tensor.

    Examples
    --------
    >>> import autocalc as ac
    >>> ac.alias_copy(ac.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    return view.clone(check_tensor("alias_copy", input))

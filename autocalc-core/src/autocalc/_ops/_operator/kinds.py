# SPDX-License-Identifier: MIT
"""Tensors that are not one dense array, and the functions that they have.

`autocalc.sparse` and `autocalc.nested` register their classes here when they are first
used.  Such a class is a subclass of `Tensor` without an array: reading `_array` raises.
So each check that refuses what is not a tensor also refuses its objects.  A function
that supports them asks `elsewhere` at the place where it would otherwise refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

from autocalc.errors import ArgumentError, DTypeError

#: Maps each such class to its functions, by the names of the public functions.
KINDS: dict[type, dict[str, Callable[..., Any]]] = {}


class NoArrayError(DTypeError, AttributeError):
    """A dense function reads the array of a tensor that has none."""


def no_array(x: Any) -> NoReturn:
    """Raise, because a dense function reads the array of such a tensor."""
    raise NoArrayError(
        f"a dense function got a {x._kind} tensor of shape {tuple(x.shape)}, which it "
        f"does not support. Convert it with {x._remedy}."
    )


def elsewhere(where: str, *operands: Any) -> Callable[..., Any] | None:
    """Return the function `where` of the class of an operand; None if all are dense.

    Raises
    ------
    DTypeError
        If the class of an operand does not have this function.
    """
    for x in operands:
        functions = KINDS.get(x.__class__)
        if functions is None:
            continue
        if where in functions:
            return functions[where]
        raise refusal(where, x)
    return None


def is_of_kind(x: Any) -> bool:
    """Return whether `x` is a tensor that is not one dense array."""
    return x.__class__ in KINDS


def refusal(where: str, x: Any) -> DTypeError:
    """Make the error for a dense function that got such a tensor."""
    return DTypeError(
        f"{where}: got a {x._kind} tensor of shape {tuple(x.shape)}, which this "
        f"function does not support. Convert it with {x._remedy}."
    )


#: What each part of a sparse tensor needs, in the words of PyTorch.
_PARTS = {
    **dict.fromkeys(("crow_indices", "col_indices"), "row compressed"),
    **dict.fromkeys(("ccol_indices", "row_indices"), "column compressed"),
}


def wrong_layout(where: str, x: Any) -> ArgumentError:
    """Make the error for a part that a layout does not have."""
    layout = repr(x.layout).rpartition(".")[2]
    spoken = "".join(word.title() for word in layout.split("_")).replace("Coo", "")
    if where == "values":
        return ArgumentError(
            f"values expected sparse tensor layout but got {spoken}; convert it with "
            "to_sparse() first."
        )
    needed = _PARTS.get(where, "coordinate")
    return ArgumentError(
        f"{where} expected sparse {needed} tensor layout but got {spoken}; convert it "
        "with to_sparse(), to_sparse_csr() or to_sparse_csc() first."
    )


def rows(index: Any, values: Any, shape: tuple[int, ...]) -> Any:
    """Return a sparse tensor whose rows `index` are `values`; others are zero.

    The sparse tensor is imported late, because it is made of operators.
    """
    return import_module("autocalc.sparse").rows(index, values, shape)

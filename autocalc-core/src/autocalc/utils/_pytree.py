# SPDX-License-Identifier: MIT
"""Nested lists, tuples and dicts taken apart into leaves, and put together again.

A named tuple, a list, a tuple, a dict or an `OrderedDict` is a node; everything else,
None included, is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from autocalc._tensor.checks import sequence, short
from autocalc.errors import ArgumentError, DTypeError

__all__ = [
    "TreeSpec",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

_NODES = (list, tuple, dict, OrderedDict)


class TreeSpec(NamedTuple):
    """The structure of a nest: what `tree_flatten` leaves without the leaves."""

    #: The class of the node; None for a leaf.
    type: Any
    #: A dict's keys; None for other nodes.
    context: Any
    children: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        if self.type is None:
            return 1
        return sum(child.num_leaves for child in self.children)

    def is_leaf(self) -> bool:
        """Return whether there is one leaf, and no node around it."""
        return self.type is None


_LEAF = TreeSpec(None, None, ())


def _is_node(tree: Any) -> bool:
    return type(tree) in _NODES or (
        isinstance(tree, tuple) and hasattr(tree, "_fields")
    )


def _flat(
    tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None
) -> TreeSpec:
    if not _is_node(tree) or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    keys = list(tree) if isinstance(tree, dict) else None
    inner = tree.values() if isinstance(tree, dict) else tree
    children = tuple(_flat(one, leaves, is_leaf) for one in inner)
    return TreeSpec(type(tree), keys, children)


def tree_flatten(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a nest, from left to right, and its structure.

    Parameters
    ----------
    tree
        Lists, tuples and dicts in each other.
    is_leaf
        Says of a node whether it counts as a leaf; None: no node does.

    Raises
    ------
    DTypeError
        If `is_leaf` cannot be called.

    Examples
    --------
    >>> from autocalc.utils._pytree import tree_flatten, tree_unflatten
    >>> leaves, spec = tree_flatten({"a": 1, "b": [2, (3, 4)]})
    >>> leaves
    [1, 2, 3, 4]
    >>> tree_unflatten([10 * leaf for leaf in leaves], spec)
    {'a': 10, 'b': [20, (30, 40)]}
    """
    _check_callable("tree_flatten", "is_leaf", is_leaf, none=True)
    leaves: list[Any] = []
    return leaves, _flat(tree, leaves, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Return the nest of that structure with these leaves.

    Parameters
    ----------
    leaves
        As many as the structure has.
    treespec
        What `tree_flatten` returned.

    Raises
    ------
    DTypeError
        If `treespec` is no structure, or `leaves` cannot be iterated over.
    ArgumentError
        If there are more or fewer leaves.

    Examples
    --------
    >>> from autocalc.utils._pytree import tree_structure, tree_unflatten
    >>> tree_unflatten([1, 2], tree_structure([None, (None,)]))
    [1, (2,)]
    """
    given: Any = treespec
    if not isinstance(given, TreeSpec):
        message = (
            f"tree_unflatten: `treespec` is {short(given)}; it must be what "
            f"tree_flatten returned."
        )
        raise DTypeError(message)
    values = sequence("tree_unflatten", "leaves", leaves)
    if len(values) != treespec.num_leaves:
        message = (
            f"tree_unflatten: there are {len(values)} leaves; the structure has "
            f"{treespec.num_leaves}."
        )
        raise ArgumentError(message)
    return _built(treespec, iter(values))


def _built(spec: TreeSpec, leaves: Iterator[Any]) -> Any:
    if spec.type is None:
        return next(leaves)
    values = [_built(child, leaves) for child in spec.children]
    if spec.context is not None:
        return spec.type(zip(spec.context, values, strict=True))
    named = hasattr(spec.type, "_fields")
    return spec.type(*values) if named else spec.type(values)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves of a nest; see `tree_flatten`.

    Parameters
    ----------
    tree
        Lists, tuples and dicts in each other.
    is_leaf
        Says of a node whether it counts as a leaf; None: no node does.

    Raises
    ------
    DTypeError
        If `is_leaf` cannot be called.

    Examples
    --------
    >>> from autocalc.utils._pytree import tree_leaves
    >>> tree_leaves([1, (2, {"a": 3})])
    [1, 2, 3]
    """
    _check_callable("tree_leaves", "is_leaf", is_leaf, none=True)
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """Return the structure of a nest; see `tree_flatten`.

    Parameters
    ----------
    tree
        Lists, tuples and dicts in each other.
    is_leaf
        Says of a node whether it counts as a leaf; None: no node does.

    Raises
    ------
    DTypeError
        If `is_leaf` cannot be called.

    Examples
    --------
    >>> from autocalc.utils._pytree import tree_structure
    >>> tree_structure([1, (2, 3)]).num_leaves
    3
    """
    _check_callable("tree_structure", "is_leaf", is_leaf, none=True)
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any],
    tree: Any,
    *rests: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Return the nest of what `func` makes of the leaves.

    Parameters
    ----------
    func
        Called with a leaf of `tree` and those of `rests` at the same place.
    tree
        Lists, tuples and dicts in each other.
    *rests
        Nests of the same structure.
    is_leaf
        Says of a node whether it counts as a leaf; None: no node does.

    Raises
    ------
    DTypeError
        If `func` or `is_leaf` cannot be called.
    ArgumentError
        If one of `rests` has another structure.

    Examples
    --------
    >>> from autocalc.utils._pytree import tree_map
    >>> tree_map(lambda a, b: a + b, [1, {"x": 2}], [10, {"x": 20}])
    [11, {'x': 22}]
    """
    _check_callable("tree_map", "func", func)
    _check_callable("tree_map", "is_leaf", is_leaf, none=True)
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves]
    for rest in rests:
        values, other = tree_flatten(rest, is_leaf)
        if other != spec:
            message = (
                f"tree_map: {short(rest)} has another structure than {short(tree)}."
            )
            raise ArgumentError(message)
        columns.append(values)
    return tree_unflatten([func(*row) for row in zip(*columns, strict=True)], spec)


def tree_map_only(
    types: type | tuple[type, ...],
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Return the nest of what `func` makes of the leaves of some classes.

    Parameters
    ----------
    types
        A class, or several in a tuple; other leaves stay as they are.
    func
        Called with a leaf.
    tree
        Lists, tuples and dicts in each other.
    is_leaf
        Says of a node whether it counts as a leaf; None: no node does.

    Raises
    ------
    DTypeError
        If `types` holds what is no class, or `func` or `is_leaf` cannot be called.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.utils._pytree import tree_map_only
    >>> tree_map_only(ac.Tensor, ac.Tensor.item, {"loss": ac.tensor(2.0), "step": 7})
    {'loss': 2.0, 'step': 7}
    """
    _check_callable("tree_map_only", "func", func)
    _check_callable("tree_map_only", "is_leaf", is_leaf, none=True)
    kinds: tuple[Any, ...] = types if isinstance(types, tuple) else (types,)
    if not all(isinstance(kind, type) for kind in kinds):
        message = (
            f"tree_map_only: `types` is {short(types)}; it must be a class or a "
            f"tuple of classes."
        )
        raise DTypeError(message)

    def change(leaf: Any) -> Any:
        return func(leaf) if isinstance(leaf, kinds) else leaf

    return tree_map(change, tree, is_leaf=is_leaf)


def _check_callable(where: str, name: str, value: Any, *, none: bool = False) -> None:
    if callable(value) or (none and value is None):
        return
    message = f"{where}: `{name}` is {short(value)}; it must be a function."
    raise DTypeError(message)

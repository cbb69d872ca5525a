# SPDX-License-Identifier: MIT
"""Nested lists, tuples and dicts: split them into leaves, and rebuild them.

A list, a tuple, a named tuple, a deque, a dict, an `OrderedDict` or a `defaultdict` is
a node.  So are objects of classes given to `register_pytree_node`.  Everything else,
None included, is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from autocalc._tensor.checks import sequence, short
from autocalc.errors import ArgumentError, DTypeError

__all__ = [
    "SUPPORTED_NODES",
    "Context",
    "LeafSpec",
    "NodeDef",
    "PyTree",
    "TreeSpec",
    "register_pytree_node",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]

#: A nested object or a leaf.
PyTree = Any

#: The value that the flattening function of a class returns with the children.
Context = Any


class NodeDef(NamedTuple):
    """The functions that take objects of a class apart and rebuild them."""

    type: Any
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Context]]
    unflatten_fn: Callable[[Iterable[Any], Context], Any]


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Context]:
    return list(d.values()), list(d)


def _dict_unflatten(values: Iterable[Any], context: Context) -> dict[Any, Any]:
    return dict(zip(context, values, strict=True))


def _node(
    kind: Any,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
) -> dict[Any, NodeDef]:
    return {kind: NodeDef(kind, flatten_fn, unflatten_fn)}


#: PyTorch's key for all named tuples.
_NAMED: Any = namedtuple  # noqa: PYI024  no class is made

#: The kinds of nodes.
SUPPORTED_NODES: dict[Any, NodeDef] = {
    **_node(list, lambda tree: (tree, None), lambda values, _: list(values)),
    **_node(tuple, lambda tree: (tree, None), lambda values, _: tuple(values)),
    **_node(
        _NAMED, lambda tree: (tree, type(tree)), lambda values, kind: kind(*values)
    ),
    **_node(deque, lambda tree: (tree, tree.maxlen), deque),
    **_node(dict, _dict_flatten, _dict_unflatten),
    **_node(
        OrderedDict,
        _dict_flatten,
        lambda values, keys: OrderedDict(zip(keys, values, strict=True)),
    ),
    **_node(
        defaultdict,
        lambda tree: (list(tree.values()), [tree.default_factory, list(tree)]),
        lambda values, kept: defaultdict(kept[0], zip(kept[1], values, strict=True)),
    ),
}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    **_: Any,
) -> None:
    """Register a class, so that its objects are nodes of nested structures.

    Parameters
    ----------
    cls
        The class.  Objects of its subclasses remain leaves.
    flatten_fn
        A function that takes an object and returns (children, context).  The context is
        any value that is needed to rebuild the object.
    unflatten_fn
        A function that takes (children, context) and returns the object.

    Raises
    ------
    ArgumentError
        If the class is registered already.

    Examples
    --------
    >>> from autocalc.utils._pytree import register_pytree_node, tree_map
    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(
    ...     Pair, lambda pair: ([pair.a, pair.b], None), lambda both, _: Pair(*both)
    ... )
    >>> tree_map(lambda x: 10 * x, Pair(1, 2)).b
    20
    """
    if cls in SUPPORTED_NODES:
        message = f"register_pytree_node: {cls.__name__} is already registered."
        raise ArgumentError(message)
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn)


class TreeSpec(NamedTuple):
    """The structure of a nested object, without its leaves; see `tree_flatten`."""

    #: The class of the node; None for a leaf.
    type: Any
    #: The keys of a dict, or the context of a registered class; None for other nodes.
    context: Any
    children: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        """The number of leaves."""
        if self.type is None:
            return 1
        return sum([1 if x.type is None else x.num_leaves for x in self.children])

    def is_leaf(self) -> bool:
        """Return whether the whole object is a single leaf."""
        return self.type is None


class LeafSpec(TreeSpec):
    """The structure of a single leaf."""

    __slots__ = ()

    def __new__(cls) -> LeafSpec:
        return super().__new__(cls, None, None, ())


_LEAF = LeafSpec()


class SequenceKey(NamedTuple):
    """The position of a child in a list or tuple."""

    idx: int


class MappingKey(NamedTuple):
    """The key of a child in a dict."""

    key: Any


def _dict_flatten_with_keys(
    d: dict[Any, Any],
) -> tuple[list[tuple[MappingKey, Any]], Context]:
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _get_node_type(tree: Any) -> Any:
    named = isinstance(tree, tuple) and hasattr(tree, "_fields")
    return _NAMED if named and type(tree) not in SUPPORTED_NODES else type(tree)


def _flat(
    tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None
) -> TreeSpec:
    kind = _get_node_type(tree)
    known = SUPPORTED_NODES.get(kind)
    if known is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return _LEAF
    inner, context = known.flatten_fn(tree)
    children = tuple(_flat(one, leaves, is_leaf) for one in inner)
    return TreeSpec(kind, context, children)


def tree_flatten(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a nested object, from left to right, and its structure.

    Parameters
    ----------
    tree
        The nested object: lists, tuples and dicts, and other registered nodes, with
        leaves of any class.
    is_leaf
        A function that returns True for a node that is to count as a leaf.  None means
        that all nodes are taken apart.

    Raises
    ------
    DTypeError
        If `is_leaf` is not callable.

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
    """Build a nested object from its leaves and its structure.

    Parameters
    ----------
    leaves
        The leaves, in the order of `tree_flatten`.
    treespec
        The structure, as returned by `tree_flatten`.

    Raises
    ------
    DTypeError
        If `treespec` is not a `TreeSpec`, or if `leaves` is not iterable.
    ArgumentError
        If the number of leaves is not that of the structure.

    Examples
    --------
    >>> from autocalc.utils._pytree import tree_structure, tree_unflatten
    >>> tree_unflatten([1, 2], tree_structure([None, (None,)]))
    [1, (2,)]
    """
    given: Any = treespec
    if not isinstance(given, TreeSpec):
        raise DTypeError(
            f"tree_unflatten: `treespec` is {short(given)}; it must be what "
            f"tree_flatten returned."
        )
    values = sequence("tree_unflatten", "leaves", leaves)
    if len(values) != treespec.num_leaves:
        raise ArgumentError(
            f"tree_unflatten: {len(values)} leaves were given, but the structure has "
            f"{treespec.num_leaves}."
        )
    return _built(treespec, iter(values))


def _built(spec: TreeSpec, leaves: Iterator[Any]) -> Any:
    if spec.type is None:
        return next(leaves)
    values = [
        next(leaves) if child.type is None else _built(child, leaves)
        for child in spec.children
    ]
    return SUPPORTED_NODES[spec.type].unflatten_fn(values, spec.context)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves of a nested object, from left to right.

    Parameters
    ----------
    tree
        The nested object: lists, tuples and dicts, and other registered nodes, with
        leaves of any class.
    is_leaf
        A function that returns True for a node that is to count as a leaf.  None means
        that all nodes are taken apart.

    Raises
    ------
    DTypeError
        If `is_leaf` is not callable.

    Examples
    --------
    >>> from autocalc.utils._pytree import tree_leaves
    >>> tree_leaves([1, (2, {"a": 3})])
    [1, 2, 3]
    """
    _check_callable("tree_leaves", "is_leaf", is_leaf, none=True)
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """Return the structure of a nested object, without its leaves.

    Parameters
    ----------
    tree
        The nested object: lists, tuples and dicts, and other registered nodes, with
        leaves of any class.
    is_leaf
        A function that returns True for a node that is to count as a leaf.  None means
        that all nodes are taken apart.

    Raises
    ------
    DTypeError
        If `is_leaf` is not callable.

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
    """Apply a function to each leaf of a nested object; return the same structure.

    Parameters
    ----------
    func
        The function to call.  Its arguments are a leaf of `tree` and the leaves of
        `rests` at the same position.
    tree
        The nested object: lists, tuples and dicts, and other registered nodes, with
        leaves of any class.
    *rests
        More nested objects of the same structure.
    is_leaf
        A function that returns True for a node that is to count as a leaf.  None means
        that all nodes are taken apart.

    Raises
    ------
    DTypeError
        If `func` or `is_leaf` is not callable.
    ArgumentError
        If an element of `rests` has another structure.

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
            raise ArgumentError(
                f"tree_map: {short(rest)} does not have the same structure as "
                f"{short(tree)}."
            )
        columns.append(values)
    return tree_unflatten([func(*row) for row in zip(*columns, strict=True)], spec)


def tree_map_only(
    types: type | tuple[type, ...],
    func: Callable[[Any], Any],
    tree: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Apply a function to the leaves of given classes; return the same structure.

    Parameters
    ----------
    types
        A class, or a tuple of classes.  Leaves of other classes are not changed.
    func
        The function to call.  Its argument is a leaf.
    tree
        The nested object: lists, tuples and dicts, and other registered nodes, with
        leaves of any class.
    is_leaf
        A function that returns True for a node that is to count as a leaf.  None means
        that all nodes are taken apart.

    Raises
    ------
    DTypeError
        If `types` is not a class or a tuple of classes, or if `func` or `is_leaf` is
        not callable.

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
        raise DTypeError(
            f"tree_map_only: `types` is {short(types)}; it must be a class or a "
            f"tuple of classes."
        )

    def change(leaf: Any) -> Any:
        return func(leaf) if isinstance(leaf, kinds) else leaf

    return tree_map(change, tree, is_leaf=is_leaf)


def _check_callable(where: str, name: str, value: Any, *, none: bool = False) -> None:
    if callable(value) or (none and value is None):
        return
    raise DTypeError(f"{where}: `{name}` is {short(value)}; it must be a function.")

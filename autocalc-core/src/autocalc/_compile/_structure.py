# SPDX-License-Identifier: MIT
"""Arguments and results as a flat list of leaves and a description of their nesting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: Containers whose elements are flattened; every other value is a leaf.
CONTAINERS = (tuple, list, dict)


def flatten(value: Any, leaves: list[Any]) -> Any:
    """Append the leaves of `value` to `leaves`; return a description of their nesting.

    Lists, tuples (also named tuples) and dicts are flattened.  The description is
    hashable, and equal for values with the same nesting.
    """
    kind = value.__class__
    if kind is dict:
        parts = tuple([(key, flatten(one, leaves)) for key, one in value.items()])
        return dict, parts
    if isinstance(value, (tuple, list)):
        return kind, tuple([flatten(one, leaves) for one in value])
    leaves.append(value)
    return None


def distinct(leaves: list[Any]) -> tuple[list[Any], list[int] | None]:
    """Return each leaf once, and an index for each (None if every leaf is distinct)."""
    once = {id(leaf): leaf for leaf in leaves}
    if len(once) == len(leaves):
        return leaves, None
    numbers = {key: number for number, key in enumerate(once)}
    return list(once.values()), [numbers[id(leaf)] for leaf in leaves]


def rebuild(nesting: Any, next_leaf: Callable[[], Any]) -> Any:
    """Return a value with a nesting described by `flatten`, made of leaves in order."""
    if nesting is None:
        return next_leaf()
    kind, parts = nesting
    if kind is dict:
        return {key: rebuild(one, next_leaf) for key, one in parts}
    values = [rebuild(one, next_leaf) for one in parts]
    if kind is tuple or kind is list:
        return kind(values)
    return kind(*values) if hasattr(kind, "_fields") else kind(values)

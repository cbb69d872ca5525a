# SPDX-License-Identifier: MIT
"""Trees of tuples in which integers are affine functions of a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Affine:
    """The integer ``slope * t + start``, a function of the number `t`."""

    slope: int
    start: int

    def at(self, t: int) -> int:
        """Return the integer for the value `t` of the number."""
        return self.slope * t + self.start


class DifferError(Exception):
    """Two trees differ in a way that no affine function of a number explains."""


def fitted(a: Any, b: Any, s: int, t: int) -> Any:
    """Return the tree that equals `a` where the number is `s`, and `b` where it is `t`.

    Raises `DifferError` where no such tree exists: something other than an integer
    differs, or the slope of an integer is not an integer.
    """
    if a is b:
        return a
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        parts = [fitted(x, y, s, t) for x, y in zip(a, b, strict=True)]
        return _like(a, parts)
    if a.__class__ is b.__class__ is int and a != b:
        # 160 at t = 5 and 224 at t = 7: slope 32, start 160 - 32 * 5 = 0.
        slope, rest = divmod(b - a, t - s)
        if rest:
            raise DifferError
        return Affine(slope, a - slope * s)
    if a.__class__ is not b.__class__ or a != b:
        raise DifferError
    return a


def at(tree: Any, t: int) -> Any:
    """Return the tree for the value `t` of the number."""
    if tree.__class__ is Affine:
        return tree.at(t)
    if isinstance(tree, tuple):
        return _like(tree, [at(one, t) for one in tree])
    return tree


def moves(tree: Any) -> bool:
    """Return whether something in a tree depends on the number."""
    return next(affines(tree), None) is not None


def affines(tree: Any) -> Iterator[Affine]:
    """Yield the integers in a tree that depend on the number."""
    if tree.__class__ is Affine:
        yield tree
    elif isinstance(tree, tuple):
        for one in tree:
            yield from affines(one)


def _like(a: tuple[Any, ...], parts: list[Any]) -> tuple[Any, ...]:
    return a.__class__(*parts) if hasattr(a, "_fields") else tuple(parts)

# SPDX-License-Identifier: MIT
"""A check whether a fast method still matches the methods that it replaces."""

from __future__ import annotations


def overrides(cls: type, quick: str, *plain: str) -> bool:
    """Return whether no subclass overrides a method in `plain` without `quick`.

    If a subclass overrides only a plain method, the inherited `quick` is outdated.
    """
    for base in cls.__mro__:
        if quick in base.__dict__:
            return True
        if any(name in base.__dict__ for name in plain):
            return False
    return False

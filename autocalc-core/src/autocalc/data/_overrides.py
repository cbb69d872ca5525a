# SPDX-License-Identifier: MIT
"""Whether a quicker way still gives what the methods that it stands for give."""

from __future__ import annotations


def overrides(cls: type, quick: str, *plain: str) -> bool:
    """Tell whether `cls` got its method `quick` no earlier than those named `plain`.

    A class derived from one that has both may override the plain ones alone.
    """
    for base in cls.__mro__:
        if quick in base.__dict__:
            return True
        if any(name in base.__dict__ for name in plain):
            return False
    return False

# SPDX-License-Identifier: MIT
"""Objects that a step reaches by weak references; programs must not keep them alive."""

from __future__ import annotations

from types import CodeType, MethodType
from typing import Any
from weakref import ProxyTypes

from autocalc._compile._guards import Drawn
from autocalc._tensor import Tensor


def keep_weakly(found: Any, what: str, value: Any, code: CodeType) -> None:
    """Let guards hold an object weakly, if a weak reference leads to it."""
    if isinstance(value, Tensor):  # recordings hold the tensors that kernels use
        what = f"a tensor, to which the weak reference {what} leads"
        found.guards.append(Drawn(what, None, None, code, reads=True, at_once=True))
    elif value is not None:
        found.hold_weakly(value.__self__ if isinstance(value, MethodType) else value)


def target_of(found: Any, what: str, value: Any, code: CodeType) -> Any:
    """Return the referent of a weak proxy, or None; other values as they are."""
    if not isinstance(value, ProxyTypes):
        return value
    try:
        value = value.__repr__.__self__
    except ReferenceError:
        return None
    keep_weakly(found, what, value, code)
    return value

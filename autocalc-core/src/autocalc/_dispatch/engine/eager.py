# SPDX-License-Identifier: MIT
"""Calls in C that replace the Python functions that define them, as in PEP 399.

Each factory of operators passes the finished Python function, the *definition*, and
further data to core's engine (`_engine.py`)::

    call = accelerated("traced", function, record, False, False)

The engine returns an object that does the same faster.  It leaves every error, and
every case that it does not know, to the definition.  Without the engine, `call` is the
definition itself.  ``AUTOCALC_EAGER=python`` switches the engine's calls off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from autocalc._config import settings
from autocalc._dispatch.engine import native

CallT = TypeVar("CallT", bound=Callable[..., Any])


def _calls() -> tuple[Any, str]:
    """Return the engine's calls, or None and the reason why they are not used."""
    if settings().eager == "python":
        return None, "switched off by AUTOCALC_EAGER=python"
    if native.native is None:
        return None, native.missing
    return native.native.eager, ""


#: The engine's calls by kind, or None; then `reason` says why.
calls, reason = _calls()


def accelerated(kind: str, definition: CallT, *known: Any) -> CallT:
    """Return the engine's call of a kind, or the definition if there is none."""
    if calls is None:
        return definition
    return getattr(calls, kind)(definition, *known)  # type: ignore[no-any-return]  # by name


def accelerate(kind: str, *known: Any) -> Callable[[CallT], CallT]:
    """Return a decorator that applies `accelerated`."""
    return lambda definition: accelerated(kind, definition, *known)


def elementwise(
    on: str,
    count: int,
    index: int,
    *,
    op: Any = None,
    saves: Any = None,
    numbers: tuple[bool, bool] = (False, False),
    word: str | None = None,
    dtype: Any = None,
    like: int = 0,
) -> Callable[[CallT], CallT]:
    """Accelerate calls of elementwise kernel `index` with `count` operands.

    The operands are ``"tensors"``, tensors ``"in place"``, ``"arrays"``, or two arrays
    of which the second is added ``"into"`` the first.  Nodes belong to `op` and store
    what it `saves`.  The first and the last operand may be numbers (`numbers`).  The
    kernel's attribute is `word`.  The result has `dtype`, or the dtype of the operand
    `like`.
    """
    known = (on, count, index, op, saves, *numbers, word, dtype, like)
    return accelerate("elementwise", *known)


def along(
    op: Any,
    *,
    floats: bool = True,
    most: int = 3,
    in_tuple: bool = True,
    needs_dim: bool = False,
    after: tuple[Any, ...] = (),
) -> Callable[[CallT], CallT]:
    """Accelerate a function of one tensor over or along dimensions.

    At most `most` of ``input, dim, keepdim`` are accepted.  `op` receives them, with
    the dimension `in_tuple` or alone, followed by `after`.  If `floats` is true, other
    dtypes are left to the definition.
    """
    return accelerate("along", op, floats, most, in_tuple, needs_dim, after)


def bind(**objects: Any) -> None:
    """Give the engine the classes and objects that its calls make or read."""
    if calls is not None:
        for name, value in objects.items():
            calls.bind(name, value)


#: The objects that currently want every call to run its definition.
paused: list[Any] = []


def pause(asking: Any, pausing: bool) -> None:
    """Let every call run its definition while `asking` or another object wants it."""
    others = [one for one in paused if one is not asking]
    paused[:] = [*others, asking] if pausing else others
    if calls is not None:
        calls.pause(bool(paused))


def describe() -> str:
    """Return a line that says whether calls are accelerated."""
    return f"Python; {reason}" if calls is None else "accelerated by autocalc._native"

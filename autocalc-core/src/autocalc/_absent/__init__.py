# SPDX-License-Identifier: MIT
"""Names of PyTorch that are absent on purpose, and the error that says so.

A module ends with ``__getattr__ = lookup(__name__)`` (`autocalc._aliases`), which runs
only for what it lacks. `Tensor` has a `Refusal` for each name: a ``__getattr__`` of its
own would make every attribute slower, those that exist included.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from autocalc._absent.instead import INSTEAD
from autocalc._absent.names import GROUPS, Group

__all__ = ["GROUPS", "Refusal", "absence", "advice", "groups_by_name", "missing"]
__all__ += ["refusals", "stand_in_by"]

#: Modules that are there twice.
SAME_PLACE = {"autocalc.utils.data": "autocalc.data"}


def groups_by_name(place: str) -> dict[str, Group]:
    """Return the names that `place` does not have on purpose, with their groups."""
    return {
        name: group for group in GROUPS for name in group.names.get(place, "").split()
    }


def advice(place: str, name: str, group: Group) -> str:
    """Return the replacement of a name, or ""."""
    return INSTEAD.get(place, {}).get(name, group.instead)


def absence(place: str, name: str) -> AttributeError:
    """Return the error for a name that a module lacks, on purpose or not."""
    table = SAME_PLACE.get(place, place)
    group = groups_by_name(table).get(name)
    text = f"module {place!r} has no attribute {name!r}"
    if group is not None:
        text = f"{text}: {_why(table, name, group)}"
    else:
        text += _meant(place, name)
    return AttributeError(text, name=name)


def _meant(place: str, name: str) -> str:
    """Return which names are like one that does not exist."""
    from difflib import get_close_matches  # late, as only an error needs it

    names = getattr(sys.modules.get(place), "__all__", ())
    near = get_close_matches(name, names, n=1)
    return f". Did you mean {near[0]!r}?" if near else ""


def _why(place: str, name: str, group: Group) -> str:
    instead = advice(place, name, group)
    return f"{group.reason}. Instead: {instead}." if instead else f"{group.reason}."


def _raise(error: AttributeError, place: str, name: str) -> NoReturn:  # noqa: ARG001
    raise error


#: What becomes of a name that is not there: an error, unless `autocalc.torch` runs.
_answer: Callable[[AttributeError, str, str], Any] = _raise


def stand_in_by(answer: Callable[[AttributeError, str, str], Any]) -> None:
    """Ask `answer` for each name that is not there: it returns a value, or raises."""
    global _answer
    _answer = answer


def missing(place: str, name: str) -> Any:
    """Raise the error for a name that a module lacks, or return its placeholder."""
    return _answer(absence(place, name), place, name)


class Refusal:
    """A class attribute for an absent name: reading it raises an AttributeError."""

    __slots__ = ("_group", "_name", "_place")

    def __init__(self, place: str, name: str, group: Group) -> None:
        self._place = place
        self._name = name
        self._group = group

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        why = _why(self._place, self._name, self._group)
        message = f"{owner.__name__!r} object has no attribute {self._name!r}: {why}"
        error = AttributeError(message, name=self._name, obj=instance)
        _answer(error, self._place, self._name)
        raise error


def refusals(place: str) -> Iterator[tuple[str, Refusal]]:
    """Yield the names that a class does not have on purpose, with their refusals."""
    for name, group in groups_by_name(place).items():
        yield name, Refusal(place, name, group)

# SPDX-License-Identifier: MIT
"""Follows numbers that vary while a function is recorded.

A number that differs from its value in the last recording is replaced during this one.
The replacement notes the decisions that Python bases on the number.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Any

import autocalc._compile._computed  # noqa: F401  gives numbers their operators
from autocalc._compile._guards import Guard
from autocalc._compile._places import Element, Held, Place
from autocalc._compile._tracked import Span, Tracked
from autocalc._compile._tracked_float import TrackedFloat


class Followed:
    """A ``with`` block in which numbers that vary are followed.

    Attributes
    ----------
    spans
        The ranges of values for which Python acts the same, by source of the number.
    """

    def __init__(self) -> None:
        self.spans: dict[Any, Span] = {}
        self._put: list[tuple[Place, Any, Any]] = []

    def number(self, source: Any, value: Any) -> Any:
        """Return a followed number of the same value."""
        span = self.spans[source] = Span(value)
        kind = Tracked if value.__class__ is int else TrackedFloat
        return Tracked(span) if kind is Tracked else TrackedFloat(span, value)

    def argument(self, value: Any, before: dict[Any, Any], places: Any) -> Any:
        """Return an argument in which the numbers that changed are followed.

        `places` yields the place of each number in the argument.
        """
        if value.__class__ in (int, float):
            place = next(places)
            return self._changed(place, value, before)
        if value.__class__ is tuple:
            found = tuple([self.argument(one, before, places) for one in value])
            return value if all(map(is_, found, value)) else found
        if value.__class__ in (list, dict):
            pairs = value.items() if value.__class__ is dict else enumerate(value)
            for key, one in list(pairs):
                now = self.argument(one, before, places)
                if now is not one:
                    self._replace(Element(Held(value, True), key), one, now)
        elif isinstance(value, (tuple, list)):  # a user's subclass
            for one in value:
                self.argument(one, {}, places)
        return value

    def _changed(self, place: Any, value: Any, before: dict[Any, Any]) -> Any:
        if place not in before or before[place] == value:
            return value
        return self.number(place, value)

    def captured(self, guards: Iterable[Guard]) -> None:
        """Follow the numbers at guarded places whose values changed."""
        for guard in guards:
            now = guard.get()
            if now.__class__ is guard.value.__class__ and now != guard.value:
                self._replace(guard.place, now, self.number(guard.source, now))

    def _replace(self, place: Place, value: Any, number: Any) -> None:
        place.put(number)
        self._put.append((place, value, number))

    def names(self) -> set[Any]:
        """Return the names of the attributes and keys that hold followed numbers."""
        places = [place for place, _, _ in self._put]
        return {getattr(p, "key", getattr(p, "name", None)) for p in places}

    def __enter__(self) -> Followed:
        return self

    def __exit__(self, *error: object) -> None:
        for place, value, number in self._put:
            if place.get() is number:
                place.put(value)
        self._put.clear()
        for span in self.spans.values():
            span.closed = True

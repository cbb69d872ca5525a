# SPDX-License-Identifier: MIT
"""Guards contents that are neither elements nor attributes; `found` collects them."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import Any

from autocalc._compile._functions import contents
from autocalc._compile._guards import Drawn, Inside
from autocalc._compile._objects import (
    CACHED,
    DRAWS,
    is_iterator,
    picture_for,
    picture_of_generator,
)
from autocalc._compile._outside import kept_in_c
from autocalc._compile._places import Variable
from autocalc._compile._reads import ESCAPES, reads_of
from autocalc._compile._surroundings import settings_of


def without_elements(found: Any, what: str, value: Any, code: CodeType) -> None:
    """Guard the contents of an object that no attribute holds."""
    take = picture_for(value)
    if isinstance(value, CACHED):
        _not_run(found, value.__wrapped__)
    if take is not None:
        found.guards.append(Inside(what, found.held(value), take, code))
    elif isinstance(value, DRAWS):
        held = found.held(value)
        drawn = f"the random numbers that {what} draws; draw with AutoCalc's"
        given = drawn, held, picture_of_generator, code
        found.guards.append(Inside(*given, only_effects=True))
    elif is_iterator(value):
        taken = f"{what}, from which it takes elements"
        found.guards.append(Drawn(taken, None, found.held(value), code))


def _not_run(found: Any, function: Any) -> None:
    """Guard what a function reads that may not run, because its result is cached."""
    if not isinstance(function, FunctionType):
        return
    code = function.__code__
    reads, where = reads_of(code), function.__globals__
    for name in reads.globals.keys() & where.keys():
        found.key(name, where, name, reads.globals[name], reads, code)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        value = contents(cell)
        found.place(name, Variable(found.held(cell)), value, code)
        found.look(name, value, reads.locals.get(name, ESCAPES), reads, code)


def surroundings(found: Any, value: Any, code: CodeType) -> None:
    """Guard the settings of a library that a value depends on."""
    settings = settings_of(value)
    if settings is not None and found.first(settings[1], "settings"):
        library, take = settings
        what = f"the settings of {library}"
        found.guards.append(Inside(what, found.held(take), take, code))


def refuse_kept_in_c(found: Any, value: Any, code: CodeType) -> None:
    """Refuse an object from before the recording that keeps its contents in C."""
    if found.is_old and (kept := kept_in_c(value)):
        found.guards.append(Drawn(kept, None, None, code, reads=True))

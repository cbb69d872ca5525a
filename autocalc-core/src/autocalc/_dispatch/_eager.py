# SPDX-License-Identifier: MIT
"""Calls in C beside the Python functions that define them, in the manner of PEP 399.

A package may bring an *eager runtime*, a module that makes such calls.  Each factory of
operators hands it the finished Python function, the *definition*, and what that knows::

    call = accelerated("unary", call, index, op, saves_input, saves_output)

The runtime gives an object that does the same in less time.  What it does not know, and
every error, it leaves to the definition; without a runtime `call` stays as it is.
Found with `import autocalc`, as operators are made then.  ``AUTOCALC_EAGER=python``
leaves it out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from autocalc._config import settings
from autocalc._dispatch._fit import api_misfit, misfit

#: The entry-point group in which packages announce a runtime: a module's name.
EAGER_ENTRY_POINT_GROUP = "autocalc.eager"

#: The contract's number.  A runtime made for another number is not used.
EAGER_API_VERSION = 1

CallT = TypeVar("CallT", bound=Callable[..., Any])

#: Kinds that the runtime did not take, with its word; "" stands for all of them.
_refused: dict[str, str] = {}


class Runtime(NamedTuple):
    """What was found: the module or None, whose it is, and why it is not used."""

    module: Any
    origin: str
    reason: str


def runtime() -> Runtime:
    """Return the eager runtime of this process, looked for at the first call."""
    found = _search()
    if "" in _refused:
        return Runtime(None, found.origin, _refused[""])
    return found


@functools.lru_cache(maxsize=1)
def _search() -> Runtime:
    if settings().eager == "python":
        return Runtime(None, "", "switched off by AUTOCALC_EAGER=python")
    from importlib.metadata import entry_points  # needed again for kernel sets

    points = sorted(entry_points(group=EAGER_ENTRY_POINT_GROUP), key=lambda p: p.name)
    if not points:
        return Runtime(None, "", "no installed package has one")
    return _loaded(points[0])


def _loaded(point: Any) -> Runtime:
    """Return the runtime of an entry point, or why it cannot be used."""
    dist = point.dist
    name, version = ("", "") if dist is None else (dist.name, dist.version)
    origin = f"{name} {version}".strip() or point.value
    if unfit := misfit(name, version):
        return Runtime(None, origin, unfit)
    try:
        module = point.load()
        made_for = module.EAGER_API_VERSION
    except Exception as error:  # whatever a package does wrong; Python goes on
        return Runtime(None, origin, f"it failed: {type(error).__name__}: {error}")
    if unfit := api_misfit("eager", made_for, EAGER_API_VERSION, name):
        return Runtime(None, origin, unfit)
    return Runtime(module, origin, "")


def accelerated(kind: str, definition: CallT, *known: Any) -> CallT:
    """Return the runtime's call of this kind, or the definition where it has none."""
    factory = getattr(runtime().module, kind, None)
    if factory is None:
        return definition
    try:
        return factory(definition, *known)  # type: ignore[no-any-return]  # of a module found at run time
    except Exception as error:  # made for another AutoCalc
        _refused[kind] = f"{type(error).__name__}: {error}"
        return definition


def accelerate(kind: str, *known: Any) -> Callable[[CallT], CallT]:
    """Return a decorator that does what `accelerated` does."""
    return lambda definition: accelerated(kind, definition, *known)


def bind(**objects: Any) -> None:
    """Tell the runtime of classes and objects that its calls make or read."""
    module = runtime().module
    if module is None:
        return
    try:
        for name, value in objects.items():
            module.bind(name, value)
    except Exception as error:  # made for another AutoCalc
        _refused[""] = f"it failed: {type(error).__name__}: {error}"


#: Holds something while every call is to run its definition.
paused: list[bool] = []


def pause(pausing: bool) -> None:
    """Let every call run its definition, or no longer."""
    paused[:] = [True] * pausing
    module = runtime().module
    if module is not None:
        module.pause(pausing)


def describe() -> str:
    """Return in one line whether calls are accelerated, and by whom."""
    found = runtime()
    if found.module is not None:
        kinds = "".join(f"; not {kind}: {why}" for kind, why in _refused.items())
        return f"accelerated by {found.origin}{kinds}"
    return f"Python; {found.origin + ': ' if found.origin else ''}{found.reason}"

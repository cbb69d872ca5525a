# SPDX-License-Identifier: MIT
"""`ac.compile`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from autocalc._compile._function import Compiled
from autocalc._compile._passes import PASSES, REORDERING
from autocalc._tensor.checks import as_int, check_flags
from autocalc.errors import ArgumentError, DTypeError


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fallback: bool = False,
    check: int = 0,
    limit: int | None = None,
    off: str | Iterable[str] = (),
    exact: bool = False,
    disable: bool = False,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = None,
    mode: str | None = None,
    options: Any = None,
) -> Any:
    """Return a function that records the kernel calls of `model` and replays them.

    The first calls run `model` and record its kernel calls.  As soon as two recordings
    agree there is a *program*: a flat list of kernel calls, whose temporaries share one
    arena.  Later calls with arguments of the same shapes and dtypes replay it: no
    Python of `model` runs.  A whole training step can be compiled (forward, backward,
    clipping, optimizer), or a function without gradients.

    Parameters, buffers and the state of optimizers are shared with eager code: a
    replay leaves what the call would have left, so that both can take turns.  Numbers
    among the arguments are inputs; where slices depend on one, a third recording makes
    a program that holds for many of its values.  Other Python values that the function
    looked at (attributes, globals, variables of enclosing functions) are guarded: where
    one has changed, the function is recorded again.  Random operators draw fresh
    numbers.

    Returned tensors have no history: run `backward` inside.

    Parameters
    ----------
    model
        A function or a module.  Left out, a decorator is returned.
    fallback
        Where a function cannot be replayed, run it eagerly with one warning, in place
        of an error.
    check
        Every so many replays, also run the function eagerly and compare what both
        leave; 0 never does.
    limit
        Most bytes of temporaries and gradients that a program may need.  What needs
        more makes cheap intermediates again before backward reads them, with the same
        bits; products only where nothing else helps, with a warning.  What does not
        fit so is refused with the numbers, before it runs.
    off
        Passes that are left out, by name.
    exact
        Leave out the passes that compute in another order: results are then those of
        eager code bit for bit.  With them they are within the kernels' error budgets.
    disable
        Return `model` itself.
    fullgraph, dynamic, backend, mode, options
        Accepted so that programs carry over: there is one backend, whose programs are
        whole.

    Returns
    -------
    A callable with `programs`, a list of what was recorded.

    Raises
    ------
    ArgumentError
        If a pass is unknown, or `check` or `limit` is negative.
    CompileError
        From a call: if the function reads a value, changes Python values, keeps
        tensors elsewhere, or does not do the same from call to call.

    Examples
    --------
    >>> import autocalc as ac
    >>> w = ac.zeros(2, requires_grad=True)
    >>> sgd = ac.optim.SGD([w], lr=0.5)
    >>> @ac.compile
    ... def step(x):
    ...     sgd.zero_grad()
    ...     loss = ((w - x) ** 2).mean()
    ...     loss.backward()
    ...     sgd.step()
    ...     return loss
    >>> for _ in range(20):
    ...     loss = step(ac.tensor([1.0, 3.0]))
    >>> w.detach().round(decimals=3), len(step.programs)
    (tensor([1., 3.]), 1)
    """
    flags = {"fallback": fallback, "exact": exact, "disable": disable}
    check_flags("compile", **flags, fullgraph=fullgraph, dynamic=dynamic)
    count = as_int("compile", "check", check)
    if count < 0:
        message = f"compile: `check` is {count}; it must be 0 or more replays."
        raise ArgumentError(message)
    most = None if limit is None else as_int("compile", "limit", limit)
    if most is not None and most < 0:
        raise ArgumentError(f"compile: `limit` is {most}; it must be 0 or more bytes.")
    names = (off,) if isinstance(off, str) else tuple(off)
    for name in names:
        if name not in PASSES:
            raise ArgumentError(
                f"compile: there is no pass {name!r}; there are {_listed(PASSES)}."
            )
    if exact:
        names = (*names, *REORDERING)
    del backend, mode, options

    def compiled(function: Any) -> Any:
        if not callable(function):
            kind = type(function).__name__
            raise DTypeError(
                f"compile: `model` is a {kind}; it must be a function or a module."
            )
        if disable or isinstance(function, Compiled):
            return function
        words: dict[str, Any] = {"check": count, "limit": most, "off": names}
        return Compiled(function, fallback=fallback, **words)

    return compiled if model is None else compiled(model)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))

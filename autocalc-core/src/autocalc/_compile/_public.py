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
    agree, they become a *program*: a list of kernel calls, whose temporary arrays share
    one block of memory.  Later calls with arguments of the same shapes and dtypes
    replay the program, without running the Python code of `model`.  A whole training
    step can be compiled (forward, backward, clipping, optimizer), or a function without
    gradients.

    Parameters, buffers and the state of optimizers are shared with eager code.  A
    replay changes them in the same way as an ordinary call, so replays and ordinary
    calls can alternate.  Numbers among the arguments are inputs of the program, so they
    may change from call to call.  If slices depend on a number, a third recording makes
    a program that is valid for many values of this number. Other Python values that the
    function uses (attributes, globals, variables of enclosing functions) are guarded:
    if one has changed, the function is recorded again.  Random operators draw new
    numbers in each replay.

    Returned tensors have no gradient history, so call `backward` inside of the
    function.

    Parameters
    ----------
    model
        A function or a module.  Without it, a decorator is returned.
    fallback
        True to run a function eagerly, with one warning, if it cannot be replayed;
        False to raise an error.
    check
        The number of replays after which the function also runs eagerly, to compare the
        results.  With 0, it never does.
    limit
        The largest number of bytes for temporaries and gradients of a program.  If a
        program needs more, cheap intermediate results are computed again before the
        backward pass reads them, with the same bits.  Matrix products are computed
        again only if nothing else helps, with a warning.  If the program still needs
        more, an error is raised before it runs; the message gives both numbers of
        bytes.
    off
        The names of the compiler's passes to leave out.
    exact
        True to leave out the passes that change the order of computations.  Results are
        then equal to those of eager code, bit for bit; otherwise they differ by no more
        than the kernels' allowed errors.
    disable
        True to return `model` itself.
    fullgraph, dynamic, backend, mode, options
        Accepted so that programs for PyTorch run.  They have no effect: there is one
        backend, and a program always contains the whole function.

    Returns
    -------
    A callable whose attribute `programs` is a list of the recorded programs.

    Raises
    ------
    ArgumentError
        If `off` names an unknown pass, or `check` or `limit` is negative.
    CompileError
        In a call, if the function reads the value of a tensor, changes Python values,
        stores tensors elsewhere, or does different things in different calls.

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
                f"compile: there is no pass {name!r}; the passes are {_listed(PASSES)}."
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

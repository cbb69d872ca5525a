# SPDX-License-Identifier: MIT
"""The grad mode: whether operators record in the running context."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar, cast

import numpy as np

from autocalc._dispatch.selection.state import current, enter, leave
from autocalc.errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])


def _check_mode(where: str, mode: Any) -> None:
    if not isinstance(mode, (bool, np.bool_)):
        message = f"{where}: `mode` is {mode!r:.60}; it must be True or False."
        raise ArgumentError(message)


def is_grad_enabled() -> bool:
    """Return whether operators are currently recorded for gradients.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.no_grad():
    ...     ac.is_grad_enabled()
    False
    """
    return current().grad


class _GradMode:
    """A grad mode for a ``with`` block, or for the calls of a decorated function."""

    _mode: bool

    def __init__(self) -> None:
        self._tokens: list[Any] = []

    def __enter__(self) -> None:
        self._tokens.append(enter(grad=self._mode))

    def __exit__(self, *exc: object) -> None:
        leave(self._tokens.pop())

    def __call__(self, function: F) -> F:
        mode = self._mode
        if inspect.isgeneratorfunction(function):
            return cast("F", _generator(function, mode))
        if inspect.iscoroutinefunction(function):
            return cast("F", _coroutine(function, mode))

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            token = enter(grad=mode)
            try:
                return function(*args, **kwargs)
            finally:
                leave(token)

        return cast("F", wrapped)


def _coroutine(function: Callable[..., Any], mode: bool) -> Callable[..., Any]:
    """Run a coroutine in a mode; each task has a context of its own."""

    @functools.wraps(function)
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        token = enter(grad=mode)
        try:
            return await function(*args, **kwargs)
        finally:
            leave(token)

    return wrapped


def _generator(function: Callable[..., Any], mode: bool) -> Callable[..., Any]:
    """Run each step of a generator in a mode; the caller keeps its own mode between."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        generator = function(*args, **kwargs)
        step, given = generator.send, None
        try:
            while True:
                token = enter(grad=mode)
                try:
                    value = step(given)
                except StopIteration as end:
                    return end.value
                finally:
                    leave(token)
                try:
                    step, given = generator.send, (yield value)
                except Exception as error:  # the caller threw it into the generator
                    step, given = generator.throw, error
        finally:
            token = enter(grad=mode)
            try:
                generator.close()
            finally:
                leave(token)

    return wrapped


class no_grad(_GradMode):
    """Do not record gradients: a ``with`` block or a decorator.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor(1.0, requires_grad=True)
    >>> with ac.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    _mode = False

    def __new__(cls, function: F | None = None) -> Any:
        """Make the block; or decorate `function` when used without brackets."""
        self = super().__new__(cls)
        if function is None:
            return self
        self.__init__()  # type: ignore[misc]  # the decorator without brackets
        return self(function)


class inference_mode(_GradMode):
    """Do not record gradients, as in `no_grad`; ``inference_mode(False)`` records them.

    Examples
    --------
    >>> import autocalc as ac
    >>> @ac.inference_mode()
    ... def evaluate(model, x):
    ...     return model(x)
    """

    def __init__(self, mode: bool = True) -> None:
        _check_mode("inference_mode", mode)
        super().__init__()
        self._mode = not mode
        self._outer: list[Any] = []

    def __enter__(self) -> None:
        super().__enter__()
        self._outer.append(_inference.set(not self._mode))

    def __exit__(self, *exc: object) -> None:
        _inference.reset(self._outer.pop())
        super().__exit__(*exc)

    def __call__(self, function: F) -> F:
        inner = super().__call__(function)
        kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction)
        if any(kind(function) for kind in kinds):
            return inner  # other code runs while it waits

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            token = _inference.set(not self._mode)
            try:
                return inner(*args, **kwargs)
            finally:
                _inference.reset(token)

        return cast("F", wrapped)


_inference: ContextVar[bool] = ContextVar("inference", default=False)


def is_inference_mode_enabled() -> bool:
    """Return whether the code runs inside of `inference_mode`.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.inference_mode():
    ...     ac.is_inference_mode_enabled()
    True
    """
    return _inference.get()


class enable_grad(no_grad):
    """Record gradients inside of `no_grad`: a ``with`` block or a decorator.

    Examples
    --------
    >>> import autocalc as ac
    >>> x = ac.tensor(1.0, requires_grad=True)
    >>> with ac.no_grad():
    ...     y = x * 2
    ...     with ac.enable_grad():
    ...         z = x * 2
    >>> y.requires_grad, z.requires_grad
    (False, True)
    """

    _mode = True


class set_grad_enabled(_GradMode):
    """Switch the recording of gradients on or off, or for a ``with`` block.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.set_grad_enabled(False):
    ...     ac.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        _check_mode("set_grad_enabled", mode)
        super().__init__()
        self._mode = bool(mode)
        self._first: Any = enter(grad=self._mode)

    def __enter__(self) -> None:
        if self._first is None:
            self._first = enter(grad=self._mode)
        self._tokens.append(self._first)
        self._first = None

    def __call__(self, function: F) -> F:
        """Decorate a function; undo the switch of the constructor."""
        leave(self._first)
        self._first = None
        return super().__call__(function)


class set_multithreading_enabled:
    """Accept PyTorch's setting of threads in the backward pass; it has no effect.

    The backward pass runs in the thread that calls `backward`, and its kernels use
    several threads, see `set_num_threads`.  The function may be used as a ``with``
    block or as a statement.

    Examples
    --------
    >>> import autocalc as ac
    >>> with ac.autograd.set_multithreading_enabled(False):
    ...     ac.ones(1, requires_grad=True).sum().backward()
    """

    def __init__(self, mode: bool) -> None:
        _check_mode("set_multithreading_enabled", mode)
        self.mode = bool(mode)

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, *exception: object) -> None:
        """End the block."""

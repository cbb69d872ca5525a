# SPDX-License-Identifier: MIT
"""Hooks of optimizers: functions called around steps and states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from types import FunctionType
from typing import Any
from weakref import WeakSet

from autocalc._dispatch.selection.state import decided
from autocalc._tensor import RemovableHandle
from autocalc._tensor.checks import check_flag
from autocalc.errors import DTypeError, HookError

Hook = Callable[..., Any]

#: The module of the base class, whose `step` notes itself that it has run.
_BASE = "autocalc.optim._optimizer"


def _noting(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `step` that notes that it has run."""

    @wraps(step)
    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = step(self, *args, **kwargs)
        self._has_stepped = True
        return result

    return noted


class Hooked:
    """The methods with which every optimizer registers hooks.

    An optimizer without step hooks pays nothing for them.  The first hook replaces
    `step` by one that also calls the hooks.
    """

    #: Hooks by kind, each under the number of its handle; made with the first hook.
    _hooks: dict[str, dict[int, Hook]] | None = None
    #: Whether `step` has run; schedulers warn if their first epoch ends before it.
    _has_stepped = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Let a `step` of the subclass note that it has run."""
        super().__init_subclass__(**options)
        step = vars(cls).get("step")
        if isinstance(step, FunctionType) and cls.__module__ != _BASE:
            cls.step = _noting(step)  # type: ignore[attr-defined]  # it has one

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step.

        `args` and `kwargs` are the arguments of ``step``; the first of `args` is the
        optimizer. The hook returns None, or new arguments as a pair (args, kwargs).

        Examples
        --------
        >>> import autocalc as ac
        >>> w = ac.ones(2, requires_grad=True)
        >>> sgd = ac.optim.SGD([w], lr=0.1)
        >>> handle = sgd.register_step_pre_hook(lambda *given: print("before"))
        >>> sgd.step()
        before
        >>> handle.remove()
        """
        return self._register("step_pre", hook, False)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return self._register("step_post", hook, False)

    def register_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict` collects the state.

        With `prepend`, the hook is called before all hooks that are already registered.
        """
        return self._register("state_pre", hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` with the result of `state_dict`.

        The hook may return another dict, which `state_dict` then returns.
        """
        return self._register("state_post", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before a state is loaded.

        The hook gets a copy of the dict.  It may return another dict, which is then
        loaded.
        """
        return self._register("load_pre", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after a state is loaded."""
        return self._register("load_post", hook, prepend)

    def _register(self, kind: str, hook: Hook, prepend: bool) -> RemovableHandle:
        where = f"{type(self).__name__}.register_hook"
        check_flag(where, "prepend", prepend)
        if not callable(hook):
            raise DTypeError(
                f"{where}: `hook` is a {type(hook).__name__}; it must be a function."
            )
        if self._hooks is None:
            self._hooks = {}
        hooks = self._hooks.setdefault(kind, {})
        handle = RemovableHandle(hooks, hook, prepend=prepend)
        if kind in _OF_ALL:
            _call_hooks(self)
        return handle


#: Hooks on the steps of all optimizers, by kind.
_OF_ALL: dict[str, dict[int, Hook]] = {"step_pre": {}, "step_post": {}}

_optimizers: WeakSet[Any] = WeakSet()


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimizer.

    The hook is called before the hooks of the optimizer itself.  It may return new
    arguments as a pair (args, kwargs).

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.optim.optimizer import register_optimizer_step_pre_hook
    >>> handle = register_optimizer_step_pre_hook(lambda *given: print("before"))
    >>> ac.optim.SGD([ac.ones(2, requires_grad=True)], lr=0.1).step()
    before
    >>> handle.remove()
    """
    return _of_all("step_pre", hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimizer.

    The hook is called after the hooks of the optimizer itself.

    Examples
    --------
    >>> import autocalc as ac
    >>> from autocalc.optim.optimizer import register_optimizer_step_post_hook
    >>> handle = register_optimizer_step_post_hook(lambda *given: print("after"))
    >>> ac.optim.SGD([ac.ones(2, requires_grad=True)], lr=0.1).step()
    after
    >>> handle.remove()
    """
    return _of_all("step_post", hook)


def _of_all(kind: str, hook: Hook) -> RemovableHandle:
    if not callable(hook):
        raise DTypeError(
            f"register_optimizer_{kind}_hook: `hook` is a {type(hook).__name__}; it "
            f"must be a function."
        )
    for optimizer in _optimizers:
        _call_hooks(optimizer)
    return RemovableHandle(_OF_ALL[kind], hook)


def note(optimizer: Any) -> None:
    """Apply the hooks of all optimizers to a new optimizer."""
    _optimizers.add(optimizer)
    if any(_OF_ALL.values()):
        _call_hooks(optimizer)


def _call_hooks(optimizer: Any) -> None:
    """Replace `step` by one that also calls the hooks."""
    if "step" not in vars(optimizer):
        vars(optimizer)["step"] = _Step(optimizer)


class _Step:
    """The `step` of an optimizer with hooks."""

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the hooks, the `step` of the class, and the hooks after it."""
        optimizer = self._optimizer
        given = (optimizer, *args), kwargs
        for hook in (*_listed(_OF_ALL["step_pre"]), *hooks_of(optimizer, "step_pre")):
            changed = hook(optimizer, *given)
            if changed is not None:
                given = _checked(changed)
        loss = type(optimizer).step(*given[0], **given[1])
        for hook in (*hooks_of(optimizer, "step_post"), *_listed(_OF_ALL["step_post"])):
            hook(optimizer, *given)
        return loss


def _checked(changed: Any) -> tuple[Any, Any]:
    if not (isinstance(changed, tuple) and len(changed) == 2):
        raise HookError(
            f"step: a hook returned {changed!r}; it must return None or a pair "
            "(args, kwargs) in which args begins with the optimizer."
        )
    return changed


def hooks_of(optimizer: Any, kind: str) -> list[Hook]:
    """Return an optimizer's own hooks of a kind."""
    return _listed((optimizer._hooks or {}).get(kind, {}))


def _listed(registered: dict[int, Hook]) -> list[Hook]:
    """Return hooks in their order; a compiled step is valid only for these hooks."""
    hooks = list(registered.values())
    decided(lambda: list(registered.values()) == hooks)
    return hooks


def collected(optimizer: Any, collect: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the state of an optimizer; call the hooks before and after."""
    for hook in hooks_of(optimizer, "state_pre"):
        hook(optimizer)
    state: dict[str, Any] = collect(optimizer)
    for hook in hooks_of(optimizer, "state_post"):
        changed = hook(optimizer, state)
        state = state if changed is None else changed
    return state


def loaded(
    optimizer: Any, load: Callable[[Any, Any], None], state: Mapping[str, Any]
) -> None:
    """Load the state of an optimizer; call the hooks before and after."""
    before = hooks_of(optimizer, "load_pre")
    if before and isinstance(state, Mapping):
        state = dict(state)
    for hook in before:
        changed = hook(optimizer, state)
        state = state if changed is None else changed
    load(optimizer, state)
    for hook in hooks_of(optimizer, "load_post"):
        hook(optimizer)

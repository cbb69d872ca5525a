# SPDX-License-Identifier: MIT
"""The part of `Module` that handles its state and its hooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from autocalc._tensor import RemovableHandle
from autocalc._tensor.checks import check_flags, check_switches
from autocalc._tensor.state_dict import StateDict
from autocalc.errors import HookError
from autocalc.nn._module import loading
from autocalc.nn._module import state as _state
from autocalc.nn._module.hook_tables import chosen, table
from autocalc.nn._module.hooks import Hook, Hooks, one_kind_only
from autocalc.nn._module.tree import ModuleTree

M = TypeVar("M")


class StatefulModule(ModuleTree[M]):
    """The part of `Module` that handles its state and its hooks."""

    #: The version of the layout of this class in `state_dict`; increased on a change.
    _version: int = 1

    # ---- state -----------------------------------------------------------------------

    def state_dict(
        self,
        *,
        destination: dict[str, Any] | None = None,
        prefix: str = "",
        keep_vars: bool = False,
    ) -> dict[str, Any]:
        """Return a dict of all parameters and persistent buffers by dotted name.

        The tensors share the memory of the module, so they change when the module is
        trained. The attribute ``_metadata`` of the dict holds the versions of the
        modules.

        Parameters
        ----------
        destination
            A dict to which the entries are added.  None makes a new one.
        prefix
            A text that is put before each name.
        keep_vars
            True to return the parameters themselves.  False to return detached tensors.
        """
        check_flags("state_dict", keep_vars=keep_vars)
        state = StateDict() if destination is None else destination
        return _state.collect(self, state, prefix, keep_vars)

    _save_to_state_dict = _state.save_to_state_dict
    get_extra_state = _state.get_extra_state
    set_extra_state = _state.set_extra_state

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _state.IncompatibleKeys:
        """Load the values of a `state_dict`; on an error, load nothing.

        Parameters
        ----------
        state_dict
            A mapping of dotted names to tensors.  Tensors of other dtypes are
            converted.
        strict
            True if the names must be exactly those of the module.
        assign
            True to make the given tensors the module's parameters and buffers.  False
            to copy their values.

        Returns
        -------
        (missing_keys, unexpected_keys)
            The missing and the unexpected names.  Both lists are empty if `strict` is
            True.

        Raises
        ------
        CheckpointError
            If names do not match and `strict` is True, or if shapes do not match.  The
            message lists all mismatches.

        Examples
        --------
        >>> import autocalc as ac
        >>> a, b = ac.nn.Linear(2, 2), ac.nn.Linear(2, 2)
        >>> b.load_state_dict(a.state_dict())
        <All keys matched successfully>
        """
        check_switches("load_state_dict", strict=strict, assign=assign)
        return loading.load(self, state_dict, strict, assign)

    _load_from_state_dict = loading.load_from_state_dict

    # ---- hooks -----------------------------------------------------------------------

    _forward_pre_hooks = table("forward_pre")
    _forward_hooks = table("forward")
    _forward_pre_hooks_with_kwargs = chosen("forward_pre", "with_kwargs")
    _forward_hooks_with_kwargs = chosen("forward", "with_kwargs")
    _forward_hooks_always_called = chosen("forward", "always")
    _backward_pre_hooks = table("backward_pre")
    _backward_hooks = table("backward")
    _state_dict_pre_hooks = table("state_pre")
    _state_dict_hooks = table("state_post")
    _load_state_dict_pre_hooks = table("load_state_pre")
    _load_state_dict_post_hooks = table("load_state_post")

    def _own_hooks(self) -> Hooks:
        if self._hooks is None:
            self._hooks = Hooks()
        return self._hooks

    def register_forward_pre_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before each forward.

        The hook may return new arguments.  With `with_kwargs`, the hook is called as
        ``hook(module, args, kwargs)``, and it may return (args, kwargs).  The method
        returns a handle; its ``remove()`` removes the hook.
        """
        check_flags(
            "register_forward_pre_hook", prepend=prepend, with_kwargs=with_kwargs
        )
        hooks = self._own_hooks().forward_pre
        return RemovableHandle(hooks, Hook(hook, with_kwargs), prepend=prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after each forward.

        The hook may return a new output.  With `with_kwargs`, it is called as
        ``hook(module, args, kwargs, output)``.  With `always_call`, it is also called
        if `forward` raises an error; the output is None then.  The method returns a
        handle; its ``remove()`` removes the hook.

        Examples
        --------
        >>> import autocalc as ac
        >>> layer = ac.nn.Linear(2, 3)
        >>> shapes = []
        >>> handle = layer.register_forward_hook(lambda m, a, y: shapes.append(y.shape))
        >>> _ = layer(ac.zeros(1, 2))
        >>> handle.remove()
        >>> shapes
        [autocalc.Size([1, 3])]
        """
        check_flags(
            "register_forward_hook",
            prepend=prepend,
            with_kwargs=with_kwargs,
            always_call=always_call,
        )
        hooks = self._own_hooks().forward
        made = Hook(hook, with_kwargs, always=bool(always_call))
        return RemovableHandle(hooks, made, prepend=prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` in each backward pass.

        `grad_output` is a tuple of the gradients of the outputs.  `grad_input` is a
        tuple of the gradients of the positional arguments; it has None for those that
        require no gradient.  The hook may return new gradients of the inputs.  While
        the module has this hook, its inputs and outputs must not be changed in place.

        Examples
        --------
        >>> import autocalc as ac
        >>> layer = ac.nn.Linear(2, 3)
        >>> handle = layer.register_full_backward_hook(
        ...     lambda module, grad_input, grad_output: print(grad_output[0].shape)
        ... )
        >>> layer(ac.zeros(1, 2)).sum().backward()
        autocalc.Size([1, 3])
        """
        where, hooks = "register_full_backward_hook", self._own_hooks()
        check_flags(where, prepend=prepend)
        one_kind_only(where, hooks.on_node)
        return RemovableHandle(hooks.backward, Hook(hook), prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call a hook in the backward pass of the operator that made the output.

        The hook gets the gradients of the inputs of this operator.  In contrast, a hook
        of `register_full_backward_hook` gets the gradients of the module's own inputs.

        Parameters
        ----------
        hook
            The function to call as ``hook(module, grad_input, grad_output)``, where the
            gradients are two tuples.  It may return another ``grad_input``.

        Raises
        ------
        GradError
            If the module has hooks that `register_full_backward_hook` added.

        Examples
        --------
        >>> import autocalc as ac
        >>> layer = ac.nn.ReLU()
        >>> handle = layer.register_backward_hook(
        ...     lambda module, grad_input, grad_output: print(grad_input)
        ... )
        >>> layer(ac.tensor([1.0, -1.0], requires_grad=True)).sum().backward()
        (tensor([1., 0.]),)
        """
        hooks = self._own_hooks()
        one_kind_only("register_backward_hook", hooks.backward)
        return RemovableHandle(hooks.on_node, Hook(hook))

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before each backward pass of the module.

        The hook may return new gradients of the outputs.
        """
        check_flags("register_full_backward_pre_hook", prepend=prepend)
        return RemovableHandle(
            self._own_hooks().backward_pre, Hook(hook), prepend=prepend
        )

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before each call of `state_dict`."""
        return RemovableHandle(self._own_hooks().state_pre, Hook(hook))

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after `state_dict`.

        `local_metadata` is the dict ``{"version": ...}`` of the module.  The hook may
        change `state_dict`, and it must return None.
        """
        with suppress(AttributeError):  # a bound method takes no attributes
            hook._from_public_api = True  # type: ignore[attr-defined]  # as in PyTorch
        return RemovableHandle(self._own_hooks().state_post, Hook(hook))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Do what `register_state_dict_post_hook` does.

        The hook may return another dict.
        """
        if hasattr(hook, "_from_public_api"):
            raise HookError(
                "_register_state_dict_hook: the hook was previously registered via "
                "register_state_dict_post_hook; register another function."
            )
        return RemovableHandle(self._own_hooks().state_post, Hook(hook, replaces=True))

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call a hook before the parameters and buffers of this module are loaded.

        It is called as ``hook(module, state_dict, prefix, local_metadata, strict,
        missing_keys, unexpected_keys, error_msgs)``.  `state_dict` is a copy of the
        entries whose names begin with `prefix`; the hook may change it.  The hook may
        also append to the lists `missing_keys`, `unexpected_keys` and `error_msgs`.
        """
        return RemovableHandle(self._own_hooks().load_state_pre, Hook(hook))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        """Register a hook that may get the module as its first argument.

        Otherwise do what `register_load_state_dict_pre_hook` does.
        """
        check_flags("_register_load_state_dict_pre_hook", with_module=with_module)
        kept = Hook(hook, with_module=with_module)
        return RemovableHandle(self._own_hooks().load_state_pre, kept)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after a `state_dict` was loaded.

        The hook may remove names from the lists ``missing_keys`` and
        ``unexpected_keys``. Removed names are no error.
        """
        return RemovableHandle(self._own_hooks().load_state_post, Hook(hook))
